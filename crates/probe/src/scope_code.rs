//! A scope in a lane: what most scopes have nothing of is left out, because the memory that a record is the first to touch
//! costs more than the record.
//!
//! ```text
//! │ head │ peaks of each ring that was used │ waits, of each kind that there were │ label, padded to whole words │
//! ```

use ringlane_engine::limits::RINGS;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::lane::Writer;
use crate::scopes::{RESOURCES, Stall, Stalls};

/// A scope as it is read back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScopeRecord<'a> {
    /// Empty without one.
    pub(crate) label: &'a str,
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

/// What every scope has. Counts that the capacities keep below 2^32 have 32 bits.
#[derive(Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Head {
    pub(crate) enter: u64,
    pub(crate) exit: u64,
    pub(crate) need_heap: u64,
    pub(crate) heap_piece: u64,
    pub(crate) scope: u32,
    pub(crate) parent: u32,
    pub(crate) site: u32,
    pub(crate) tasks: u32,
    pub(crate) tensormap: u32,
    pub(crate) fan_in: u32,
    pub(crate) need_slots: u32,
    pub(crate) need_edges: u32,
    pub(crate) need_args: u32,
    pub(crate) args_piece: u32,
    pub(crate) depth: u8,
    pub(crate) open: u8,
    /// A bit for each ring whose peaks follow; set by `store`.
    pub(crate) rings: u8,
    /// How many kinds of waits follow; set by `store`.
    pub(crate) stalls: u8,
    /// Bytes of the label; set by `store`.
    pub(crate) label_bytes: u32,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct RingPeaks {
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

/// The need of a scope on a ring is below 2^32, the limit of a capacity, unless nested scopes freed and reused space on the
/// same ring; then it is stored as the largest value that fits.
#[inline]
pub(crate) fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The bits that are set, by number.
#[inline]
pub(crate) fn ones(mut bits: u8) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let first = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (first < u8::BITS as usize).then_some(first)
    })
}

/// Stores a scope, with slots, heap bytes, dependency entries and argument bytes of each ring whose bit is set, and its waits. Where
/// it goes is known before it is made, so that it is made there.
#[inline(always)]
pub(crate) fn store(
    writer: &mut Writer,
    rings: u8,
    head: impl FnOnce() -> Head,
    peaks: impl Fn(usize) -> [u64; 4],
    stalls: Option<&Stalls>,
    label: &str,
) {
    let kinds = stalls.map_or(0, stall_count);
    let bytes = size_of::<Head>()
        + rings.count_ones() as usize * size_of::<RingPeaks>()
        + usize::from(kinds) * size_of::<StallCode>()
        + label.len().next_multiple_of(8);
    let Some(place) = writer.reserve(bytes) else { return };
    let mut place = put(place, &Head { rings, stalls: kinds, label_bytes: label.len() as u32, ..head() });
    // Written out for each ring by the compiler.
    for ring in (0..RINGS).filter(|ring| rings >> ring & 1 == 1) {
        let [slots, heap, edges, args] = peaks(ring);
        // What is in use is below the capacities, which have 32 bits.
        let [slots, edges, args] = [slots as u32, edges as u32, args as u32];
        place = put(place, &RingPeaks { heap, slots, edges, args, unused: 0 });
    }
    if let Some(stalls) = stalls {
        place = store_stalls(place, stalls);
    }
    if !label.is_empty() {
        place[..label.len()].copy_from_slice(label.as_bytes());
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
fn stall_count(stalls: &Stalls) -> u8 {
    stalls.iter().flatten().filter(|stall| stall.count > 0).count() as u8
}

#[cold]
fn store_stalls<'a>(mut place: &'a mut [u8], stalls: &Stalls) -> &'a mut [u8] {
    for (ring, kinds) in stalls.iter().enumerate() {
        for (resource, stall) in kinds.iter().enumerate().filter(|(_, stall)| stall.count > 0) {
            let Stall { count, ticks } = *stall;
            place = put(place, &StallCode { count, ticks, ring: ring as u32, resource: resource as u32 });
        }
    }
    place
}

/// Takes the first scope off a chunk; `None` at its end.
pub(crate) fn next<'a>(chunk: &mut &'a [u8]) -> Option<ScopeRecord<'a>> {
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
    for ring in ones(head.rings).filter(|&ring| ring < RINGS) {
        let RingPeaks { heap, slots, edges, args, .. } = take(chunk)?;
        scope.peaks[ring] = [slots.into(), heap, edges.into(), args.into()];
    }
    for _ in 0..head.stalls {
        let StallCode { count, ticks, ring, resource } = take(chunk)?;
        *scope.stalls.get_mut(ring as usize)?.get_mut(resource as usize)? = Stall { count, ticks };
    }
    let label_bytes = head.label_bytes as usize;
    let (label, rest) = chunk.split_at_checked(label_bytes.next_multiple_of(8))?;
    (scope.label, *chunk) = (core::str::from_utf8(&label[..label_bytes]).ok()?, rest);
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
        let head = Head { scope: 7, parent: 3, need_slots: 1, need_heap: 2, tasks: 1, ..Head::default() };
        let plain =
            ScopeRecord { scope: 7, parent: 3, need: [1, 2, 0, 0], tasks: 1, ..ScopeRecord::default() };
        let mut full = ScopeRecord { open: 1, depth: 5, heap_piece: 1 << 40, label: "layer 3", ..plain };
        full.peaks = [[1, 1 << 40, 3, 4], [0; 4], [5, 6, 7, 8], [0, 0, 0, 1]];
        full.stalls[2][4] = Stall { count: 2, ticks: 1 << 50 };
        full.stalls[0][0] = Stall { count: 1, ticks: 9 };
        let full_head = Head { open: 1, depth: 5, heap_piece: 1 << 40, ..head };
        let chunk = one_writer(|writer| {
            // Peaks of rings that are not named are not read.
            store(writer, 0, || head, |ring| full.peaks[ring], None, "");
            store(writer, 0b1101, || full_head, |ring| full.peaks[ring], Some(&full.stalls), "layer 3");
        });
        let mut rest = &chunk[..];
        assert_eq!([next(&mut rest), next(&mut rest), next(&mut rest)], [Some(plain), Some(full), None]);
    }
}
