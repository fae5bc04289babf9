//! Costs recorded on another chip: what a block of each kernel took there, by the kernel's name.
//!
//! ```json
//! {"version": 1, "chip": "cpu", "clock_freq_hz": 1000000000,
//!  "kernels": [{"name": "QK", "blocks": 1234, "mean_ps": 2100000, "min_ps": 1900000, "max_ps": 9000000}]}
//! ```
//! Fields may be added, never renamed. Kernels that a program does not have are of no account.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::limits::TABLE_BYTES_MAX;
use super::table_error::CostTableError;
use crate::time::SECOND;

/// The version that is written and read.
pub(super) const VERSION: u64 = 1;

/// What blocks of one kernel took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCost {
    /// The kernel.
    pub name: String,
    /// How many were recorded; at least one.
    pub blocks: u64,
    /// Picoseconds of a block, on average: what every block takes where the table is used.
    pub mean_ps: u64,
    /// Picoseconds of the shortest.
    pub min_ps: u64,
    /// Picoseconds of the longest.
    pub max_ps: u64,
}

/// The recorded costs of kernels.
///
/// ```
/// use ringlane_chip_sim::cost::{BlockTimes, CostTable, TableRecorder};
/// let mut times = BlockTimes::default();
/// [3, 5].into_iter().for_each(|ticks| times.add(ticks));
/// let mut recorder = TableRecorder::new("cpu");
/// recorder.add("QK", &times, 1_000_000_000);
/// let table = recorder.finish();
/// assert_eq!(table.kernel("QK").unwrap().mean_ps, 4_000);
/// assert_eq!(CostTable::parse(table.to_json().as_bytes(), "costs.json".as_ref())?, table);
/// # Ok::<(), ringlane_chip_sim::cost::CostTableError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostTable {
    version: u64,
    chip: String,
    clock_freq_hz: u64,
    /// By name, each once.
    kernels: Vec<KernelCost>,
}

/// What is read first: a later version may have other fields.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

impl CostTable {
    /// Reads a table from its file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, CostTableError> {
        let path = path.as_ref();
        let mut bytes = Vec::new();
        let read = File::open(path).and_then(|file| file.take(TABLE_BYTES_MAX + 1).read_to_end(&mut bytes));
        match read {
            Err(source) => Err(CostTableError::CannotRead { path: path.to_path_buf(), source }),
            Ok(_) => CostTable::parse(&bytes, path),
        }
    }

    /// The table in the text of a file; errors name the path.
    pub fn parse(json: &[u8], path: &Path) -> Result<Self, CostTableError> {
        let path = path.to_path_buf();
        if json.len() as u64 > TABLE_BYTES_MAX {
            return Err(CostTableError::TooLong { path });
        }
        let head: Head = match serde_json::from_slice(json) {
            Ok(head) => head,
            Err(error) => return Err(CostTableError::Damaged { path, what: error.to_string() }),
        };
        if head.version != VERSION {
            return Err(CostTableError::UnknownVersion { path, version: head.version });
        }
        let mut table: CostTable = match serde_json::from_slice(json) {
            Ok(table) => table,
            Err(error) => return Err(CostTableError::Damaged { path, what: error.to_string() }),
        };
        table.kernels.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = table.kernels.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(CostTableError::DuplicateKernel { path, kernel: pair[0].name.clone() });
        }
        for cost in &table.kernels {
            if let Some(what) = cost.problem() {
                return Err(CostTableError::ImpossibleCost { path, kernel: cost.name.clone(), what });
            }
        }
        Ok(table)
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("strings and numbers");
        json.push('\n');
        json
    }

    /// The chip it was recorded on.
    pub fn chip(&self) -> &str {
        &self.chip
    }

    /// Frequency of the counter that it was recorded with: no duration is known better than to one of its ticks.
    pub const fn clock_freq_hz(&self) -> u64 {
        self.clock_freq_hz
    }

    /// All kernels, by name.
    pub fn kernels(&self) -> &[KernelCost] {
        &self.kernels
    }

    /// What is known of a kernel.
    #[inline]
    pub fn kernel(&self, name: &str) -> Option<&KernelCost> {
        let found = self.kernels.binary_search_by(|cost| cost.name.as_str().cmp(name));
        found.ok().map(|index| &self.kernels[index])
    }
}

