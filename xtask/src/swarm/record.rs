//! Runs a program with diagnostics: it must end as it does without, and what it leaves must be true.
//!
//! ```text
//! first rings ──▶ (perhaps a deadlock) ──▶ check_run
//! last rings ───▶ as the oracle ─────────▶ check_run ─┬─▶ deps.json equal
//! last rings, other threads ─────────────▶ check_run ─┘
//! ```
//! So failed tasks, what they poison, panics, interrupts and deadlocks are all recorded, each in a directory of its own.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use ringlane::{CallConfig, OnPlatform, Platform, Runtime, Totals};
use ringlane_chip_sim::chaos::Draw;
use ringlane_engine::oracle::Fate;
use ringlane_engine::prelude::Fault;
use ringlane_engine::report::RunReport;
use ringlane_task::{DfxFlags, Explain};
use ringlane_trace::{Manifest, RunStatus, check_run, deps};

use super::capacity::{self, Attempt};
use super::check::{Failure, compare, ended_early};
use super::outcome::{Outcome, Verdict, on_engine};
use super::program::{Capacity, Diagnostics, Program};

/// A directory for recordings; gone afterwards.
pub(super) struct RunDirs(PathBuf);

impl RunDirs {
    pub(super) fn new() -> Result<Self, Failure> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = scratch().join(format!("ringlane-swarm-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(RunDirs(path))
    }

    /// The directory of a recording.
    pub(super) fn dir(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// Where recordings are stored: in memory if there is such a file system, so that the swarm does not wait for a disk.
fn scratch() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let chosen = std::env::var_os("TMPDIR").is_some();
    if !chosen && memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() }
}

impl Drop for RunDirs {
    fn drop(&mut self) {
        // Nothing depends on it being gone.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A recorded run.
pub(super) struct Observed {
    pub(super) got: Outcome,
    pub(super) report: Option<RunReport>,
    pub(super) dir: PathBuf,
    /// What it was like on a modelled chip.
    pub(super) totals: Option<Totals>,
}

impl Observed {
    /// Whether the program itself decided how far it came: no interrupt, no ring that was too small, no
    /// core that fell silent.
    pub(super) fn is_whole(&self) -> bool {
        match &self.got.verdict {
            Verdict::Failed(error) => {
                error.name() != "Interrupted" && Attempt::of(error, &self.got).is_none() && !self.is_cut_off()
            }
            Verdict::Done | Verdict::Panicked(_) => true,
        }
    }

    /// Whether it ended because of a core that chaos had drawn silent.
    pub(super) fn is_cut_off(&self) -> bool {
        let Verdict::Failed(error) = &self.got.verdict else { return false };
        let Fault::CoreSilent { core, .. } = error.fault() else { return false };
        let drawn = |draw: &Draw| matches!(draw, Draw::SilentCore(silent, _) if silent.0 == *core);
        self.totals.as_ref().is_some_and(|totals| totals.draws.iter().any(drawn))
    }
}

/// Records a program on its first rings and on those that suffice, and checks what is left.
pub(crate) fn check(
    program: &Program,
    expected: &(Outcome, Vec<Fate>),
    rings: [Capacity; 2],
) -> Result<(), Failure> {
    let Some(plan) = &program.recorded else { return Ok(()) };
    let (dirs, [first, last]) = (RunDirs::new()?, rings);
    let on_cpu = |rings: &Capacity, threads: i32, diagnostics: Diagnostics, name: &str| {
        let recording = Recording {
            platform: Runtime::on(Platform::Cpu),
            config: capacity::config(rings, threads),
            diagnostics,
            dir: dirs.dir(name),
        };
        recording.observe(program)
    };
    if first != last {
        on_cpu(&first, program.threads, plan.diagnostics, "first")?;
    }
    let one = on_cpu(&last, program.threads, plan.diagnostics, "one")?;
    if one.is_whole() {
        compare(program, expected, &one.got, one.report.as_ref())?;
    }
    let flags = plan.diagnostics.flags;
    let with_deps = Diagnostics { flags: flags.with(DfxFlags::DEPS), ..plan.diagnostics };
    let other = on_cpu(&last, plan.other_threads, with_deps, "other")?;
    if flags.contains(DfxFlags::DEPS) {
        let between = || format!("{} and {} threads", program.threads, plan.other_threads);
        same_deps(&one, &other).map_err(|failure| format!("{failure} between {}", between()))?;
    }
    Ok(())
}

/// Whether two recordings of one program have the same dependencies, if both have all of them.
pub(super) fn same_deps(one: &Observed, other: &Observed) -> Result<(), Failure> {
    if !one.is_whole() || !other.is_whole() || one.got.refused != other.got.refused {
        return Ok(());
    }
    let read = |dir: &Path| fs::read(dir.join(deps::FILE_NAME)).map_err(|error| error.to_string());
    if read(&one.dir)? == read(&other.dir)? { Ok(()) } else { Err("deps.json differs".to_string()) }
}

/// A run that is to be recorded: on what, how, and into which directory.
pub(super) struct Recording {
    pub(super) platform: OnPlatform,
    pub(super) config: CallConfig,
    pub(super) diagnostics: Diagnostics,
    pub(super) dir: PathBuf,
}

impl Recording {
    /// Runs a program with diagnostics, interrupted first if it is one of those; what it leaves must be true.
    pub(super) fn observe(self, program: &Program) -> Result<Observed, Failure> {
        let cannot = |error: ringlane::SetupError| format!("the runtime did not start: {error:?}");
        let mut runtime = self.platform.clone().with(&self.config_for(&self.dir)?).map_err(cannot)?;
        if let Some(at) = program.interrupt_at {
            let dir = self.interrupted_dir();
            runtime.observe(&self.config_for(&dir)?).map_err(cannot)?;
            let (got, report) = on_engine(&mut runtime, program, Some(at));
            let observed = Observed { got, report, dir, totals: runtime.modelled().cloned() };
            if !observed.is_cut_off() {
                ended_early(at, &observed.got)?;
            }
            is_true(&observed)?;
        }
        runtime.observe(&self.config_for(&self.dir)?).map_err(cannot)?;
        let (got, report) = on_engine(&mut runtime, program, None);
        let observed = Observed { got, report, dir: self.dir, totals: runtime.modelled().cloned() };
        is_true(&observed)?;
        Ok(observed)
    }

    fn config_for(&self, dir: &Path) -> Result<CallConfig, Failure> {
        let Diagnostics { flags, overflow, pmu_group } = self.diagnostics;
        let mut config = self.config.with_dfx_flags(flags).with_overflow(overflow);
        config.pmu_group = pmu_group;
        let path = dir.to_str().ok_or("a temporary directory that is not UTF-8")?;
        config.set_output_prefix(path).map_err(|error| error.to_string())?;
        Ok(config)
    }

    /// Where the run that is interrupted is recorded.
    fn interrupted_dir(&self) -> PathBuf {
        self.dir.with_extension("interrupted")
    }
}

/// Whether the files of a run are true of each other and of how it ended.
fn is_true(observed: &Observed) -> Result<(), Failure> {
    let (dir, verdict) = (&observed.dir, &observed.got.verdict);
    let report = check_run(dir).map_err(|error| error.to_string())?;
    if !report.broken.is_empty() {
        let first: Vec<_> = report.broken.iter().take(5).collect();
        return Err(format!("{} broken after {verdict:?}: {first:#?}", report.broken.len()));
    }
    let manifest = Manifest::read(dir).map_err(|error| error.to_string())?;
    let wrong = |what: &str| Err(format!("{what} after {verdict:?}: {manifest:#?}"));
    if (manifest.status == RunStatus::Ok) != matches!(verdict, Verdict::Done) {
        return wrong("another status");
    }
    if manifest.files.iter().any(|file| file.incomplete.is_some()) {
        return wrong("a file is incomplete");
    }
    let counted = |report: &RunReport| {
        (manifest.tasks, manifest.blocks, manifest.skipped) == (report.tasks, report.blocks, report.skipped)
    };
    if observed.report.as_ref().is_some_and(|report| !counted(report)) {
        return wrong("other counts");
    }
    Ok(())
}
