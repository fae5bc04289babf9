//! The duration of a task, from its submit, its kernel's cost model or a recorded table; and the effect on policies.

mod support;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use ringlane_chip_sim::cost::{BlockTimes, CostTable, Programs, TableRecorder};
use ringlane_chip_sim::policy::PolicyName;
use ringlane_chip_sim::{SimOptions, SimRuntime};
use ringlane_engine::observe::PlacedBlock;
use ringlane_engine::prelude::*;
use ringlane_engine::seams::Probe;
use ringlane_engine::table::task_id;
use ringlane_task::{CallConfig, ChipSpec, Explain, TaskId};

kernel! { static STEP = aiv fn(x: &[f32], y: &mut [f32]) { y[0] = x[0] + 1.0; } }
kernel! { static PART = aiv fn(x: &mut [f32]) { x.fill(1.0); } cost Cost::Ticks(|_| 1_000) }
kernel! { static CUBE = aic fn(x: &mut [f32]) { x.fill(2.0); } }
kernel! { static SPIN = any fn(x: &mut [f32], rounds: u32) { x[0] += rounds as f32; }
cost Cost::Time(|args| Duration::from_nanos(100) * args.scalar::<u32>(0).unwrap_or(1)) }

/// The ticks of each block, by task, lane and index.
#[derive(Default)]
struct Blocks(Mutex<BTreeMap<(TaskId, u8, u32), u64>>);

impl Probe for Blocks {
    fn block(&self, block: &PlacedBlock<'_>) {
        let key = (task_id(block.record), block.lane, block.block);
        self.0.lock().unwrap().insert(key, block.end.0 - block.start.0);
    }
}

impl Blocks {
    fn ticks(&self) -> Vec<u64> {
        self.0.lock().unwrap().values().copied().collect()
    }

    /// Their durations, as a table for their only kernel.
    fn table(&self, clock_freq_hz: u64, programs: Programs) -> CostTable {
        let mut times = BlockTimes::default();
        for (&(task, lane, block), &ticks) in self.0.lock().unwrap().iter() {
            times.add_block(task, lane, block, ticks);
        }
        let mut recorder = TableRecorder::new("a2a3sim").of(programs);
        recorder.add("STEP", times, clock_freq_hz);
        recorder.finish()
    }
}

fn run(
    spec: &ChipSpec,
    options: SimOptions,
    f: impl for<'r, 'e> FnOnce(&mut Orch<'r, 'e>) -> Result<()>,
) -> (Blocks, u64) {
    let mut runtime = SimRuntime::new(spec, &CallConfig::default(), options).unwrap();
    let blocks = Blocks::default();
    let run = runtime.run_at(std::panic::Location::caller(), &mut Buffers::new(), &blocks, f);
    run.result.unwrap();
    (blocks, run.report.makespan_ticks)
}

#[test]
fn a_duration_given_at_submit_holds_for_each_block_and_kernel_of_the_task() {
    let us = Duration::from_micros;
    let (blocks, _) = run(&support::a2a3(), SimOptions::default(), |o| {
        let x = o.alloc(f32, [4])?;
        o.submit(&PART, [x.write()])?;
        o.submit(PART.taking(us(7)), [x.write()])?;
        o.submit(PART.blocks(2).taking(us(3)), [x.out_split(0)])?;
        o.submit(CUBE.mixed(&[&PART]).labelled("both").taking(us(5)), [out(f32, [1]), out(f32, [1])])?;
        o.submit(PART.labelled("named"), [x.write()]).map(drop)
    });
    // A tick is 20 ns.
    assert_eq!(blocks.ticks(), [1_000, 350, 150, 150, 250, 250, 1_000]);
}

#[test]
fn a_cost_model_sees_scalars_and_returns_nanoseconds() {
    let (blocks, _) = run(&support::a2a3(), SimOptions::default(), |o| {
        let x = o.alloc(f32, [1])?;
        [1u32, 10, 200].into_iter().try_for_each(|n| o.submit(&SPIN, [x.inout(), scalar(n)]).map(drop))
    });
    assert_eq!(blocks.ticks(), [5, 50, 1_000]);
}

/// A chip with two vector cores whose control costs nothing.
fn two_cores() -> ChipSpec {
    let mut spec = support::a2a3();
    (spec.clusters, spec.aiv_per_cluster, spec.schedulers, spec.dispatch_ahead) = (1, 2, 1, 0);
    spec.costs = ringlane_task::ControlCosts::default();
    spec
}

/// Whether a program specifies the durations of its tasks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Durations {
    AtSubmit,
    FromModel,
}

/// After a first task: a short one followed by a long one, and forty others.
fn forest(o: &mut Orch<'_, '_>, durations: Durations) -> Result<()> {
    let launch = |us| match durations {
        Durations::AtSubmit => STEP.taking(Duration::from_micros(us)),
        Durations::FromModel => (&STEP).into(),
    };
    let zero = o.alloc(f32, [1])?;
    let gate = o.submit(launch(100), [zero.read(), out(f32, [1])])?.out(0);
    // Among tasks with the same predecessor, `fifo` runs the first submitted last.
    let head = o.submit(launch(1), [gate.read(), out(f32, [1])])?.out(0);
    for _ in 0..40 {
        o.submit(launch(10), [gate.read(), out(f32, [1])])?;
    }
    o.submit(launch(400), [head.read(), out(f32, [1])]).map(drop)
}

