//! Errors of configurations.

use alloc::format;
use alloc::string::{String, ToString};

use super::DfxFlags;
use crate::explain::{Explain, Reader};
use crate::ids::RingIndex;
use crate::limits::OUTPUT_PREFIX_BYTES;
use crate::resource::Resource;

/// Why a configuration is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ConfigError {
    /// A diagnostic is on and there is no directory to write to.
    MissingOutputPrefix { dfx_flags: DfxFlags },
    /// A capacity is not a power of two.
    CapacityNotPowerOfTwo { resource: Resource, ring: Option<RingIndex>, value: u64 },
    /// A capacity is too small.
    CapacityTooSmall { resource: Resource, ring: Option<RingIndex>, value: u64 },
    /// A capacity is too large.
    CapacityTooLarge { resource: Resource, ring: Option<RingIndex>, value: u64 },
    /// A count is negative.
    NegativeCount { field: &'static str, value: i32 },
    /// A count is larger than its maximum.
    CountTooLarge { field: &'static str, value: i32, max: u32 },
    /// A count applies only to modelled chips.
    OnlyOnSimulators { field: &'static str, value: i32 },
    /// A reserved bit of the diagnostics is set.
    ReservedBit { bit: u32 },
    /// A reserved field is not zero.
    ReservedField { offset_bytes: usize, value: u32 },
    /// There is no such swimlane level.
    SwimlaneLevelOutOfRange { level: u8 },
    /// There is no such overflow policy.
    UnknownOverflow { code: i32 },
    /// The output prefix is too long.
    OutputPrefixTooLong { bytes: usize },
    /// The output prefix has a NUL inside.
    OutputPrefixHasNul { at: usize },
    /// The output prefix has no NUL at its end.
    OutputPrefixNotTerminated,
    /// The output prefix is not UTF-8.
    OutputPrefixNotUtf8 { at: usize },
    /// A configuration is truncated.
    ConfigTruncated { have_bytes: usize, need_bytes: usize },
}

crate::explained_error!(ConfigError);

impl Explain for ConfigError {
    fn name(&self) -> &'static str {
        match self {
            ConfigError::MissingOutputPrefix { .. } => "MissingOutputPrefix",
            ConfigError::CapacityNotPowerOfTwo { .. } => "CapacityNotPowerOfTwo",
            ConfigError::CapacityTooSmall { .. } => "CapacityTooSmall",
            ConfigError::CapacityTooLarge { .. } => "CapacityTooLarge",
            ConfigError::NegativeCount { .. } => "NegativeCount",
            ConfigError::CountTooLarge { .. } => "CountTooLarge",
            ConfigError::OnlyOnSimulators { .. } => "OnlyOnSimulators",
            ConfigError::ReservedBit { .. } => "ReservedBit",
            ConfigError::ReservedField { .. } => "ReservedField",
            ConfigError::SwimlaneLevelOutOfRange { .. } => "SwimlaneLevelOutOfRange",
            ConfigError::UnknownOverflow { .. } => "UnknownOverflow",
            ConfigError::OutputPrefixTooLong { .. } => "OutputPrefixTooLong",
            ConfigError::OutputPrefixHasNul { .. } => "OutputPrefixHasNul",
            ConfigError::OutputPrefixNotTerminated => "OutputPrefixNotTerminated",
            ConfigError::OutputPrefixNotUtf8 { .. } => "OutputPrefixNotUtf8",
            ConfigError::ConfigTruncated { .. } => "ConfigTruncated",
        }
    }

    fn summary(&self) -> String {
        match self {
            ConfigError::MissingOutputPrefix { .. } => {
                "a diagnostic is on and there is no directory to write to"
            }
            ConfigError::CapacityNotPowerOfTwo { .. } => "a capacity is not a power of two",
            ConfigError::CapacityTooSmall { .. } => "a capacity is too small",
            ConfigError::CapacityTooLarge { .. } => "a capacity is too large",
            ConfigError::NegativeCount { .. } => "a count is negative",
            ConfigError::CountTooLarge { .. } => "a count is too large",
            ConfigError::OnlyOnSimulators { .. } => "a count applies only to modelled chips",
            ConfigError::ReservedBit { .. } => "a reserved bit of the diagnostics is set",
            ConfigError::ReservedField { .. } => "a reserved field is not zero",
            ConfigError::SwimlaneLevelOutOfRange { .. } => "the swimlane level does not exist",
            ConfigError::UnknownOverflow { .. } => "the overflow policy does not exist",
            ConfigError::OutputPrefixTooLong { .. } => "the output prefix is too long",
            ConfigError::OutputPrefixHasNul { .. } => "the output prefix has a NUL inside",
            ConfigError::OutputPrefixNotTerminated => "the output prefix has no NUL at its end",
            ConfigError::OutputPrefixNotUtf8 { .. } => "the output prefix is not UTF-8",
            ConfigError::ConfigTruncated { .. } => "a configuration is truncated",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            ConfigError::MissingOutputPrefix { dfx_flags } => {
                format!("dfx_flags {dfx_flags}, output_prefix empty")
            }
            ConfigError::CapacityNotPowerOfTwo { resource, ring, value }
            | ConfigError::CapacityTooSmall { resource, ring, value }
            | ConfigError::CapacityTooLarge { resource, ring, value } => capacity(*resource, *ring, *value),
            ConfigError::NegativeCount { field, value } => format!("{field} is {value}"),
            ConfigError::CountTooLarge { field, value, max } => {
                format!("{field} is {value}, at most {max} on this chip")
            }
            ConfigError::OnlyOnSimulators { field, value } => {
                format!("{field} is {value}; the cpu has only threads")
            }
            ConfigError::ReservedBit { bit } => format!("bit {bit} of dfx_flags is set"),
            ConfigError::ReservedField { offset_bytes, value } => {
                format!("{value:#x} at byte {offset_bytes}")
            }
            ConfigError::SwimlaneLevelOutOfRange { level } => {
                format!("level {level}, at most {}", DfxFlags::MAX_SWIMLANE_LEVEL)
            }
            ConfigError::UnknownOverflow { code } => format!("code {code}; 0 is block, 1 is drop"),
            ConfigError::OutputPrefixTooLong { bytes } => {
                format!("{bytes} bytes, at most {}", OUTPUT_PREFIX_BYTES - 1)
            }
            ConfigError::OutputPrefixHasNul { at } => format!("at byte {at}"),
            ConfigError::OutputPrefixNotTerminated => format!("{OUTPUT_PREFIX_BYTES} bytes without a NUL"),
            ConfigError::OutputPrefixNotUtf8 { at } => format!("from byte {at}"),
            ConfigError::ConfigTruncated { have_bytes, need_bytes } => {
                format!("{have_bytes} bytes of {need_bytes}")
            }
        }
    }

    fn hint(&self) -> String {
        match self {
            ConfigError::MissingOutputPrefix { .. } => {
                Reader::choose("name a directory with `set_output_prefix`", "name a directory with -o DIR")
            }
            ConfigError::CapacityNotPowerOfTwo { resource, value, .. }
            | ConfigError::CapacityTooSmall { resource, value, .. }
            | ConfigError::CapacityTooLarge { resource, value, .. } => {
                return resource.setting(nearest(*resource, *value));
            }
            ConfigError::NegativeCount { .. } => "use 0 for the default, or a positive number",
            ConfigError::CountTooLarge { field, max, .. } => {
                return format!("`CallConfig::with_{field}({max})`, or 0 for the default");
            }
            ConfigError::OnlyOnSimulators { .. } => {
                "leave it at 0 and use `with_threads`, or run on a modelled chip"
            }
            ConfigError::ReservedBit { .. } => {
                "only bits 0 to 7 have a meaning; check that both sides run the same build"
            }
            ConfigError::ReservedField { .. } => {
                "start from CallConfig::default(); check that both sides run the same build"
            }
            ConfigError::SwimlaneLevelOutOfRange { .. } => {
                Reader::choose("`DfxFlags::with_swimlane_level(3)`", "--chip-swimlane=3")
            }
            ConfigError::UnknownOverflow { .. } => {
                Reader::choose("`CallConfig::with_overflow(Overflow::Block)`", "--overflow block")
            }
            ConfigError::OutputPrefixTooLong { .. } => "use a shorter path, or a relative one",
            ConfigError::OutputPrefixHasNul { .. } => {
                "a path cannot contain a NUL; fill the bytes after its end with zeros"
            }
            ConfigError::OutputPrefixNotTerminated => "use set_output_prefix, which adds the NUL",
            ConfigError::OutputPrefixNotUtf8 { .. } => "use a path that is valid UTF-8",
            ConfigError::ConfigTruncated { .. } => "check that both sides run the same build",
        }
        .to_string()
    }
}

fn capacity(resource: Resource, ring: Option<RingIndex>, value: u64) -> String {
    let place = ring.map_or(String::new(), |ring| format!(" of ring {ring}"));
    let (range, unit) = (resource.range(), resource.unit());
    let (min, max) = (range.min, range.max);
    // The command parses numbers beyond 64 bits as the largest number.
    let bound = if value == u64::MAX { "at least " } else { "" };
    format!("{resource}{place}: {bound}{value} {unit}, allowed: powers of two from {min} to {max}")
}

/// The smallest allowed capacity that is at least `value`, or the largest allowed one.
fn nearest(resource: Resource, value: u64) -> u64 {
    let range = resource.range();
    value.clamp(range.min, range.max).next_power_of_two()
}
