//! What a dump captures: the values that were there, of the arguments that were asked for.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Sandbox, checked};
use ringlane::prelude::*;
use ringlane::probe::{DumpSelection, SelectedKernel};
use ringlane_task::Scalar;
use ringlane_trace::Manifest;
use ringlane_trace::dump::{Dump, DumpData, DumpRecord, DumpTensor, Role, Stage, Truncated};

kernel! { static ADD = any fn(a: &[f32], b: &[f32], c: &mut [f32]) {
    c.iter_mut().zip(a.iter().zip(b)).for_each(|(c, (a, b))| *c = a + b);
} }
kernel! { static SHIFT = any fn(x: &[f32], y: &mut [f32], s: f32) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = x + s);
} }
kernel! { static GROW = any fn(x: &mut [u32]) { x.iter_mut().for_each(|x| *x = x.wrapping_mul(3) + 1); } }
kernel! { static FLIP = any fn(from: View<u32, 2>, to: ViewMut<u32, 2>) {
    let ([rows, cols], mut to) = (from.shape(), to);
    for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
        to[[i, j]] = from[[i, j]] + 1000;
    }
} }

/// A finished recording with its dump.
struct Recorded {
    dir: PathBuf,
    manifest: Manifest,
    dump: Dump,
    bin: Vec<u8>,
}

/// How a program is recorded.
struct Way {
    selection: DumpSelection,
    overflow: Overflow,
    threads: i32,
}

const ALL: Way = Way { selection: DumpSelection::Everything, overflow: Overflow::Block, threads: 2 };

/// Runs an orchestration with a dump (and deps, so that the checker follows the values), and reads what it left.
fn recorded(
    sandbox: &Sandbox,
    way: Way,
    data: &mut Buffers<'_>,
    f: impl for<'r, 'e> FnOnce(&mut Orch<'r, 'e>) -> Result<()>,
) -> Recorded {
    let dir = sandbox.path().join("run");
    let flags = DfxFlags::DUMP.with(DfxFlags::DEPS);
    let mut config =
        CallConfig::default().with_threads(way.threads).with_dfx_flags(flags).with_overflow(way.overflow);
    config.set_output_prefix(dir.to_str().unwrap()).unwrap();
    let mut runtime = Runtime::on(Platform::Cpu).with(&config).unwrap();
    runtime.select_dump(way.selection);
    runtime.run(data, f).result.unwrap();
    let (manifest, dump) = (checked(&dir), Dump::read(&dir).unwrap());
    let bin = fs::read(dir.join("tensor_dump/tensor_dump.bin")).unwrap();
    Recorded { dir, manifest, dump, bin }
}

impl Recorded {
    /// The record of the `task`-th submit's argument at a stage.
    #[track_caller]
    fn record(&self, task: u64, arg: u32, stage: Stage) -> &DumpRecord {
        let id = self.dump.tasks.iter().find(|row| row.seq.0 == task).expect("the task was captured").task_id;
        let mut found = self
            .dump
            .records
            .iter()
            .filter(|record| (record.task_id, record.arg_index, record.stage) == (id, arg, stage));
        let record = found.next().unwrap_or_else(|| panic!("no record of task {task} arg {arg} {stage}"));
        assert!(found.next().is_none(), "two records of task {task} arg {arg} {stage}");
        record
    }

    #[track_caller]
    fn tensor(&self, task: u64, arg: u32, stage: Stage) -> (&DumpTensor, &[u8]) {
        let DumpData::Tensor(tensor) = &self.record(task, arg, stage).data else { panic!("a scalar") };
        let start = tensor.bin_offset as usize;
        (tensor, &self.bin[start..start + tensor.bin_size as usize])
    }

