//! What every scope held at most, what it needs, and how long it waited: kept while it is open, stored when it ends.
//!
//! Between two reclaims the use of a ring only grows, so the engine tells it before each reclaim and at each exit; and what a
//! scope needs is what was handed out between its beginning and its end. So nothing has to be looked at on a submit. What is
//! told counts for the innermost scope and is passed on when that ends.

use ringlane_engine::limits::{RINGS, SCOPE_DEPTH_MAX};
use ringlane_engine::observed::{Fill, Held};
use ringlane_task::{Resource, RingIndex};

use crate::lane::Writer;
use crate::scope_code;

/// No scope.
pub(crate) const NO_PARENT: u32 = u32::MAX;
/// Resources that a submit can wait for.
pub(crate) const RESOURCES: [Resource; 5] =
    [Resource::TaskWindow, Resource::Heap, Resource::DepPool, Resource::Args, Resource::TensorMap];

/// Waits of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stall {
    pub(crate) count: u64,
    pub(crate) ticks: u64,
}

/// A scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScopeRecord {
    pub(crate) scope: u32,
    pub(crate) parent: u32,
    pub(crate) site: u32,
    pub(crate) depth: u32,
    pub(crate) enter: u64,
    pub(crate) exit: u64,
    /// Submits made directly in it.
    pub(crate) tasks: u64,
    /// Slots, heap bytes, dependency entries and argument bytes of each ring.
    pub(crate) peaks: [[u64; 4]; RINGS],
    pub(crate) tensormap: u64,
    pub(crate) fan_in: u64,
    /// What the program needs: slots, heap bytes, dependency entries, argument bytes.
    pub(crate) need: [u64; 4],
    pub(crate) heap_piece: u64,
    pub(crate) args_piece: u64,
    /// By ring and resource, in the order of `RESOURCES`.
    pub(crate) stalls: [[Stall; RESOURCES.len()]; RINGS],
    /// 1 if it was open when the run was stopped.
    pub(crate) open: u64,
}

/// Follows the open scopes.
pub(crate) struct Scopes {
    writer: Writer,
    /// Each with what had been handed out when it began.
    open: Vec<(ScopeRecord, Held)>,
    /// Set by a fatal stop: what follows is not the program any more.
    stopped: bool,
    /// The last wait and the submit that was in it, so that one that goes on counts once.
    waiting: Option<(RingIndex, Resource, u64)>,
}

impl Scopes {
    pub(crate) fn new(writer: Writer) -> Self {
        let open = Vec::with_capacity(SCOPE_DEPTH_MAX);
        Scopes { writer, open, stopped: false, waiting: None }
    }

    pub(crate) fn enter(&mut self, scope: u32, site: u32, held: &Held, now: u64) {
        if self.stopped {
            return;
        }
        let parent = match self.open.last_mut() {
            Some((outer, _)) => {
                outer.fan_in = outer.fan_in.max(held.fan_in);
                outer.scope
            }
            None => NO_PARENT,
        };
        let depth = self.open.len() as u32;
        let record = ScopeRecord { scope, parent, site, depth, enter: now, ..ScopeRecord::default() };
        self.open.push((record, *held));
    }

    pub(crate) fn exit(&mut self, held: &Held, now: u64) {
        if !self.stopped {
            self.close(held, now, 0);
        }
    }

    /// Stores the innermost scope.
    fn close(&mut self, held: &Held, now: u64, open: u64) {
        let Some((mut scope, begun)) = self.open.pop() else { return };
        (scope.exit, scope.open) = (now, open);
        scope.need = [
            held.slots - begun.slots,
            held.heap - begun.heap,
            held.edges - begun.edges,
            held.args - begun.args,
        ];
        (scope.heap_piece, scope.args_piece) = (held.heap_piece, held.args_piece);
        scope.fan_in = scope.fan_in.max(held.fan_in);
        // Until here `tasks` counts those of the scopes inside.
        let all = held.tasks - begun.tasks;
        scope.tasks = all - scope.tasks;
        scope_code::store(&mut self.writer, &scope);
        if let Some((outer, _)) = self.open.last_mut() {
            outer.pass_on(&scope, all);
        }
    }

    /// The run is stopped: the open scopes are stored as they are. `held` is by ring.
    pub(crate) fn stop(&mut self, held: &[Held], now: u64) {
        self.stopped = true;
        while let Some(depth) = self.open.len().checked_sub(1) {
            self.close(&held[depth.min(held.len() - 1)], now, 1);
        }
    }

    #[inline]
    pub(crate) fn fill(&mut self, fill: &Fill) {
        let Some((scope, _)) = self.open.last_mut() else { return };
        for (peak, used) in scope.peaks[fill.ring].iter_mut().zip(fill.used) {
            *peak = (*peak).max(used);
        }
        scope.tensormap = scope.tensormap.max(fill.tensormap);
    }

    /// The submit being made waited so long.
    pub(crate) fn stall(&mut self, ring: RingIndex, resource: Resource, submit: u64, ticks: u64) {
        let Some((scope, _)) = self.open.last_mut() else { return };
        let kind = RESOURCES.iter().position(|&r| r == resource).unwrap_or(0);
        // The tensor map is no ring's: its waits are kept in one place.
        let of = if resource == Resource::TensorMap { 0 } else { ring.0 as usize };
        let stall = &mut scope.stalls[of][kind];
        stall.ticks += ticks;
        if self.waiting != Some((ring, resource, submit)) {
            self.waiting = Some((ring, resource, submit));
            stall.count += 1;
        }
    }
}

impl ScopeRecord {
    /// Takes over what a scope inside it saw.
    fn pass_on(&mut self, inner: &ScopeRecord, tasks: u64) {
        self.tasks += tasks;
        for (peaks, seen) in self.peaks.iter_mut().flatten().zip(inner.peaks.iter().flatten()) {
            *peaks = (*peaks).max(*seen);
        }
        self.tensormap = self.tensormap.max(inner.tensormap);
        self.fan_in = self.fan_in.max(inner.fan_in);
        for (mine, theirs) in self.stalls.iter_mut().flatten().zip(inner.stalls.iter().flatten()) {
            mine.count += theirs.count;
            mine.ticks += theirs.ticks;
        }
    }
}
