//! Writing a task's argument records, looking up each tensor in the map and inserting it there.

use ringlane_task::{Access, Scalar, TensorView};

use super::admit::Measure;
use super::check::writes;
use super::regions::{RING_BITS, RecordRegions};
use crate::api::arg::{Arg, ArgKind, NO_SPLIT};
use crate::api::args::{Placed, encode_scalar, encode_tensor, make_read_only, scalar_words, tensor_words};
use crate::api::backend::Call;
use crate::api::tensor::TensorRef;
use crate::fault::Result;
use crate::orchestrator::Orchestrator;
use crate::overlap::Region;
use crate::planted::{Bug, planted};
use crate::seams::{Chip, Probe};
use crate::slot::SlotIndex;
use crate::tensor_map::{Hazard, NewAccess, Owned, Stamp};

/// Where a task and its argument records will be.
pub(crate) struct Place {
    pub(crate) ring: usize,
    pub(crate) slot: SlotIndex,
    /// First word of its records in the ring's argument memory.
    pub(crate) args_at: u32,
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// Places every argument, in order.
    // Not inlined: nearly all tasks go the short way, which would lose registers to it.
    #[inline(never)]
    pub(crate) fn place_args(
        &mut self,
        call: &Call<'_>,
        place: &Place,
        owned: &mut Owned,
        outs: &mut [TensorRef],
    ) -> Result<()> {
        let (mut at, mut made) = (place.args_at, 0);
        for arg in call.args {
            at += match &arg.kind {
                ArgKind::Tensor { tensor, view, access, split } => {
                    let used = self.place_tensor(*tensor, view, (*access, *split), place, at, owned);
                    if *access == Access::NoDep {
                        self.limit_unfollowed(call, arg, place, at);
                    }
                    used
                }
                ArgKind::Scalar(scalar) => self.place_scalar(*scalar, place, at),
                ArgKind::Param(scalar, name) => {
                    self.chip.named_scalar(name, place.ring, at);
                    self.place_scalar(*scalar, place, at)
                }
                ArgKind::Output { view, split } => {
                    outs[made] = self.place_output(call, view, *split, place, at, owned)?;
                    made += 1;
                    tensor_words(view.rank()) as u32
                }
                ArgKind::Bad(_) => unreachable!("`measure` refuses it"),
            };
        }
        Ok(())
    }

    /// Makes an argument that is not followed one that its kernel may only read, unless the parameter writes.
    #[cold]
    fn limit_unfollowed(&mut self, call: &Call<'_>, arg: &Arg<'_>, place: &Place, at: u32) {
        let index = call.args.element_offset(arg).expect("it is one of them");
        if !writes(call, index, Access::NoDep) {
            make_read_only(self.words(place, at, 1));
        }
    }

    /// The words of the record at `at`.
    #[inline]
    fn words(&mut self, place: &Place, at: u32, count: usize) -> &mut [u64] {
        self.table.unpublished_words(place.ring, at, count)
    }

    /// Writes a task's name and duration after its argument records.
    #[cold]
    pub(crate) fn place_annotations(&mut self, call: &Call<'_>, place: &Place, measure: Measure) {
        let Measure { words, annotation_words, .. } = measure;
        let at = place.args_at + (words - annotation_words) as u32;
        call.launch.annotations.encode(self.words(place, at, annotation_words));
    }

    #[inline]
    fn place_scalar(&mut self, scalar: Scalar, place: &Place, at: u32) -> u32 {
        encode_scalar(self.words(place, at, scalar_words()), scalar) as u32
    }

    /// Places a tensor that exists; what it must follow joins the predecessors.
    #[inline]
    fn place_tensor(
        &mut self,
        tensor: TensorRef,
        view: &TensorView,
        (access, split): (Access, u8),
        place: &Place,
        at: u32,
        owned: &mut Owned,
    ) -> u32 {
        let root = self.state.map.root_at(tensor.id);
        let (space, base) = (root.space(), root.base());
        let offset = base + view.offset_bytes();
        let words = self.words(place, at, tensor_words(view.rank()));
        let used = encode_tensor(words, view, Placed { access, split, space, base, offset }) as u32;
        let hazard = if access.writes() { Hazard::Write } else { Hazard::Read };
        if access == Access::NoDep {
            return used;
        }
        if view.is_whole() && self.current.infers && !planted(Bug::NoWarEdge) {
            let me = Stamp { slot: place.slot, number: self.mark };
            let (mut follow, map) = self.follow();
            map.file_whole(tensor.id, hazard, me, &mut follow);
        } else {
            let at = (place.ring as u32) << RING_BITS | at;
            let region = Region::at(offset, view);
            let new = NewAccess { root: tensor.id, region, whole: view.is_whole(), hazard };
            self.file(&new, place.slot, at, owned);
        }
        used
    }

    /// Looks up the predecessors of an access, then inserts it.
    #[inline(always)]
    fn file(&mut self, new: &NewAccess<'_>, slot: SlotIndex, at: u32, owned: &mut Owned) {
        let (infers, regions) = (self.current.infers, RecordRegions(self.table));
        let (mut follow, map) = self.follow();
        let bounds = map.locate(new, &regions);
        if infers {
            let hazard = if planted(Bug::NoWarEdge) { Hazard::Read } else { new.hazard };
            map.look_up(&NewAccess { hazard, ..*new }, bounds.as_ref(), &regions, |met| follow.add_met(met));
        }
        map.insert(new, bounds.as_ref(), &regions, owned, (slot, at));
    }

    /// Makes a fresh tensor.
    fn place_output(
        &mut self,
        call: &Call<'_>,
        view: &TensorView,
        split: u8,
        place: &Place,
        at: u32,
        owned: &mut Owned,
    ) -> Result<TensorRef> {
        let (ring, space) = (place.ring, place.ring as u32);
        let offset = self.take_heap(ring, view, call.site)?;
        let writer = Stamp { slot: place.slot, number: self.mark };
        let tensor = self.state.map.make_root(owned, space, offset, Some(writer));
        let words = self.words(place, at, tensor_words(view.rank()));
        encode_tensor(words, view, Placed { access: Access::Output, split, space, base: offset, offset });
        if call.launch.block_count() > 1 && split == NO_SPLIT {
            // All blocks share it, so none of them can zero it.
            self.zero_heap(ring, offset, view.bytes())?;
        }
        Ok(tensor)
    }
}
