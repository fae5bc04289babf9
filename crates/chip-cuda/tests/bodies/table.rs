//! The cases: each kernel with shapes that use each of its paths, with odd sizes and with tiles inside of larger tensors.
#![forbid(unsafe_code)]

use ringlane_task::DType::{BFloat16, Int32, UInt8, UInt32};

use super::case::{Case, Fill, Given, inout, read, scalar, write};
use super::decode;

/// A case of one block.
macro_rules! case {
    ($kernel:literal, $tolerance:expr, $($arg:expr),+ $(,)?) => {
        Case { kernel: $kernel, blocks: 1, tolerance: $tolerance, args: vec![$(Given::from($arg)),+] }
    };
}

const EXACT: f64 = 0.0;
/// Symmetric enough: only the lower triangle is read.
const DEFINITE: Fill = |i, j, random| if i == j { 40.0 + random } else { random };
const LETTER: Fill = |_, _, random| ((random + 1.0) * 2.0).floor().min(3.0);
const SCORE: Fill = |_, _, random| ((random + 1.0) * 9.0).floor();
/// Two of five experts.
const ROUTE: Fill = |i, j, _| f64::from((i * 7 + i / 3 + j * 2) % 5);

pub fn cases() -> Vec<Case> {
    let scenes = [
        elementwise(),
        products(),
        tensor_products(),
        cholesky(),
        grids(),
        attention(),
        experts(),
        combined(),
        gathers(),
    ];
    scenes
        .into_iter()
        .chain([decode::projections(), decode::attention(), decode::tokens(), decode::experts()])
        .flatten()
        .collect()
}

fn elementwise() -> Vec<Case> {
    let split = |kernel, args: Vec<Given>| Case { kernel, blocks: 3, tolerance: EXACT, args };
    vec![
        case!("VECTOR_ADD", EXACT, read(&[1]), read(&[1]), write(&[1])),
        case!("VECTOR_ADD", EXACT, read(&[5003]), read(&[5003]).inside(), write(&[5003])),
        split(
            "VECTOR_ADD",
            vec![read(&[1000]).split().into(), read(&[1000]).split().into(), write(&[1000]).split().into()],
        ),
        case!("VECTOR_SHIFT", EXACT, read(&[7]), write(&[7]), scalar(1.5f32)),
        case!("VECTOR_SHIFT", EXACT, read(&[2049]), write(&[2049]).inside(), scalar(-2.0f32)),
        case!("VECTOR_MUL", EXACT, read(&[300]), read(&[299]), write(&[300])),
        case!("VECTOR_MUL", EXACT, read(&[4097]), read(&[4097]), write(&[4097]).inside()),
        case!("PRODUCE", 1e-6, read(&[64]), write(&[64])),
        case!("PRODUCE", 1e-6, read(&[2051]), write(&[2051]).inside()),
        case!("STEP", EXACT, read(&[4]).of(UInt32), write(&[4]).of(UInt32)),
        case!("STEP", EXACT, read(&[1001]).of(UInt32).inside(), write(&[1001]).of(UInt32)),
        case!("STEP_IN_PLACE", EXACT, inout(&[4]).of(UInt32)),
        case!("STEP_IN_PLACE", EXACT, inout(&[999]).of(UInt32).inside()),
    ]
}

fn products() -> Vec<Case> {
    vec![
        case!("MATMUL", 2e-5, read(&[32, 32]), read(&[32, 32]), inout(&[32, 32])),
        case!("MATMUL", 2e-5, read(&[13, 5]).inside(), read(&[5, 77]).inside(), inout(&[13, 77]).inside()),
        case!("MATMUL", 5e-5, read(&[70, 131]), read(&[131, 65]).inside(), inout(&[70, 65]).inside()),
        case!("GEMM", 2e-5, read(&[8, 8]), read(&[8, 8]), inout(&[8, 8])),
        case!("GEMM", 2e-5, read(&[28, 28]).inside(), read(&[10, 28]).inside(), inout(&[28, 10]).inside()),
        case!("GEMM", 5e-5, read(&[64, 64]).inside(), read(&[66, 64]).inside(), inout(&[64, 66]).inside()),
        case!("SYRK", 2e-5, read(&[32, 32]), inout(&[32, 32])),
        case!("SYRK", 5e-5, read(&[67, 65]).inside(), inout(&[67, 67]).inside()),
    ]
}

