//! The result of a recorded run for a program: its directory, its answers, and its page.
//!
//! ```text
//! runtime.record(dir)?.run(…) ──▶ runtime.recording() ──▶ .verdict()  .overhead()  .critical_path()  .findings()  .check()  .report()
//! ```
//!
//! Each call reads its answer from the files: the same answer that the commands and the page give.

use std::path::{Path, PathBuf};

#[cfg(feature = "report")]
use ringlane_insight::critical_path::{self, CriticalPath};
#[cfg(feature = "report")]
use ringlane_insight::findings::{Finding, Known, findings};
#[cfg(feature = "report")]
use ringlane_insight::gains::Gains;
#[cfg(feature = "report")]
use ringlane_insight::overhead::{Overhead, overhead};
#[cfg(feature = "report")]
use ringlane_insight::verdict::{self, Verdict};
#[cfg(feature = "report")]
use ringlane_insight::{InsightError, Run};
use ringlane_probe::{Exported, RecordingProblem};
#[cfg(feature = "report")]
use ringlane_report::page::{self, PageError, PageOptions};
use ringlane_task::DfxFlags;
#[cfg(feature = "report")]
use ringlane_trace::ArtifactFile;
use ringlane_trace::{CheckReport, DfxCost, FileEntry, Manifest, TraceError, check_run};

/// What is recorded for a page by default: everything but the data of tasks, which can be large.
pub const REPORTED: DfxFlags =
    DfxFlags::SWIMLANE_PHASES.with(DfxFlags::PMU).with(DfxFlags::DEPS).with(DfxFlags::SCOPES);

/// The page's name in a run directory.
pub const REPORT_FILE: &str = "report.html";

/// The result of a recorded run, from [`Runtime::recording`](crate::Runtime::recording).
///
/// ```
/// use ringlane::prelude::*;
/// kernel! { static SQUARE = aiv fn(x: &[f32], y: &mut [f32]) {
///     y.iter_mut().zip(x).for_each(|(y, x)| *y = x * x);
/// } }
/// # let dir = std::env::temp_dir().join(format!("ringlane-recording-{}", std::process::id()));
/// let mut data = Buffers::new();
/// let x = data.add(&[2], &[3.0f32, 4.0])?;
/// let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default())?;
/// runtime.record(&dir)?;
/// let run = runtime.run(&mut data, |o| {
///     let x = o.external(x)?;
///     o.submit(&SQUARE, [x.read(), out(f32, [2])]).map(drop)
/// });
/// run.result?;
///
/// let recording = runtime.recording().expect("the run was recorded");
/// println!("{}", recording.verdict()?.expect("a block ran").sentence);
/// println!("{} on the critical path", recording.critical_path()?.whole().0);
/// println!("the page is {}", recording.report()?.display());
/// assert_eq!(recording.run()?.manifest.tasks, 1);
/// assert!(recording.check()?.broken.is_empty());
/// # std::fs::remove_dir_all(dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Recording {
    dir: PathBuf,
    exported: Exported,
}

impl Recording {
    pub(crate) fn new(dir: PathBuf, exported: Exported) -> Self {
        Recording { dir, exported }
    }

    /// The recording in a run directory, of this program or of another.
    ///
    /// ```no_run
    /// println!("{} segments", ringlane::Recording::open("outputs/cholesky")?.critical_path()?.segments.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, TraceError> {
        let dir = dir.as_ref().to_path_buf();
        let Manifest { files, dfx_cost: cost, pmu, record_bytes, rings: capacities, .. } =
            Manifest::read(&dir)?;
        let (memory_bytes, problems, interrupted) = (0, Vec::new(), false);
        let exported =
            Exported { files, cost, pmu, memory_bytes, record_bytes, capacities, problems, interrupted };
        Ok(Recording { dir, exported })
    }

    /// The run's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The files of the instruments that were on, with their numbers of rows; `run.json` is in the same directory.
    pub fn files(&self) -> &[FileEntry] {
        &self.exported.files
    }

    /// The cost of recording to the run.
    pub fn cost(&self) -> &DfxCost {
        &self.exported.cost
    }

    /// Problems with it: a full disk, counters that the machine does not have. They do not affect the run's results.
    pub fn problems(&self) -> &[RecordingProblem] {
        &self.exported.problems
    }

    /// Whether the files are consistent, as in `ringlane check`.
    pub fn check(&self) -> Result<CheckReport, TraceError> {
        check_run(&self.dir)
    }
}

