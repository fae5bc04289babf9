//! A scope in a lane: what most scopes have nothing of is left out, because the memory that a record is the first to touch
//! costs more than the record.
//!
//! ```text
//! │ head │ peaks of each ring that was used │ waits, of each kind that there were │
//! ```

use ringlane_engine::limits::RINGS;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::lane::Writer;
use crate::scopes::{RESOURCES, ScopeRecord, Stall};

/// What every scope has. Counts that the capacities keep below 2^32 have 32 bits.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Head {
    enter: u64,
    exit: u64,
    need_heap: u64,
    heap_piece: u64,
    scope: u32,
    parent: u32,
    site: u32,
    tasks: u32,
    tensormap: u32,
    fan_in: u32,
    need_slots: u32,
    need_edges: u32,
    need_args: u32,
    args_piece: u32,
    depth: u8,
    open: u8,
    /// A bit for each ring whose peaks follow.
    rings: u8,
    /// How many kinds of waits follow.
    stalls: u8,
    unused: u32,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct RingPeaks {
    heap: u64,
    slots: u32,
    edges: u32,
    args: u32,
    unused: u32,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct StallCode {
    count: u64,
    ticks: u64,
    ring: u32,
    resource: u32,
}

const _: () = assert!(RINGS <= 8 && RINGS * RESOURCES.len() < 256, "bits and counts fit their bytes");

/// Counts are kept below 2^32 by the capacities; one that were not would be told as the largest that fits.
fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Stores a scope. Peaks are those of the rings whose bits are set, and there are waits only if it was `stalled`.
#[inline]
pub(crate) fn store(writer: &mut Writer, scope: &ScopeRecord, rings: u8, stalled: bool) {
    let stalls = if stalled { stall_count(scope) } else { 0 };
    let bytes = size_of::<Head>()
        + rings.count_ones() as usize * size_of::<RingPeaks>()
        + stalls * size_of::<StallCode>();
    let Some(place) = writer.reserve(bytes) else { return };
    let mut place = put(place, &head(scope, rings, stalls as u8));
    for ring in (0..RINGS).filter(|ring| rings >> ring & 1 == 1) {
        let [slots, heap, edges, args] = scope.peaks[ring];
        let [slots, edges, args] = [slots, edges, args].map(small);
        place = put(place, &RingPeaks { heap, slots, edges, args, unused: 0 });
    }
    if stalls > 0 {
        store_stalls(place, scope);
    }
}

/// Writes a part of the record; says where the next one goes.
#[inline]
fn put<'a, T: IntoBytes + Immutable>(place: &'a mut [u8], part: &T) -> &'a mut [u8] {
    let (here, rest) = place.split_at_mut(size_of::<T>());
    here.copy_from_slice(part.as_bytes());
    rest
}

/// How many kinds of waits there were.
#[cold]
fn stall_count(scope: &ScopeRecord) -> usize {
    scope.stalls.iter().flatten().filter(|stall| stall.count > 0).count()
}

#[cold]
fn store_stalls(mut place: &mut [u8], scope: &ScopeRecord) {
    for (ring, kinds) in scope.stalls.iter().enumerate() {
        for (resource, stall) in kinds.iter().enumerate().filter(|(_, stall)| stall.count > 0) {
            let Stall { count, ticks } = *stall;
            place = put(place, &StallCode { count, ticks, ring: ring as u32, resource: resource as u32 });
        }
    }
}

#[inline]
fn head(scope: &ScopeRecord, rings: u8, stalls: u8) -> Head {
    let [slots, heap, edges, args] = scope.need;
    Head {
        enter: scope.enter,
        exit: scope.exit,
        need_heap: heap,
        heap_piece: scope.heap_piece,
        scope: scope.scope,
        parent: scope.parent,
        site: scope.site,
        tasks: small(scope.tasks),
        tensormap: small(scope.tensormap),
        fan_in: small(scope.fan_in),
        need_slots: small(slots),
        need_edges: small(edges),
        need_args: small(args),
        args_piece: small(scope.args_piece),
        depth: scope.depth as u8,
        open: scope.open as u8,
        rings,
        stalls,
        unused: 0,
    }
}

/// Takes the first scope off a chunk; `None` at its end.
pub(crate) fn next(chunk: &mut &[u8]) -> Option<ScopeRecord> {
    let head: Head = take(chunk)?;
    let mut scope = ScopeRecord {
        scope: head.scope,
        parent: head.parent,
        site: head.site,
        depth: head.depth.into(),
        enter: head.enter,
        exit: head.exit,
        tasks: head.tasks.into(),
        tensormap: head.tensormap.into(),
        fan_in: head.fan_in.into(),
        need: [head.need_slots.into(), head.need_heap, head.need_edges.into(), head.need_args.into()],
        heap_piece: head.heap_piece,
        args_piece: head.args_piece.into(),
        open: head.open.into(),
        ..ScopeRecord::default()
    };
    for ring in (0..RINGS).filter(|ring| head.rings >> ring & 1 == 1) {
        let RingPeaks { heap, slots, edges, args, .. } = take(chunk)?;
        scope.peaks[ring] = [slots.into(), heap, edges.into(), args.into()];
    }
    for _ in 0..head.stalls {
        let StallCode { count, ticks, ring, resource } = take(chunk)?;
        *scope.stalls.get_mut(ring as usize)?.get_mut(resource as usize)? = Stall { count, ticks };
    }
    Some(scope)
}

fn take<T: FromBytes>(chunk: &mut &[u8]) -> Option<T> {
    let (value, rest) = T::read_from_prefix(chunk).ok()?;
    *chunk = rest;
    Some(value)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::recording::tests_support::one_writer;

    #[test]
    fn a_scope_is_read_back_as_it_was_with_and_without_rings_and_waits() {
        let plain =
            ScopeRecord { scope: 7, parent: 3, need: [1, 2, 3, 4], tasks: 1, ..ScopeRecord::default() };
        let mut full = ScopeRecord { open: 1, depth: 5, heap_piece: 1 << 40, ..plain };
        full.peaks = [[1, 1 << 40, 3, 4], [0; 4], [5, 6, 7, 8], [0, 0, 0, 1]];
        full.stalls[2][4] = Stall { count: 2, ticks: 1 << 50 };
        full.stalls[0][0] = Stall { count: 1, ticks: 9 };
        let chunk = one_writer(|writer| {
            // What is not said to be there is not looked at.
            store(writer, &ScopeRecord { peaks: full.peaks, stalls: full.stalls, ..plain }, 0, false);
            store(writer, &full, 0b1101, true);
        });
        let mut rest = &chunk[..];
        assert_eq!([next(&mut rest), next(&mut rest), next(&mut rest)], [Some(plain), Some(full), None]);
    }
}
