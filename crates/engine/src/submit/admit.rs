//! What a submit takes of the bounded resources, and the wait until it is there.

use ringlane_task::{Resource, TensorView};

use crate::api::args::tensor_words;
use crate::api::backend::{Call, Site};
use crate::fault::Result;
use crate::limits::ALIGNMENT;
use crate::orchestrator::{Orchestrator, ring_index};
use crate::scope::Usage;
use crate::seams::{Chip, Probe};
use crate::slot::TaskFlags;

/// Rounds up to the alignment of tensors.
fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGNMENT)
}

/// What a submit will take, before it takes anything.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measure {
    /// Words of argument memory.
    pub(crate) words: usize,
    /// Those of them that the annotations after the arguments take.
    pub(crate) annotation_words: usize,
    pub(crate) heap: u64,
    pub(crate) heap_piece: u64,
    pub(crate) entries: u64,
    pub(crate) flags: TaskFlags,
}

impl Measure {
    pub(crate) fn output(&mut self, view: &TensorView) {
        let bytes = aligned(view.bytes());
        self.words += tensor_words(view.rank());
        self.heap += bytes;
        self.heap_piece = self.heap_piece.max(bytes);
        self.entries += 2;
        self.flags |= TaskFlags::OUTPUTS;
    }

    /// Adds what the annotations of a launch take, if it has any.
    #[inline]
    pub(crate) fn annotations(&mut self, call: &Call<'_>) {
        if !call.launch.annotations.is_empty() {
            self.annotation_words = call.launch.annotations.words();
            self.words += self.annotation_words;
            self.flags |= TaskFlags::ANNOTATED;
        }
    }

    pub(crate) fn usage(&self, edges: u64) -> Usage {
        let args = self.words as u64 * 8;
        let (heap, heap_piece, entries) = (self.heap, self.heap_piece, self.entries);
        Usage { slots: 1, heap, edges, args, entries, heap_piece, args_piece: args }
    }
}

impl<C: Chip, P: Probe> Orchestrator<'_, C, P> {
    /// Refuses a task that could never fit its ring.
    #[inline]
    pub(crate) fn check_fits(&self, ring: usize, measure: &Measure, site: Site) -> Result<()> {
        let rings = &self.state.rings[ring];
        let too_large = if measure.heap > rings.heap.capacity() {
            Some((Resource::Heap, measure.heap))
        } else if measure.words as u64 * 8 > rings.args.capacity() {
            Some((Resource::Args, measure.words as u64 * 8))
        } else if measure.entries > self.state.map.capacity() {
            Some((Resource::TensorMap, measure.entries))
        } else {
            None
        };
        match too_large {
            None => Ok(()),
            Some((resource, needs)) => Err(self.too_large(resource, ring, needs, site)),
        }
    }

    /// Takes argument memory if that, a slot and map entries are there at once and no heap is needed.
    #[inline]
    pub(super) fn admit_now(&mut self, ring: usize, measure: &Measure) -> Option<u32> {
        let (rings, map) = (&mut self.state.rings[ring], &self.state.map);
        let there = rings.used() < rings.window && map.used() + measure.entries <= map.capacity();
        if !there || measure.flags.has_outputs() {
            return None;
        }
        rings.args.allocate_soft(measure.words as u64 * 8).map(|at| (at / 8) as u32)
    }

    /// Waits until a slot, map entries and argument memory are there; gives the first argument word.
    // It takes a copy, so that the caller need not keep the original in memory.
    pub(super) fn admit(&mut self, ring: usize, measure: Measure, site: Site) -> Result<u32> {
        self.state.predecessors.clear();
        self.check_fits(ring, &measure, site)?;
        while self.state.rings[ring].used() == self.state.rings[ring].window {
            self.wait_for(ring, Resource::TaskWindow, 1, site)?;
        }
        while self.state.map.used() + measure.entries > self.state.map.capacity() {
            self.wait_for(ring, Resource::TensorMap, measure.entries, site)?;
        }
        let bytes = measure.words as u64 * 8;
        loop {
            if let Some(at) = self.allocate(ring, Resource::Args, bytes) {
                return Ok((at / 8) as u32);
            }
            self.wait_for(ring, Resource::Args, bytes, site)?;
        }
    }

    /// Takes bytes of a ring: below its soft size if reclaiming helps, else by letting it grow.
    #[inline]
    fn allocate(&mut self, ring: usize, resource: Resource, bytes: u64) -> Option<u64> {
        if bytes == 0 {
            return Some(0);
        }
        if let Some(at) = self.state.rings[ring].bytes_of(resource).allocate_soft(bytes) {
            return Some(at);
        }
        self.reclaim(ring);
        let piece = self.state.rings[ring].bytes_of(resource);
        let before = piece.soft();
        let at = piece.allocate(bytes);
        if P::WATCHES && piece.soft() != before {
            self.probe.ring_grew(ring_index(ring), resource, piece.soft(), piece.capacity());
        }
        at
    }

    /// Takes heap memory for a fresh tensor, waiting for it if need be.
    pub(crate) fn take_heap(&mut self, ring: usize, view: &TensorView, site: Site) -> Result<u64> {
        let bytes = aligned(view.bytes());
        loop {
            if let Some(offset) = self.allocate(ring, Resource::Heap, bytes) {
                let used: u64 = self.state.rings.iter().map(|r| r.heap.used()).sum();
                self.peak_heap = self.peak_heap.max(used);
                return Ok(offset);
            }
            self.wait_for(ring, Resource::Heap, bytes, site)?;
        }
    }
}