#[test]
fn the_critical_path_policy_ranks_by_durations_given_at_submit_and_by_recorded_ones() {
    let spec = two_cores();
    let options = |policy, costs: Option<&CostTable>| SimOptions {
        policy,
        costs: costs.cloned(),
        ..SimOptions::default()
    };
    let us = |ticks: u64| ticks / 50;
    let by_submit = |policy| run(&spec, options(policy, None), |o| forest(o, Durations::AtSubmit));
    let (blocks, fifo) = by_submit(PolicyName::Fifo);
    let (_, critical) = by_submit(PolicyName::CriticalPath);
    // The long task follows forty of 10 µs on two cores, or runs in parallel with them.
    assert_eq!((us(fifo), us(critical)), (100 + 200 + 1 + 400, 100 + 1 + 400));
    let table = blocks.table(spec.counter_hz, Programs::One);
    let recorded = |policy| run(&spec, options(policy, Some(&table)), |o| forest(o, Durations::FromModel)).1;
    assert_eq!((recorded(PolicyName::Fifo), recorded(PolicyName::CriticalPath)), (fifo, critical));
}

#[test]
fn a_program_replayed_from_its_table_has_the_makespan_that_was_recorded() {
    // Forty chains whose tasks take between 1 and 300 µs.
    let chains = |o: &mut Orch<'_, '_>, durations: Durations| {
        for chain in 0..40u64 {
            o.scope(|o| {
                let mut last = o.alloc(f32, [1])?;
                for step in 0..12u64 {
                    let us = match (((chain * 12 + step) * 2_654_435_761) >> 7) % 10 {
                        0 => 300,
                        other => 1 + other,
                    };
                    let launch = match durations {
                        Durations::AtSubmit => STEP.taking(Duration::from_micros(us)),
                        Durations::FromModel => (&STEP).into(),
                    };
                    last = o.submit(launch, [last.read(), out(f32, [1])])?.out(0);
                }
                Ok(())
            })?;
        }
        Ok(())
    };
    let spec = support::a2a3();
    let (blocks, recorded) = run(&spec, SimOptions::default(), |o| chains(o, Durations::AtSubmit));
    let replay = |table: CostTable| {
        let options = SimOptions { costs: Some(table), ..SimOptions::default() };
        run(&spec, options, |o| chains(o, Durations::FromModel))
    };
    let off = |makespan: u64| makespan.abs_diff(recorded) as f64 / recorded as f64;
    let json = blocks.table(spec.counter_hz, Programs::One).to_json();
    let (_, replayed) = replay(CostTable::parse(json.as_bytes(), "f.json".as_ref()).unwrap());
    assert!(off(replayed) < 0.001, "{replayed} is not {recorded}");
    // One mean for all blocks, as in an old table, is far off.
    let step = blocks.table(spec.counter_hz, Programs::One).kernels()[0].clone();
    let old = format!(
        r#"{{"version":1,"chip":"cpu","clock_freq_hz":1,"kernels":[{{"name":"STEP","blocks":{},"mean_ps":{},"min_ps":{},"max_ps":{}}}]}}"#,
        step.blocks, step.mean_ps, step.min_ps, step.max_ps
    );
    let (_, mean) = replay(CostTable::parse(old.as_bytes(), "f.json".as_ref()).unwrap());
    assert!(off(mean) > 0.1, "{mean} is near {recorded}");
    // A distribution has long and short blocks, in the recorded proportion.
    let (drawn, _) = replay(blocks.table(spec.counter_hz, Programs::Several));
    let [drawn, taken] = [&drawn, &blocks].map(|blocks| (blocks.ticks().iter().sum::<u64>(), blocks.ticks()));
    assert!(drawn.0.abs_diff(taken.0) < taken.0 / 5, "{} is not {}", drawn.0, taken.0);
    assert_eq!(drawn.1.iter().max(), taken.1.iter().max());
}

#[test]
fn a_silent_core_names_the_task_with_its_label() {
    let mut spec = support::a2a3();
    (spec.clusters, spec.aiv_per_cluster, spec.schedulers) = (1, 1, 1);
    let errors = (0..24).filter_map(|seed| {
        let options = SimOptions { chaos: Some(seed), ..SimOptions::default() };
        let mut runtime = SimRuntime::new(&spec, &CallConfig::default(), options).unwrap();
        let run = runtime.run(&mut Buffers::new(), |o| {
            let x = o.alloc(f32, [64])?;
            (0..64).try_for_each(|i| o.submit(PART.labelled(&format!("part {i}")), [x.write()]).map(drop))
        });
        run.result.err()
    });
    let details: Vec<_> =
        errors.inspect(|e| assert_eq!(e.name(), "CoreSilent")).map(|e| e.detail()).collect();
    assert!(!details.is_empty());
    assert!(details.iter().all(|detail| detail.contains(r#"(PART "part "#)), "{details:?}");
}
