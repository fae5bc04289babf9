//! The regions of accesses, read from the argument records of their tasks.

use crate::api::args::tensor_words;
use crate::overlap::Region;
use crate::slot::SlotIndex;
use crate::table::Table;
use crate::tensor_map::Regions;

/// The regions of accesses, read from the argument records of their tasks.
pub(crate) struct RecordRegions<'a>(pub(crate) &'a Table);

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
        let base = self.0.args[ring].base().cast::<u64>();
        // SAFETY: an access stays in the map only while its task is not reclaimed, so the submitter (which is who
        // walks the map) finds there the record it wrote; three words and the rank's worth of dimensions.
        unsafe {
            let record = base.add(word as usize);
            let rank = *record as u8 as usize;
            let dtype = ringlane_task::DType::from_code((*record >> 8) as u8).expect("written from a DType");
            Region {
                offset: *record.add(2),
                element: dtype.size_bytes() as u32,
                dims: core::slice::from_raw_parts(record.add(tensor_words(0)).cast(), rank),
            }
        }
    }
}
