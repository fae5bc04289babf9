//! What every scope held at most, what it needs, and how long it waited: kept while it is open, stored when it ends.
//!
//! Between two reclaims the use of a ring only grows, so the engine tells it before each reclaim and at each exit; and what a
//! scope needs is what was handed out between its beginning and its end. So nothing has to be looked at on a submit. What is
//! told counts for the innermost scope and is passed on when that ends.
//!
//! Scopes can be smaller than a microsecond, so that each instruction here is seen in a run's time: the records of open
//! scopes stay where they are, and of one that begins only what every scope has is cleared.

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

/// By ring and resource, in the order of `RESOURCES`.
pub(crate) type Stalls = [[Stall; RESOURCES.len()]; RINGS];

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
    pub(crate) stalls: Stalls,
    /// 1 if it was open when the run was stopped.
    pub(crate) open: u32,
}

/// A scope that is open.
struct Open {
    record: ScopeRecord,
    /// What had been handed out when it began.
    begun: Held,
    /// A bit for each ring whose peaks were told; those of the others are of an earlier scope.
    rings: u8,
    /// Whether it waited; if not, `stalls` are of an earlier scope.
    stalled: bool,
}

const _: () = assert!(RINGS <= 8, "a bit for each ring");

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
        let (record, begun) = (ScopeRecord::default(), Held::default());
        let open = (0..SCOPE_DEPTH_MAX).map(|_| Open { record, begun, rings: 0, stalled: false }).collect();
        Scopes { writer, open, depth: 0, stopped: false, waiting: None }
    }

    /// The innermost open scope.
    #[inline]
    fn last(&mut self) -> Option<&mut Open> {
        self.open[..self.depth].last_mut()
    }

    #[inline]
    pub(crate) fn enter(&mut self, scope: u32, site: u32, held: &Held, now: u64) {
        if self.stopped {
            return;
        }
        let parent = self.last().map_or(NO_PARENT, |outer| {
            outer.record.fan_in = outer.record.fan_in.max(held.fan_in);
            outer.record.scope
        });
        // The engine refuses a scope that is too deep before it tells of it.
        let Some(Open { record, begun, rings, stalled }) = self.open.get_mut(self.depth) else { return };
        (record.scope, record.parent, record.site) = (scope, parent, site);
        (record.depth, record.enter, record.tasks) = (self.depth as u32, now, 0);
        (record.tensormap, record.fan_in) = (0, 0);
        (*begun, *rings, *stalled) = (*held, 0, false);
        self.depth += 1;
    }

    #[inline]
    pub(crate) fn exit(&mut self, held: &Held, now: u64) {
        if !self.stopped {
            self.close(held, now, 0);
        }
    }

    /// Stores the innermost scope.
    #[inline]
    fn close(&mut self, held: &Held, now: u64, open: u32) {
        let Some(depth) = self.depth.checked_sub(1) else { return };
        self.depth = depth;
        let (outer, inner) = self.open.split_at_mut(depth);
        let Open { record, begun, rings, stalled } = &mut inner[0];
        (record.exit, record.open) = (now, open);
        record.need = [
            held.slots - begun.slots,
            held.heap - begun.heap,
            held.edges - begun.edges,
            held.args - begun.args,
        ];
        (record.heap_piece, record.args_piece) = (held.heap_piece, held.args_piece);
        record.fan_in = record.fan_in.max(held.fan_in);
        // Until here `tasks` counts those of the scopes inside.
        let all = held.tasks - begun.tasks;
        record.tasks = all - record.tasks;
        scope_code::store(&mut self.writer, record, *rings, *stalled);
        if let Some(outer) = outer.last_mut() {
            outer.pass_on(&inner[0], all);
        }
    }

    /// The run is stopped: the open scopes are stored as they are. `held` is by ring.
    pub(crate) fn stop(&mut self, held: &[Held], now: u64) {
        self.stopped = true;
        while let Some(depth) = self.depth.checked_sub(1) {
            self.close(&held[depth.min(held.len() - 1)], now, 1);
        }
    }

    #[inline]
    pub(crate) fn fill(&mut self, fill: &Fill) {
        let Some(scope) = self.last() else { return };
        scope.peak(fill.ring, &fill.used);
        scope.record.tensormap = scope.record.tensormap.max(fill.tensormap);
    }

    /// The submit being made waited so long.
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
    /// So much was in use on a ring.
    #[inline]
    fn peak(&mut self, ring: usize, used: &[u64; 4]) {
        let peaks = &mut self.record.peaks[ring];
        if self.rings >> ring & 1 == 0 {
            self.rings |= 1 << ring;
            *peaks = *used;
        } else {
            peaks.iter_mut().zip(used).for_each(|(peak, used)| *peak = (*peak).max(*used));
        }
    }

    /// Its waits.
    #[cold]
    fn stalls(&mut self) -> &mut Stalls {
        if !self.stalled {
            (self.stalled, self.record.stalls) = (true, Stalls::default());
        }
        &mut self.record.stalls
    }

    /// Takes over what a scope inside it saw.
    #[inline]
    fn pass_on(&mut self, inner: &Open, tasks: u64) {
        self.record.tasks += tasks;
        for ring in 0..RINGS {
            if inner.rings >> ring & 1 == 1 {
                self.peak(ring, &inner.record.peaks[ring]);
            }
        }
        self.record.tensormap = self.record.tensormap.max(inner.record.tensormap);
        self.record.fan_in = self.record.fan_in.max(inner.record.fan_in);
        if inner.stalled {
            for (mine, theirs) in self.stalls().iter_mut().flatten().zip(inner.record.stalls.iter().flatten())
            {
                mine.count += theirs.count;
                mine.ticks += theirs.ticks;
            }
        }
    }
}
