//! What a program vouches for, and what a probe answers, stays within its bounds.
#![cfg(not(shuttle))]

use ringlane_chip_cpu::CpuRuntime;
use ringlane_engine::prelude::*;
use ringlane_engine::seams::Probe;
use ringlane_engine::slot::TaskRecord;
use ringlane_engine::{Error, oracle};
use ringlane_task::{CallConfig, CoreId, Ticks};

kernel! { static SET = any fn(x: &mut [u32], to: u32) { x.fill(to); } }
kernel! { static COPY = any fn(x: &[u32], y: &mut [u32]) { y.copy_from_slice(x); } }

/// Says that it reads its argument, and writes it.
static LIAR: Kernel = Kernel::new("LIAR", CoreType::Any, &[<&[u32]>::SPEC], |args| {
    args.take::<&mut [u32]>()?.fill(9);
    Ok(())
});

static CONSTANT: [u32; 4] = [1, 2, 3, 4];

/// Runs a program on one thread, on two, and in order, on a buffer that was lent for reading.
fn on_a_constant(program: impl Fn(&mut Orch<'_, '_>, BufferId) -> Result<()>) -> [Result<()>; 3] {
    let run = |threads| {
        let mut data = Buffers::new();
        let x = data.lend(&[4], &CONSTANT)?;
        CpuRuntime::new(&CallConfig::default().with_threads(threads))?
            .run(&mut data, |o| program(o, x))
            .result
    };
    let in_order = || {
        let mut data = Buffers::new();
        let x = data.lend(&[4], &CONSTANT)?;
        oracle::run(&mut data, |o| program(o, x))
    };
    [run(1), run(2), in_order()]
}

fn name<R: std::fmt::Debug>(result: Result<R, Error>) -> &'static str {
    result.unwrap_err().name()
}

#[test]
fn an_argument_that_is_not_followed_cannot_write_what_was_lent_for_reading() {
    for result in on_a_constant(|o, x| {
        let x = o.external(x)?;
        // SAFETY: nothing else touches it.
        let refused = o.submit(&SET, [unsafe { x.no_dep() }, scalar(1u32)]).map(drop);
        assert_eq!(name(refused), "ReadOnly");
        // SAFETY: nothing writes it.
        let copied = o.submit(&COPY, [unsafe { x.no_dep() }, out(u32, [4])])?;
        assert_eq!(o.read::<u32>(copied.out(0))?, CONSTANT);
        Ok(())
    }) {
        result.unwrap();
    }
}

#[test]
fn a_kernel_that_reads_an_argument_that_is_not_followed_cannot_write_it() {
    for result in on_a_constant(|o, x| {
        let x = o.external(x)?;
        // SAFETY: nothing writes it.
        o.submit(&LIAR, [unsafe { x.no_dep() }]).map(drop)
    }) {
        assert_eq!(name(result), "TaskFailed");
    }
    assert_eq!(CONSTANT, [1, 2, 3, 4]);
}

#[test]
fn an_argument_that_is_not_followed_counts_for_overlap_within_its_task() {
    for result in on_a_constant(|o, _| {
        let y = o.alloc(u32, [4])?;
        // SAFETY: no other task touches it.
        let (loose, tied) = (unsafe { y.no_dep() }, y.slice(0, 1, 2)?);
        // SAFETY: as above.
        let half = unsafe { y.slice(0, 0, 2)?.no_dep() };
        assert_eq!(name(o.submit(&COPY, [loose, y.write()]).map(drop)), "ArgsOverlap");
        assert_eq!(name(o.submit(&COPY, [y.read(), loose]).map(drop)), "ArgsOverlap");
        assert_eq!(name(o.submit(&COPY, [loose, loose]).map(drop)), "ArgsOverlap");
        assert_eq!(name(o.submit(&COPY, [half, tied.inout()]).map(drop)), "ArgsOverlap");
        o.submit(&COPY, [half, y.slice(0, 2, 2)?.inout()]).map(drop)
    }) {
        result.unwrap();
    }
}

/// Answers with times that no slot can hold.
struct FarFuture;

impl Probe for FarFuture {
    fn ended(&self, _core: CoreId, _record: &TaskRecord) -> Ticks {
        Ticks(u64::MAX)
    }
    fn ready(&self, _core: CoreId, _floor: Ticks) -> Ticks {
        Ticks(u64::MAX)
    }
    fn seen(&self) -> Ticks {
        Ticks(u64::MAX)
    }
}

#[test]
fn a_probe_that_answers_with_impossible_times_changes_no_result() {
    for threads in [1, 2] {
        let mut runtime = CpuRuntime::new(&CallConfig::default().with_threads(threads)).unwrap();
        let site = core::panic::Location::caller();
        let run = runtime.run_at(site, &mut Buffers::new(), &FarFuture, |o| {
            let x = o.alloc(u32, [64])?;
            for round in 0..200u32 {
                o.scope(|o| {
                    for i in 0..64 {
                        o.submit(&SET, [x.slice(0, i, 1)?.write(), scalar(round)])?;
                    }
                    Ok(())
                })?;
            }
            o.read::<u32>(x)
        });
        assert_eq!(run.result.unwrap(), [199; 64]);
    }
}
