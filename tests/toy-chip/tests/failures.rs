//! Memory that fails: each operation ends the run with an error that names it, and the next run is as good as ever.

use std::panic::Location;

use ringlane_engine::chip_runtime::ChipRuntime;
use ringlane_engine::memory::MemoryOp;
use ringlane_engine::observe::{Argument, ObservedTask};
use ringlane_engine::prelude::*;
use ringlane_engine::seams::Probe;
use ringlane_task::{CallConfig, CoreId, Explain};
use toy_chip::{Failing, ToyRuntime};

kernel! { static DOUBLE = any fn(x: &[u32], y: &mut [u32]) { y.iter_mut().zip(x).for_each(|(y, x)| *y = 2 * x); } }
kernel! { static MINE = any fn(y: SharedMut<u32>, block: Block) {
    // SAFETY: every block has another element.
    unsafe { y.set(block.index.0 as usize, block.index.0 + 1) };
} }

/// Reads every argument before a task and after it, as the dump does.
struct Reads;

impl Reads {
    fn all(task: &ObservedTask<'_>) {
        for argument in task.args() {
            if let Argument::Tensor(tensor) = argument {
                // SAFETY: before the task's first block or after its last.
                unsafe { tensor.read(|bytes| assert!(!bytes.is_empty())) };
            }
        }
    }
}

impl Probe for Reads {
    fn dispatch(&self, _core: CoreId, task: &ObservedTask<'_>) {
        Reads::all(task);
    }

    fn complete(&self, _core: CoreId, task: &ObservedTask<'_>) {
        Reads::all(task);
    }
}

/// Of each operation several, in this order: 2 copies in for the buffers, 1 zero for `alloc`, 1 copy in for `upload`, 1 zero for
/// the shared output, 1 zero for the output of the block, 1 gather for the read, 2 copies out.
fn orchestrate(o: &mut Orch<'_, '_>, [x, y]: [BufferId; 2]) -> Result<Vec<u32>> {
    let (x, y) = (o.external(x)?, o.external(y)?);
    let zeros = o.alloc(u32, [4])?;
    let up = o.upload(&[3u32; 4], [4])?;
    o.submit(&DOUBLE, [zeros.read(), y.write()])?;
    o.submit(MINE.blocks(4), [out(u32, [4])])?;
    let made = o.submit(&DOUBLE, [x.read(), out(u32, [4])])?.out(0);
    let seen = o.read::<u32>(made)?;
    o.submit(&DOUBLE, [up.read(), y.write()])?;
    Ok(seen)
}

fn run(runtime: &mut ToyRuntime, probe: &impl Probe) -> (Result<Vec<u32>>, Vec<u32>) {
    let mut data = Buffers::new();
    let ids = [[1u32; 4], [8; 4]].map(|values| data.add(&[4], &values).unwrap());
    let run = runtime.run_at(Location::caller(), &mut data, probe, |o| orchestrate(o, ids));
    let result = run.result;
    (result, data.get::<u32>(ids[1]).unwrap().to_vec())
}

/// The error if all operations of a kind fail after this number of them, and what `y` holds then. After it, all is as ever.
fn failing(operation: MemoryOp, after: u32, probe: &impl Probe) -> (String, String, Vec<u32>) {
    let mut runtime = ToyRuntime::new(&CallConfig::default()).unwrap();
    // Heap memory that was never used needs no zeroing.
    assert_eq!(run(&mut runtime, probe).0.unwrap(), [2; 4]);
    Failing { operation, after }.in_the_next_run();
    let (result, y) = run(&mut runtime, probe);
    let error = result.unwrap_err();
    let (result, whole) = run(&mut runtime, probe);
    assert_eq!((result.unwrap(), whole), (vec![2; 4], vec![6; 4]));
    (error.name().to_string(), error.detail(), y)
}

#[test]
fn every_operation_that_fails_ends_the_run_and_is_named() {
    let first_copy = "copying 16 bytes into external buffer 0: the toy was asked to fail";
    let second_copy = "copying 16 bytes into external buffer 1: the toy was asked to fail";
    let upload = "copying 16 bytes into heap ring 0: the toy was asked to fail";
    let zero = "zeroing 16 bytes of heap ring 0: the toy was asked to fail";
    let gather = "gathering 16 bytes of heap ring 0: the toy was asked to fail";
    let back = "copying 16 bytes out of external buffer 0: the toy was asked to fail";
    let second_back = "copying 16 bytes out of external buffer 1: the toy was asked to fail";
    let cases = [
        // Nothing ran, and nothing is copied back.
        (MemoryOp::CopyIn, 0, first_copy, 8),
        (MemoryOp::CopyIn, 1, second_copy, 8),
        (MemoryOp::CopyIn, 2, upload, 8),
        (MemoryOp::Zero, 0, zero, 8),
        (MemoryOp::Zero, 1, zero, 8),
        // A task that was submitted before may have run: this chip runs it when the orchestration waits.
        (MemoryOp::Zero, 2, zero, 0),
        (MemoryOp::Gather, 0, gather, 0),
        (MemoryOp::CopyOut, 0, back, 8),
        (MemoryOp::CopyOut, 1, second_back, 8),
    ];
    for (operation, after, detail, y) in cases {
        let (name, found, left) = failing(operation, after, &());
        assert_eq!(name, "DeviceMemory", "{operation:?} {after}: {found}");
        assert!(found.starts_with(detail), "{operation:?} {after}: {found}");
        assert_eq!(left, [y; 4], "{operation:?} {after}");
    }
}

#[test]
fn a_block_whose_output_cannot_be_zeroed_fails_and_names_its_task() {
    let (_, detail, _) = failing(MemoryOp::Zero, 2, &());
    let failed = "and TaskFailed: task 0:4 (DOUBLE";
    assert!(detail.contains(failed), "{detail}");
}

#[test]
fn what_a_probe_cannot_read_ends_the_run_too() {
    for after in [0, 1, 5] {
        let (name, detail, _) = failing(MemoryOp::Gather, after, &Reads);
        assert_eq!(name, "DeviceMemory", "{detail}");
        assert!(detail.starts_with("gathering 16 bytes of "), "{detail}");
    }
}
