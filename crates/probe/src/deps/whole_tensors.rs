//! The whole-tensor table: accesses to whole tensors, by far the most, need no geometry. It records which task wrote all of
//! a tensor last, and which tasks have read all of it since. A whole write covers all earlier accesses, so one writer suffices.
//!
//! What touches only a part is the tensor map's; a tensor has a root there from the first such access on.

use ringlane_engine::tensor_map::Hazard;

/// No entry.
const NONE: u32 = u32::MAX;

/// A tensor among those that are alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TensorSlot(u32);

/// An earlier access to a whole tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WholeAccess {
    pub(super) seq: u64,
    pub(super) hazard: Hazard,
    /// Whether it made the tensor.
    pub(super) creates: bool,
}

#[derive(Clone, Copy)]
struct Tensor {
    /// Seq of the last writer, if there is one.
    writer: Option<u64>,
    creates: bool,
    /// The first of its readers.
    readers: u32,
    /// Its root in the tensor map.
    root: Option<u32>,
}

const UNTOUCHED: Tensor = Tensor { writer: None, creates: false, readers: NONE, root: None };

#[derive(Clone, Copy)]
struct Reader {
    seq: u64,
    next: u32,
}

/// The tensors that are alive. Places of those that are gone are used again.
pub(super) struct WholeTensors {
    tensors: Vec<Tensor>,
    free_tensors: Vec<TensorSlot>,
    readers: Vec<Reader>,
    /// The first reader that is of no tensor any more.
    free_readers: u32,
}

impl Default for WholeTensors {
    fn default() -> Self {
        WholeTensors {
            tensors: Vec::new(),
            free_tensors: Vec::new(),
            readers: Vec::new(),
            free_readers: NONE,
        }
    }
}

impl WholeTensors {
    /// A tensor that nothing has touched.
    pub(super) fn add(&mut self) -> TensorSlot {
        match self.free_tensors.pop() {
            Some(place) => {
                self.tensors[place.0 as usize] = UNTOUCHED;
                place
            }
            None => {
                self.tensors.push(UNTOUCHED);
                TensorSlot(self.tensors.len() as u32 - 1)
            }
        }
    }

    /// Ends a tensor; gives its root.
    pub(super) fn remove(&mut self, place: TensorSlot) -> Option<u32> {
        self.free_readers_of(place);
        self.free_tensors.push(place);
        self.tensors[place.0 as usize].root
    }

    /// Its root in the tensor map, if a part of it was touched.
    pub(super) fn root(&self, place: TensorSlot) -> Option<u32> {
        self.tensors[place.0 as usize].root
    }

    /// As [`WholeTensors::root`], made if there is none.
    pub(super) fn root_or(&mut self, place: TensorSlot, make: impl FnOnce() -> u32) -> u32 {
        *self.tensors[place.0 as usize].root.get_or_insert_with(make)
    }

    /// Reports the accesses that one with this hazard conflicts with.
    #[inline]
    pub(super) fn meet(&self, place: TensorSlot, hazard: Hazard, mut met: impl FnMut(WholeAccess)) {
        let tensor = &self.tensors[place.0 as usize];
        if let Some(seq) = tensor.writer {
            met(WholeAccess { seq, hazard: Hazard::Write, creates: tensor.creates });
        }
        if hazard == Hazard::Write {
            let mut at = tensor.readers;
            while at != NONE {
                let Reader { seq, next } = self.readers[at as usize];
                met(WholeAccess { seq, hazard: Hazard::Read, creates: false });
                at = next;
            }
        }
    }

    /// Keeps an access; a write covers those before it.
    #[inline]
    pub(super) fn keep(&mut self, place: TensorSlot, access: WholeAccess) {
        if access.hazard == Hazard::Write {
            self.free_readers_of(place);
            let tensor = &mut self.tensors[place.0 as usize];
            (tensor.writer, tensor.creates) = (Some(access.seq), access.creates);
            return;
        }
        let tensor = &mut self.tensors[place.0 as usize];
        let reader = Reader { seq: access.seq, next: tensor.readers };
        tensor.readers = match self.readers.get_mut(self.free_readers as usize) {
            Some(free) => {
                let at = std::mem::replace(&mut self.free_readers, free.next);
                *free = reader;
                at
            }
            None => {
                self.readers.push(reader);
                self.readers.len() as u32 - 1
            }
        };
    }

    fn free_readers_of(&mut self, place: TensorSlot) {
        let first = std::mem::replace(&mut self.tensors[place.0 as usize].readers, NONE);
        if first == NONE {
            return;
        }
        let mut last = first;
        while self.readers[last as usize].next != NONE {
            last = self.readers[last as usize].next;
        }
        self.readers[last as usize].next = std::mem::replace(&mut self.free_readers, first);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn met(table: &WholeTensors, place: TensorSlot, hazard: Hazard) -> Vec<u64> {
        let mut seqs = vec![];
        table.meet(place, hazard, |access| seqs.push(access.seq));
        seqs.sort_unstable();
        seqs
    }

    #[test]
    fn a_reader_meets_the_writer_and_a_writer_meets_the_readers_since_too() {
        let mut table = WholeTensors::default();
        let (a, b) = (table.add(), table.add());
        let access = |seq, hazard| WholeAccess { seq, hazard, creates: false };
        table.keep(a, access(0, Hazard::Write));
        [1, 2, 3].into_iter().for_each(|seq| table.keep(a, access(seq, Hazard::Read)));
        table.keep(b, access(4, Hazard::Read));
        assert_eq!(met(&table, a, Hazard::Read), [0]);
        assert_eq!(met(&table, a, Hazard::Write), [0, 1, 2, 3]);
        assert_eq!(met(&table, b, Hazard::Write), [4]);
        table.keep(a, access(5, Hazard::Write));
        assert_eq!(met(&table, a, Hazard::Write), [5]);
        assert_eq!(met(&table, b, Hazard::Write), [4]);
    }

    #[test]
    fn places_and_readers_are_used_again_and_remember_nothing() {
        let mut table = WholeTensors::default();
        for round in 0..100 {
            let place = table.add();
            assert_eq!((met(&table, place, Hazard::Write), table.root(place)), (vec![], None));
            assert_eq!(table.root_or(place, || 7), 7);
            for seq in 0..5 {
                table.keep(place, WholeAccess { seq, hazard: Hazard::Read, creates: false });
            }
            if round % 2 == 0 {
                table.keep(place, WholeAccess { seq: 5, hazard: Hazard::Write, creates: true });
            }
            assert_eq!(table.remove(place), Some(7));
        }
        assert_eq!((table.tensors.len(), table.readers.len()), (1, 5));
    }
}
