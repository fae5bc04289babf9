//! What the cores of a worker's chip did, on the clock of the node at the top.

use std::collections::BTreeMap;

use ringlane_task::KernelId;
use ringlane_trace::swimlane::{BlockRow, SwimlaneRow, read_swimlane};

use super::PlacedRun;
use crate::{CoreKind, InsightError, Instrument, Run};

/// The blocks of a run, placed. Nothing else of it is read.
#[derive(Clone, Debug, Default)]
pub struct ChipBlocks {
    /// The kind of each core.
    pub cores: Vec<CoreKind>,
    /// The names of kernels.
    pub kernels: BTreeMap<KernelId, String>,
    /// The blocks, in the order of the file. Start and end are on the clock of the node at the top; what else a row has is
    /// as the run recorded it.
    pub blocks: Vec<BlockRow>,
}

impl PlacedRun {
    /// The blocks of its run, placed; of a run that cannot be opened there are none.
    pub fn blocks(&self) -> Result<ChipBlocks, InsightError> {
        match &self.run {
            Ok(run) => self.blocks_of(run),
            Err(_) => Ok(ChipBlocks::default()),
        }
    }

    fn blocks_of(&self, run: &Run) -> Result<ChipBlocks, InsightError> {
        let mut blocks = Vec::new();
        let head = read_swimlane(run.file(Instrument::Swimlane)?, |row| {
            if let SwimlaneRow::Block(block) = row {
                let start = self.clock.at(block.start);
                let end = self.clock.at(block.end).max(start);
                blocks.push(BlockRow { start, end, ..block });
            }
        })?;
        let disagree = |what: String| InsightError::FilesDisagree { dir: run.dir.clone(), what };
        let kind = |name: &String| {
            CoreKind::from_name(name).ok_or_else(|| disagree(format!("a core of kind {name:?}")))
        };
        let cores: Vec<CoreKind> = head.meta.core_types.iter().map(kind).collect::<Result<_, _>>()?;
        if let Some(block) = blocks.iter().find(|block| block.core.0 as usize >= cores.len()) {
            return Err(disagree(format!(
                "a block ran on core {}, and there are {}",
                block.core,
                cores.len()
            )));
        }
        let kernels = head.meta.kernels.into_iter().map(|kernel| (kernel.func_id, kernel.name)).collect();
        Ok(ChipBlocks { cores, kernels, blocks })
    }
}
