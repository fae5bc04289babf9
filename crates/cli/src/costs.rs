//! Durations of blocks: recorded from the swimlane of a run, or used by a modelled chip.
//!
//! ```text
//! ringlane run … --chip-swimlane=1 --costs-out f.json     cpu: each kernel's blocks, timed   ──▶ f.json
//! ringlane run … -p CHIP --costs f.json                   a simulator: its blocks take what they took there
//! ```
//! Both files are opened before anything runs, so a file that cannot be read, parsed or written is reported at once.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ringlane::recorded_costs_of;
use ringlane_chip_sim::cost::{CostTable, CostTableError, Programs};
use ringlane_scenes::Scene;
use ringlane_task::{CallConfig, Explain};
use ringlane_trace::{ArtifactFile, Manifest, TraceError, describe_os_error, os_hint};

use crate::case_report::CaseReport;
use crate::diagnostics::RoundFiles;
use crate::errors::Exit;
use crate::execute::Setup;
use crate::output::{path_text, say};

/// Why costs cannot be used or recorded.
#[derive(Debug, thiserror::Error)]
pub enum CostsError {
    /// The file is not a valid cost table.
    Table(#[from] CostTableError),
    /// No instrument times the blocks.
    NoSwimlane,
    /// The file for the costs cannot be created; nothing has run.
    NotWritable { path: PathBuf, source: io::Error },
    /// The file for the costs cannot be written, after the run.
    CannotWrite { path: PathBuf, source: io::Error },
    /// The swimlane of a successful run cannot be read.
    CannotRecord(TraceError),
}

impl CostsError {
    /// The exit status that follows.
    pub const fn exit(&self) -> Exit {
        match self {
            CostsError::CannotWrite { .. } | CostsError::CannotRecord(_) => Exit::Failed,
            _ => Exit::Usage,
        }
    }
}

ringlane_task::display_explained!(CostsError);

impl Explain for CostsError {
    fn name(&self) -> &'static str {
        match self {
            CostsError::Table(error) => error.name(),
            CostsError::NoSwimlane => "CostsNeedSwimlane",
            CostsError::NotWritable { .. } => "CostsNotWritable",
            CostsError::CannotWrite { .. } => "CannotWriteCosts",
            CostsError::CannotRecord(_) => "CannotRecordCosts",
        }
    }

    fn summary(&self) -> String {
        match self {
            CostsError::Table(error) => return error.summary(),
            CostsError::NoSwimlane => "recording costs requires the swimlane, which is off",
            CostsError::NotWritable { .. } => "the file for the costs cannot be created",
            CostsError::CannotWrite { .. } => "the costs cannot be written",
            CostsError::CannotRecord(_) => "the costs cannot be read from the swimlane",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            CostsError::Table(error) => error.detail(),
            CostsError::NoSwimlane => "--costs-out without --chip-swimlane or --dfx".to_string(),
            CostsError::NotWritable { path, source } | CostsError::CannotWrite { path, source } => {
                format!("{}: {}", path.display(), describe_os_error(source))
            }
            CostsError::CannotRecord(error) => error.detail(),
        }
    }

    fn hint(&self) -> String {
        match self {
            CostsError::Table(error) => error.hint(),
            CostsError::NoSwimlane => "add --chip-swimlane=1".to_string(),
            CostsError::NotWritable { source, .. } => {
                let otherwise = "name a file in an existing directory with write permission";
                os_hint(source).unwrap_or(otherwise).to_string()
            }
            CostsError::CannotWrite { source, .. } => os_hint(source)
                .unwrap_or("check the free space, and that the directory still exists")
                .to_string(),
            CostsError::CannotRecord(error) => error.hint(),
        }
    }
}

/// The table for `--costs FILE`.
pub fn given(path: &Path) -> Result<CostTable, CostsError> {
    Ok(CostTable::read(path)?)
}

/// The table has none of the scene's kernels: a warning, because the kernels' own cost models are used instead.
#[derive(Debug, thiserror::Error)]
pub struct CostsUnused {
    path: PathBuf,
    named: usize,
    scene: &'static Scene,
}

