//! Whether the files of a run are true of each other.
//!
//! Each block ran once, no core ran two blocks at once, no task started before its producers ended, every captured
//! byte is where the record says, no peak is above its capacity, nothing was lost unaccounted. One file for each
//! artifact; what a reader refuses by itself (counts that do not add up, words that are not known) is found there and
//! reported here.
//!
//! Memory grows with the rows: this is for finding out, not for every run.

mod deps;
mod dist;
mod dump;
mod hazards;
mod incomplete;
mod manifest;
mod pmu;
mod scopes;
mod swimlane;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ringlane_task::{Explain, TaskId};

use crate::error::TraceError;
use crate::manifest::{FILE_NAME as RUN_JSON, Manifest, RunStatus};
use crate::rows::deps::{self as deps_rows, Deps};
use crate::rows::dist::{self as dist_rows, CallStatus, Dist};
use crate::rows::dump::{self as dump_rows, Dump};
use crate::rows::pmu::{self as pmu_rows, Pmu};
use crate::rows::scopes::{self as scope_rows, Scopes};
use crate::rows::swimlane::{self as swimlane_rows, BlockRow, Swimlane, SwimlaneLevel};

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Checks that held.
    pub held: u64,
    /// Those that did not, in the order in which they were made.
    pub broken: Vec<Broken>,
    /// What was lost while the run was recorded: the files say so, and are true of what is left.
    pub incomplete: Vec<Broken>,
}

impl CheckReport {
    /// Whether everything is there and true.
    pub const fn is_whole(&self) -> bool {
        self.broken.is_empty() && self.incomplete.is_empty()
    }
}

/// Something that cannot be true of a run, or is missing from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The file it was found in.
    pub file: &'static str,
    /// What is wrong, or missing.
    pub what: String,
}

/// Checks the files of a run. A file that cannot be read counts as broken; the error is for a directory that cannot.
/// Of the runs below a node's it checks that they are there and how they ended; [`check_tree`] checks them too.
///
/// ```
/// use ringlane_trace::{Manifest, RunDir, UtcTime, check_run};
/// let path = std::env::temp_dir().join(format!("ringlane-check-{}", std::process::id()));
/// let dir = RunDir::create_exact(&path)?;
/// assert_eq!(check_run(&path)?.broken[0].what, "the run did not finish");
/// Manifest::new("vector", "small", "cpu", UtcTime::now()).write(&dir)?;
/// assert!(check_run(&path)?.broken.is_empty());
/// # std::fs::remove_dir_all(&path).unwrap();
/// # Ok::<(), ringlane_trace::TraceError>(())
/// ```
pub fn check_run(dir: impl AsRef<Path>) -> Result<CheckReport, TraceError> {
    let dir = dir.as_ref();
    std::fs::read_dir(dir).map_err(|source| TraceError::CannotRead { path: dir.to_path_buf(), source })?;
    let mut checks = Checks::default();
    let run = Run::read(dir, &mut checks);
    if let Some(manifest) = &run.manifest {
        manifest::check(checks.of(RUN_JSON), dir, manifest);
        dist::check_children(checks.of(RUN_JSON), dir, &manifest.children);
    }
    checks.report.incomplete = incomplete::of(&run);
    if let Some(swimlane) = &run.swimlane {
        swimlane::check(checks.of(swimlane_rows::FILE_NAME), swimlane, &run);
    }
    if let Some(deps) = &run.deps {
        deps::check(checks.of(deps_rows::FILE_NAME), deps, &run);
        hazards::check(checks.of(deps_rows::FILE_NAME), deps, &run);
    }
    if let Some(dump) = &run.dump {
        dump::check(checks.of(dump_rows::FILE_NAME), dir, dump, &run);
    }
    if let Some(pmu) = &run.pmu {
        pmu::check(checks.of(pmu_rows::FILE_NAME), pmu, &run);
    }
    if let Some(scopes) = &run.scopes {
        scopes::check(checks.of(scope_rows::FILE_NAME), scopes, &run);
    }
    if let Some(dist) = &run.dist {
        dist::check(checks.of(dist_rows::FILE_NAME), dir, dist, &run);
    }
    Ok(checks.report)
}

/// Checks a run and all that workers made for it, each with its directory relative to this one; the first is the run
/// itself. A worker that died before it wrote a manifest left nothing to check.
pub fn check_tree(dir: impl AsRef<Path>) -> Result<Vec<(PathBuf, CheckReport)>, TraceError> {
    let dir = dir.as_ref();
    let mut reports = vec![(PathBuf::new(), check_run(dir)?)];
    add_children(dir, Path::new(""), &mut reports);
    Ok(reports)
}

fn add_children(root: &Path, below: &Path, reports: &mut Vec<(PathBuf, CheckReport)>) {
    let Ok(manifest) = Manifest::read(root.join(below)) else { return };
    for child in &manifest.children {
        // One that is not there is reported where it is listed.
        let Some(path) = child.path_in(&root.join(below)) else { continue };
        let stopped = matches!(child.status, CallStatus::Died | CallStatus::Late);
        if stopped && !path.join(RUN_JSON).exists() {
            continue;
        }
        let Ok(report) = check_run(path) else { continue };
        let below = below.join(&child.dir);
        reports.push((below.clone(), report));
        add_children(root, &below, reports);
    }
}

