//! Costs recorded on another chip: the durations of each kernel's blocks, by the kernel's name.
//!
//! ```json
//! {"version": 2, "chip": "cpu", "clock_freq_hz": 1000000000,
//!  "kernels": [{"name": "QK", "blocks": 3, "mean_ps": 2100000, "min_ps": 1900000, "max_ps": 2500000,
//!               "spread_ps": [1900000, 1900000, 2500000], "tasks": [[4294967296, 1900000], [4294967297, 1900000, 2500000]]}]}
//! ```
//! A task id is the same in every run of a program, so a block of a recorded task takes as long as that block took:
//! `tasks` has the id and then the durations of its blocks of this kernel, in order. A block that was not recorded
//! (another program, another size) takes one of `spread_ps`, chosen by its id: the means of the shortest sixteenth of
//! all blocks, of the next one, and so on. In a table without these fields (version 1), every block takes the mean.
//!
//! Fields may be added, never renamed. Kernels that a program does not have are ignored.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ringlane_task::TaskId;
use serde::{Deserialize, Serialize};

use super::limits::TABLE_BYTES_MAX;
use super::table_error::CostTableError;

/// The version that is written; it and all earlier ones can be read.
pub(super) const VERSION: u64 = 2;

/// Durations of the blocks of one kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelCost {
    /// The kernel.
    pub name: String,
    /// The number of recorded blocks; at least one.
    pub blocks: u64,
    /// The mean duration of a block in picoseconds: used for every block without a more specific one.
    pub mean_ps: u64,
    /// The shortest duration in picoseconds.
    pub min_ps: u64,
    /// The longest duration in picoseconds.
    pub max_ps: u64,
    /// All blocks by duration in up to [`SPREAD_GROUPS`](super::limits::SPREAD_GROUPS) groups of the same size, from the
    /// shortest to the longest: the mean of each group in picoseconds. Empty in a table of version 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spread_ps: Vec<u64>,
    /// The durations of the blocks of each task, by task id; empty if they were not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<RecordedTask>,
}

/// The durations of the blocks of one task. In the file: the task's id, then the picoseconds of each block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u64>", into = "Vec<u64>")]
pub struct RecordedTask {
    /// The task.
    pub task: TaskId,
    /// Picoseconds of its blocks of one kernel: by lane, then by block. At least one.
    pub blocks_ps: Vec<u64>,
}

impl TryFrom<Vec<u64>> for RecordedTask {
    type Error = &'static str;

    fn try_from(numbers: Vec<u64>) -> Result<Self, Self::Error> {
        match numbers.split_first() {
            Some((&task, blocks)) if !blocks.is_empty() => {
                Ok(RecordedTask { task: TaskId(task), blocks_ps: blocks.to_vec() })
            }
            _ => Err("a task is its id and a duration for each block"),
        }
    }
}

impl From<RecordedTask> for Vec<u64> {
    fn from(task: RecordedTask) -> Self {
        [task.task.0].into_iter().chain(task.blocks_ps).collect()
    }
}

/// The recorded costs of kernels.
///
/// ```
/// use ringlane_chip_sim::cost::{BlockTimes, CostTable, TableRecorder};
/// use ringlane_task::TaskId;
/// let mut times = BlockTimes::default();
/// [(TaskId(0), 3), (TaskId(1), 5)].into_iter().for_each(|(task, ticks)| times.add_block(task, 0, 0, ticks));
/// let mut recorder = TableRecorder::new("cpu");
/// recorder.add("QK", times, 1_000_000_000);
/// let table = recorder.finish();
/// let qk = table.kernel("QK").unwrap();
/// assert_eq!((qk.mean_ps, qk.of_task(TaskId(1))), (4_000, Some(&[5_000][..])));
/// assert_eq!(CostTable::parse(table.to_json().as_bytes(), "costs.json".as_ref())?, table);
/// # Ok::<(), ringlane_chip_sim::cost::CostTableError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CostTable {
    pub(super) version: u64,
    pub(super) chip: String,
    pub(super) clock_freq_hz: u64,
    /// Sorted by name, without duplicates.
    pub(super) kernels: Vec<KernelCost>,
}