/// Analyses of the recording.
#[cfg(feature = "report")]
impl Recording {
    /// The run as the analyses read it: the manifest, and a table for each instrument.
    pub fn run(&self) -> Result<Run, InsightError> {
        Run::open(&self.dir)
    }

    /// What limits the run, as all commands and the page show it; `None` if nothing ran. Needs the swimlane at level
    /// 2 or 3.
    pub fn verdict(&self) -> Result<Option<Verdict>, InsightError> {
        let run = self.run()?;
        let timeline = run.timeline()?;
        Ok(verdict::of_run(&run, &timeline, &critical_path::observed(&timeline)?, gains_of(&run).as_ref()))
    }

    /// What would help the run, as in `ringlane what-if`, or why that is not known. Needs the swimlane at level 3 and the
    /// dependencies.
    #[cfg(feature = "graph")]
    pub fn gains(&self) -> Result<Gains, InsightError> {
        Ok(ringlane_graph::what_if::gains(&self.run()?))
    }

    /// Where the cores' time went, as in `ringlane overhead`. Needs the swimlane at level 2 or 3.
    pub fn overhead(&self) -> Result<Overhead, InsightError> {
        overhead(&self.run()?.timeline()?)
    }

    /// What the makespan consists of, as in `ringlane critical-path`. Needs the swimlane at level 2 or 3.
    pub fn critical_path(&self) -> Result<CriticalPath, InsightError> {
        critical_path::observed(&self.run()?.timeline()?)
    }

    /// The findings at the top of the page, most important first.
    pub fn findings(&self) -> Result<Vec<Finding>, InsightError> {
        let run = self.run()?;
        let timeline = run.timeline().ok();
        let time = timeline.as_ref().and_then(|timeline| overhead(timeline).ok());
        let path = timeline.as_ref().and_then(|timeline| critical_path::observed(timeline).ok());
        let verdict = timeline
            .as_ref()
            .zip(path.as_ref())
            .and_then(|(timeline, path)| verdict::of_run(&run, timeline, path, gains_of(&run).as_ref()));
        let scopes = run.scopes().ok();
        Ok(findings(&Known {
            manifest: &run.manifest,
            timeline: timeline.as_ref(),
            overhead: time.as_ref(),
            verdict: verdict.as_ref(),
            path: path.as_ref(),
            scopes: scopes.as_ref(),
        }))
    }

    /// Writes the page of the run, `report.html` in its directory, and returns its path. The page names what was not
    /// recorded. [`ringlane::report::page`](page) writes it elsewhere.
    pub fn report(&self) -> Result<PathBuf, InsightError> {
        let (run, path) = (self.run()?, self.dir.join(REPORT_FILE));
        let mut file = ArtifactFile::at(&path)?;
        let options = PageOptions { gains: gains_of(&run), ..PageOptions::default() };
        page::write_with(&run, options, &mut file)
            .map_err(|PageError::CannotWrite(source)| file.error(source))?;
        file.commit()?;
        Ok(path)
    }
}

/// What would help a run; not known without the feature `graph`, which makes the replays.
#[cfg(all(feature = "report", feature = "graph"))]
fn gains_of(run: &Run) -> Option<Gains> {
    Some(ringlane_graph::what_if::gains(run))
}

#[cfg(all(feature = "report", not(feature = "graph")))]
fn gains_of(_run: &Run) -> Option<Gains> {
    None
}
