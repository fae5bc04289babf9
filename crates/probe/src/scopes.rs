//! The peak usage, the need and the waits of every scope: updated while the scope is open, stored when it ends.
//!
//! Between two reclaims the usage of a ring only grows, so it is enough that the engine reports it before each reclaim and
//! at the end of a scope; no submit has to check it. The need of a scope is what was allocated between its start and its
//! end. A reported usage counts for the innermost scope and is merged into the enclosing one when that scope ends. The
//! usage at the end of a scope is not merged, because the enclosing scope gets it too, at its own end or before the next
//! reclaim.
//!
//! A scope can take less than a microsecond, so each instruction here affects the time of a run: the states of open scopes
//! are not moved, and when a scope begins, only the fields that every scope uses are cleared.

use ringlane_engine::limits::{RINGS, SCOPE_DEPTH_MAX};
use ringlane_engine::observe::{EndedScope, Fill};
use ringlane_task::{Resource, RingIndex};

use crate::lane::Writer;
use crate::scope_code::{self, Head, small};

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

/// By ring and resource, in the order of `RESOURCES`.
pub(crate) type Stalls = [[Stall; RESOURCES.len()]; RINGS];

/// A scope that is open.
#[derive(Clone, Copy, Default)]
struct Open {
    enter: u64,
    /// Submits made in the scopes inside it that have ended.
    inner_tasks: u64,
    /// A bit for each ring whose usage was reported; the peaks of the others are from an earlier scope.
    reported: u8,
    /// Whether it waited; if not, `stalls` are from an earlier scope.
    stalled: bool,
    tensormap: u64,
    peaks: [[u64; 4]; RINGS],
    stalls: Stalls,
}

/// Follows the open scopes.
pub(crate) struct Scopes {
    writer: Writer,
    /// The innermost of the open scopes is at `depth - 1`.
    open: Box<[Open]>,
    depth: usize,
    /// Set by a fatal stop: what follows is not the program any more.
    stopped: bool,
    /// The last wait and the submit that was in it, so that one that goes on counts once.
    waiting: Option<(RingIndex, Resource, u64)>,
}

impl Scopes {
    pub(crate) fn new(writer: Writer) -> Self {
        let open = vec![Open::default(); SCOPE_DEPTH_MAX].into_boxed_slice();
        Scopes { writer, open, depth: 0, stopped: false, waiting: None }
    }

    /// The innermost open scope.
    #[inline]
    fn last(&mut self) -> Option<&mut Open> {
        self.open[..self.depth].last_mut()
    }

    #[inline]
    pub(crate) fn enter(&mut self, now: u64) {
        if self.stopped {
            return;
        }
        // The engine rejects a scope that is too deep before it reports it.
        let Some(open) = self.open.get_mut(self.depth) else { return };
        (open.enter, open.inner_tasks, open.tensormap) = (now, 0, 0);
        (open.reported, open.stalled) = (0, false);
        self.depth += 1;
        // For when it ends.
        self.writer.prefetch();
    }

    #[inline(always)]
    pub(crate) fn exit(&mut self, scope: &EndedScope<'_>, now: u64) {
        if !self.stopped {
            self.close(scope, now, 0);
        }
    }

    /// The run is stopped while the innermost scope is open.
    #[cold]
    pub(crate) fn stop(&mut self, scope: &EndedScope<'_>, now: u64) {
        self.stopped = true;
        self.close(scope, now, 1);
    }

    /// Stores the innermost scope.
    #[inline(always)]
    fn close(&mut self, scope: &EndedScope<'_>, now: u64, open: u8) {
        let Some(depth) = self.depth.checked_sub(1) else { return };
        self.depth = depth;
        let (outer, inner) = self.open.split_at_mut(depth);
        let inner = &inner[0];
        let ([need_slots, need_heap, need_edges, need_args], [heap_piece, args_piece]) =
            (scope.need(), scope.largest_pieces());
        let head = || Head {
            enter: inner.enter,
            exit: now,
            need_heap,
            heap_piece,
            scope: scope.id(),
            parent: scope.parent.unwrap_or(NO_PARENT),
            site: scope.site().0,
            // Its own tasks have a slot each until it ends: these, and what is in use, are below the capacities.
            tasks: (scope.tasks - inner.inner_tasks) as u32,
            tensormap: scope.tensormap.max(inner.tensormap) as u32,
            fan_in: scope.fan_in as u32,
            need_slots: small(need_slots),
            need_edges: small(need_edges),
            need_args: small(need_args),
            args_piece: args_piece as u32,
            depth: depth as u8,
            open,
            ..Head::default()
        };
        let stalls = inner.stalled.then_some(&inner.stalls);
        let peaks = |ring| inner.peaks(ring, scope.used(ring));
        scope_code::store(&mut self.writer, scope.used_rings(), head, peaks, stalls, scope.label());
        if let Some(outer) = outer.last_mut() {
            outer.inner_tasks += scope.tasks;
            if inner.reported != 0 || inner.stalled {
                outer.take_over(inner);
            }
        }
    }

    #[inline]
    pub(crate) fn fill(&mut self, fill: &Fill) {
        let Some(scope) = self.last() else { return };
        scope.report(fill.ring, &fill.used);
        scope.tensormap = scope.tensormap.max(fill.tensormap);
    }

    /// The current submit waited for `ticks`.
    pub(crate) fn stall(&mut self, ring: RingIndex, resource: Resource, submit: u64, ticks: u64) {
        let goes_on = self.waiting == Some((ring, resource, submit));
        let Some(scope) = self.last() else { return };
        let kind = RESOURCES.iter().position(|&r| r == resource).unwrap_or(0);
        // The tensor map is no ring's: its waits are kept in one place.
        let of = if resource == Resource::TensorMap { 0 } else { ring.0 as usize };
        let stall = &mut scope.stalls()[of][kind];
        stall.ticks += ticks;
        stall.count += u64::from(!goes_on);
        self.waiting = Some((ring, resource, submit));
    }
}

impl Open {
    /// The peak usage of a ring, whose current usage is `used`.
    #[inline]
    fn peaks(&self, ring: usize, used: [u64; 4]) -> [u64; 4] {
        if self.reported >> ring & 1 == 0 { used } else { larger(&self.peaks[ring], &used) }
    }

    /// The engine reports the usage of a ring.
    #[inline]
    fn report(&mut self, ring: usize, used: &[u64; 4]) {
        self.peaks[ring] = self.peaks(ring, *used);
        self.reported |= 1 << ring;
    }

    /// Its waits.
    #[cold]
    fn stalls(&mut self) -> &mut Stalls {
        if !self.stalled {
            (self.stalled, self.stalls) = (true, Stalls::default());
        }
        &mut self.stalls
    }

    /// Merges what was reported for a nested scope.
    #[cold]
    fn take_over(&mut self, inner: &Open) {
        for ring in scope_code::ones(inner.reported) {
            self.report(ring, &inner.peaks[ring]);
        }
        self.tensormap = self.tensormap.max(inner.tensormap);
        if inner.stalled {
            for (mine, theirs) in self.stalls().iter_mut().flatten().zip(inner.stalls.iter().flatten()) {
                mine.count += theirs.count;
                mine.ticks += theirs.ticks;
            }
        }
    }
}

/// Of each resource the larger.
#[inline]
fn larger(one: &[u64; 4], other: &[u64; 4]) -> [u64; 4] {
    core::array::from_fn(|resource| one[resource].max(other[resource]))
}
