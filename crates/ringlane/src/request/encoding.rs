//! A request as bytes.
//!
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
//! 8  runtime   how the task graph is built                         absent: while tasks run
//! 9  graph memory  u64 bytes for the tensors of a captured graph   absent: no limit
//! ```
//! A reader refuses what it does not know: another version, an unknown field, a field that is cut off, bytes after the end.

use ringlane_task::{CallConfig, ConfigError};

use super::error::RequestError;
use super::wire::{self, Field, Fields, Reader, Writer};
use super::{RunRequest, chip, dump};
use crate::graph::GraphRuntime;
use crate::platform::Platform;

/// The version of the encoding; a reader refuses every other.
pub const REQUEST_VERSION: u32 = 1;

impl RunRequest {
    /// The bytes to send.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::new(REQUEST_VERSION);
        writer.field(Field::Config, self.config.as_wire());
        writer.field(Field::Platform, self.platform.as_str().as_bytes());
        dump::write(&self.dump, &mut writer);
        chip::write(&self.options, self.platform.capabilities(), &mut writer);
        if self.runtime != GraphRuntime::default() {
            writer.field(Field::Runtime, self.runtime.as_str().as_bytes());
        }
        if let Some(bytes) = self.graph_memory {
            writer.field(Field::GraphMemory, &bytes.to_le_bytes());
        }
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
        let (dump, options) = (dump::read(&fields)?, chip::read(&fields, platform.capabilities())?);
        let (runtime, graph_memory) = (graph_runtime(&fields)?, graph_memory(&fields)?);
        Ok(RunRequest { platform, config, dump, options, runtime, graph_memory })
    }
}

fn graph_runtime(fields: &Fields<'_>) -> Result<GraphRuntime, RequestError> {
    let Some(content) = fields.get(Field::Runtime) else { return Ok(GraphRuntime::default()) };
    let name = wire::text(Field::Runtime, content)?;
    let known = GraphRuntime::ALL.into_iter().map(GraphRuntime::as_str);
    GraphRuntime::from_name(name).ok_or_else(|| RequestError::unknown_name(Field::Runtime, name, known))
}

fn graph_memory(fields: &Fields<'_>) -> Result<Option<u64>, RequestError> {
    let Some(content) = fields.get(Field::GraphMemory) else { return Ok(None) };
    let mut reader = Reader::new(Field::GraphMemory, content);
    let bytes = reader.u64()?;
    reader.end()?;
    Ok(Some(bytes))
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
