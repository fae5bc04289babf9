//! The bounded resources of a run, and their capacities.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use crate::config::{CallConfig, ConfigError};
use crate::explain::Reader;
use crate::ids::RingIndex;
use crate::limits::{
    ARGS, CapacityRange, DEP_ENTRY_BYTES, DEP_POOL, HEAP, RINGS, SLOT_BYTES, TASK_WINDOW, TENSORMAP,
    TENSORMAP_ENTRY_BYTES,
};

/// A bounded resource. Each ring has the first four; all rings share the tensor map.
///
/// ```
/// use ringlane_task::Resource;
/// assert_eq!(Resource::TaskWindow.to_string(), "task_window");
/// assert_eq!(Resource::DepPool.option(), "--ring-dep-pool");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Resource {
    /// Slots, one for each task that is not yet reclaimed.
    TaskWindow = 0,
    /// Bytes of outputs.
    Heap = 1,
    /// Entries in the lists of edges.
    DepPool = 2,
    /// Bytes of arguments.
    Args = 3,
    /// Entries of the map from regions to their last writers and readers.
    TensorMap = 4,
}

impl Resource {
    /// All resources, in the order of their codes.
    pub const ALL: [Resource; 5] =
        [Resource::TaskWindow, Resource::Heap, Resource::DepPool, Resource::Args, Resource::TensorMap];

    /// The resource with this code, if there is one.
    pub const fn from_code(code: u8) -> Option<Resource> {
        if (code as usize) < Self::ALL.len() { Some(Self::ALL[code as usize]) } else { None }
    }

