//! The cases of the scene `decode`: vectors of more and of fewer elements than a round of loads, one sequence and more than a
//! group of them, rows that divide evenly among warps and rows that do not.
#![forbid(unsafe_code)]

use ringlane_task::DType::{BFloat16, Int32};

use super::case::{Case, Given, Tensor, inout, read, scalar, write};

fn case(kernel: &'static str, blocks: u32, tolerance: f64, args: Vec<Given>) -> Case {
    Case { kernel, blocks, tolerance, args }
}

/// Weights, or a cache.
const fn weights(shape: &'static [u32]) -> Tensor {
    read(shape).of(BFloat16)
}

macro_rules! args {
    ($($arg:expr),+ $(,)?) => { vec![$(Given::from($arg)),+] };
}

pub fn projections() -> Vec<Case> {
    let later = || weights(&[3, 16]);
    vec![
        case(
            "QKV",
            1,
            1e-4,
            args![read(&[1, 64]), weights(&[64]), weights(&[7, 64]), write(&[1, 7]), later()],
        ),
        case(
            "QKV",
            1,
            1e-3,
            args![
                read(&[3, 520]).inside(),
                weights(&[520]),
                weights(&[70, 520]),
                write(&[3, 70]).inside(),
                later()
            ],
        ),
        case(
            "QKV",
            1,
            1e-3,
            args![read(&[11, 40]), weights(&[40]), weights(&[530, 40]), write(&[11, 530]), later()],
        ),
        case("OUT", 1, 1e-4, args![inout(&[1, 9]), weights(&[9, 96]), read(&[1, 3, 32]), later()]),
        case(
            "OUT",
            1,
            1e-3,
            args![inout(&[9, 30]).inside(), weights(&[30, 264]), read(&[9, 11, 24]).inside(), later()],
        ),
        case(
            "GATE_UP",
            1,
            1e-3,
            args![read(&[1, 72]), weights(&[72]), weights(&[19, 2, 72]), write(&[1, 19]), later()],
        ),
        case(
            "GATE_UP",
            1,
            1e-3,
            args![
                read(&[5, 264]).inside(),
                weights(&[264]),
                weights(&[33, 2, 264]),
                write(&[5, 33]).inside(),
                later()
            ],
        ),
        case("DOWN", 1, 1e-4, args![inout(&[1, 5]), weights(&[5, 48]), read(&[1, 48])]),
        case(
            "DOWN",
            1,
            1e-3,
            args![inout(&[4, 33]).inside(), weights(&[33, 1032]), read(&[4, 1032]).inside()],
        ),
        case("DOWN", 1, 1e-2, args![inout(&[2, 3]), weights(&[3, 5000]), read(&[2, 5000])]),
    ]
}

pub fn attention() -> Vec<Case> {
    let cache = |shape: &'static [u32]| inout(shape).of(BFloat16);
    vec![
        case(
            "ATTEND",
            1,
            1e-2,
            args![
                read(&[4, 16]),
                weights(&[16]),
                weights(&[16]),
                read(&[16]),
                cache(&[1, 2, 8, 16]),
                write(&[2, 18]),
                weights(&[5, 8]),
                scalar(0u32)
            ],
        ),
        case(
            "ATTEND",
            2,
            1e-2,
            args![
                read(&[10, 40]),
                weights(&[40]),
                weights(&[40]),
                read(&[40]),
                cache(&[2, 2, 13, 40]).split(),
                write(&[6, 42]).split(),
                weights(&[5, 8]).split(),
                scalar(11u32),
                weights(&[2, 2, 13, 40]).split(),
                weights(&[2, 2, 13, 40]).split(),
            ],
        ),
        case(
            "ATTEND_CACHED",
            1,
            1e-2,
            args![read(&[12, 8]), weights(&[8]), read(&[8]), write(&[10, 10]), weights(&[1, 2, 3, 8])],
        ),
        case(
            "ATTEND_CACHED",
            2,
            1e-2,
            args![
                read(&[10, 136]),
                weights(&[136]),
                read(&[136]),
                write(&[6, 138]).split(),
                weights(&[2, 2, 9, 136]).split(),
                weights(&[2, 2, 9, 136]).split(),
                weights(&[2, 2, 9, 136]).split(),
            ],
        ),
        case("MERGE", 1, 1e-5, args![write(&[2, 10]), part(&[2, 10]), part(&[2, 10])]),
        case(
            "MERGE",
            1,
            1e-5,
            args![write(&[3, 34]).inside(), part(&[3, 34]), part(&[3, 34]), part(&[3, 34])],
        ),
    ]
}

