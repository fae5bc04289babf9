//! Which diagnostics are on: one bit each.

use core::fmt;

#[cfg(feature = "wire")]
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::ConfigError;

/// The diagnostics of a run, one bit each.
///
/// The three swimlane bits build on each other: phases imply the task lifecycle, which implies core timing. All
/// methods treat implied bits as set.
///
/// ```
/// use ringlane_task::{DfxFlags, Explain};
/// let flags = DfxFlags::DEPS.with(DfxFlags::SWIMLANE_TASKS);
/// assert_eq!((flags.bits(), flags.swimlane_level()), (0x23, 2));
/// assert_eq!(flags.with_swimlane_level(3).unwrap().to_string(), "0x27");
/// assert_eq!(DfxFlags::from_bits(1 << 9).unwrap_err().detail(), "bit 9 of dfx_flags is set");
/// ```
#[derive(Clone, Copy, Default)]
#[cfg_attr(feature = "wire", derive(FromBytes, IntoBytes, Immutable, KnownLayout))]
#[repr(transparent)]
pub struct DfxFlags(u64);

impl DfxFlags {
    /// No diagnostic.
    pub const NONE: DfxFlags = DfxFlags(0);
    /// Swimlane, level 1: when each block ran on which core.
    pub const SWIMLANE_CORES: DfxFlags = DfxFlags(1 << 0);
    /// Swimlane, level 2: the life cycle of each task as its scheduler saw it.
    pub const SWIMLANE_TASKS: DfxFlags = DfxFlags(1 << 1);
    /// Swimlane, level 3: how schedulers and the orchestrator spend their time.
    pub const SWIMLANE_PHASES: DfxFlags = DfxFlags(1 << 2);
    /// Captured arguments.
    pub const DUMP: DfxFlags = DfxFlags(1 << 3);
    /// Hardware counters.
    pub const PMU: DfxFlags = DfxFlags(1 << 4);
    /// The dependency graph.
    pub const DEPS: DfxFlags = DfxFlags(1 << 5);
    /// Peaks of every resource in every scope.
    pub const SCOPES: DfxFlags = DfxFlags(1 << 6);
    /// Swimlane of a whole node: the calls of each worker process.
    pub const NODE_SWIMLANE: DfxFlags = DfxFlags(1 << 7);

    /// Number of bits that have a meaning; the others are reserved.
    pub const USED_BITS: u32 = 8;
    /// The highest swimlane level.
    pub const MAX_SWIMLANE_LEVEL: u8 = 3;

    const SWIMLANE_MASK: u64 = 0b111;

    /// Flags from their bits, with implied bits added; a reserved bit is an error that names it.
    pub const fn from_bits(bits: u64) -> Result<Self, ConfigError> {
        match DfxFlags(bits).validate() {
            Ok(()) => Ok(DfxFlags(DfxFlags(bits).bits())),
            Err(error) => Err(error),
        }
    }

    /// The bits, including implied ones.
    pub const fn bits(self) -> u64 {
        // Bit 2 implies bit 1, and both imply bit 0.
        self.0 | (self.0 & 0b100) >> 1 | (self.0 & 0b010) >> 1 | (self.0 & 0b100) >> 2
    }

    /// Refuses reserved bits, the lowest first.
    pub const fn validate(self) -> Result<(), ConfigError> {
        let reserved = self.0 >> Self::USED_BITS;
        if reserved == 0 {
            return Ok(());
        }
        Err(ConfigError::ReservedBit { bit: Self::USED_BITS + reserved.trailing_zeros() })
    }

    /// These flags and the others.
    pub const fn with(self, other: DfxFlags) -> Self {
        DfxFlags(DfxFlags(self.0 | other.0).bits())
    }

    /// These flags without the others. A swimlane bit stays if a higher one implies it.
    ///
    /// ```
    /// use ringlane_task::DfxFlags;
    /// let flags = DfxFlags::DEPS.with(DfxFlags::DUMP);
    /// assert_eq!(flags.without(DfxFlags::DUMP), DfxFlags::DEPS);
    /// ```
    pub const fn without(self, other: DfxFlags) -> Self {
        DfxFlags(self.bits() & !other.bits())
    }

    /// Whether all of the others are on.
    pub const fn contains(self, other: DfxFlags) -> bool {
        self.bits() & other.bits() == other.bits()
    }

    /// Whether no diagnostic is on.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The swimlane level of the bits: 0 (off) to 3.
    pub const fn swimlane_level(self) -> u8 {
        (self.bits() & Self::SWIMLANE_MASK).count_ones() as u8
    }

    /// The same flags with another swimlane level, higher or lower.
    pub const fn with_swimlane_level(self, level: u8) -> Result<Self, ConfigError> {
        if level > Self::MAX_SWIMLANE_LEVEL {
            return Err(ConfigError::SwimlaneLevelOutOfRange { level });
        }
        Ok(DfxFlags(self.0 & !Self::SWIMLANE_MASK | ((1 << level) - 1)))
    }
}

impl PartialEq for DfxFlags {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for DfxFlags {}

impl fmt::Display for DfxFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.bits())
    }
}

impl fmt::Debug for DfxFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DfxFlags({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_swimlane_level_and_its_bits_convert_to_each_other() {
        for (level, bits) in [(0, 0b000), (1, 0b001), (2, 0b011), (3, 0b111)] {
            let flags = DfxFlags::SCOPES.with_swimlane_level(level).unwrap();
            assert_eq!(flags.bits(), bits | 1 << 6);
            assert_eq!(DfxFlags::from_bits(bits).unwrap().swimlane_level(), level);
        }
        assert_eq!(
            DfxFlags::NONE.with_swimlane_level(4),
            Err(ConfigError::SwimlaneLevelOutOfRange { level: 4 })
        );
    }

    #[test]
    fn a_higher_swimlane_bit_implies_the_lower_ones() {
        assert_eq!(DfxFlags::from_bits(0b100).unwrap().bits(), 0b111);
        assert_eq!(DfxFlags::from_bits(0b010).unwrap().bits(), 0b011);
        assert!(DfxFlags::NONE.with(DfxFlags::SWIMLANE_PHASES).contains(DfxFlags::SWIMLANE_CORES));
        let raw = DfxFlags::read_from_bytes(&0b100u64.to_ne_bytes()).unwrap();
        assert_eq!((raw, raw.swimlane_level()), (DfxFlags::from_bits(0b111).unwrap(), 3));
        assert_eq!(raw.to_string(), "0x7");
    }

    #[test]
    fn every_reserved_bit_is_refused_by_its_number() {
        for bit in DfxFlags::USED_BITS..64 {
            assert_eq!(DfxFlags::from_bits(1 << bit | 1), Err(ConfigError::ReservedBit { bit }));
        }
        assert_eq!(DfxFlags::from_bits(0xff).unwrap().bits(), 0xff);
    }

    #[test]
    fn lowering_the_level_leaves_the_other_diagnostics_on() {
        let flags = DfxFlags::from_bits(0x7f).unwrap().with_swimlane_level(1).unwrap();
        assert_eq!(flags.bits(), 0x79);
        assert!(!flags.contains(DfxFlags::SWIMLANE_TASKS) && flags.contains(DfxFlags::PMU));
    }
}
