//! A run directory, as everything here meets it: the manifest, and one table for each artifact that was asked for.
//!
//! ```text
//! Run::open(dir) ──▶ .timeline()  .dependencies()  .scopes()  .pmu()  .dump()  .calls()  .children()
//! ```
//!
//! This is the narrow waist between files and answers. A table that was not recorded, that belongs to another run or that
//! is damaged is an error that says so; what can be answered without it is answered without it.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ringlane_task::KernelId;
use ringlane_trace::deps::{self, Deps, DepsRow, KernelRow, SkeletonRow, read_deps, read_skeleton};
use ringlane_trace::dist::{self, Dist};
use ringlane_trace::dump::{self, Dump, Payloads, read_dump};
use ringlane_trace::pmu::{self, Pmu, read_pmu};
use ringlane_trace::scopes::{self, Scopes};
use ringlane_trace::swimlane::{self, Swimlane, SwimlaneMeta, read_swimlane};
use ringlane_trace::{ChildRun, FileEntry, Manifest, RunError, RunStatus, TraceError};

use crate::dump::Catalog;
use crate::pmu::{Counters, Tally};
use crate::timeline::{Skeleton, Timeline};
use crate::{InsightError, Instrument};

/// A finished run.
///
/// ```no_run
/// // ringlane run cholesky --dfx -o outputs/cholesky
/// let run = ringlane_insight::Run::open("outputs/cholesky")?;
/// let timeline = run.timeline()?;
/// println!("{} blocks on {} cores", timeline.blocks.len(), timeline.cores.len());
/// # Ok::<(), ringlane_insight::InsightError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Run {
    /// Where it is.
    pub dir: PathBuf,
    /// What was run and how it ended.
    pub manifest: Manifest,
}

