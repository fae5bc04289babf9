//! Errors of benchmarks.

use ringlane_engine::Error;
use ringlane_insight::InsightError;
use ringlane_node::NodeError;
use ringlane_scenes::SceneError;
use ringlane_task::Explain;
use ringlane_trace::TraceError;

use ringlane::SetupError;
use ringlane::replays::ReplayError;

/// Why a benchmark has no results.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The runtime refused or failed.
    Run(#[from] Error),
    /// A runtime cannot be created.
    Setup(#[from] SetupError),
    /// A scene that is measured has changed.
    Scene(SceneError),
    /// There is no directory for files.
    Scratch(TraceError),
    /// The lower bound of a run cannot be computed.
    Bound(InsightError),
    /// A recording cannot be replayed.
    Replay(ReplayError),
    /// A checked run computed wrong values.
    Golden {
        /// The scene.
        scene: &'static str,
        /// The chip.
        chip: String,
    },
    /// A child cannot be started, or a call in it failed.
    Node(#[from] NodeError),
    /// The child for comparison with a mailbox cannot be reached.
    NoPeer {
        /// How it is connected.
        what: &'static str,
        /// The cause.
        error: std::io::Error,
    },
    /// The program's allocator does not count.
    NotCounted,
}

ringlane_task::display_explained!(BenchError);

impl Explain for BenchError {
    fn name(&self) -> &'static str {
        match self {
            BenchError::Run(error) => error.name(),
            BenchError::Setup(error) => error.name(),
            BenchError::Scene(error) => error.name(),
            BenchError::Scratch(error) => error.name(),
            BenchError::Bound(error) => error.name(),
            BenchError::Replay(error) => error.name(),
            BenchError::Node(error) => error.name(),
            BenchError::NoPeer { .. } => "NoPeer",
            BenchError::Golden { .. } => "GoldenMismatch",
            BenchError::NotCounted => "NotCounted",
        }
    }

    fn summary(&self) -> String {
        match self {
            BenchError::Run(error) => return error.summary(),
            BenchError::Setup(error) => return error.summary(),
            BenchError::Scene(error) => return error.summary(),
            BenchError::Scratch(error) => return error.summary(),
            BenchError::Bound(error) => return error.summary(),
            BenchError::Replay(error) => return error.summary(),
            BenchError::Golden { .. } => "the values differ from the golden",
            BenchError::Node(error) => return error.summary(),
            BenchError::NoPeer { .. } => "a child cannot be reached",
            BenchError::NotCounted => "allocations cannot be counted",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            BenchError::Run(error) => error.detail(),
            BenchError::Setup(error) => error.detail(),
            BenchError::Scene(error) => error.detail(),
            BenchError::Scratch(error) => error.detail(),
            BenchError::Bound(error) => error.detail(),
            BenchError::Replay(error) => error.detail(),
            BenchError::Node(error) => error.detail(),
            BenchError::NoPeer { what, error } => format!("{what}: {error}"),
            BenchError::Golden { scene, chip } => format!("{scene} on {chip}"),
            BenchError::NotCounted => "the allocator of this program does not count".to_string(),
        }
    }

    fn hint(&self) -> String {
        match self {
            BenchError::Run(error) => error.hint(),
            BenchError::Setup(error) => error.hint(),
            BenchError::Scene(error) => error.hint(),
            BenchError::Scratch(error) => error.hint(),
            BenchError::Bound(error) => error.hint(),
            BenchError::Replay(error) => error.hint(),
            BenchError::Node(error) => error.hint(),
            BenchError::NoPeer { .. } => "check that the machine allows pipes and Unix sockets".to_string(),
            BenchError::Golden { scene, .. } => format!("`ringlane run {scene}` reports the differences"),
            BenchError::NotCounted => "make ringlane::CountingAllocator its #[global_allocator]".to_string(),
        }
    }
}
