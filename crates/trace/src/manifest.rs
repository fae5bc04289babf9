//! `run.json`: what was run, how it ended, and which files it left.
//!
//! The manifest is written last and atomically, so that its presence means that the run came to an end, well
//! or not. Fields may be added, never renamed: a reader skips those it does not know, and refuses a version
//! it does not know.

mod child;
mod json;
mod rows;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Seek};
use std::path::Path;

use ringlane_task::{Capacities, DfxFlags, Overflow};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use child::ChildRun;
pub use rows::{
    ClockFacts, DfxCost, FileEntry, Golden, GraphFacts, ModelFacts, PmuSource, RecordSizes, RunError,
    RunStatus,
};

use crate::error::TraceError;
use crate::rows::document::locate;
use crate::run_dir::RunDir;
use crate::time::UtcTime;

/// The name of the manifest in its directory.
pub(crate) const FILE_NAME: &str = "run.json";

/// The version of the manifest that is written, and the only one that is read.
pub(crate) const VERSION: u64 = 1;

/// The manifest of a run, field for field `run.json`.
///
/// ```
/// use ringlane_trace::{Manifest, RunStatus, UtcTime};
/// let mut manifest = Manifest::new("vector", "small", "cpu", UtcTime::now());
/// manifest.threads = 2;
/// assert_eq!(manifest.status, RunStatus::Ok);
/// assert!(manifest.to_json().starts_with(r#"{"version":1,"ringlane":"#));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    version: u64,
    /// Version of the program that wrote it.
    pub ringlane: String,
    /// The program that was started to make the run, as it was started (its `argv[0]`); none if code called the runtime
    /// itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The scene.
    pub scene: String,
    /// The case of the scene.
    pub case: String,
    /// The scene's own parameters.
    pub params: BTreeMap<String, String>,
    /// The chip: `cpu`, `a2a3sim`, …
    pub platform: String,
    /// How the graph was built.
    pub runtime: String,
    /// Seed of inputs and of the simulator.
    pub seed: u64,
    /// Threads of the `cpu` chip, the submitting one included.
    pub threads: u32,
    /// When the run started.
    pub started_at: UtcTime,
    /// How long it took on the wall.
    #[serde(with = "json::float")]
    pub wall_us: f64,
    /// How long it took on the chip.
    pub makespan_ticks: u64,
    /// Ticks in a second.
    pub clock_freq_hz: u64,
    /// Where the ticks come from, and how exact their rate is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockFacts>,
    /// How a modelled chip was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelFacts>,
    /// The captured graph that was replayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphFacts>,
    /// How it ended.
    pub status: RunStatus,
    /// Why, if it did not end well.
    pub error: Option<RunError>,
    /// Cores of the chip.
    pub cores: u32,
    /// Tasks submitted.
    pub tasks: u64,
    /// Kernel blocks executed.
    pub blocks: u64,
    /// Scopes entered, the root included.
    pub scopes: u64,
    /// Tasks that did not run because something before them had failed.
    pub skipped: u64,
    /// Most bytes of outputs that were in use at once, over all rings.
    pub peak_heap_bytes: u64,
    #[serde(with = "json::flags")]
    dfx_flags: DfxFlags,
    swimlane_level: u8,
    /// What a diagnostic did when its buffers were full.
    #[serde(with = "json::overflow")]
    pub overflow: Overflow,
    /// Where hardware counters came from, if they were on.
    pub pmu: Option<PmuSource>,
    /// What the diagnostics cost.
    pub dfx_cost: DfxCost,
    /// What the records of a modelled chip took in its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_bytes: Option<RecordSizes>,
    /// The capacities of the rings, where something was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rings: Option<Capacities>,
    /// How the outputs compared with the known answer, if there is one.
    pub golden: Option<Golden>,
    /// The files of the run, except this one.
    pub files: Vec<FileEntry>,
    /// The runs that the workers of a node made for it, each in a directory below this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ChildRun>,
}

/// What is read first: a later version may have other fields.
#[derive(Deserialize)]
struct Head {
    version: Option<u64>,
}

