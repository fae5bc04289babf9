//! What blocks cost: recorded from the swimlane of a run, or given to a chip that models them.
//!
//! ```text
//! ringlane run … --chip-swimlane=1 --costs-out f.json     cpu: each kernel's blocks, timed   ──▶ f.json
//! ringlane run … -p CHIP --costs f.json                   a simulator: its blocks take what they took there
//! ```
//! Both files are looked at before anything runs: one that cannot be read, understood or written costs nothing but a line.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ringlane_chip_sim::cost::{BlockTimes, CostTable, CostTableError, Programs, TableRecorder};
use ringlane_scenes::Scene;
use ringlane_task::Explain;
use ringlane_trace::swimlane::{SwimlaneRow, read_swimlane};
use ringlane_trace::{ArtifactFile, TraceError, describe_os_error, os_hint};

use crate::diagnostics::{Diagnostics, Place};
use crate::errors::Exit;
use crate::execute::Setup;
use crate::output::{path_text, say};
use crate::told::Told;

/// Why costs cannot be used or recorded.
#[derive(Debug, thiserror::Error)]
pub enum CostsError {
    /// The table given is none.
    Table(#[from] CostTableError),
    /// Nothing times the blocks.
    NoSwimlane,
    /// The file for the costs cannot be made; nothing has run.
    NotWritable { path: PathBuf, source: io::Error },
    /// The file for the costs cannot be written, after the run.
    CannotWrite { path: PathBuf, source: io::Error },
    /// The swimlane of a run that went well cannot be read.
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
            CostsError::NoSwimlane => "costs are recorded from the swimlane, which is not on",
            CostsError::NotWritable { .. } => "the file for the costs cannot be made",
            CostsError::CannotWrite { .. } => "the costs cannot be written",
            CostsError::CannotRecord(_) => "the costs cannot be taken from the swimlane",
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
            CostsError::NoSwimlane => "--chip-swimlane=1".to_string(),
            CostsError::NotWritable { source, .. } => {
                let otherwise = "name a file in a directory that is there and that you may write to";
                os_hint(source).unwrap_or(otherwise).to_string()
            }
            CostsError::CannotWrite { source, .. } => os_hint(source)
                .unwrap_or("is there space left, and is the directory still there?")
                .to_string(),
            CostsError::CannotRecord(error) => error.hint(),
        }
    }
}

/// The table for `--costs FILE`.
pub fn given(path: &Path) -> Result<CostTable, CostsError> {
    Ok(CostTable::read(path)?)
}

/// A table that says nothing of what runs: a warning, for the kernels still cost what they say of themselves.
#[derive(Debug, thiserror::Error)]
pub struct CostsUnused {
    path: PathBuf,
    named: usize,
    scene: &'static Scene,
}

impl CostsUnused {
    /// Looks whether a table is of use to a scene. A scene that lists no kernels may run any.
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
        format!("kernels in {path}: {named}, none of them of {}, which runs {kernels}", scene.name)
    }

    fn hint(&self) -> String {
        format!("record them with `ringlane run {} --chip-swimlane=1 --costs-out FILE`", self.scene.name)
    }
}

/// The file of `--costs-out FILE`: opened before the runs and written after them. Dropped, it is as if it had not been.
#[derive(Debug)]
pub struct CostsOut(ArtifactFile);

impl CostsOut {
    /// Makes sure that there are costs to record and a place for them.
    pub fn reserve(path: &Path, diagnostics: &Diagnostics) -> Result<Self, CostsError> {
        if diagnostics.flags.swimlane_level() == 0 {
            return Err(CostsError::NoSwimlane);
        }
        match ArtifactFile::at(path) {
            Ok(file) => Ok(CostsOut(file)),
            Err(TraceError::CannotWrite { path, source }) => Err(CostsError::NotWritable { path, source }),
            Err(error) => Err(CostsError::NotWritable { path: path.into(), source: io::Error::other(error) }),
        }
    }

