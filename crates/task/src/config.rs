//! The request for one run: one plain block of bytes, the same at every level.
//!
//! ```text
//! facade ──▶ worker submit ──▶ mailbox ──▶ worker run ──▶ chip        each calls `validate()` before it acts
//! ```
//!
//! The block is passed by value, so that it cannot change after it was checked. Zero means "the default" everywhere,
//! and all zeros is `CallConfig::default()`.

mod dfx;
mod error;
mod overflow;
mod prefix;

use core::mem::offset_of;

#[cfg(feature = "wire")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

pub use dfx::DfxFlags;
pub use error::ConfigError;
pub use overflow::Overflow;
use prefix::OutputPrefix;

use crate::ids::RingIndex;
use crate::limits::RINGS;
use crate::resource::Resource;

/// The configuration of one run.
///
/// ```
/// use ringlane_task::{CallConfig, DfxFlags, Explain};
/// let mut config = CallConfig::default().with_seed(7).with_ring_task_window([64; 4]);
/// assert!(config.validate().is_ok());
///
/// config.dfx_flags = DfxFlags::DEPS;
/// assert_eq!(config.validate().unwrap_err().name(), "MissingOutputPrefix");
/// config.set_output_prefix("outputs/here").unwrap();
/// assert!(config.validate().is_ok());
///
/// assert_eq!(CallConfig::parse(config.as_wire()), Ok(config));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "wire", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[repr(C, align(8))]
pub struct CallConfig {
    /// Which diagnostics are on.
    pub dfx_flags: DfxFlags,
    /// Seed of inputs and of the simulator.
    pub seed: u64,
    /// Bytes of outputs of each ring; 0 = default.
    pub ring_heap: [u64; RINGS],
    /// Slots of each ring; 0 = default.
    pub ring_task_window: [u32; RINGS],
    /// Dependency entries of each ring; 0 = default.
    pub ring_dep_pool: [u32; RINGS],
    /// Bytes of arguments of each ring; 0 = default.
    pub ring_args: [u32; RINGS],
    /// Entries of the tensor map; 0 = default.
    pub tensormap: u32,
    reserved_100: u32,
    /// Threads of the `cpu` chip, the submitting one included; 0 = all cores.
    pub threads: i32,
    /// Scheduler threads; 0 = the chip's default.
    pub scheduler_threads: i32,
    /// Clusters to use; 0 = all.
    pub block_dim: i32,
    /// Group of hardware counters; 0 = the chip's default. The chip determines which groups exist.
    pub pmu_group: i32,
    overflow: i32,
    reserved_124: i32,
    output_prefix: OutputPrefix,
}

const _: () = {
    assert!(size_of::<CallConfig>() == 1152 && align_of::<CallConfig>() == 8);
    assert!(offset_of!(CallConfig, dfx_flags) == 0);
    assert!(offset_of!(CallConfig, seed) == 8);
    assert!(offset_of!(CallConfig, ring_heap) == 16);
    assert!(offset_of!(CallConfig, ring_task_window) == 48);
    assert!(offset_of!(CallConfig, ring_dep_pool) == 64);
    assert!(offset_of!(CallConfig, ring_args) == 80);
    assert!(offset_of!(CallConfig, tensormap) == 96);
    assert!(offset_of!(CallConfig, reserved_100) == 100);
    assert!(offset_of!(CallConfig, threads) == 104);
    assert!(offset_of!(CallConfig, scheduler_threads) == 108);
    assert!(offset_of!(CallConfig, block_dim) == 112);
    assert!(offset_of!(CallConfig, pmu_group) == 116);
    assert!(offset_of!(CallConfig, overflow) == 120);
    assert!(offset_of!(CallConfig, reserved_124) == 124);
    assert!(offset_of!(CallConfig, output_prefix) == 128);
};

impl CallConfig {
    /// Every default: all zeros.
    pub const DEFAULT: CallConfig = CallConfig {
        dfx_flags: DfxFlags::NONE,
        seed: 0,
        ring_heap: [0; RINGS],
        ring_task_window: [0; RINGS],
        ring_dep_pool: [0; RINGS],
        ring_args: [0; RINGS],
        tensormap: 0,
        reserved_100: 0,
        threads: 0,
        scheduler_threads: 0,
        block_dim: 0,
        pmu_group: 0,
        overflow: Overflow::Block as i32,
        reserved_124: 0,
        output_prefix: OutputPrefix::EMPTY,
    };
}

impl Default for CallConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $with:ident: $field:ident: $ty:ty;)*) => {
        /// Setters that can be chained. They store; [`CallConfig::validate`] checks.
        impl CallConfig {
            $($(#[$doc])* #[must_use] pub const fn $with(mut self, $field: $ty) -> Self {
                self.$field = $field;
                self
            })*
        }
    };
}

