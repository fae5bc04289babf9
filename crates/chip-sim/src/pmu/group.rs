//! The groups of counters: their numbers, names and columns, and how each column is derived.

use core::fmt;

use ringlane_task::UnknownPmuGroup;

use crate::core::CoreKind::{self, Aic, Aiv};

/// The most counters a chip's performance unit has.
pub const COUNTERS_MAX: usize = 10;

/// How a column is derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Not modelled: always 0.
    Unknown,
    /// Cycles in which the compute unit of this kind of core is busy.
    Busy(CoreKind),
    /// Cycles in which data is loaded from memory.
    Loading,
    /// Cycles in which this kind of core stores data to memory.
    Storing(CoreKind),
    /// Operations of this kind of core.
    Flops(CoreKind),
    /// Bytes read from memory.
    Read,
    /// Bytes written to memory.
    Written,
    /// Bytes read from memory by this kind of core.
    ReadBy(CoreKind),
    /// Bytes written to memory by this kind of core.
    WrittenBy(CoreKind),
}

use Source::*;

type Columns = [(&'static str, Source); COUNTERS_MAX];

/// A set of counters that a performance unit counts together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Group {
    /// Cycles of the compute units by data type.
    Arithmetic = 1,
    /// Cycles of each pipe.
    #[default]
    Pipe = 2,
    /// Bytes of each memory.
    Memory = 4,
    /// Bytes of the buffers of the matrix unit.
    MemoryL0 = 5,
    /// Cycles lost to conflicts.
    Conflict = 6,
    /// Bytes of the vector unit's buffer.
    MemoryUb = 7,
    /// Second-level cache.
    L2Cache = 8,
}

impl Group {
    /// All groups, by number.
    pub const ALL: [Group; 7] = [
        Group::Arithmetic,
        Group::Pipe,
        Group::Memory,
        Group::MemoryL0,
        Group::Conflict,
        Group::MemoryUb,
        Group::L2Cache,
    ];

    /// The group's number, as in `pmu.csv` and `CallConfig`.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The group's name, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Arithmetic => "arithmetic",
            Group::Pipe => "pipe",
            Group::Memory => "memory",
            Group::MemoryL0 => "memory_l0",
            Group::Conflict => "conflict",
            Group::MemoryUb => "memory_ub",
            Group::L2Cache => "l2_cache",
        }
    }

    /// The group with this number.
    pub fn from_number(number: i32) -> Result<Group, UnknownPmuGroup> {
        let found = Group::ALL.into_iter().find(|group| i32::from(group.number()) == number);
        found.ok_or_else(|| Group::unknown(number))
    }

    /// The group with this name.
    pub fn from_name(name: &str) -> Result<Group, UnknownPmuGroup> {
        let found = Group::ALL.into_iter().find(|group| group.name() == name);
        found.ok_or_else(|| Group::unknown(name))
    }

    /// The group with this name or number.
    ///
    /// ```
    /// use ringlane_chip_sim::pmu::Group;
    /// use ringlane_task::Explain;
    /// assert_eq!(Group::parse("pipe"), Ok(Group::Pipe));
    /// assert_eq!(Group::parse("2"), Ok(Group::Pipe));
    /// assert!(Group::parse("3").unwrap_err().hint().contains("2 or pipe"));
    /// ```
    pub fn parse(text: &str) -> Result<Group, UnknownPmuGroup> {
        let numbered = |group: &Group| group.number().to_string() == text;
        let found = Group::ALL.into_iter().find(numbered);
        found.map_or_else(|| Group::from_name(text), Ok)
    }

    fn unknown(given: impl fmt::Display) -> UnknownPmuGroup {
        UnknownPmuGroup::new(given, Group::ALL.map(|group| (group.number(), group.name())))
    }

    /// The names of its columns in `pmu.csv` on a chip with `pmu_counters` counters, without `pmu_total_cycles`.
    pub fn columns(self, pmu_counters: u32) -> &'static [&'static str] {
        let names: &'static [&'static str; COUNTERS_MAX] = match self {
            Group::Arithmetic => const { &names(&ARITHMETIC) },
            Group::Pipe => const { &names(&PIPE) },
            Group::Memory => const { &names(&MEMORY) },
            Group::MemoryL0 => const { &names(&MEMORY_L0) },
            Group::Conflict => const { &names(&CONFLICT) },
            Group::MemoryUb => const { &names(&MEMORY_UB) },
            Group::L2Cache => const { &names(&L2_CACHE) },
        };
        &names[..COUNTERS_MAX.min(pmu_counters as usize)]
    }

    /// How each column is derived.
    pub(super) fn sources(self) -> [Source; COUNTERS_MAX] {
        let columns = match self {
            Group::Arithmetic => &ARITHMETIC,
            Group::Pipe => &PIPE,
            Group::Memory => &MEMORY,
            Group::MemoryL0 => &MEMORY_L0,
            Group::Conflict => &CONFLICT,
            Group::MemoryUb => &MEMORY_UB,
            Group::L2Cache => &L2_CACHE,
        };
        columns.map(|(_, source)| source)
    }
}