/// A result whose last column, a sum, is positive.
const fn part(shape: &'static [u32]) -> Tensor {
    read(shape).filled(|_, _, random| 1.5 + random)
}

/// The experts of each token: two of five.
const fn route(shape: &'static [u32]) -> Tensor {
    read(shape).of(Int32).filled(|i, j, _| ((i * 3 + j) % 5) as f64)
}

pub fn tokens() -> Vec<Case> {
    let token = |shape: &'static [u32]| read(shape).of(Int32).filled(|_, at, _| f64::from(at * 3 % 7));
    let logits = |batch: &'static [u32; 2], best: &'static [u32; 2], first: u32| {
        [write(batch).into(), write(best).into(), write(best).of(Int32).into(), scalar(40u32), scalar(first)]
    };
    let mut first = args![read(&[1, 24]), weights(&[24]), weights(&[40, 24])];
    first.extend(logits(&[1, 40], &[1, 1], 0));
    let mut second = args![read(&[9, 264]).inside(), weights(&[264]), weights(&[40, 264])];
    second.extend(logits(&[9, 40], &[1, 9], 80));
    vec![
        case("EMBED", 1, 0.0, args![token(&[3]), weights(&[7, 24]), write(&[3, 24])]),
        case("EMBED", 1, 0.0, args![token(&[1]), weights(&[7, 999]), write(&[1, 999]).inside()]),
        case("LOGITS", 1, 1e-4, first),
        case("LOGITS", 1, 1e-3, second),
        case("PICK", 1, 0.0, args![read(&[1, 2]), route(&[1, 2]), write(&[2]).of(Int32)]),
        // Several blocks have the best logit, and some a number that was never best.
        case(
            "PICK",
            1,
            0.0,
            args![
                read(&[300, 3]).filled(|i, j, _| f64::from((i + j) % 50)),
                read(&[300, 3]).of(Int32).filled(|i, _, _| f64::from(i)),
                write(&[3]).of(Int32)
            ],
        ),
    ]
}

pub fn experts() -> Vec<Case> {
    vec![
        case(
            "ROUTE",
            1,
            1e-4,
            args![
                read(&[3, 64]),
                weights(&[64]),
                weights(&[8, 64]),
                write(&[3, 2]).of(Int32),
                write(&[3, 2])
            ],
        ),
        case(
            "ROUTE",
            1,
            1e-4,
            args![
                read(&[9, 40]).inside(),
                weights(&[40]),
                weights(&[100, 40]),
                write(&[9, 2]).of(Int32).inside(),
                write(&[9, 2]).inside()
            ],
        ),
        case(
            "EXPERT_UP",
            1,
            1e-3,
            args![read(&[3, 24]), weights(&[24]), route(&[3, 2]), weights(&[5, 7, 2, 24]), write(&[3, 2, 7])],
        ),
        case(
            "EXPERT_UP",
            1,
            1e-3,
            args![
                read(&[1, 264]),
                weights(&[264]),
                route(&[1, 2]),
                weights(&[5, 40, 2, 264]),
                write(&[1, 2, 40])
            ],
        ),
        case(
            "EXPERT_DOWN",
            1,
            1e-3,
            args![inout(&[3, 9]), weights(&[5, 9, 24]), read(&[3, 2, 24]), route(&[3, 2]), read(&[3, 2])],
        ),
        case(
            "EXPERT_DOWN",
            1,
            1e-3,
            args![
                inout(&[1, 70]).inside(),
                weights(&[5, 70, 264]),
                read(&[1, 2, 264]),
                route(&[1, 2]),
                read(&[1, 2])
            ],
        ),
    ]
}
