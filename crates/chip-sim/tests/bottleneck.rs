//! If the schedulers are the bottleneck, their phases show it.

mod support;

use std::collections::BTreeMap;
use std::sync::Mutex;

use ringlane_chip_sim::core::CoreKind;
use ringlane_chip_sim::{SimOptions, SimRuntime};
use ringlane_engine::observe::{ThreadPhase, ThreadWork};
use ringlane_engine::prelude::*;
use ringlane_engine::seams::Probe;
use ringlane_task::CallConfig;

kernel! {
    /// A microsecond on any core.
    static SHORT = any fn(x: &mut [f32], block: Block) { x.fill(block.index.0 as f32); } cost Cost::Ticks(|_| 50)
}
kernel! {
    /// A tenth of a millisecond.
    static LONG = any fn(x: &mut [f32], block: Block) { x.fill(block.index.0 as f32); } cost Cost::Ticks(|_| 5_000)
}

/// Ticks of all threads, by phase.
#[derive(Default)]
struct PhaseTicks(Mutex<BTreeMap<String, u64>>);

impl Probe for PhaseTicks {
    fn phase(&self, phase: &ThreadPhase) {
        *self.0.lock().unwrap().entry(format!("{:?}", phase.work)).or_default() +=
            phase.end.0 - phase.start.0;
    }
}

/// The share of each phase in the time of the threads, and the utilization of the vector cores.
fn shares(kernel: &'static Kernel) -> (impl Fn(ThreadWork) -> f64, f64) {
    let mut data = Buffers::new();
    let x = data.add_zeroed(f32, &[7200]).unwrap();
    let mut runtime =
        SimRuntime::new(&support::a2a3(), &CallConfig::default(), SimOptions::default()).unwrap();
    let ticks_by_phase = PhaseTicks::default();
    let run = runtime.run_at(std::panic::Location::caller(), &mut data, &ticks_by_phase, |o| {
        let x = o.external(x)?;
        o.submit(kernel.blocks(7200), [x.out_split(0)]).map(drop)
    });
    run.result.unwrap();
    let (ticks_by_phase, all) = (ticks_by_phase.0.into_inner().unwrap(), 3 * run.report.makespan_ticks);
    assert_eq!(ticks_by_phase.values().sum::<u64>(), all, "the phases cover all of the threads' time");
    let share = move |work: ThreadWork| {
        ticks_by_phase.get(&format!("{work:?}")).copied().unwrap_or(0) as f64 / all as f64
    };
    (share, runtime.totals().utilization(CoreKind::Aiv))
}

#[test]
fn many_short_blocks_keep_the_schedulers_busy_and_the_cores_waiting() {
    let (share, busy) = shares(&SHORT);
    assert!(share(ThreadWork::Idle) < 0.02, "{}", share(ThreadWork::Idle));
    assert!(share(ThreadWork::Complete) > 0.8, "they poll: {}", share(ThreadWork::Complete));
    assert!(busy < 0.5, "cores wait to be polled: {busy}");
}

#[test]
fn long_blocks_keep_the_cores_busy_and_the_schedulers_waiting() {
    let (share, busy) = shares(&LONG);
    assert!(share(ThreadWork::Idle) > 0.5, "{}", share(ThreadWork::Idle));
    assert!(busy > 0.95, "{busy}");
}

/// The number of blocks in dispatch phases.
#[derive(Default)]
struct DispatchedBlocks(Mutex<u64>);

impl Probe for DispatchedBlocks {
    fn phase(&self, phase: &ThreadPhase) {
        if phase.work == ThreadWork::Dispatch {
            *self.0.lock().unwrap() += u64::from(phase.tasks);
        }
    }
}

#[test]
fn every_block_is_counted_in_a_dispatch_phase_even_a_short_one() {
    for dispatch_store in [0, 10_000, 1_000_000] {
        let mut spec = support::a2a3();
        spec.costs.dispatch_store = dispatch_store;
        let mut data = Buffers::new();
        let x = data.add_zeroed(f32, &[500]).unwrap();
        let mut runtime = SimRuntime::new(&spec, &CallConfig::default(), SimOptions::default()).unwrap();
        let dispatched = DispatchedBlocks::default();
        let run = runtime.run_at(std::panic::Location::caller(), &mut data, &dispatched, |o| {
            let x = o.external(x)?;
            o.submit(SHORT.blocks(500), [x.out_split(0)]).map(drop)
        });
        run.result.unwrap();
        assert_eq!(dispatched.0.into_inner().unwrap(), 500, "a store of {dispatch_store} ps");
    }
}