const fn names(columns: &Columns) -> [&'static str; COUNTERS_MAX] {
    let mut names = [""; COUNTERS_MAX];
    let mut i = 0;
    while i < COUNTERS_MAX {
        names[i] = columns[i].0;
        i += 1;
    }
    names
}

/// The rates of a spec are for f16 on matrix cores and for f32 on vector cores.
const ARITHMETIC: Columns = [
    ("mac_fp16_cycles", Busy(Aic)),
    ("mac_int8_cycles", Unknown),
    ("vec_fp32_cycles", Busy(Aiv)),
    ("vec_fp16_cycles", Unknown),
    ("vec_int32_cycles", Unknown),
    ("vec_misc_cycles", Unknown),
    ("cube_fops", Flops(Aic)),
    ("vector_fops", Flops(Aiv)),
    ("mac_fp8_cycles", Unknown),
    ("vec_bf16_cycles", Unknown),
];

const PIPE: Columns = [
    ("vec_busy_cycles", Busy(Aiv)),
    ("cube_busy_cycles", Busy(Aic)),
    ("scalar_busy_cycles", Unknown),
    ("mte1_busy_cycles", Unknown),
    ("mte2_busy_cycles", Loading),
    ("mte3_busy_cycles", Storing(Aiv)),
    ("icache_miss", Unknown),
    ("icache_req", Unknown),
    ("fixpipe_busy_cycles", Storing(Aic)),
    ("vector_fops", Flops(Aiv)),
];

const MEMORY: Columns = [
    ("ub_read_bytes", WrittenBy(Aiv)),
    ("ub_write_bytes", ReadBy(Aiv)),
    ("l1_read_bytes", Unknown),
    ("l1_write_bytes", ReadBy(Aic)),
    ("l2_read_bytes", Read),
    ("l2_write_bytes", Written),
    ("main_mem_read_bytes", Read),
    ("main_mem_write_bytes", Written),
    ("fixpipe_write_bytes", WrittenBy(Aic)),
    ("scalar_read_bytes", Unknown),
];

const MEMORY_L0: Columns = [
    ("l0a_read_bytes", Unknown),
    ("l0a_write_bytes", Unknown),
    ("l0b_read_bytes", Unknown),
    ("l0b_write_bytes", Unknown),
    ("l0c_read_bytes", WrittenBy(Aic)),
    ("l0c_write_bytes", Unknown),
    ("l0c_read_bytes_cube", Unknown),
    ("l0c_write_bytes_cube", Unknown),
    ("scalar_ld_cycles", Unknown),
    ("scalar_st_cycles", Unknown),
];

const CONFLICT: Columns = [
    ("vec_bankgroup_cflt_cycles", Unknown),
    ("vec_bank_cflt_cycles", Unknown),
    ("vec_resc_cflt_cycles", Unknown),
    ("mte1_iq_full_cycles", Unknown),
    ("mte2_iq_full_cycles", Unknown),
    ("mte3_iq_full_cycles", Unknown),
    ("cube_iq_full_cycles", Unknown),
    ("vec_iq_full_cycles", Unknown),
    ("iq_full_cycles", Unknown),
    ("fixpipe_iq_full_cycles", Unknown),
];

/// The documentation has the first four; the others fill the remaining counters.
const MEMORY_UB: Columns = [
    ("ub_read_bytes_vector", Unknown),
    ("ub_write_bytes_vector", Unknown),
    ("ub_read_bytes_scalar", Unknown),
    ("ub_write_bytes_scalar", Unknown),
    ("ub_read_bytes_mte", WrittenBy(Aiv)),
    ("ub_write_bytes_mte", ReadBy(Aiv)),
    ("vec_bankgroup_cflt_cycles", Unknown),
    ("vec_bank_cflt_cycles", Unknown),
    ("ub_read_bytes_l1", Unknown),
    ("ub_write_bytes_l1", Unknown),
];

/// The documentation has the first six; the others fill the remaining counters.
const L2_CACHE: Columns = [
    ("write_cache_hit", Unknown),
    ("write_cache_miss_allocate", Unknown),
    ("r0_read_cache_hit", Unknown),
    ("r0_read_cache_miss_allocate", Unknown),
    ("r1_read_cache_hit", Unknown),
    ("r1_read_cache_miss_allocate", Unknown),
    ("l2_read_bytes", Read),
    ("l2_write_bytes", Written),
    ("read_local_l2_hit", Unknown),
    ("write_local_l2_hit", Unknown),
];

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
