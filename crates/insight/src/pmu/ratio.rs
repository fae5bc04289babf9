//! Numbers that follow from two counters, or from a counter and the cycles.

use super::{KernelCounters, Measured};

/// How a ratio is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A part of a whole.
    Share,
    /// The number of one for one of the other.
    Plain,
    /// The number of one for a thousand of the other.
    PerThousand,
}

/// What a counter is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Per {
    Cycles,
    Column(usize),
    /// The counter itself and another: hits and misses.
    Both(usize),
}

/// A ratio that a set of counters has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// Its name.
    pub name: String,
    /// How it is read.
    pub unit: Unit,
    column: usize,
    per: Per,
}

impl Ratio {
    /// The ratio over all blocks of a kernel; `None` if the lower part is 0 or nothing was counted.
    pub fn of(&self, kernel: &KernelCounters) -> Option<f64> {
        let sum = |column: usize| kernel.sums.get(column).copied();
        let upper = sum(self.column)?;
        let lower = match self.per {
            Per::Cycles => kernel.cycles.total,
            Per::Column(column) => sum(column)?,
            Per::Both(column) => upper.saturating_add(sum(column)?),
        };
        let thousands = if self.unit == Unit::PerThousand { 1000.0 } else { 1.0 };
        (kernel.measured == Measured::Cycles && lower > 0).then(|| upper as f64 / lower as f64 * thousands)
    }

    /// Whether it has a value for any of these kernels.
    pub fn applies_to(&self, kernels: &[KernelCounters]) -> bool {
        let counts = |kernel: &KernelCounters| kernel.sums.get(self.column).is_some_and(|&sum| sum > 0);
        kernels.iter().any(|kernel| counts(kernel) && self.of(kernel).is_some())
    }
}

/// Of which accesses some counters are the misses: of the first of these columns that there is.
const MISSES: [(&str, &str); 7] = [
    ("cache_misses", "cache_references"),
    ("branch_misses", "branches"),
    ("l1d_load_misses", "l1d_loads"),
    ("llc_load_misses", "l1d_loads"),
    ("icache_miss", "icache_req"),
    ("cache_misses", "instructions"),
    ("branch_misses", "instructions"),
];

/// Hits, and the misses that make them whole.
const HITS: [(&str, &str); 3] = [
    ("write_cache_hit", "write_cache_miss_allocate"),
    ("r0_read_cache_hit", "r0_read_cache_miss_allocate"),
    ("r1_read_cache_hit", "r1_read_cache_miss_allocate"),
];

/// The ratios that some counters have.
pub(super) fn of(columns: &[String]) -> Vec<Ratio> {
    let find = |name: &str| columns.iter().position(|column| column == name);
    let with_cycles = columns.iter().enumerate().filter_map(|(column, name)| {
        let (name, unit) = by_cycle(name)?;
        Some(Ratio { name, unit, column, per: Per::Cycles })
    });
    let misses = MISSES.iter().filter_map(|&(misses, all)| {
        let (name, unit) = match all {
            "instructions" => (format!("{misses}/1000 {all}"), Unit::PerThousand),
            _ => (format!("{misses}/{all}"), Unit::Share),
        };
        Some(Ratio { name, unit, column: find(misses)?, per: Per::Column(find(all)?) })
    });
    let hits = HITS.iter().filter_map(|&(hits, misses)| {
        let name = format!("{hits} of all");
        Some(Ratio { name, unit: Unit::Share, column: find(hits)?, per: Per::Both(find(misses)?) })
    });
    with_cycles.chain(misses).chain(hits).collect()
}

/// What a counter says of each cycle, by what it counts.
fn by_cycle(name: &str) -> Option<(String, Unit)> {
    let share = name.strip_suffix("_cycles").or(name.starts_with("stalled_cycles_").then_some(name));
    if let Some(busy) = share {
        return Some((format!("{busy} of cycles"), Unit::Share));
    }
    let counts = name == "instructions" || name.ends_with("_bytes") || name.ends_with("_fops");
    counts.then(|| (format!("{name}/cycle"), Unit::Plain))
}