    /// Writes what the blocks of these runs took. Rounds of one case are averaged task by task; of several cases only what
    /// blocks of each kernel took is kept.
    pub fn write(mut self, runs: &[Told], setup: &Setup) -> Result<(), CostsError> {
        let programs = if runs.len() > 1 { Programs::Several } else { Programs::One };
        let mut recorder = TableRecorder::new(setup.platform.as_str()).of(programs);
        for dir in runs.iter().flat_map(|told| observed(&told.dir, setup)) {
            blocks_of(&dir).map_err(CostsError::CannotRecord)?.add_to(&mut recorder);
        }
        let (table, path) = (recorder.finish(), self.0.path().to_path_buf());
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

/// Where the observed rounds of a case left their files.
fn observed(dir: &Path, setup: &Setup) -> Vec<PathBuf> {
    let place = |round| match setup.diagnostics.place(round, setup.rounds) {
        Place::Nowhere => None,
        Place::Run => Some(dir.to_path_buf()),
        Place::Below(name) => Some(dir.join(name)),
    };
    (1..=setup.rounds).filter_map(place).collect()
}

/// What the blocks of recorded runs of one program took, by kernel and by task; of several runs, on average. The runs have a
/// swimlane (`DfxFlags::SWIMLANE_CORES`).
///
/// ```
/// use ringlane::prelude::*;
/// use ringlane::recorded_costs;
/// kernel! { static INC = aiv fn(x: &mut [f32]) { x.iter_mut().for_each(|x| *x += 1.0); } }
/// # let dir = std::env::temp_dir().join(format!("ringlane-costs-{}", std::process::id()));
/// # let dir = dir.to_str().unwrap();
/// let program = |runtime: &mut Runtime| {
///     let run = runtime.run(&mut Buffers::new(), |o| o.submit(&INC, [out(f32, [64])]).map(drop));
///     run.result.map(|()| run.report)
/// };
/// let mut config = CallConfig::default().with_dfx_flags(DfxFlags::SWIMLANE_CORES);
/// config.set_output_prefix(dir).map_err(Fault::Config)?;
/// program(&mut Runtime::on(Platform::Cpu).with(&config)?)?;
/// // The same program on a modelled chip, whose blocks take what they took here.
/// let costs = recorded_costs([dir]).unwrap();
/// let taken = costs.kernel("INC").unwrap().mean_ps;
/// let report = program(&mut Runtime::on(Platform::A5sim).costs(costs).with(&CallConfig::default())?)?;
/// assert!(report.makespan_ticks * 1000 >= taken);
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok::<(), Error>(())
/// ```
pub fn recorded_costs<P: AsRef<Path>>(runs: impl IntoIterator<Item = P>) -> Result<CostTable, TraceError> {
    let (mut blocks, mut platform) = (Vec::new(), String::new());
    for run in runs {
        let recorded = blocks_of(run.as_ref())?;
        platform.clone_from(&recorded.platform);
        blocks.push(recorded);
    }
    let mut recorder = TableRecorder::new(&platform);
    blocks.into_iter().for_each(|recorded| recorded.add_to(&mut recorder));
    Ok(recorder.finish())
}

/// The blocks of one run.
struct RunBlocks {
    platform: String,
    clock_freq_hz: u64,
    /// By the kernel's name.
    kernels: Vec<(String, BlockTimes)>,
}

impl RunBlocks {
    fn add_to(self, recorder: &mut TableRecorder) {
        for (kernel, times) in self.kernels {
            recorder.add(&kernel, times, self.clock_freq_hz);
        }
    }
}

/// Reads the blocks of one run.
fn blocks_of(dir: &Path) -> Result<RunBlocks, TraceError> {
    let mut times: BTreeMap<_, BlockTimes> = BTreeMap::new();
    let head = read_swimlane(dir, |row| {
        if let SwimlaneRow::Block(block) = row {
            let ticks = block.end.0.saturating_sub(block.start.0);
            times.entry(block.func_id).or_default().add_block(
                block.task_id,
                block.lane,
                block.block.0,
                ticks,
            );
        }
    })?;
    let meta = head.meta;
    let kernels = meta.kernels.into_iter().filter_map(|kernel| {
        let times = times.remove(&kernel.func_id)?;
        Some((kernel.name, times))
    });
    Ok(RunBlocks { kernels: kernels.collect(), platform: meta.platform, clock_freq_hz: meta.clock_freq_hz })
}
