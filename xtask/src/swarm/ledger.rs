//! What a program needs of each bounded resource, counted while it is interpreted, without the engine's help.
//!
//! A ring is reclaimed oldest first, up to the first task of an open scope. So what a submit needs of its ring is all
//! that was submitted there since that task; of the tensor map, the same over all rings.
#![forbid(unsafe_code)]

use ringlane_task::RINGS;

use super::program::Capacity;

/// Alignment of tensors in a heap ring.
const ALIGNMENT: u64 = 64;

/// What one task takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Take {
    pub(crate) heap: u64,
    pub(crate) args: u64,
    pub(crate) entries: u64,
    /// The largest piece of heap.
    pub(crate) piece: u64,
}

impl Take {
    /// A fresh tensor.
    pub(crate) fn tensor(&mut self, bytes: u64) {
        let bytes = bytes.next_multiple_of(ALIGNMENT);
        self.heap += bytes;
        self.piece = self.piece.max(bytes);
    }
}

/// The most that was needed at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) window: [u64; RINGS],
    pub(crate) heap: [u64; RINGS],
    pub(crate) args: [u64; RINGS],
    pub(crate) entries: u64,
    pub(crate) heap_piece: u64,
    pub(crate) args_piece: u64,
}

impl Needs {
    /// Capacities that suffice.
    pub(crate) fn fitted(&self) -> Capacity {
        let window = self.window.map(|n| n.max(4).next_power_of_two() as u32);
        let with_gaps = |need: u64, piece: u64| (need + 8 * piece).max(64).next_power_of_two();
        Capacity {
            window,
            heap: self.heap.map(|n| with_gaps(n, self.heap_piece)),
            dep_pool: [1 << 12; RINGS],
            args: self.args.map(|n| with_gaps(n, self.args_piece) as u32),
            tensormap: self.entries.max(1).next_power_of_two() as u32,
        }
    }
}

#[derive(Clone, Debug)]
struct Ring {
    /// What was taken before each task, and the end.
    taken: Vec<Take>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    ring: usize,
    first: Option<usize>,
}

/// The count.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    rings: [Ring; RINGS],
    open: Vec<Open>,
    pub(crate) needs: Needs,
}

impl Ledger {
    /// With the root scope open.
    pub(crate) fn new() -> Self {
        let rings = core::array::from_fn(|_| Ring { taken: vec![Take::default()] });
        Ledger { rings, open: vec![Open { ring: 0, first: None }], needs: Needs::default() }
    }

    /// A scope begins.
    pub(crate) fn enter(&mut self) {
        self.open.push(Open { ring: self.open.len().min(RINGS - 1), first: None });
    }

    /// The innermost scope ends.
    pub(crate) fn exit(&mut self) {
        self.open.pop();
    }

    /// A task is submitted.
    pub(crate) fn submit(&mut self, take: Take) {
        let scope = self.open.last_mut().expect("the root scope is open");
        let ring = scope.ring;
        let taken = &mut self.rings[ring].taken;
        scope.first.get_or_insert(taken.len() - 1);
        let last = *taken.last().expect("begins with zero");
        taken.push(Take {
            heap: last.heap + take.heap,
            args: last.args + take.args,
            entries: last.entries + take.entries,
            piece: 0,
        });
        let needs = &mut self.needs;
        needs.heap_piece = needs.heap_piece.max(take.piece);
        needs.args_piece = needs.args_piece.max(take.args);
        let mut entries = 0;
        for (r, Ring { taken }) in self.rings.iter().enumerate() {
            let end = taken.len() - 1;
            let firsts = self.open.iter().filter(|s| s.ring == r).filter_map(|s| s.first);
            let first = firsts.min().unwrap_or(end);
            entries += taken[end].entries - taken[first].entries;
            if r == ring {
                needs.window[r] = needs.window[r].max((end - first) as u64);
                needs.heap[r] = needs.heap[r].max(taken[end].heap - taken[first].heap);
                needs.args[r] = needs.args[r].max(taken[end].args - taken[first].args);
            }
        }
        needs.entries = needs.entries.max(entries);
    }
}
