//! What the diagnostics of a case left and cost, for its summary.

use ringlane_probe::{Exported, RecordingProblem};
use ringlane_trace::DfxCost;

use ringlane_insight::units::{bytes_text, microseconds, time_text};

/// The recordings of all rounds of a case, added up.
#[derive(Default)]
pub struct RecordingSummary {
    files: usize,
    file_bytes: u64,
    cost: DfxCost,
    memory_bytes: u64,
    /// What went wrong without ending a round.
    pub problems: Vec<RecordingProblem>,
}

impl RecordingSummary {
    /// Adds the recording of one more round, and takes its problems.
    pub fn add(&mut self, recording: &mut Exported) {
        let Exported { files, cost, memory_bytes, problems, .. } = recording;
        self.files += files.len();
        self.file_bytes += files.iter().map(|file| file.bytes).sum::<u64>();
        self.cost.writer_wait_ticks += cost.writer_wait_ticks;
        self.cost.bytes += cost.bytes;
        self.cost.collector_us += cost.collector_us;
        self.cost.export_us += cost.export_us;
        // One round after the other has the memory.
        self.memory_bytes = self.memory_bytes.max(*memory_bytes);
        self.problems.append(problems);
    }

    /// How much there is and what it cost, for people.
    pub fn text(&self, clock_freq_hz: u64) -> String {
        let RecordingSummary { files, file_bytes, cost, memory_bytes, .. } = self;
        let waited_us = microseconds(cost.writer_wait_ticks as f64, clock_freq_hz);
        let [waited, collector, export] =
            [waited_us, cost.collector_us as f64, cost.export_us as f64].map(time_text);
        let [size, memory] = [*file_bytes, *memory_bytes].map(bytes_text);
        format!(
            "{files} files, {size}; writers waited {waited}, collector {collector}, export {export}, memory {memory}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_trace::FileEntry;

    fn recording() -> Exported {
        Exported {
            files: vec![FileEntry::with_rows("deps.json", 2048, 7, 0), FileEntry::plain("x.bin", 1024)],
            cost: DfxCost { writer_wait_ticks: 3_000, bytes: 99, collector_us: 310, export_us: 900 },
            memory_bytes: 1 << 20,
            ..Exported::default()
        }
    }

    #[test]
    fn rounds_add_up_but_for_the_memory_that_each_has_in_turn() {
        let mut recorded = RecordingSummary::default();
        recorded.add(&mut recording());
        recorded.add(&mut recording());
        assert_eq!(
            recorded.text(1_000_000_000),
            "4 files, 6.0 KiB; writers waited 6.0 µs, collector 620.0 µs, export 1.8 ms, memory 1.0 MiB"
        );
    }
}
