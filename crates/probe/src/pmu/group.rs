//! Which counters run together, by number and by name.

use core::fmt;

use ringlane_task::UnknownPmuGroup;

/// Something that the kernel can count: its type and number there, and a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) class: u32,
    pub(super) config: u64,
    pub(super) name: &'static str,
}

const fn hardware(config: u64, name: &'static str) -> Event {
    Event { class: 0, config, name }
}

/// What a cache did: the cache's number, and whether all reads count or only those that missed.
const fn cache_reads(cache: u64, outcome: u64, name: &'static str) -> Event {
    Event { class: 3, config: cache | outcome << 16, name }
}

const CYCLES: Event = hardware(0, "cycles");
const INSTRUCTIONS: Event = hardware(1, "instructions");
const CACHE_REFERENCES: Event = hardware(2, "cache-references");
const CACHE_MISSES: Event = hardware(3, "cache-misses");
const BRANCHES: Event = hardware(4, "branches");
const BRANCH_MISSES: Event = hardware(5, "branch-misses");
const STALLED_FRONT: Event = hardware(7, "stalled-cycles-frontend");
const STALLED_BACK: Event = hardware(8, "stalled-cycles-backend");
const L1D_LOADS: Event = cache_reads(0, 0, "L1-dcache-loads");
const L1D_LOAD_MISSES: Event = cache_reads(0, 1, "L1-dcache-load-misses");
const LLC_LOAD_MISSES: Event = cache_reads(2, 1, "LLC-load-misses");

/// A set of counters that run together. Its first counter is always the processor's cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Group {
    /// Cycles and instructions: how well the processor is used.
    #[default]
    Basic = 1,
    /// Last-level cache: references and misses.
    Cache = 2,
    /// Branches, and those that were mispredicted.
    Branch = 3,
    /// Cycles in which the processor's front end or back end was stalled.
    Stall = 4,
    /// First-level data cache, and reads that reached memory.
    Memory = 5,
}

impl Group {
    /// All groups, by number.
    pub const ALL: [Group; 5] = [Group::Basic, Group::Cache, Group::Branch, Group::Stall, Group::Memory];

    /// The group's number, as in `pmu.csv` and `CallConfig`.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The group's name, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Basic => "basic",
            Group::Cache => "cache",
            Group::Branch => "branch",
            Group::Stall => "stall",
            Group::Memory => "memory",
        }
    }

    /// The group with this number.
    pub fn from_number(number: i32) -> Result<Group, UnknownPmuGroup> {
        let found = Group::ALL.into_iter().find(|group| i32::from(group.number()) == number);
        found.ok_or_else(|| Group::unknown(number))
    }

    /// The group with this name or number.
    ///
    /// ```
    /// use ringlane_probe::pmu::Group;
    /// use ringlane_task::Explain;
    /// assert_eq!(Group::parse("cache"), Ok(Group::Cache));
    /// assert_eq!(Group::parse("2"), Ok(Group::Cache));
    /// let error = Group::parse("99").unwrap_err();
    /// assert!(error.hint().contains("1 or basic"));
    /// ```
    pub fn parse(text: &str) -> Result<Group, UnknownPmuGroup> {
        let named = |group: &Group| group.name() == text || group.number().to_string() == text;
        Group::ALL.into_iter().find(named).ok_or_else(|| Group::unknown(text))
    }

    fn unknown(given: impl fmt::Display) -> UnknownPmuGroup {
        UnknownPmuGroup::new(given, Group::ALL.map(|group| (group.number(), group.name())))
    }

    /// The names of its counters' columns in `pmu.csv`, in the order in which they are read.
    pub const fn columns(self) -> &'static [&'static str] {
        match self {
            Group::Basic => &["pmu_total_cycles", "instructions"],
            Group::Cache => &["pmu_total_cycles", "instructions", "cache_references", "cache_misses"],
            Group::Branch => &["pmu_total_cycles", "instructions", "branches", "branch_misses"],
            Group::Stall => &["pmu_total_cycles", "stalled_cycles_frontend", "stalled_cycles_backend"],
            Group::Memory => &["pmu_total_cycles", "l1d_loads", "l1d_load_misses", "llc_load_misses"],
        }
    }

    /// What the kernel is asked to count, in the order of the columns.
    pub(super) const fn events(self) -> &'static [Event] {
        match self {
            Group::Basic => &[CYCLES, INSTRUCTIONS],
            Group::Cache => &[CYCLES, INSTRUCTIONS, CACHE_REFERENCES, CACHE_MISSES],
            Group::Branch => &[CYCLES, INSTRUCTIONS, BRANCHES, BRANCH_MISSES],
            Group::Stall => &[CYCLES, STALLED_FRONT, STALLED_BACK],
            Group::Memory => &[CYCLES, L1D_LOADS, L1D_LOAD_MISSES, LLC_LOAD_MISSES],
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use ringlane_task::Explain;

    use super::super::COUNTERS_MAX;
    use super::*;

    #[test]
    fn every_group_is_found_by_number_and_by_name_and_fits() {
        for group in Group::ALL {
            assert_eq!(Group::parse(group.name()), Ok(group));
            assert_eq!(Group::parse(&group.number().to_string()), Ok(group));
            assert_eq!(Group::from_number(group.number().into()), Ok(group));
            assert_eq!(
                (group.columns().len(), group.columns()[0]),
                (group.events().len(), "pmu_total_cycles")
            );
            assert!(group.events().len() <= COUNTERS_MAX && group.events()[0] == CYCLES);
        }
    }

    #[test]
    fn an_unknown_group_is_refused_with_all_that_are_known() {
        for wrong in ["99", "0", "", "Cache", "02", "-1"] {
            let error = Group::parse(wrong).unwrap_err();
            assert_eq!((error.name(), error.detail()), ("UnknownPmuGroup", format!("{wrong:?}")));
            assert_eq!(error.hint(), "use 1 or basic, 2 or cache, 3 or branch, 4 or stall, 5 or memory");
        }
        assert!(Group::from_number(0).is_err() && Group::from_number(6).is_err());
    }
}