    /// The name used in every artifact.
    pub const fn as_str(self) -> &'static str {
        match self {
            Resource::TaskWindow => "task_window",
            Resource::Heap => "heap",
            Resource::DepPool => "dep_pool",
            Resource::Args => "args",
            Resource::TensorMap => "tensormap",
        }
    }

    /// The command-line option that sets its capacity.
    pub const fn option(self) -> &'static str {
        match self {
            Resource::TaskWindow => "--ring-task-window",
            Resource::Heap => "--ring-heap",
            Resource::DepPool => "--ring-dep-pool",
            Resource::Args => "--ring-args",
            Resource::TensorMap => "--tensormap",
        }
    }

    /// The method of [`CallConfig`] that sets its capacity.
    pub const fn method(self) -> &'static str {
        match self {
            Resource::TaskWindow => "with_ring_task_window",
            Resource::Heap => "with_ring_heap",
            Resource::DepPool => "with_ring_dep_pool",
            Resource::Args => "with_ring_args",
            Resource::TensorMap => "with_tensormap",
        }
    }

    /// How a hint sets its capacity, ready to paste: `values` is one number, or one for each ring separated by
    /// commas. The [`Reader`] of this process determines what it names.
    ///
    /// ```
    /// use ringlane_task::Resource;
    /// let method = "`CallConfig::default().with_ring_heap([64, 1024, 64, 64])`";
    /// assert_eq!(Resource::Heap.setting("64,1024,64,64"), method);
    /// assert_eq!(Resource::TaskWindow.setting(32), "`CallConfig::default().with_ring_task_window([32; 4])`");
    /// ```
    pub fn setting(self, values: impl fmt::Display) -> String {
        let values = values.to_string();
        if Reader::current() == Reader::Command {
            return format!("{} {values}", self.option());
        }
        let values = match (self.is_per_ring(), values.contains(',')) {
            (false, _) => values,
            (true, false) => format!("[{values}; {RINGS}]"),
            (true, true) => format!("[{}]", values.replace(',', ", ")),
        };
        format!("`CallConfig::default().{}({values})`", self.method())
    }

    /// The values to which a hint sets its capacity, as they were passed to [`setting`](Self::setting), for any
    /// reader of the hint.
    ///
    /// ```
    /// use ringlane_task::Resource;
    /// assert_eq!(Resource::DepPool.set_in("rerun with --ring-dep-pool 256 or more").as_deref(), Some("256"));
    /// let hint = format!("rerun with {} or more", Resource::DepPool.setting("4,256,4,4"));
    /// assert_eq!(Resource::DepPool.set_in(&hint).as_deref(), Some("4,256,4,4"));
    /// assert_eq!(Resource::Args.set_in(&hint), None);
    /// ```
    pub fn set_in(self, hint: &str) -> Option<String> {
        let values = match hint.split_once(&format!("{} ", self.option())) {
            Some((_, after)) => after.split(|c: char| !c.is_ascii_digit() && c != ',').next()?,
            None => {
                let (_, after) = hint.split_once(&format!("{}(", self.method()))?;
                after.trim_start_matches('[').split([']', ')', ';']).next()?
            }
        };
        let values = values.replace(' ', "");
        let values = values.trim_end_matches(',');
        (!values.is_empty()).then(|| values.to_string())
    }

    /// The unit of the capacity.
    pub const fn unit(self) -> &'static str {
        match self {
            Resource::TaskWindow => "slots",
            Resource::Heap | Resource::Args => "bytes",
            Resource::DepPool | Resource::TensorMap => "entries",
        }
    }

    /// Default, minimum and maximum of its capacity.
    pub const fn range(self) -> CapacityRange {
        match self {
            Resource::TaskWindow => TASK_WINDOW,
            Resource::Heap => HEAP,
            Resource::DepPool => DEP_POOL,
            Resource::Args => ARGS,
            Resource::TensorMap => TENSORMAP,
        }
    }

    /// Whether each ring has its own capacity.
    pub const fn is_per_ring(self) -> bool {
        !matches!(self, Resource::TensorMap)
    }

    /// Checks a capacity that a user specified; unlike in a `CallConfig`, 0 is not a default here but too small.
    ///
    /// ```
    /// use ringlane_task::{Explain, Resource};
    /// assert!(Resource::Args.check(None, 4096).is_ok());
    /// let error = Resource::TaskWindow.check(None, 20).unwrap_err();
    /// assert_eq!(error.name(), "CapacityNotPowerOfTwo");
    /// assert_eq!(error.hint(), "`CallConfig::default().with_ring_task_window([32; 4])`");
    /// ```
    pub fn check(self, ring: Option<RingIndex>, value: u64) -> Result<(), ConfigError> {
        let CapacityRange { min, max, .. } = self.range();
        if value < min {
            return Err(ConfigError::CapacityTooSmall { resource: self, ring, value });
        }
        if value > max {
            return Err(ConfigError::CapacityTooLarge { resource: self, ring, value });
        }
        if !value.is_power_of_two() {
            return Err(ConfigError::CapacityNotPowerOfTwo { resource: self, ring, value });
        }
        Ok(())
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The capacities of one run, with defaults filled in.
///
/// ```
/// use ringlane_task::{CallConfig, Capacities};
/// let config = CallConfig::default().with_ring_task_window([64, 0, 0, 0]);
/// assert_eq!(Capacities::of(&config).task_window, [64, 16_384, 16_384, 16_384]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Capacities {
    /// Slots of each ring.
    pub task_window: [u32; RINGS],
    /// Bytes of outputs of each ring.
    pub heap: [u64; RINGS],
    /// Dependency entries of each ring.
    pub dep_pool: [u32; RINGS],
    /// Bytes of arguments of each ring.
    pub args: [u32; RINGS],
    /// Entries of the tensor map, for all rings.
    pub tensormap: u32,
}

impl Default for Capacities {
    fn default() -> Self {
        Capacities {
            task_window: [TASK_WINDOW.default as u32; RINGS],
            heap: [HEAP.default; RINGS],
            dep_pool: [DEP_POOL.default as u32; RINGS],
            args: [ARGS.default as u32; RINGS],
            tensormap: TENSORMAP.default as u32,
        }
    }
}

