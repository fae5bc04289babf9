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

use ringlane::{Platform, Runtime};
use ringlane_engine::oracle::Fate;
use ringlane_engine::report::RunReport;
use ringlane_task::{DfxFlags, Explain};
use ringlane_trace::{Manifest, RunStatus, check_run, deps};

use super::capacity::{self, Attempt};
use super::check::{Failure, compare, ended_early};
use super::outcome::{Outcome, Verdict, on_engine};
use super::program::{Capacity, Program, Recorded};

/// A directory for recordings; gone afterwards.
struct Desk(PathBuf);

impl Desk {
    fn new() -> Result<Self, Failure> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ringlane-swarm-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Desk(path))
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // Nothing depends on it being gone.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A recorded run.
struct Observed {
    got: Outcome,
    report: Option<RunReport>,
    dir: PathBuf,
}

impl Observed {
    /// Whether the program itself decided how far it came: no interrupt, and no ring that was too small.
    fn is_whole(&self) -> bool {
        match &self.got.verdict {
            Verdict::Failed(error) => {
                error.name() != "Interrupted" && Attempt::of(error, &self.got).is_none()
            }
            Verdict::Done | Verdict::Panicked(_) => true,
        }
    }
}

/// Records a program on its first rings and on those that suffice, and checks what is left.
pub(crate) fn check(
    program: &Program,
    expected: &(Outcome, Vec<Fate>),
    rings: [Capacity; 2],
) -> Result<(), Failure> {
    let Some(plan) = &program.recorded else { return Ok(()) };
    let (desk, [first, last]) = (Desk::new()?, rings);
    if first != last {
        observe(program, plan, &first, program.threads, &desk.0.join("first"))?;
    }
    let one = observe(program, plan, &last, program.threads, &desk.0.join("one"))?;
    if one.is_whole() {
        compare(program, expected, &one.got, one.report.as_ref())?;
    }
    let with_deps = Recorded { flags: plan.flags.with(DfxFlags::DEPS), ..*plan };
    let other = observe(program, &with_deps, &last, plan.other_threads, &desk.0.join("other"))?;
    let comparable = plan.flags.contains(DfxFlags::DEPS) && one.is_whole() && other.is_whole();
    if comparable && one.got.refused == other.got.refused {
        let read = |dir: &Path| fs::read(dir.join(deps::FILE_NAME)).map_err(|error| error.to_string());
        if read(&one.dir)? != read(&other.dir)? {
            return Err(format!(
                "deps.json differs between {} and {} threads",
                program.threads, plan.other_threads
            ));
        }
    }
    Ok(())
}

/// Runs a program with diagnostics into `dir`, interrupted first if it is one of those; what it leaves must be true.
fn observe(
    program: &Program,
    plan: &Recorded,
    rings: &Capacity,
    threads: i32,
    dir: &Path,
) -> Result<Observed, Failure> {
    let config = capacity::config(rings, threads).with_dfx_flags(plan.flags).with_overflow(plan.overflow);
    let into = |dir: &Path| {
        let mut config = config;
        let path = dir.to_str().ok_or("a temporary directory that is not UTF-8")?;
        config.set_output_prefix(path).map_err(|error| error.to_string())?;
        Ok::<_, Failure>(config)
    };
    let cannot = |error: ringlane::SetupError| format!("the runtime did not start: {error:?}");
    let mut runtime = Runtime::on(Platform::Cpu).with(&into(dir)?).map_err(cannot)?;
    if let Some(at) = program.interrupt_at {
        let dir = dir.with_extension("interrupted");
        runtime.observe(&into(&dir)?).map_err(cannot)?;
        let (got, report) = on_engine(&mut runtime, program, Some(at));
        ended_early(at, &got)?;
        is_true(&Observed { got, report, dir })?;
    }
    runtime.observe(&into(dir)?).map_err(cannot)?;
    let (got, report) = on_engine(&mut runtime, program, None);
    let observed = Observed { got, report, dir: dir.to_path_buf() };
    is_true(&observed)?;
    Ok(observed)
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
