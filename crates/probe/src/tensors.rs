//! Which tensor an argument is a part of: a number, dense in the order of first use.
//!
//! A program names a tensor by its memory and by where it starts there. An external buffer is one tensor. On a heap ring the
//! same bytes are allocated again and again: a new tensor that overlaps an old one ends it. So the numbers are a function of the
//! submits and their order alone, in both places that count them: `deps.json` after the run, a dump while tasks are submitted.

use std::collections::BTreeMap;

use ringlane_engine::limits::RINGS;
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

impl Tensors<TensorIndex> {
    /// The numbers of the tensor arguments of a submit, in order.
    pub(crate) fn numbers_of(&mut self, submission: &Submission<'_>, mut each: impl FnMut(TensorIndex)) {
        if let Submitted::Alloc { space, base, view } = submission.kind {
            return each(self.make(space, base, view.bytes()));
        }
        for argument in submission.task().args() {
            let Argument::Tensor(tensor) = argument else { continue };
            let (space, base) = (tensor.space(), tensor.tensor_base());
            let known = self.get(space, base).filter(|_| tensor.access() != Access::Output);
            each(known.unwrap_or_else(|| self.make(space, base, tensor.view().bytes())));
        }
    }

    fn make(&mut self, space: u32, base: u64, bytes: u64) -> TensorIndex {
        while self.take_overwritten(space, base, bytes).is_some() {}
        let number = self.number();
        self.put(space, base, bytes, number);
        number
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_made_over_others_ends_them_and_has_a_number_of_its_own() {
        let mut tensors = Tensors::default();
        let made = [(0, 0, 64), (0, 64, 64), (1, 0, 64), (0, 32, 64), (0, 128, 0)];
        let numbers = made.map(|(space, base, bytes)| tensors.make(space, base, bytes).0);
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
        let known = [(0, 0), (0, 64), (1, 0), (0, 32), (0, 128)];
        let known = known.map(|(space, base)| tensors.get(space, base).map(|number| number.0));
        assert_eq!(known, [None, None, Some(2), Some(3), Some(4)]);
    }

    #[test]
    fn an_external_buffer_is_one_tensor_for_ever() {
        let (mut tensors, buffer) = (Tensors::default(), RINGS as u32 + 3);
        assert_eq!(tensors.get(buffer, 0), None);
        let number = tensors.make(buffer, 0, 8);
        assert_eq!((tensors.get(buffer, 0), tensors.get(buffer - 1, 0)), (Some(number), None));
    }
}
