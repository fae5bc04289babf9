//! Why a benchmark gives no numbers.

use ringlane_engine::Error;
use ringlane_insight::InsightError;
use ringlane_node::NodeError;
use ringlane_scenes::SceneError;
use ringlane_task::Explain;
use ringlane_trace::TraceError;

use ringlane::SetupError;

/// Why a benchmark gives no numbers.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The runtime refused or failed.
    Run(#[from] Error),
    /// A runtime cannot be had.
    Setup(#[from] SetupError),
    /// A scene that is measured is not as it was.
    Scene(SceneError),
    /// There is no place for files.
    Scratch(TraceError),
    /// The lower bound of a run cannot be had.
    Bound(InsightError),
    /// A run that is checked computed something else.
    Golden {
        /// Of this scene.
        scene: &'static str,
        /// On this chip.
        chip: String,
    },
    /// A child cannot be had, or a call in it failed.
    Node(#[from] NodeError),
    /// What a mailbox is compared with cannot be had.
    NoPeer {
        /// Through this.
        what: &'static str,
        /// Because of this.
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
            BenchError::Golden { .. } => "the values are not the known answer",
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
            BenchError::Node(error) => error.hint(),
            BenchError::NoPeer { .. } => "does the machine allow pipes and Unix sockets?".to_string(),
            BenchError::Golden { scene, .. } => format!("ringlane run {scene} tells which values"),
            BenchError::NotCounted => "make ringlane::CountingAllocator its #[global_allocator]".to_string(),
        }
    }
}