impl Capacities {
    /// The capacities of a configuration, with defaults in place of 0. It does not validate.
    pub fn of(config: &CallConfig) -> Self {
        let default = Capacities::default();
        let narrow = |given: u32, default: u32| if given == 0 { default } else { given };
        let wide = |given: u64, default: u64| if given == 0 { default } else { given };
        let each = |given: [u32; RINGS], default: [u32; RINGS]| {
            core::array::from_fn(|ring| narrow(given[ring], default[ring]))
        };
        Capacities {
            task_window: each(config.ring_task_window, default.task_window),
            heap: core::array::from_fn(|ring| wide(config.ring_heap[ring], default.heap[ring])),
            dep_pool: each(config.ring_dep_pool, default.dep_pool),
            args: each(config.ring_args, default.args),
            tensormap: narrow(config.tensormap, default.tensormap),
        }
    }

    /// The capacity of one resource; the ring is ignored for the tensor map.
    ///
    /// # Panics
    /// If there is no such ring.
    pub fn get(&self, resource: Resource, ring: RingIndex) -> u64 {
        let ring = ring.0 as usize;
        match resource {
            Resource::TaskWindow => self.task_window[ring].into(),
            Resource::Heap => self.heap[ring],
            Resource::DepPool => self.dep_pool[ring].into(),
            Resource::Args => self.args[ring].into(),
            Resource::TensorMap => self.tensormap.into(),
        }
    }

    /// An upper bound of the address space that the run reserves. Memory is allocated only on use.
    ///
    /// ```
    /// use ringlane_task::Capacities;
    /// assert!(Capacities::default().bytes_reserved() < 2 << 30);
    /// ```
    pub fn bytes_reserved(&self) -> u64 {
        let sum = |counts: &[u32], bytes: u64| -> u64 { counts.iter().map(|&c| c as u64 * bytes).sum() };
        self.heap
            .iter()
            .fold(0u64, |total, &bytes| total.saturating_add(bytes))
            .saturating_add(sum(&self.task_window, SLOT_BYTES))
            .saturating_add(sum(&self.dep_pool, DEP_ENTRY_BYTES))
            .saturating_add(sum(&self.args, 1))
            .saturating_add(self.tensormap as u64 * TENSORMAP_ENTRY_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_match_the_documentation() {
        let c = Capacities::of(&CallConfig::default());
        assert_eq!(c, Capacities::default());
        assert_eq!((c.task_window[3], c.heap[0], c.dep_pool[1]), (16_384, 256 << 20, 65_536));
        assert_eq!((c.args[2], c.tensormap), (8 << 20, 65_536));
    }

    #[test]
    fn a_capacity_replaces_only_the_default_of_its_ring() {
        let config = CallConfig::default().with_ring_heap([0, 4096, 0, 0]).with_tensormap(8);
        let c = Capacities::of(&config);
        assert_eq!(c.get(Resource::Heap, RingIndex(1)), 4096);
        assert_eq!(c.get(Resource::Heap, RingIndex(2)), 256 << 20);
        assert_eq!(c.get(Resource::TensorMap, RingIndex(3)), 8);
    }

    #[test]
    fn every_range_allows_its_own_bounds_and_nothing_beyond_them() {
        for resource in Resource::ALL {
            let range = resource.range();
            for good in [range.min, range.default, range.max] {
                assert_eq!(resource.check(None, good), Ok(()));
            }
            for bad in [0, range.min / 2, range.max + 1, range.max * 2, u64::MAX] {
                assert!(resource.check(None, bad).is_err(), "{resource} {bad}");
            }
            assert_eq!(Resource::from_code(resource as u8), Some(resource));
        }
        assert_eq!(Resource::from_code(5), None);
    }

    #[test]
    fn bytes_reserved_never_overflows() {
        let all = Capacities {
            task_window: [u32::MAX; RINGS],
            heap: [u64::MAX; RINGS],
            dep_pool: [u32::MAX; RINGS],
            args: [u32::MAX; RINGS],
            tensormap: u32::MAX,
        };
        assert_eq!(all.bytes_reserved(), u64::MAX);
    }
}
