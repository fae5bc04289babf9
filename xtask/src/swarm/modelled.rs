//! Runs a program on a modelled chip: it must end as the oracle says, take no less time than it must, and leave the same
//! bytes every time.
//!
//! ```text
//! first rings ──▶ hints ──▶ as the oracle ──▶ rings that suffice
//!    recorded ──▶ check_run ──▶ lower bound ─┬─▶ every file equal
//!    recorded again ─────────────────────────┘
//!    recorded on cpu and on the other chip ────▶ as the oracle, deps.json equal
//! ```
//! With chaos a recorded run may end because a core is silent: one that was drawn to be.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ringlane::{Model, OnPlatform, Platform, Runtime, SimOptions, Totals};
use ringlane_chip_sim::chaos::Draw;
use ringlane_engine::oracle::Fate;
use ringlane_insight::bound;
use ringlane_task::{CallConfig, DfxFlags, Explain};
use ringlane_trace::{Manifest, UtcTime};

use super::capacity;
use super::check::{Failure, compare, settle};
use super::draw_model::{MODELS, own_chip};
use super::outcome::Outcome;
use super::program::{Capacity, Diagnostics, Modelled, Program};
use super::record::{Observed, Recording, RunDirs, same_deps};

/// The one file that contains the time of day.
const MANIFEST: &str = "run.json";

/// Runs a program on its modelled chip, if it has one, from these rings on.
pub(crate) fn check(
    program: &Program,
    expected: &(Outcome, Vec<Fate>),
    first: Capacity,
) -> Result<(), Failure> {
    let Some(plan) = &program.modelled else { return Ok(()) };
    let rings = settle(program, expected, first, |rings| {
        platform(plan, None).with(&config(plan, rings)).map_err(|error| format!("{error:?}"))
    })?;
    let dirs = RunDirs::new()?;
    let recorded = |name: &str| {
        let (config, diagnostics) = (config(plan, &rings), plan.diagnostics);
        let recording =
            Recording { platform: platform(plan, plan.chaos), config, diagnostics, dir: dirs.dir(name) };
        let observed = recording.observe(program).map_err(|failure| format!("{name}: {failure}"))?;
        is_right(program, expected, &observed).map_err(|failure| format!("{name}: {failure}"))?;
        Ok::<_, Failure>(observed)
    };
    let (one, two) = (recorded("one")?, recorded("two")?);
    takes_its_time(plan, &one)?;
    if draws(&one) != draws(&two) {
        return Err("the same chaos drew other things".to_string());
    }
    same_files(&dirs)?;
    if plan.diagnostics.flags.contains(DfxFlags::DEPS) {
        elsewhere(program, plan, expected, &rings, &dirs, &one)?;
    }
    Ok(())
}

/// The chip of a plan.
pub(super) fn platform(plan: &Modelled, chaos: Option<u64>) -> OnPlatform {
    let options = SimOptions { policy: plan.policy, chaos, ..SimOptions::default() };
    Runtime::on(plan.platform).model(Model { chip: Some(plan.chip.clone()), options })
}

fn config(plan: &Modelled, rings: &Capacity) -> CallConfig {
    config_of(plan, capacity::config(rings, 0))
}

/// A configuration, with the part of the chip that a plan uses.
pub(super) fn config_of(plan: &Modelled, config: CallConfig) -> CallConfig {
    config.with_block_dim(plan.clusters).with_scheduler_threads(plan.schedulers)
}

fn draws(observed: &Observed) -> Option<(&[Draw], u64)> {
    observed.totals.as_ref().map(|totals| (&*totals.draws, totals.draw_count))
}

/// Whether a recorded run ended as the oracle says, unless a ring or a core that was drawn silent cut it off.
fn is_right(program: &Program, expected: &(Outcome, Vec<Fate>), observed: &Observed) -> Result<(), Failure> {
    if !observed.is_whole() {
        return Ok(());
    }
    compare(program, expected, &observed.got, observed.report.as_ref())
}

