//! Everything that a run is asked for, as one value: from the command line or a library call through `--jobs`, `--workers` and
//! MPI to the process that runs it.
//!
//! ```text
//! options ──▶ RunRequest ──▶ encode ── inherited descriptor, frame ──▶ decode ──▶ Runtime::request
//! ```
//! Nothing in it refers to this process or this host: a chip's description and a cost table are in it, not their paths.
//!
//! # Encoding
//! Numbers are little-endian. A head, then the fields, each once and in the order of their numbers:
//!
//! ```text
//! head    "ringrqst" · u32 version · u32 number of fields · u64 bytes of it all
//! field   u32 number · u32 zero · u64 bytes · content, filled up with zeros to a multiple of eight
//!
//! 1  config    CallConfig, as in a mailbox                         required
//! 2  platform  its name                                            required
//! 3  dump      u32 1: marked arguments; 2: kernels · u32 kernels,  absent: everything
//!              each u32 bytes of the name · u32 argument, all ones for all of them · the name
//! 4  chip      u64 × 31 · u64, u64 bytes of name and about · both  absent: the platform's own
//! 5  policy    its name                                            absent: the default
//! 6  chaos     u64 seed                                            absent: nothing goes wrong
//! 7  costs     the text of a cost table                            absent: what kernels say of themselves
//! ```
//! A reader refuses what it does not know: another version, an unknown field, a field that is cut off, bytes after the end.

mod chip;
mod error;
mod wire;

#[cfg(feature = "record")]
mod dump;

use ringlane_engine::chip_runtime::ChipOptions;
#[cfg(feature = "record")]
use ringlane_probe::DumpSelection;
use ringlane_task::{CallConfig, ConfigError};

use crate::platform::Platform;
pub use error::RequestError;
use wire::{Field, Fields, Writer};

/// The version of the encoding; a reader refuses every other.
pub const REQUEST_VERSION: u32 = 1;

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

    /// The bytes to send.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new(REQUEST_VERSION);
        writer.field(Field::Config, self.config.as_wire());
        writer.field(Field::Platform, self.platform.as_str().as_bytes());
        #[cfg(feature = "record")]
        dump::write(&self.dump, &mut writer);
        chip::write(&self.options, self.platform.capabilities(), &mut writer);
        writer.finish()
    }

    /// The request that is all of `bytes`, which need no alignment. Everything in it is checked but one thing: a diagnostic may
    /// still wait for its directory, which [`Runtime::request`](crate::Runtime::request) refuses to run without.
    pub fn decode(bytes: &[u8]) -> Result<Self, RequestError> {
        let fields = Fields::read(bytes, REQUEST_VERSION)?;
        let config = config(fields.required(Field::Config)?)?;
        let name = wire::text(Field::Platform, fields.required(Field::Platform)?)?;
        let platform = Platform::named(name).ok_or_else(|| {
            RequestError::unknown_name(
                Field::Platform,
                name,
                Platform::all().into_iter().map(Platform::as_str),
            )
        })?;
        let options = chip::read(&fields, platform.capabilities())?;
        #[cfg(not(feature = "record"))]
        fields.refuse(Field::Dump)?;
        Ok(RunRequest {
            platform,
            config,
            #[cfg(feature = "record")]
            dump: dump::read(&fields)?,
            options,
        })
    }
}

fn config(bytes: &[u8]) -> Result<CallConfig, RequestError> {
    if bytes.len() > size_of::<CallConfig>() {
        return Err(RequestError::corrupt("bytes of the config", bytes.len() as u64));
    }
    let config = CallConfig::parse_unchecked(bytes).map_err(RequestError::Config)?;
    match config.validate() {
        // This is checked last: all the rest is right.
        Ok(()) | Err(ConfigError::MissingOutputPrefix { .. }) => Ok(config),
        Err(error) => Err(RequestError::Config(error)),
    }
}