/// Pieces of 128 × 256 and of 128 × 128; rows of 16 bytes that are whole, that end inside of the matrix, and none; an odd C.
fn tensor_products() -> Vec<Case> {
    let matrix = |shape: &'static [u32]| read(shape).of(BFloat16);
    let product = |a, b, c: &'static [u32]| case!("MATMUL_BF16", 2e-4, a, b, inout(c));
    vec![
        product(matrix(&[1, 1]), matrix(&[1, 1]), &[1, 1]),
        product(matrix(&[32, 32]), matrix(&[32, 32]), &[32, 32]),
        product(matrix(&[128, 328]), matrix(&[328, 256]), &[128, 256]),
        product(matrix(&[130, 200]), matrix(&[200, 392]), &[130, 392]),
        product(matrix(&[70, 76]).left_of(4), matrix(&[76, 109]).left_of(3), &[70, 109]),
        case!(
            "MATMUL_BF16",
            2e-4,
            matrix(&[65, 131]).inside(),
            matrix(&[131, 267]).inside(),
            inout(&[65, 267]).inside()
        ),
    ]
}

fn cholesky() -> Vec<Case> {
    vec![
        case!("POTRF", 1e-5, inout(&[1, 1]).filled(DEFINITE)),
        case!("POTRF", 1e-5, inout(&[33, 33]).filled(DEFINITE).inside()),
        case!("POTRF", 5e-5, inout(&[210, 210]).filled(DEFINITE).inside()),
        case!("TRSM", 1e-5, read(&[32, 32]).filled(DEFINITE), inout(&[32, 32])),
        case!("TRSM", 1e-5, read(&[29, 29]).filled(DEFINITE).inside(), inout(&[7, 29]).inside()),
        case!("TRSM", 1e-5, read(&[150, 150]).filled(DEFINITE).inside(), inout(&[210, 150]).inside()),
    ]
}

/// A matrix whose first pivot is negative.
pub fn not_definite() -> Case {
    case!(
        "POTRF",
        EXACT,
        inout(&[40, 40]).filled(|i, j, random| if i == j { 30.0 - f64::from(i) } else { random })
    )
}

/// A halo that does not fit into scratch memory.
pub fn too_many_steps() -> Case {
    case!(
        "DIFFUSE",
        EXACT,
        read(&[300, 300]),
        write(&[10, 10]),
        scalar(145u32),
        scalar(145u32),
        scalar(80u32)
    )
}

fn grids() -> Vec<Case> {
    let align = |rows: &'static [u32; 2],
                 letters: [&'static [u32]; 2],
                 tile: &'static [u32],
                 above: &'static [u32]| {
        case!(
            "ALIGN",
            EXACT,
            read(above).of(Int32).filled(SCORE).inside(),
            read(rows).of(Int32).filled(SCORE).inside(),
            read(letters[0]).of(UInt8).filled(LETTER),
            read(letters[1]).of(UInt8).filled(LETTER).inside(),
            write(tile).of(Int32).inside(),
        )
    };
    let at = |top: u32, left: u32, steps: u32| [top, left, steps].map(scalar);
    let diffuse = |view: &'static [u32], tile: &'static [u32], [top, left, steps]: [Given; 3]| {
        case!("DIFFUSE", EXACT, read(view).inside(), write(tile).inside(), top, left, steps)
    };
    vec![
        align(&[1, 1], [&[1], &[1]], &[1, 1], &[2]),
        align(&[32, 1], [&[32], &[29]], &[32, 29], &[30]),
        align(&[300, 1], [&[300], &[7]], &[300, 7], &[8]),
        align(&[3, 1], [&[3], &[280]], &[3, 280], &[281]),
        diffuse(&[10, 12], &[8, 10], at(1, 1, 1)),
        diffuse(&[33, 34], &[32, 32], at(0, 1, 1)),
        diffuse(&[31, 34], &[28, 28], at(3, 3, 3)),
        diffuse(&[28, 20], &[8, 8], at(0, 12, 20)),
        diffuse(&[154, 160], &[150, 158], at(2, 2, 2)),
        diffuse(&[156, 166], &[150, 160], at(3, 3, 3)),
        diffuse(&[5, 5], &[5, 5], at(0, 0, 4)),
    ]
}

