//! The regions of accesses, read from the argument records of their tasks.

use crate::api::args::{dims_of, tensor_words};
use crate::overlap::Region;
use crate::slot::SlotIndex;
use crate::submitter::SubmitterTable;
use crate::tensor_map::Regions;

/// The regions of accesses, read from the argument records of their tasks. An access is in the map only while its task is not
/// reclaimed, so that the record that the submitter wrote is still there.
pub(crate) struct RecordRegions<'a>(pub(crate) SubmitterTable<'a>);

/// Where an access's record is: its ring in the two highest bits, the word below.
pub(crate) const RING_BITS: u32 = 30;

impl Regions for RecordRegions<'_> {
    #[inline]
    fn region(&self, task: SlotIndex, at: u32) -> Region<'_> {
        self.region_of(task, at)
    }
}

impl<'a> RecordRegions<'a> {
    /// As `region`, for as long as the table lives.
    #[inline]
    pub(crate) fn region_of(&self, _task: SlotIndex, at: u32) -> Region<'a> {
        let (ring, word) = ((at >> RING_BITS) as usize, at & ((1 << RING_BITS) - 1));
        let record = self.0.words(ring, word, tensor_words(0));
        let (rank, dtype) = (record[0] as u8 as usize, (record[0] >> 8) as u8);
        let dtype = ringlane_task::DType::from_code(dtype).expect("written from a DType");
        let dims = dims_of(self.0.words(ring, word + tensor_words(0) as u32, rank));
        Region { offset: record[2], element: dtype.size_bytes() as u32, dims }
    }
}