impl KernelCost {
    /// What is wrong with the numbers, if anything is.
    fn problem(&self) -> Option<String> {
        let KernelCost { name, blocks, mean_ps, min_ps, max_ps } = self;
        if name.is_empty() {
            return Some("a kernel has a name".to_string());
        }
        if *blocks == 0 {
            return Some("an average of 0 blocks".to_string());
        }
        let in_order = min_ps <= mean_ps && mean_ps <= max_ps;
        (!in_order)
            .then(|| format!("min_ps {min_ps}, mean_ps {mean_ps} and max_ps {max_ps} are out of order"))
    }
}

/// What blocks of a kernel took, in ticks of one counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockTimes {
    blocks: u64,
    total: u128,
    min: u64,
    max: u64,
}

impl Default for BlockTimes {
    fn default() -> Self {
        BlockTimes { blocks: 0, total: 0, min: u64::MAX, max: 0 }
    }
}

impl BlockTimes {
    /// Adds a block that took so many ticks.
    #[inline]
    pub fn add(&mut self, ticks: u64) {
        self.blocks += 1;
        self.total += u128::from(ticks);
        (self.min, self.max) = (self.min.min(ticks), self.max.max(ticks));
    }

    /// Adds other blocks.
    fn merge(&mut self, other: &BlockTimes) {
        self.blocks += other.blocks;
        self.total += other.total;
        (self.min, self.max) = (self.min.min(other.min), self.max.max(other.max));
    }

    /// The same in picoseconds.
    fn in_picoseconds(&self, clock_freq_hz: u64) -> Self {
        let convert =
            |ticks: u128| ticks.saturating_mul(u128::from(SECOND)) / u128::from(clock_freq_hz.max(1));
        let narrow = |ticks: u64| u64::try_from(convert(ticks.into())).unwrap_or(u64::MAX);
        BlockTimes {
            blocks: self.blocks,
            total: convert(self.total),
            min: narrow(self.min),
            max: narrow(self.max),
        }
    }
}

/// Makes a table from recorded runs, of one or of several.
#[derive(Clone, Debug)]
pub struct TableRecorder {
    chip: String,
    clock_freq_hz: u64,
    /// In picoseconds.
    kernels: BTreeMap<String, BlockTimes>,
}

impl TableRecorder {
    /// Nothing yet, to be recorded on a chip of this name.
    pub fn new(chip: &str) -> Self {
        TableRecorder { chip: chip.to_string(), clock_freq_hz: 0, kernels: BTreeMap::new() }
    }

    /// Adds blocks of a kernel, measured with a counter of this frequency.
    pub fn add(&mut self, kernel: &str, times: &BlockTimes, clock_freq_hz: u64) {
        if times.blocks == 0 {
            return;
        }
        self.clock_freq_hz = clock_freq_hz;
        self.kernels.entry(kernel.to_string()).or_default().merge(&times.in_picoseconds(clock_freq_hz));
    }

    /// Whether no block was recorded.
    pub fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// The table.
    pub fn finish(self) -> CostTable {
        let kernels = self.kernels.into_iter().map(|(name, times)| {
            let mean = u64::try_from(times.total / u128::from(times.blocks)).unwrap_or(u64::MAX);
            // Each end is rounded down by itself; the mean stays between them.
            let (min_ps, max_ps) = (times.min, times.max);
            KernelCost { name, blocks: times.blocks, mean_ps: mean.clamp(min_ps, max_ps), min_ps, max_ps }
        });
        let (chip, clock_freq_hz) = (self.chip, self.clock_freq_hz);
        CostTable { version: VERSION, chip, clock_freq_hz, kernels: kernels.collect() }
    }
}

#[cfg(test)]
mod tests;