    #[track_caller]
    fn floats(&self, task: u64, arg: u32, stage: Stage) -> Vec<f32> {
        let bytes = self.tensor(task, arg, stage).1.chunks_exact(4);
        bytes.map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    #[track_caller]
    fn numbers(&self, task: u64, arg: u32, stage: Stage) -> Vec<u32> {
        let bytes = self.tensor(task, arg, stage).1.chunks_exact(4);
        bytes.map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    fn captured(&self) -> Vec<(u64, u32, Stage)> {
        let seq = |record: &DumpRecord| {
            let row = self.dump.tasks.iter().find(|row| row.task_id == record.task_id);
            row.expect("every record has its task").seq.0
        };
        let mut all: Vec<_> = self.dump.records.iter().map(|r| (seq(r), r.arg_index, r.stage)).collect();
        all.sort_by_key(|&(seq, arg, stage)| (seq, arg, stage.as_str()));
        all
    }
}

use Stage::{AfterCompletion as After, BeforeDispatch as Before};

#[test]
fn the_values_of_a_diamond_are_those_that_were_computed() {
    let sandbox = Sandbox::new();
    let (a, b): (Vec<f32>, Vec<f32>) = (0..1000).map(|i| (i as f32 * 0.5, 7.0 - i as f32)).unzip();
    let mut data = Buffers::new();
    let ids = [data.add(&[1000], &a).unwrap(), data.add(&[1000], &b).unwrap()];
    let result = data.add_zeroed(f32, &[1000]).unwrap();
    let run = recorded(&sandbox, ALL, &mut data, |o| {
        let (a, b, result) = (o.external(ids[0])?, o.external(ids[1])?, o.external(result)?);
        let f = o.submit(&ADD, [a.read(), b.read(), out(f32, [1000])])?.out(0);
        o.scope(|o| {
            let g = o.submit(&SHIFT, [f.read(), out(f32, [1000]), scalar(1.5f32)])?.out(0);
            let h = o.submit(&SHIFT, [f.read(), out(f32, [1000]), scalar(-2.0f32)])?.out(0);
            o.submit(&ADD, [g.read(), h.read(), result.write()]).map(drop)
        })
    });
    let f: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let shifted = |s: f32| f.iter().map(|f| f + s).collect::<Vec<_>>();
    let (g, h) = (shifted(1.5), shifted(-2.0));
    let sum: Vec<f32> = g.iter().zip(&h).map(|(g, h)| g + h).collect();
    assert_eq!((run.floats(0, 0, Before), run.floats(0, 1, Before)), (a, b));
    assert_eq!(run.floats(0, 2, After), f);
    for (task, made, scalar) in [(1, &g, 1.5), (2, &h, -2.0)] {
        assert_eq!((run.floats(task, 0, Before), &run.floats(task, 1, After)), (f.clone(), made));
        let DumpData::Scalar(value) = run.record(task, 2, Before).data else { panic!("a tensor") };
        assert_eq!(value.get::<f32>(), Some(scalar));
    }
    assert_eq!(
        (run.floats(3, 0, Before), run.floats(3, 1, Before), run.floats(3, 2, After)),
        (g, h, sum.clone())
    );
    assert_eq!(data.get::<f32>(result).unwrap(), sum);
    let roles: Vec<_> =
        [0, 2].map(|arg| run.record(3, arg, if arg == 2 { After } else { Before }).role).into();
    assert_eq!(roles, [Role::Input, Role::Output]);
    assert_eq!(run.dump.head.counts.records.total(), 12 + 2 - 2);
    assert_eq!(run.manifest.tasks, 4);
}

#[test]
fn an_inout_has_both_stages_and_a_chain_of_them_is_followed() {
    let sandbox = Sandbox::new();
    let mut data = Buffers::new();
    let x = data.add(&[3], &[1u32, 10, 100]).unwrap();
    let run = recorded(&sandbox, ALL, &mut data, |o| {
        let x = o.external(x)?;
        (0..20).try_for_each(|_| o.submit(&GROW, [x.inout()]).map(drop))
    });
    let mut now = vec![1u32, 10, 100];
    for task in 0..20 {
        assert_eq!(run.numbers(task, 0, Before), now);
        now.iter_mut().for_each(|x| *x = x.wrapping_mul(3) + 1);
        assert_eq!(
            (run.numbers(task, 0, After), run.record(task, 0, After).role),
            (now.clone(), Role::InOut)
        );
    }
    assert_eq!(run.dump.records.len(), 40);
}

#[test]
fn a_tile_that_is_not_contiguous_is_gathered() {
    let sandbox = Sandbox::new();
    let mut data = Buffers::new();
    let values: Vec<u32> = (0..6 * 8).collect();
    let (from, to) = (data.add(&[6, 8], &values).unwrap(), data.add_zeroed(u32, &[6, 8]).unwrap());
    let run = recorded(&sandbox, ALL, &mut data, |o| {
        let (from, to) = (o.external(from)?, o.external(to)?);
        let tile = from.tile(&[1, 2], &[3, 4])?;
        o.submit(&FLIP, [tile.read(), to.tile(&[2, 1], &[3, 4])?.inout()])?;
        // Columns as rows: nothing is contiguous in either direction.
        o.submit(&FLIP, [from.transpose(0, 1)?.read(), out(u32, [8, 6])]).map(drop)
    });
    let at = |i: u32, j: u32| i * 8 + j;
    let tile: Vec<u32> = (1..4).flat_map(|i| (2..6).map(move |j| at(i, j))).collect();
    assert_eq!(run.numbers(0, 0, Before), tile);
    let (record, _) = run.tensor(0, 0, Before);
    assert_eq!(
        (record.view.shape().collect::<Vec<_>>(), record.view.offset),
        (vec![3, 4], u64::from(at(1, 2)) * 4)
    );
    assert_eq!((record.view.strides().collect::<Vec<_>>(), record.view.is_contiguous()), (vec![8, 1], false));
    assert_eq!(run.numbers(0, 1, Before), vec![0; 12]);
    assert_eq!(run.numbers(0, 1, After), tile.iter().map(|v| v + 1000).collect::<Vec<_>>());
    let turned: Vec<u32> = (0..8).flat_map(|j| (0..6).map(move |i| at(i, j))).collect();
    assert_eq!(run.numbers(1, 0, Before), turned);
    assert_eq!(run.numbers(1, 1, After), turned.iter().map(|v| v + 1000).collect::<Vec<_>>());
}

/// Submits a kernel with one scalar of each type, and gives the scalars as they were added.
macro_rules! every_scalar {
    ($($ty:ty = $value:expr),* $(,)?) => {{
        static TAKE: Kernel = Kernel::new("TAKE", CoreType::Any, &[$(<$ty>::SPEC),*], |args| {
            $( let _: $ty = args.take::<$ty>()?; )*
            Ok(())
        });
        (vec![$(Scalar::new::<$ty>($value)),*], |o: &mut Orch<'_, '_>| {
            o.submit(&TAKE, [$(scalar::<$ty>($value)),*]).map(drop)
        })
    }};
}

#[test]
fn scalars_of_every_type_have_the_type_and_the_bits_they_were_added_with() {
    use ringlane_task::{bf16, f16};
    let (added, submit) = every_scalar! {
        bool = true, i8 = -128, u8 = 255, i16 = -2, u16 = 65_535, i32 = i32::MIN, u32 = u32::MAX,
        i64 = -1, u64 = u64::MAX, f16 = f16::NEG_INFINITY, bf16 = bf16::from_f32(0.25),
        f32 = f32::NAN, f64 = -0.0,
    };
    let sandbox = Sandbox::new();
    let run = recorded(&sandbox, ALL, &mut Buffers::new(), |o| submit(o));
    assert_eq!(run.dump.records.len(), added.len());
    for (index, scalar) in added.iter().enumerate() {
        let record = run.record(0, index as u32, Before);
        assert_eq!((record.data, record.role), (DumpData::Scalar(*scalar), Role::Input), "{scalar}");
    }
    assert_eq!((run.dump.head.counts.scalars, run.bin.len()), (added.len() as u64, 0));
}

fn three_grow(o: &mut Orch<'_, '_>) -> Result<()> {
    let x = o.dump(&[0]).submit(&SHIFT, [out(f32, [1]), out(f32, [1]), scalar(0.0f32)]);
    assert!(x.is_err(), "an output is not an input; its marks go with it");
    let x = o.alloc(f32, [4])?;
    let y = o.dump(&[1]).submit(&SHIFT, [x.read(), out(f32, [4]), scalar(1.0f32)])?.out(0);
    let z = o.submit(&SHIFT, [y.read(), out(f32, [4]), scalar(2.0f32)])?.out(0);
    o.dump(&[0, 2]).submit(&ADD, [y.read(), z.read(), x.write()]).map(drop)
}

#[test]
fn only_marked_arguments_are_captured_if_that_is_what_is_asked_for() {
    let sandbox = Sandbox::new();
    let marked = Way { selection: DumpSelection::Marked, ..ALL };
    let run = recorded(&sandbox, marked, &mut Buffers::new(), three_grow);
    // Submit 0 is the alloc.
    assert_eq!(run.captured(), [(1, 1, After), (3, 0, Before), (3, 2, After)]);
    assert_eq!(run.floats(3, 2, After), [1.0 + 3.0; 4]);
    assert_eq!(run.dump.head.selection.as_deref(), Some("@marked"));
}

#[test]
fn selected_kernels_and_arguments_are_captured_and_what_is_marked_with_them() {
    let one = |name: &str, arg| vec![SelectedKernel { name: name.to_string(), arg }];
    for (selected, expected) in [
        (one("ADD", None), vec![(1, 1, After), (3, 0, Before), (3, 1, Before), (3, 2, After)]),
        (
            one("SHIFT", Some(2)),
            vec![(1, 1, After), (1, 2, Before), (2, 2, Before), (3, 0, Before), (3, 2, After)],
        ),
    ] {
        let sandbox = Sandbox::new();
        let way = Way { selection: DumpSelection::Kernels(selected), ..ALL };
        assert_eq!(recorded(&sandbox, way, &mut Buffers::new(), three_grow).captured(), expected);
    }
}

/// Three times the arena of a core, in numbers.
const HUGE: u32 = 3 * (8 << 20) / 4;

fn huge(sandbox: &Sandbox, overflow: Overflow) -> (Recorded, Vec<u32>) {
    let mut data = Buffers::new();
    let values: Vec<u32> = (0..HUGE).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let x = data.add(&[HUGE], &values).unwrap();
    let way = Way { selection: DumpSelection::Everything, overflow, threads: 1 };
    let run = recorded(sandbox, way, &mut data, |o| {
        let x = o.external(x)?;
        o.submit(&GROW, [x.inout()]).map(drop)
    });
    (run, values)
}

#[test]
fn a_tensor_larger_than_the_arena_is_streamed_whole_under_block() {
    let sandbox = Sandbox::new();
    let (run, values) = huge(&sandbox, Overflow::Block);
    assert_eq!(run.tensor(0, 0, Before).0.truncated, Truncated::No);
    assert!(run.numbers(0, 0, Before) == values, "other bytes than were there before");
    let grown = values.iter().map(|x| x.wrapping_mul(3) + 1);
    assert!(run.numbers(0, 0, After).into_iter().eq(grown), "other bytes than were there after");
    assert_eq!(run.bin.len(), 2 * 4 * HUGE as usize);
    assert_eq!(run.manifest.files.iter().filter_map(|file| file.dropped).sum::<u64>(), 0);
}

#[test]
fn a_tensor_larger_than_the_arena_is_cut_and_marked_under_drop() {
    let sandbox = Sandbox::new();
    let (run, values) = huge(&sandbox, Overflow::Drop);
    let counts = run.dump.head.counts;
    assert_eq!(counts.records.total(), 2);
    for (stage, expected) in
        [(Before, values.clone()), (After, values.iter().map(|x| x.wrapping_mul(3) + 1).collect())]
    {
        let (tensor, bytes) = run.tensor(0, 0, stage);
        assert_eq!(tensor.truncated == Truncated::Yes, tensor.bin_size < 4 * u64::from(HUGE));
        // What is there is the beginning, and right.
        let numbers = bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap()));
        assert!(numbers.eq(expected.iter().copied().take(bytes.len() / 4)), "{stage}");
    }
    // Whether the collector kept up depends on the machine; the count shows it.
    let cut = run.dump.records.iter().filter(|record| is_cut(record)).count() as u64;
    assert_eq!(counts.truncated, cut);
    assert!(Path::new(&run.dir).join("run.json").exists());
}

fn is_cut(record: &DumpRecord) -> bool {
    matches!(&record.data, DumpData::Tensor(tensor) if tensor.truncated == Truncated::Yes)
}
