//! Recorded runs on a modelled chip.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use ringlane_chip_sim::link::Direction;
use ringlane_chip_sim::pmu::Group;
use ringlane_chip_sim::{SimClock, SimRuntime};
use ringlane_engine::Result;
use ringlane_engine::api::backend::Site;
use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_probe::{Copies, Cores, Logged, ModelCounters, Recorder, logs_submitter};
use ringlane_task::{CallConfig, DfxFlags, HostMemory, UnknownPmuGroup};
use ringlane_trace::RunDir;
use ringlane_trace::swimlane::{CopyDirection, CopyRow};

use super::{ChipFacts, ObservedRun, Observing, cannot_record, facts, refused, settings};
use crate::runtime::Platform;

/// The group of a model's counters that a configuration names; 0 is the default.
pub fn model_group(config: &CallConfig) -> core::result::Result<Group, UnknownPmuGroup> {
    match config.pmu_group {
        0 => Ok(Group::default()),
        number => Group::from_number(number),
    }
}

/// Runs on a modelled chip, and records if that is asked for. `dir` is where.
pub fn run_on_sim<'e, R>(
    (platform, sim): (Platform, &mut SimRuntime),
    observing: &Observing,
    dir: Option<&RunDir>,
    site: Site,
    buffers: &'e mut Buffers<'_>,
    f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
) -> ObservedRun<R> {
    let recorder = match dir.map(|dir| start(sim, observing, dir)).transpose() {
        Ok(recorder) => recorder,
        Err(error) => return refused(error),
    };
    let start = Instant::now();
    let run = catch_unwind(AssertUnwindSafe(|| match &recorder {
        _ if logs_submitter() => sim.run_at(site, buffers, &Logged::new(recorder.as_ref()), f),
        Some(recorder) => sim.run_at(site, buffers, &recorder.probe(), f),
        None => sim.run_at(site, buffers, &(), f),
    }));
    let wall = start.elapsed();
    let (report, result) = (sim.last_report(), run.map(|run| run.result));
    let recording = recorder.map(|recorder| {
        let mut exported = recorder.export(&facts(chip_facts(platform, sim), sim.table(), &report, &result));
        // What the chip's own threads waited for room, in its time.
        exported.cost.writer_wait_ticks = sim.clock().ticks(sim.totals().record_waits).0;
        exported
    });
    ObservedRun { result, report, wall, recording }
}

fn start(sim: &mut SimRuntime, observing: &Observing, dir: &RunDir) -> Result<Recorder<SimClock>> {
    let config = &observing.config;
    let group = model_group(config).map_err(|error| cannot_record(&error))?;
    sim.count(config.dfx_flags.contains(DfxFlags::PMU).then_some(group));
    let columns = group.columns(sim.spec().pmu_counters).iter().map(|name| name.to_string()).collect();
    let counters = ModelCounters { group: group.number().into(), columns };
    let settings = settings(observing, sim.table(), Cores::Modelled { count: sim.spec().cores(), counters })?;
    // SAFETY: it is used by `run_at` of a `SimRuntime` alone, which does everything on this thread.
    #[allow(unsafe_code)]
    let recorder = unsafe { Recorder::start(sim.clock(), dir, settings) };
    recorder.map_err(|error| cannot_record(&error))
}

fn chip_facts(platform: Platform, sim: &SimRuntime) -> ChipFacts {
    let (spec, clock) = (sim.spec(), sim.clock());
    let totals = sim.totals();
    let rows = totals.copies.iter().map(|copy| CopyRow {
        direction: match copy.direction {
            Direction::In => CopyDirection::HostToDevice,
            Direction::Out => CopyDirection::DeviceToHost,
        },
        what: copy.what.to_string(),
        bytes: copy.bytes,
        start: clock.ticks(copy.start),
        end: clock.ticks(copy.end),
    });
    ChipFacts {
        platform: platform.as_str().to_string(),
        core_types: sim.core_kinds().map(|kind| kind.as_str().to_string()).collect(),
        threads: spec.schedulers,
        core_to_thread: sim.core_threads(),
        copies: (spec.host_memory == HostMemory::Copied).then(|| Copies {
            rows: rows.collect(),
            dropped: totals.copy_count - totals.copies.len() as u64,
        }),
    }
}