/// The files of a run, as far as they are there and can be read.
struct Run {
    manifest: Option<Manifest>,
    swimlane: Option<Swimlane>,
    deps: Option<Deps>,
    dump: Option<Dump>,
    pmu: Option<Pmu>,
    scopes: Option<Scopes>,
    dist: Option<Dist>,
    /// When each task ran, from the swimlane's blocks.
    spans: HashMap<TaskId, Span>,
}

/// When the blocks of a task ran.
struct Span {
    first_start: u64,
    last_end: u64,
    blocks: u64,
}

impl Run {
    fn read(dir: &Path, checks: &mut Checks) -> Self {
        let manifest = match Manifest::read(dir) {
            Ok(manifest) => {
                checks.held(1);
                Some(manifest)
            }
            Err(TraceError::NoManifest { .. }) => {
                checks.of(RUN_JSON).broken("the run did not finish".to_string());
                None
            }
            Err(error) => {
                checks.of(RUN_JSON).broken(error.detail());
                None
            }
        };
        let swimlane = load(dir, checks, swimlane_rows::FILE_NAME, |path| Swimlane::read(path));
        let blocks = swimlane.as_ref().map_or(&[][..], |swimlane| &swimlane.blocks);
        Run {
            spans: spans_of(blocks),
            deps: load(dir, checks, deps_rows::FILE_NAME, |path| Deps::read(path)),
            dump: load(dir, checks, dump_rows::FILE_NAME, |path| Dump::read(path)),
            pmu: load(dir, checks, pmu_rows::FILE_NAME, |path| Pmu::read(path)),
            scopes: load(dir, checks, scope_rows::FILE_NAME, |path| Scopes::read(path)),
            dist: load(dir, checks, dist_rows::FILE_NAME, |path| Dist::read(path)),
            manifest,
            swimlane,
        }
    }

    /// Whether the run ended well, and says so.
    fn is_ok(&self) -> bool {
        self.manifest.as_ref().is_some_and(|manifest| manifest.status == RunStatus::Ok)
    }

    /// Whether `run.json` counts every task: the run ended well, or nothing had to run.
    fn counts_all_tasks(&self) -> bool {
        let whole = |manifest: &Manifest| matches!(manifest.status, RunStatus::Ok | RunStatus::Imported);
        self.manifest.as_ref().is_some_and(whole)
    }

    fn blocks(&self) -> &[BlockRow] {
        self.swimlane.as_ref().map_or(&[], |swimlane| &swimlane.blocks)
    }

    /// Whether blocks are missing from the swimlane.
    fn lost_blocks(&self) -> bool {
        self.swimlane.as_ref().is_some_and(|swimlane| swimlane.head.counts.blocks.dropped > 0)
    }

    /// Whether rows are missing from a file that does not count them itself.
    fn lost_rows_of(&self, name: &str) -> bool {
        let files = self.manifest.iter().flat_map(|manifest| &manifest.files);
        files.filter(|entry| entry.path == name).any(|entry| entry.dropped > Some(0))
    }

    /// The swimlane, if its level includes tasks.
    fn task_level(&self) -> Option<&Swimlane> {
        self.swimlane.as_ref().filter(|swimlane| swimlane.head.level >= SwimlaneLevel::Tasks)
    }
}

fn load<T>(
    dir: &Path,
    checks: &mut Checks,
    name: &'static str,
    read: impl Fn(&Path) -> Result<T, TraceError>,
) -> Option<T> {
    let path = dir.join(name);
    if !path.exists() {
        return None;
    }
    read(&path).map_err(|error| checks.of(name).broken(error.detail())).ok()
}

fn spans_of(blocks: &[BlockRow]) -> HashMap<TaskId, Span> {
    let mut spans = HashMap::new();
    for block in blocks {
        let fresh = || Span { first_start: block.start.0, last_end: block.end.0, blocks: 0 };
        let span: &mut Span = spans.entry(block.task_id).or_insert_with(fresh);
        span.first_start = span.first_start.min(block.start.0);
        span.last_end = span.last_end.max(block.end.0);
        span.blocks += 1;
    }
    spans
}

/// Takes down what holds and what does not.
#[derive(Default)]
struct Checks {
    report: CheckReport,
    /// The file that is being checked.
    file: &'static str,
}

impl Checks {
    fn of(&mut self, file: &'static str) -> &mut Self {
        self.file = file;
        self
    }

    /// Checks that a reader has made already.
    const fn held(&mut self, count: usize) {
        self.report.held += count as u64;
    }

    fn broken(&mut self, what: String) {
        self.report.broken.push(Broken { file: self.file, what });
    }

    /// A check that the project's script does not make: it counts if it does not hold, so that both count alike on a true run.
    fn also(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.broken(what());
        }
    }

    /// Counts a check; `what` says what is wrong if it does not hold.
    fn that(&mut self, holds: bool, what: impl FnOnce() -> String) -> bool {
        if holds {
            self.held(1);
        } else {
            self.broken(what());
        }
        holds
    }
}