/// Whether a run took at least the time that it must have taken, and its cores were not busy for longer than that.
fn takes_its_time(plan: &Modelled, observed: &Observed) -> Result<(), Failure> {
    if let Some(Totals { makespan, busy, cores, .. }) = &observed.totals {
        let most = cores.map(|cores| u64::from(cores) * makespan);
        if busy.iter().zip(&most).any(|(busy, most)| busy > most) {
            return Err(format!("cores were busy for {busy:?} ps of {most:?}"));
        }
    }
    let flags = plan.diagnostics.flags;
    if flags.swimlane_level() == 0 || !flags.contains(DfxFlags::DEPS) {
        return Ok(());
    }
    let run =
        bound::of_run(&observed.dir).map_err(|error| format!("{}: {}", error.name(), error.detail()))?;
    if run.makespan >= run.bound.ticks { Ok(()) } else { Err(format!("shorter than it can be: {run:#?}")) }
}

/// Whether both recordings left the same bytes, those of an interrupted run too.
fn same_files(dirs: &RunDirs) -> Result<(), Failure> {
    for (one, two) in [("one", "two"), ("one.interrupted", "two.interrupted")] {
        let (one, two) = (dirs.dir(one), dirs.dir(two));
        if one.exists() || two.exists() {
            same_directory(&one, &two)?;
        }
    }
    Ok(())
}

fn same_directory(one: &Path, two: &Path) -> Result<(), Failure> {
    let files = names(one)?;
    if files != names(two)? {
        return Err(format!("other files: {files:?} and {:?}", names(two)?));
    }
    for name in files {
        let (a, b) = (one.join(&name), two.join(&name));
        let same = match name.as_str() {
            _ if a.is_dir() => same_directory(&a, &b).map(|()| true)?,
            MANIFEST => masked(one)? == masked(two)?,
            _ => bytes(&a)? == bytes(&b)?,
        };
        if !same {
            return Err(format!("{name} differs between two runs of the same"));
        }
    }
    Ok(())
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The names in a directory, in order.
fn names(dir: &Path) -> Result<BTreeSet<String>, Failure> {
    let cannot = |error: std::io::Error| format!("{}: {error}", dir.display());
    let entries = fs::read_dir(dir).map_err(cannot)?;
    entries.map(|entry| Ok(entry.map_err(cannot)?.file_name().to_string_lossy().into_owned())).collect()
}

/// A run's manifest without what the host's clock says.
fn masked(dir: &Path) -> Result<String, Failure> {
    let mut manifest = Manifest::read(dir).map_err(|error| error.to_string())?;
    (manifest.started_at, manifest.wall_us) = (UtcTime::from_unix_seconds(0), 0.0);
    (manifest.dfx_cost.collector_us, manifest.dfx_cost.export_us) = (0, 0);
    Ok(format!("{manifest:?}"))
}

/// The same program on `cpu` and on the other models: right as well, and the same dependencies.
fn elsewhere(
    program: &Program,
    plan: &Modelled,
    expected: &(Outcome, Vec<Fate>),
    rings: &Capacity,
    dirs: &RunDirs,
    here: &Observed,
) -> Result<(), Failure> {
    let models = MODELS.into_iter().filter(|&model| model != plan.platform);
    for platform in models.chain([Platform::Cpu]) {
        let (on, config) = if platform.modelled().is_none() {
            (Runtime::on(platform), capacity::config(rings, program.threads))
        } else {
            let model = Model { chip: Some(own_chip(platform)), options: SimOptions::default() };
            (Runtime::on(platform).model(model), capacity::config(rings, 0))
        };
        let diagnostics = Diagnostics { pmu_group: 0, ..plan.diagnostics };
        let recording = Recording { platform: on, config, diagnostics, dir: dirs.dir(platform.as_str()) };
        let named = |failure| format!("{platform}: {failure}");
        let there = recording.observe(program).map_err(named)?;
        is_right(program, expected, &there).map_err(named)?;
        same_deps(here, &there).map_err(|failure| format!("{failure} from that on {platform}"))?;
    }
    Ok(())
}