setters! {
    /// Enables diagnostics.
    with_dfx_flags: dfx_flags: DfxFlags;
    /// Sets the seed of inputs and of the simulator.
    with_seed: seed: u64;
    /// Sets the bytes of outputs of each ring.
    with_ring_heap: ring_heap: [u64; RINGS];
    /// Sets the slots of each ring.
    with_ring_task_window: ring_task_window: [u32; RINGS];
    /// Sets the dependency entries of each ring.
    with_ring_dep_pool: ring_dep_pool: [u32; RINGS];
    /// Sets the bytes of arguments of each ring.
    with_ring_args: ring_args: [u32; RINGS];
    /// Sets the entries of the tensor map.
    with_tensormap: tensormap: u32;
    /// Sets the threads of the `cpu` chip, the submitting one included.
    with_threads: threads: i32;
    /// Sets the number of scheduler threads.
    with_scheduler_threads: scheduler_threads: i32;
    /// Sets the number of clusters to use.
    with_block_dim: block_dim: i32;
}

impl CallConfig {
    /// Sets what a diagnostic does when its buffers are full.
    #[must_use]
    pub const fn with_overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow as i32;
        self
    }

    /// What a diagnostic does when its buffers are full.
    pub fn overflow(&self) -> Result<Overflow, ConfigError> {
        Overflow::from_code(self.overflow).ok_or(ConfigError::UnknownOverflow { code: self.overflow })
    }

    /// Sets the output directory of the run; the empty string removes it.
    pub fn set_output_prefix(&mut self, path: &str) -> Result<(), ConfigError> {
        self.output_prefix = OutputPrefix::new(path)?;
        Ok(())
    }

    /// The output directory of the run, if one was set.
    pub fn output_prefix(&self) -> Result<Option<&str>, ConfigError> {
        self.output_prefix.get()
    }

    /// Checks everything that can be checked independently of the machine. Call it before any side effect.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_reserved()?;
        self.validate_capacities()?;
        self.validate_counts()?;
        self.overflow()?;
        let prefix = self.output_prefix()?;
        if !self.dfx_flags.is_empty() && prefix.is_none() {
            return Err(ConfigError::MissingOutputPrefix { dfx_flags: self.dfx_flags });
        }
        Ok(())
    }

    fn validate_reserved(&self) -> Result<(), ConfigError> {
        self.dfx_flags.validate()?;
        for (offset_bytes, value) in [
            (offset_of!(CallConfig, reserved_100), self.reserved_100),
            (offset_of!(CallConfig, reserved_124), self.reserved_124 as u32),
        ] {
            if value != 0 {
                return Err(ConfigError::ReservedField { offset_bytes, value });
            }
        }
        Ok(())
    }

    fn validate_capacities(&self) -> Result<(), ConfigError> {
        let check = |resource: Resource, ring, value: u64| {
            if value == 0 { Ok(()) } else { resource.check(ring, value) }
        };
        for ring in 0..RINGS {
            let index = Some(RingIndex(ring as u8));
            check(Resource::TaskWindow, index, self.ring_task_window[ring].into())?;
            check(Resource::Heap, index, self.ring_heap[ring])?;
            check(Resource::DepPool, index, self.ring_dep_pool[ring].into())?;
            check(Resource::Args, index, self.ring_args[ring].into())?;
        }
        check(Resource::TensorMap, None, self.tensormap.into())
    }

    fn validate_counts(&self) -> Result<(), ConfigError> {
        for (field, value) in [
            ("threads", self.threads),
            ("scheduler_threads", self.scheduler_threads),
            ("block_dim", self.block_dim),
            ("pmu_group", self.pmu_group),
        ] {
            if value < 0 {
                return Err(ConfigError::NegativeCount { field, value });
            }
        }
        Ok(())
    }
}

#[cfg(feature = "wire")]
impl CallConfig {
    /// The configuration at the start of `bytes`, which need no alignment; its size and then its content are checked.
    pub fn parse(bytes: &[u8]) -> Result<Self, ConfigError> {
        let config = Self::parse_unchecked(bytes)?;
        config.validate()?;
        Ok(config)
    }

    /// The same with its content unchecked, for a reader that completes it before it [validates](Self::validate) it.
    pub fn parse_unchecked(bytes: &[u8]) -> Result<Self, ConfigError> {
        let (config, _) = CallConfig::read_from_prefix(bytes).map_err(|_| ConfigError::ConfigTruncated {
            have_bytes: bytes.len(),
            need_bytes: size_of::<CallConfig>(),
        })?;
        Ok(config)
    }

    /// The bytes to send.
    pub fn as_wire(&self) -> &[u8] {
        self.as_bytes()
    }
}

#[cfg(test)]
mod tests;