impl Manifest {
    /// The manifest of a run that ended well and had no diagnostics; the caller fills in the numbers.
    pub fn new(scene: &str, case: &str, platform: &str, started_at: UtcTime) -> Self {
        Manifest {
            version: VERSION,
            ringlane: env!("CARGO_PKG_VERSION").to_string(),
            program: None,
            scene: scene.to_string(),
            case: case.to_string(),
            params: BTreeMap::new(),
            platform: platform.to_string(),
            runtime: "tensormap_and_ringbuffer".to_string(),
            seed: 0,
            threads: 0,
            started_at,
            wall_us: 0.0,
            makespan_ticks: 0,
            clock_freq_hz: 1_000_000_000,
            clock: None,
            model: None,
            graph: None,
            status: RunStatus::Ok,
            error: None,
            cores: 0,
            tasks: 0,
            blocks: 0,
            scopes: 0,
            skipped: 0,
            peak_heap_bytes: 0,
            dfx_flags: DfxFlags::NONE,
            swimlane_level: 0,
            overflow: Overflow::Block,
            pmu: None,
            dfx_cost: DfxCost::default(),
            record_bytes: None,
            rings: None,
            golden: None,
            files: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Says which diagnostics were on, and their swimlane level with them.
    #[must_use]
    pub fn with_dfx_flags(mut self, flags: DfxFlags) -> Self {
        self.dfx_flags = flags;
        self.swimlane_level = flags.swimlane_level();
        self
    }

    /// Marks the run as not having ended well, and says why.
    pub fn fail(&mut self, status: RunStatus, error: RunError) {
        self.status = status;
        self.error = Some(error);
    }

    /// Which diagnostics were on.
    pub const fn dfx_flags(&self) -> DfxFlags {
        self.dfx_flags
    }

    /// The swimlane level that the diagnostics ask for.
    pub const fn swimlane_level(&self) -> u8 {
        self.swimlane_level
    }

    /// Whether its ticks are those of a model. A node's are of the clock that all processes share, whatever its chips are.
    pub fn has_model_time(&self) -> bool {
        match &self.clock {
            Some(clock) => clock.source == "virtual",
            None => self.children.is_empty() && (self.model.is_some() || self.platform.ends_with("sim")),
        }
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string(self).expect("strings, numbers and maps of strings");
        json.push('\n');
        json
    }

    /// Writes `run.json`, whole or not at all, into the room that [`RunDir::reserve_manifest`] took if it did. It is
    /// the last file of a run.
    pub fn write(&self, dir: &RunDir) -> Result<(), TraceError> {
        debug_assert_eq!(self.problem(), None, "a manifest that its reader would refuse");
        dir.write_manifest(self.to_json().as_bytes())
    }

    /// Reads the manifest of a run, given its directory or the file itself.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = locate(path.as_ref(), FILE_NAME);
        let mut file = File::open(&path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => TraceError::NoManifest { path: path.clone() },
            _ => TraceError::CannotRead { path: path.clone(), source },
        })?;
        let damaged = |what: &str| TraceError::Damaged { path: path.clone(), what: what.to_string() };
        match parse::<Head>(&file, &path)?.version {
            Some(VERSION) => {}
            Some(version) => return Err(TraceError::UnknownVersion { path, version, known: "1" }),
            None => return Err(damaged("it has no version")),
        }
        file.rewind().map_err(|source| TraceError::CannotRead { path: path.clone(), source })?;
        let manifest: Manifest = parse(&file, &path)?;
        manifest.problem().map_or(Ok(manifest), |what| Err(damaged(&what)))
    }

    /// What cannot be true of a run, if something is.
    fn problem(&self) -> Option<String> {
        let (level, flags) = (self.swimlane_level, self.dfx_flags);
        if level != flags.swimlane_level() {
            return Some(format!("swimlane_level {level} does not follow from dfx_flags {flags}"));
        }
        let agree = match self.status {
            RunStatus::Ok | RunStatus::Imported => self.error.is_none(),
            RunStatus::Failed | RunStatus::Fatal => self.error.is_some(),
            RunStatus::Interrupted => true,
        };
        if !agree {
            return Some(format!("status {} and error do not agree", self.status.as_str()));
        }
        self.files.iter().find_map(FileEntry::problem).or_else(|| child::problem_of(&self.children))
    }
}

/// Reads one JSON value and nothing after it, without holding the text in memory.
fn parse<T: DeserializeOwned>(file: &File, path: &Path) -> Result<T, TraceError> {
    serde_json::from_reader(BufReader::new(file)).map_err(|error| {
        let path = path.to_path_buf();
        if error.is_io() {
            return TraceError::CannotRead { path, source: error.into() };
        }
        TraceError::Damaged { path, what: error.to_string() }
    })
}

#[cfg(test)]
mod tests;