impl CostsUnused {
    /// Checks whether a table has any kernel of a scene. A scene that lists no kernels may run any.
    pub fn find(path: &Path, table: &CostTable, scene: &'static Scene) -> Option<Self> {
        let is_used = scene.kernels.iter().any(|kernel| table.kernel(kernel.name()).is_some());
        let named = table.kernels().len();
        (!is_used && !scene.kernels.is_empty()).then(|| CostsUnused {
            path: path.to_path_buf(),
            named,
            scene,
        })
    }
}

ringlane_task::display_explained!(CostsUnused);

impl Explain for CostsUnused {
    fn name(&self) -> &'static str {
        "CostsUnused"
    }

    fn summary(&self) -> String {
        "the cost table names no kernel of the scene".to_string()
    }

    fn detail(&self) -> String {
        let CostsUnused { path, named, scene } = self;
        let kernels: Vec<_> = scene.kernels.iter().map(|kernel| kernel.name()).collect();
        let (path, kernels) = (path.display(), kernels.join(", "));
        format!("{path} has {named} kernels, none of them a kernel of {}, which runs {kernels}", scene.name)
    }

    fn hint(&self) -> String {
        format!("record them with `ringlane run {} --chip-swimlane=1 --costs-out FILE`", self.scene.name)
    }
}

/// The file of `--costs-out FILE`: opened before the runs and written after them. If it is dropped, nothing is written.
#[derive(Debug)]
pub struct CostsOut(ArtifactFile);

impl CostsOut {
    /// Checks that blocks are timed and that the file can be created.
    pub fn reserve(path: &Path, config: &CallConfig) -> Result<Self, CostsError> {
        if config.dfx_flags.swimlane_level() == 0 {
            return Err(CostsError::NoSwimlane);
        }
        match ArtifactFile::at(path) {
            Ok(file) => Ok(CostsOut(file)),
            Err(TraceError::CannotWrite { path, source }) => Err(CostsError::NotWritable { path, source }),
            Err(error) => Err(CostsError::NotWritable { path: path.into(), source: io::Error::other(error) }),
        }
    }

    /// Writes the durations of the blocks of these runs. Rounds of one case are averaged task by task; for several cases, and
    /// for parts that ran on separate chips, only the averages of each kernel are kept.
    pub fn write(mut self, runs: &[CaseReport], setup: &Setup) -> Result<(), CostsError> {
        let is_one = runs.len() == 1 && setup.workers.is_none();
        let programs = if is_one { Programs::One } else { Programs::Several };
        let observed = runs.iter().flat_map(|case_report| observed(&case_report.dir, setup));
        let levels = setup.workers.as_ref().map_or(0, |plan| plan.shape.levels());
        let dirs = observed.map(|dir| on_chips(dir, levels)).collect::<Result<Vec<_>, _>>();
        let dirs = dirs.map_err(CostsError::CannotRecord)?.concat();
        let table = recorded_costs_of(programs, dirs).map_err(CostsError::CannotRecord)?;
        let path = self.0.path().to_path_buf();
        let written = self.0.write_all(table.to_json().as_bytes()).map_err(|error| self.0.error(error));
        match written.and_then(|()| self.0.commit()) {
            Ok(_) => {}
            Err(TraceError::CannotWrite { path, source }) => {
                return Err(CostsError::CannotWrite { path, source });
            }
            Err(error) => return Err(CostsError::CannotRecord(error)),
        }
        say(format_args!("costs of {} kernels: {}", table.kernels().len(), path_text(&path)));
        Ok(())
    }
}

/// The directories of the recorded rounds of a case.
fn observed(dir: &Path, setup: &Setup) -> Vec<PathBuf> {
    let diagnostics = setup.diagnostics();
    let place = |round| match diagnostics.place(round, setup.rounds) {
        RoundFiles::Nowhere => None,
        RoundFiles::Run => Some(dir.to_path_buf()),
        RoundFiles::Below(name) => Some(dir.join(name)),
    };
    (1..=setup.rounds).filter_map(place).collect()
}

/// The runs on chips that a run `levels` above them consists of: itself, or those of its workers.
fn on_chips(dir: PathBuf, levels: usize) -> Result<Vec<PathBuf>, TraceError> {
    if levels == 0 {
        return Ok(vec![dir]);
    }
    let manifest = Manifest::read(&dir)?;
    let children = manifest.children.iter().filter_map(|child| child.path_in(&dir));
    let below = children.map(|child| on_chips(child, levels - 1)).collect::<Result<Vec<_>, _>>()?;
    Ok(below.concat())
}