/// The part that is parsed first: a later version may have other fields.
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

    /// Parses the text of a file; errors name the path.
    pub fn parse(json: &[u8], path: &Path) -> Result<Self, CostTableError> {
        let path = path.to_path_buf();
        if json.len() as u64 > TABLE_BYTES_MAX {
            return Err(CostTableError::TooLong { path });
        }
        let head: Head = match serde_json::from_slice(json) {
            Ok(head) => head,
            Err(error) => return Err(CostTableError::Damaged { path, what: error.to_string() }),
        };
        if !(1..=VERSION).contains(&head.version) {
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
        for cost in &mut table.kernels {
            cost.tasks.sort_by_key(|task| task.task);
            if let Some(what) = cost.problem() {
                return Err(CostTableError::ImpossibleCost { path, kernel: cost.name.clone(), what });
            }
        }
        Ok(table)
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        let quoted = |text: &str| serde_json::to_string(text).expect("a string");
        let mut json = format!(
            "{{\"version\": {}, \"chip\": {}, \"clock_freq_hz\": {},\n \"kernels\": [",
            self.version,
            quoted(&self.chip),
            self.clock_freq_hz
        );
        // Each kernel is one line, regardless of its number of tasks.
        for (place, kernel) in self.kernels.iter().enumerate() {
            json.push_str(if place > 0 { ",\n  " } else { "\n  " });
            json.push_str(&serde_json::to_string(kernel).expect("strings and numbers"));
        }
        json.push_str("]}\n");
        json
    }

    /// The chip on which it was recorded.
    pub fn chip(&self) -> &str {
        &self.chip
    }

    /// Frequency of the counter with which it was recorded: the resolution of its durations is one tick.
    pub const fn clock_freq_hz(&self) -> u64 {
        self.clock_freq_hz
    }

    /// All kernels, by name.
    pub fn kernels(&self) -> &[KernelCost] {
        &self.kernels
    }

    /// The costs of a kernel.
    #[inline]
    pub fn kernel(&self, name: &str) -> Option<&KernelCost> {
        let found = self.kernels.binary_search_by(|cost| cost.name.as_str().cmp(name));
        found.ok().map(|index| &self.kernels[index])
    }
}

impl KernelCost {
    /// The durations of the blocks of a task, if they were kept.
    pub fn of_task(&self, task: TaskId) -> Option<&[u64]> {
        let found = self.tasks.binary_search_by_key(&task, |recorded| recorded.task).ok()?;
        Some(&self.tasks[found].blocks_ps)
    }

    /// The duration of a block: its own recorded one, else one of the spread, else the mean.
    pub(super) fn block_ps(&self, task: TaskId, block: u32) -> u64 {
        let recorded = self.of_task(task).and_then(|blocks| blocks.get(block as usize));
        let drawn = || self.spread_ps.get(scattered(task, block) as usize % self.spread_ps.len().max(1));
        *recorded.or_else(drawn).unwrap_or(&self.mean_ps)
    }

    /// The first problem of the values.
    fn problem(&self) -> Option<String> {
        let KernelCost { name, blocks, mean_ps, min_ps, max_ps, tasks, .. } = self;
        if let Some(pair) = tasks.windows(2).find(|pair| pair[0].task == pair[1].task) {
            return Some(format!("task {} occurs twice", pair[0].task.0));
        }
        if name.is_empty() {
            return Some("a kernel without a name".to_string());
        }
        if *blocks == 0 {
            return Some("an average of 0 blocks".to_string());
        }
        let in_order = min_ps <= mean_ps && mean_ps <= max_ps;
        (!in_order)
            .then(|| format!("min_ps {min_ps}, mean_ps {mean_ps} and max_ps {max_ps} are out of order"))
    }
}

/// A pseudo-random number that is the same for a block in every run (the finalizer of SplitMix64).
fn scattered(task: TaskId, block: u32) -> u64 {
    let mut bits = task.0.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(block));
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests;