impl Run {
    /// Opens a run directory, or the one that a file is in.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, InsightError> {
        let dir = Run::dir_of(path.as_ref());
        Ok(Run { manifest: Manifest::read(&dir)?, dir })
    }

    /// The run directory that a path names: itself, or the one that the file is in.
    pub fn dir_of(path: &Path) -> PathBuf {
        if path.is_file() { run_of_file(path) } else { path.to_path_buf() }
    }

    /// Whether the run has this table.
    pub fn has(&self, instrument: Instrument) -> bool {
        self.entry(instrument).is_some()
    }

    /// What run.json says of a table's file.
    pub fn entry(&self, instrument: Instrument) -> Option<&FileEntry> {
        self.manifest.files.iter().find(|entry| entry.path == instrument.file_name())
    }

    /// When everything ran, with the dependencies that the run recorded, in one table.
    pub fn timeline(&self) -> Result<Timeline, InsightError> {
        let file = self.file(Instrument::Swimlane)?;
        let (swimlane, skeleton) = std::thread::scope(|scope| {
            let skeleton = scope.spawn(|| self.skeleton());
            (Swimlane::read(&file), skeleton.join())
        });
        let skeleton = skeleton.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let swimlane = swimlane?;
        self.check_clock(&swimlane.head.meta)?;
        Timeline::new(swimlane, skeleton, self.manifest.makespan_ticks).map_err(|what| self.disagree(what))
    }

    /// Whether the swimlane's clock is the run's: where it is measured anew for each run, another run's file has another.
    fn check_clock(&self, meta: &SwimlaneMeta) -> Result<(), InsightError> {
        let Manifest { platform, clock_freq_hz, .. } = &self.manifest;
        if (platform, *clock_freq_hz) == (&meta.platform, meta.clock_freq_hz) {
            return Ok(());
        }
        Err(self.disagree(format!(
            "{} is of {} with a clock of {} Hz, and run.json of {platform} with {clock_freq_hz} Hz",
            Instrument::Swimlane.file_name(),
            meta.platform,
            meta.clock_freq_hz
        )))
    }

    /// The tasks' ids and edges, if dependencies were recorded.
    fn skeleton(&self) -> Result<Option<Skeleton>, InsightError> {
        if !self.has(Instrument::Deps) {
            return Ok(None);
        }
        let mut skeleton = Skeleton::default();
        skeleton.lost = read_skeleton(self.file(Instrument::Deps)?, |row| match row {
            SkeletonRow::Task { task_id, seq, label } => {
                skeleton.tasks.push((seq, task_id));
                skeleton.labels.extend(label.map(|label| (task_id, label)));
            }
            SkeletonRow::Edge { pred, succ } => skeleton.edges.push((pred, succ)),
        })?;
        Ok(Some(skeleton))
    }

    /// Every task with its arguments, and why one waits for another.
    pub fn dependencies(&self) -> Result<Deps, InsightError> {
        Ok(Deps::read(self.file(Instrument::Deps)?)?)
    }

    /// What each scope took of the rings.
    pub fn scopes(&self) -> Result<Scopes, InsightError> {
        Ok(Scopes::read(self.file(Instrument::Scopes)?)?)
    }

    /// What the workers of a node were called for.
    pub fn calls(&self) -> Result<Dist, InsightError> {
        let dist = Dist::read(self.file(Instrument::Dist)?)?;
        let (hz, own) = (dist.head.meta.clock_freq_hz, self.manifest.clock_freq_hz);
        if hz == own {
            return Ok(dist);
        }
        Err(self
            .disagree(format!("{} has a clock of {hz} Hz, and run.json one of {own} Hz", dist::FILE_NAME)))
    }

    /// The runs that a node's workers made for it, as far as they came to an end.
    pub fn children(&self) -> Vec<(&ChildRun, Result<Run, InsightError>)> {
        let child = |child| (child, self.child(child));
        self.manifest.children.iter().map(child).collect()
    }

    /// One of them.
    pub(crate) fn child(&self, child: &ChildRun) -> Result<Run, InsightError> {
        match child.path_in(&self.dir) {
            Some(path) => Run::open(path),
            None => Err(self.disagree(format!("run.json lists {}, which does not exist", child.dir))),
        }
    }

    /// What the hardware counted.
    pub fn pmu(&self) -> Result<Pmu, InsightError> {
        Ok(Pmu::read(self.file(Instrument::Pmu)?)?)
    }

    /// The same by kernel, read row by row.
    pub fn counters(&self) -> Result<Counters, InsightError> {
        let mut tally = Tally::default();
        let columns = read_pmu(self.file(Instrument::Pmu)?, |row| tally.add(&row))?;
        Ok(tally.finish(&columns))
    }

    /// The same, or nothing of a run that recorded none.
    pub fn recorded_counters(&self) -> Result<Option<Counters>, InsightError> {
        if self.has(Instrument::Pmu) { self.counters().map(Some) } else { Ok(None) }
    }

    /// The names of kernels, from whichever table has them and is the smallest; none if no such table was recorded, or if
    /// it cannot be read.
    pub fn kernel_names(&self) -> BTreeMap<KernelId, String> {
        let tables = [Instrument::Dump, Instrument::Swimlane, Instrument::Deps];
        let sizes = tables.into_iter().filter_map(|table| Some((self.entry(table)?.bytes, table)));
        let smallest = sizes.min_by_key(|&(bytes, _)| bytes).map(|(_, table)| table);
        smallest.and_then(|table| self.names_in(table).ok()).unwrap_or_default()
    }

    fn names_in(&self, table: Instrument) -> Result<BTreeMap<KernelId, String>, InsightError> {
        let path = self.file(table)?;
        let pair = |kernel: KernelRow| (kernel.func_id, kernel.name);
        Ok(match table {
            Instrument::Dump => {
                let kernels = read_dump(path, |_| {})?.kernels;
                kernels.into_iter().map(|kernel| (kernel.func_id, kernel.name)).collect()
            }
            Instrument::Swimlane => read_swimlane(path, |_| {})?.meta.kernels.into_iter().map(pair).collect(),
            _ => {
                let mut names = BTreeMap::new();
                read_deps(path, |row| {
                    if let DepsRow::Task(task) = row {
                        let kernels = task.kernels.into_owned().into_iter();
                        names.extend(kernels.map(|one| pair(one.kernel.into_owned())));
                    }
                })?;
                names
            }
        })
    }

    /// What went into and came out of tasks.
    pub fn dump(&self) -> Result<Dump, InsightError> {
        Ok(Dump::read(self.file(Instrument::Dump)?)?)
    }

    /// The same with each record's task, in the order of submission.
    pub fn captured(&self) -> Result<Catalog, InsightError> {
        let catalog = Catalog::new(self.dump()?).map_err(|what| self.disagree(what))?;
        // What was captured can be listed without names.
        let skeleton = self.skeleton().ok().flatten().unwrap_or_default();
        Ok(catalog.with_labels(skeleton.labels))
    }

    /// The bytes of captured tensors.
    pub fn payloads(&self) -> Result<Payloads, InsightError> {
        Ok(Payloads::open(self.listed(dump::BIN_FILE_NAME, Instrument::Dump)?)?)
    }

    /// What kept the program from being submitted to its end. Outputs are compared with the golden only after that.
    pub fn early_end(&self) -> Option<&RunError> {
        self.manifest.error.as_ref().filter(|_| self.manifest.golden.is_none())
    }

    /// The file of a table, if it is this run's.
    pub fn file(&self, instrument: Instrument) -> Result<PathBuf, InsightError> {
        self.listed(instrument.file_name(), instrument)
    }

    /// The first run of its workers, or of theirs, that has this file.
    fn recorded_below(&self, name: &str) -> Option<PathBuf> {
        self.manifest.children.iter().filter_map(|child| child.path_in(&self.dir)).find_map(|dir| {
            if dir.join(name).exists() {
                return Some(dir);
            }
            Run::open(&dir).ok()?.recorded_below(name)
        })
    }

    fn listed(&self, name: &str, instrument: Instrument) -> Result<PathBuf, InsightError> {
        let path = self.dir.join(name);
        let Some(entry) = self.manifest.files.iter().find(|entry| entry.path == name) else {
            if self.manifest.status == RunStatus::Imported {
                return Err(InsightError::NothingRan { dir: self.dir.clone(), instrument });
            }
            let below = self.recorded_below(name);
            return Err(InsightError::NotRecorded { path, instrument, below });
        };
        let what = match fs::metadata(&path) {
            Ok(found) if found.len() == entry.bytes => return Ok(path),
            Ok(found) => format!("it is {} bytes, and run.json says {}", found.len(), entry.bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                format!("the file is missing; run.json lists it with {} bytes", entry.bytes)
            }
            Err(source) => return Err(TraceError::CannotRead { path, source }.into()),
        };
        Err(TraceError::Damaged { path, what }.into())
    }

    fn disagree(&self, what: String) -> InsightError {
        InsightError::FilesDisagree { dir: self.dir.clone(), what }
    }
}

/// The directory of the run that a file belongs to: its own, or the one above for a file of `tensor_dump/`.
fn run_of_file(file: &Path) -> PathBuf {
    let dir = file.parent().unwrap_or(Path::new("."));
    let above = dir.parent().filter(|above| dir.ends_with("tensor_dump") && !above.join("run.json").is_dir());
    let dir = above.unwrap_or(dir);
    if dir.as_os_str().is_empty() { PathBuf::from(".") } else { dir.to_path_buf() }
}

impl Instrument {
    /// The file that it leaves, in the run directory.
    pub const fn file_name(self) -> &'static str {
        match self {
            Instrument::Swimlane => swimlane::FILE_NAME,
            Instrument::Dump => dump::FILE_NAME,
            Instrument::Pmu => pmu::FILE_NAME,
            Instrument::Deps => deps::FILE_NAME,
            Instrument::Scopes => scopes::FILE_NAME,
            Instrument::Dist => dist::FILE_NAME,
        }
    }
}
