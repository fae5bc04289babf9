//! Which tensor an argument is a part of: a number, dense in the order of first use.
//!
//! A program names a tensor by its memory and by where it starts there. An external buffer is one tensor. On a heap ring the
//! same bytes are allocated again and again: a new tensor that overlaps an old one ends it. So the numbers are a function of the
//! submits and their order alone, in both places that count them: `deps.json` after the run, a dump while tasks are submitted.

use std::collections::BTreeMap;

use ringlane_engine::limits::{ALIGNMENT, RINGS};
use ringlane_engine::observe::{Argument, Submission, Submitted};
use ringlane_task::Access;
use ringlane_trace::deps::TensorIndex;

/// The tensors that are alive, each with what is known of it.
pub(crate) struct Tensors<T> {
    /// By where they start on each heap ring, with where they end.
    heaps: [BTreeMap<u64, (u64, T)>; RINGS],
    externals: Vec<Option<T>>,
    next: u32,
}

impl<T> Default for Tensors<T> {
    fn default() -> Self {
        Tensors { heaps: Default::default(), externals: Vec::new(), next: 0 }
    }
}

impl<T: Copy> Tensors<T> {
    /// The number of the next tensor.
    pub(crate) fn number(&mut self) -> TensorIndex {
        self.next += 1;
        TensorIndex(self.next - 1)
    }

    /// The tensor that starts here, if it was used before.
    pub(crate) fn get(&self, space: u32, base: u64) -> Option<T> {
        match self.heaps.get(space as usize) {
            Some(heap) => heap.get(&base).map(|(_, tensor)| *tensor),
            None => self.externals.get(space as usize - RINGS).copied().flatten(),
        }
    }

    /// Removes one of the tensors that a new one of `bytes` bytes overlaps.
    pub(crate) fn take_overwritten(&mut self, space: u32, base: u64, bytes: u64) -> Option<T> {
        let heap = self.heaps.get_mut(space as usize)?;
        let old = heap.range(..end_of(base, bytes)).next_back().filter(|(_, (end, _))| *end > base);
        let at = *old?.0;
        heap.remove(&at).map(|(_, tensor)| tensor)
    }

    /// Keeps a tensor. On a heap ring, the tensors that it overlaps have been removed.
    pub(crate) fn put(&mut self, space: u32, base: u64, bytes: u64, tensor: T) {
        if let Some(heap) = self.heaps.get_mut(space as usize) {
            heap.insert(base, (end_of(base, bytes), tensor));
            return;
        }
        let external = space as usize - RINGS;
        if self.externals.len() <= external {
            self.externals.resize(external + 1, None);
        }
        self.externals[external] = Some(tensor);
    }
}

/// An empty tensor has a place of its own, too.
fn end_of(base: u64, bytes: u64) -> u64 {
    base + bytes.max(1)
}

/// Numbers tensors while tasks are submitted, in one step each.
///
/// A tensor that a task uses is alive, so it is the last one that was made where it starts. The tensors that a new one overlaps
/// are not used any more: unlike in [`Tensors`], they need not be found and removed.
#[derive(Default)]
pub(crate) struct TensorCounter {
    /// For each heap ring, by where a tensor starts in units of [`ALIGNMENT`]: its number + 1; 0 if there is none.
    heaps: [Vec<u32>; RINGS],
    /// The same by external buffer.
    externals: Vec<u32>,
    last: u32,
}

impl TensorCounter {
    /// The numbers of the tensor arguments of a submit, in order.
    pub(crate) fn numbers_of(&mut self, submission: &Submission<'_>, mut each: impl FnMut(TensorIndex)) {
        if let Submitted::Alloc { space, base, .. } = submission.kind {
            return each(self.make(space, base));
        }
        for argument in submission.task().args() {
            let Argument::Tensor(tensor) = argument else { continue };
            let (space, base) = (tensor.space(), tensor.tensor_base());
            each(match tensor.access() {
                Access::Output => self.make(space, base),
                _ => self.known(space, base),
            });
        }
    }

    /// The number of a new tensor.
    fn make(&mut self, space: u32, base: u64) -> TensorIndex {
        self.last += 1;
        *self.entry(space, base) = self.last;
        TensorIndex(self.last - 1)
    }

    /// The number of the tensor that starts here.
    fn known(&mut self, space: u32, base: u64) -> TensorIndex {
        match *self.entry(space, base) {
            0 => self.make(space, base),
            number => TensorIndex(number - 1),
        }
    }

    fn entry(&mut self, space: u32, base: u64) -> &mut u32 {
        let (entries, at) = match self.heaps.get_mut(space as usize) {
            Some(heap) => (heap, (base / ALIGNMENT) as usize),
            None => (&mut self.externals, space as usize - RINGS),
        };
        if entries.len() <= at {
            entries.resize(at + 1, 0);
        }
        &mut entries[at]
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn make(tensors: &mut Tensors<TensorIndex>, space: u32, base: u64, bytes: u64) -> TensorIndex {
        while tensors.take_overwritten(space, base, bytes).is_some() {}
        let number = tensors.number();
        tensors.put(space, base, bytes, number);
        number
    }

    #[test]
    fn a_tensor_made_over_others_ends_them_and_has_a_number_of_its_own() {
        let mut tensors = Tensors::default();
        let made = [(0, 0, 64), (0, 64, 64), (1, 0, 64), (0, 32, 64), (0, 128, 0)];
        let numbers = made.map(|(space, base, bytes)| make(&mut tensors, space, base, bytes).0);
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
        let known = [(0, 0), (0, 64), (1, 0), (0, 32), (0, 128)];
        let known = known.map(|(space, base)| tensors.get(space, base).map(|number| number.0));
        assert_eq!(known, [None, None, Some(2), Some(3), Some(4)]);
    }

    #[test]
    fn an_external_buffer_is_one_tensor_for_ever() {
        let (mut tensors, buffer) = (Tensors::default(), RINGS as u32 + 3);
        assert_eq!(tensors.get(buffer, 0), None);
        let number = make(&mut tensors, buffer, 0, 8);
        assert_eq!((tensors.get(buffer, 0), tensors.get(buffer - 1, 0)), (Some(number), None));
        let mut counter = TensorCounter::default();
        assert_eq!([counter.known(buffer, 0), counter.known(buffer, 0)], [number; 2]);
    }

    /// A ring of 16 units in which tensors of 0 to 3 units are made; each is used until its bytes are taken again.
    #[test]
    fn both_ways_of_counting_give_a_live_tensor_the_same_number() {
        let (mut tensors, mut counter, mut next) = (Tensors::default(), TensorCounter::default(), 0);
        let mut live: Vec<(u64, u64, TensorIndex)> = Vec::new();
        for step in 0..1000u64 {
            let units = step * step * 7 % 4;
            next = if next + units > 16 { 0 } else { next };
            let (base, bytes) = (next * ALIGNMENT, units * ALIGNMENT);
            let number = make(&mut tensors, 2, base, bytes);
            assert_eq!(counter.make(2, base), number);
            live.retain(|&(start, end, _)| end <= base || start >= base + bytes.max(1));
            live.push((base, base + bytes.max(1), number));
            for &(start, _, number) in &live {
                assert_eq!((tensors.get(2, start), counter.known(2, start)), (Some(number), number));
            }
            next += units;
        }
    }
}
