//! Everything that a run is asked for, as one value: from the command line or a library call through `--jobs`, `--workers` and
//! MPI to the process that runs it.
//!
//! ```text
//! options ──▶ RunRequest ──▶ encode ── inherited descriptor, frame ──▶ decode ──▶ Runtime::request
//! ```
//! Nothing in it refers to this process or this host: a chip's description and a cost table are in it, not their paths.

#[cfg(feature = "node")]
mod chip;
#[cfg(feature = "node")]
mod dump;
#[cfg(feature = "node")]
mod encoding;
#[cfg(feature = "node")]
mod error;
#[cfg(feature = "node")]
mod wire;

use ringlane_engine::chip_runtime::ChipOptions;
#[cfg(feature = "record")]
use ringlane_probe::DumpSelection;
use ringlane_task::CallConfig;

use crate::graph::GraphRuntime;
use crate::platform::Platform;
#[cfg(feature = "node")]
pub use encoding::REQUEST_VERSION;
#[cfg(feature = "node")]
pub use error::RequestError;

/// What a run is asked for.
///
/// ```
/// use ringlane::prelude::*;
/// use ringlane::{DumpSelection, RunRequest};
/// let request = RunRequest::on(Platform::A2a3sim)
///     .with_config(CallConfig::default().with_seed(7))
///     .with_dump(DumpSelection::Marked);
/// let there = RunRequest::decode(&request.encode())?;
/// assert_eq!((there.platform, there.config.seed, there.dump), (Platform::A2a3sim, 7, DumpSelection::Marked));
/// let runtime = Runtime::request(&request).unwrap();
/// assert_eq!(runtime.platform(), Platform::A2a3sim);
/// # Ok::<(), ringlane::RequestError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunRequest {
    /// What it runs on.
    pub platform: Platform,
    /// Capacities, threads, seed, diagnostics and where they are written.
    pub config: CallConfig,
    /// Which arguments a dump captures.
    #[cfg(feature = "record")]
    pub dump: DumpSelection,
    /// How the chip is run.
    pub options: ChipOptions,
    /// How the task graph is built.
    pub runtime: GraphRuntime,
    /// Bytes that the tensors of a captured graph may take together.
    pub graph_memory: Option<u64>,
}

impl RunRequest {
    /// A run on a platform, with every default.
    pub fn on(platform: Platform) -> Self {
        RunRequest { platform, ..RunRequest::default() }
    }

    /// The same with this configuration.
    #[must_use]
    pub fn with_config(self, config: CallConfig) -> Self {
        RunRequest { config, ..self }
    }

    /// The same with these arguments captured.
    #[cfg(feature = "record")]
    #[must_use]
    pub fn with_dump(self, dump: DumpSelection) -> Self {
        RunRequest { dump, ..self }
    }

    /// The same with the chip run like this.
    #[must_use]
    pub fn with_options(self, options: impl Into<ChipOptions>) -> Self {
        RunRequest { options: options.into(), ..self }
    }
}