fn attention() -> Vec<Case> {
    let update = |rows: &'static [u32], shape: &'static [u32], before: Fill| {
        let positive: Fill = |_, _, random| 2.0 + random;
        case!(
            "UPDATE",
            1e-5,
            read(rows),
            read(rows).filled(positive),
            read(shape).inside(),
            inout(rows),
            inout(rows).filled(before),
            inout(shape).inside(),
        )
    };
    vec![
        case!("QK", 1e-5, read(&[16, 64]), read(&[16, 64]), write(&[16, 16]), scalar(0.125f32)),
        case!("QK", 1e-5, read(&[3, 33]), read(&[13, 33]).inside(), write(&[3, 13]).inside(), scalar(0.2f32)),
        case!("QK", 1e-5, read(&[30, 8]).inside(), read(&[31, 8]), write(&[30, 31]), scalar(1f32)),
        case!("QK", 1e-5, read(&[65, 130]).inside(), read(&[70, 130]), write(&[65, 70]), scalar(0.1f32)),
        case!("SOFTMAX", 1e-5, inout(&[16, 16]), write(&[16]), write(&[16])),
        case!("SOFTMAX", 1e-5, inout(&[3, 171]).inside(), write(&[3]), write(&[3])),
        case!("SOFTMAX", 1e-5, inout(&[37, 5]).inside(), write(&[37]).inside(), write(&[37])),
        case!("PV", 1e-5, read(&[16, 16]), read(&[16, 64]), write(&[16, 64])),
        case!("PV", 2e-5, read(&[5, 71]).inside(), read(&[71, 33]).inside(), write(&[5, 33]).inside()),
        case!("PV", 2e-5, read(&[40, 66]), read(&[66, 20]).inside(), write(&[40, 20])),
        update(&[16], &[16, 64], |_, _, random| 2.0 + random),
        update(&[5], &[5, 33], |_, j, random| if j % 2 == 0 { 0.0 } else { 2.0 + random }),
        update(&[1030], &[1030, 3], |_, j, random| if j % 5 == 0 { 0.0 } else { 2.0 + random }),
        case!("NORMALISE", 1e-5, read(&[16, 64]), read(&[16]).filled(|_, _, x| x + 3.0), write(&[16, 64])),
        case!(
            "NORMALISE",
            1e-5,
            read(&[7, 33]).inside(),
            read(&[7]).filled(|_, _, x| x + 3.0),
            write(&[7, 33]).inside()
        ),
    ]
}

fn experts() -> Vec<Case> {
    let route = |shape: &'static [u32]| read(shape).of(Int32).filled(ROUTE);
    vec![
        case!(
            "GATE",
            1e-5,
            read(&[32, 32]),
            read(&[32, 8]),
            read(&[8]),
            write(&[32, 2]).of(Int32),
            write(&[32, 2])
        ),
        case!(
            "GATE",
            1e-5,
            read(&[70, 19]).inside(),
            read(&[19, 300]).inside(),
            read(&[300]),
            write(&[70, 2]).of(Int32).inside(),
            write(&[70, 2]).inside(),
        ),
        case!(
            "EXPERT",
            1e-4,
            read(&[32, 32]),
            route(&[32, 2]),
            read(&[32, 64]),
            read(&[64, 32]),
            write(&[32, 32]),
            scalar(1i32),
        ),
        case!(
            "EXPERT",
            5e-4,
            read(&[5000, 5]).inside(),
            route(&[5000, 2]),
            read(&[5, 131]).inside(),
            read(&[131, 6]).inside(),
            write(&[2500, 6]).inside(),
            scalar(3i32),
        ),
        case!(
            "EXPERT",
            EXACT,
            read(&[7, 4]),
            route(&[7, 2]),
            read(&[4, 3]),
            read(&[3, 4]),
            write(&[2, 4]),
            scalar(9i32)
        ),
    ]
}

fn combined() -> Vec<Case> {
    let route = |shape: &'static [u32]| read(shape).of(Int32).filled(ROUTE);
    vec![
        case!(
            "COMBINE",
            1e-6,
            read(&[32, 32]),
            route(&[32, 2]),
            read(&[32, 2]),
            inout(&[32, 32]),
            scalar(0i32)
        ),
        case!(
            "COMBINE",
            1e-6,
            read(&[2500, 7]).inside(),
            route(&[5000, 2]),
            read(&[5000, 2]),
            inout(&[5000, 7]).inside(),
            scalar(2i32),
        ),
    ]
}

fn gathers() -> Vec<Case> {
    let gather = |kernel, count: usize, shape: &'static [u32]| {
        let mut args: Vec<Given> = vec![read(shape).inside().into(); count];
        args.extend([scalar(count as u32 / 3), write(shape).into()]);
        Case { kernel, blocks: 1, tolerance: 1e-4, args }
    };
    vec![
        gather("GATHER_4", 4, &[1]),
        gather("GATHER_4", 4, &[1003]),
        gather("GATHER_64", 64, &[64]),
        gather("GATHER_64", 64, &[301]),
        gather("GATHER_68", 68, &[64]),
        gather("GATHER_68", 68, &[77]),
    ]
}
