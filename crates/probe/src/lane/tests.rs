//! Lanes seen from both ends: what is handed over, dropped, waited for and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::*;

/// Each reading is a tick later.
#[derive(Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> u64 {
        self.0.fetch_add(1, Relaxed)
    }
}

fn small(overflow: Overflow, buffers: u32) -> (Writer, Drain) {
    let rules = Rules { overflow, clock: Arc::new(Ticking::default()), waker: Arc::default() };
    lane(&rules, &Pool::default(), buffers, 64).unwrap()
}

/// The next buffer's records, as numbers; the buffer goes back.
fn take(drain: &mut Drain) -> Option<Vec<u64>> {
    let filled = drain.take()?;
    let numbers =
        drain.records(&filled).chunks(8).map(|b| u64::from_ne_bytes(b.try_into().unwrap())).collect();
    drain.give_back(filled);
    Some(numbers)
}

#[test]
fn a_closed_writer_hands_over_its_last_buffer_however_full() {
    let (mut writer, mut drain) = small(Overflow::Block, 4);
    (0..11u64).for_each(|i| writer.push(&i));
    assert_eq!(writer.counts(), Counts { total: 11, bytes: 88, ..Counts::default() });
    assert_eq!(take(&mut drain), Some((0..8).collect()));
    assert_eq!(take(&mut drain), None);
    drop(writer);
    assert_eq!(take(&mut drain), Some(vec![8, 9, 10]));
    assert_eq!(drain.counts(), Counts { total: 11, bytes: 88, ..Counts::default() });
}

#[test]
fn a_writer_that_never_wrote_hands_over_nothing() {
    let (writer, mut drain) = small(Overflow::Block, 2);
    drop(writer);
    assert_eq!(take(&mut drain), None);
    assert_eq!(drain.counts(), Counts::default());
}

#[test]
fn with_drop_what_finds_no_buffer_is_counted_and_later_records_find_one_again() {
    let (mut writer, mut drain) = small(Overflow::Drop, 2);
    (0..20u64).for_each(|i| writer.push(&i));
    assert_eq!(writer.counts().dropped, 4);
    assert_eq!(take(&mut drain), Some((0..8).collect()));
    writer.push(&20u64);
    drop(writer);
    assert_eq!(take(&mut drain), Some((8..16).collect()));
    assert_eq!(take(&mut drain), Some(vec![20]));
    assert_eq!(drain.counts(), Counts { total: 21, dropped: 4, waited_ticks: 0, bytes: 17 * 8 });
}

#[test]
fn a_record_never_spans_two_buffers_and_one_larger_than_a_buffer_is_dropped() {
    let (mut writer, mut drain) = small(Overflow::Block, 4);
    writer.reserve(40).unwrap().fill(1);
    assert!(writer.reserve(65).is_none());
    writer.reserve(8).unwrap().fill(2);
    writer.reserve(40).unwrap().fill(3);
    writer.reserve(64).unwrap().fill(4);
    drop(writer);
    let mut chunks = Vec::new();
    while let Some(filled) = drain.take() {
        chunks.push((filled.rows, drain.records(&filled).to_vec()));
    }
    let first = [vec![1; 40], vec![2; 8]].concat();
    assert_eq!(chunks, [(2, first), (1, vec![3; 40]), (1, vec![4; 64])]);
    assert_eq!((drain.counts().total, drain.counts().dropped), (5, 1));
}

#[test]
fn with_block_a_writer_waits_for_a_slow_drain_and_says_how_long() {
    let (mut writer, mut drain) = small(Overflow::Block, 2);
    let thread = std::thread::spawn(move || (0..100u64).for_each(|i| writer.push(&i)));
    let mut numbers = Vec::new();
    while numbers.len() < 100 {
        std::thread::sleep(Duration::from_millis(2));
        numbers.extend(take(&mut drain).unwrap_or_default());
    }
    thread.join().unwrap();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    let counts = drain.counts();
    assert_eq!((counts.total, counts.dropped, counts.bytes), (100, 0, 800));
    assert!(counts.waited_ticks > 0);
}

#[test]
fn a_million_records_through_four_small_buffers_arrive_complete_and_in_order() {
    let (mut writer, mut drain) = small(Overflow::Block, 4);
    let thread = std::thread::spawn(move || (0..1_000_000u64).for_each(|i| writer.push(&i)));
    let mut next = 0;
    while next < 1_000_000 {
        for number in take(&mut drain).unwrap_or_default() {
            assert_eq!(number, next);
            next += 1;
        }
    }
    thread.join().unwrap();
    assert_eq!(take(&mut drain), None);
    assert_eq!((drain.counts().total, drain.counts().dropped), (1_000_000, 0));
}

#[test]
fn a_halted_writer_neither_waits_nor_loses_count() {
    let (mut writer, mut drain) = small(Overflow::Block, 2);
    (0..16u64).for_each(|i| writer.push(&i));
    drain.halt();
    (16..100u64).for_each(|i| writer.push(&i));
    drop(writer);
    assert_eq!(take(&mut drain), Some((0..8).collect()));
    assert_eq!(take(&mut drain), None);
    assert_eq!((drain.counts().total, drain.counts().dropped), (100, 92));
}

#[test]
fn a_waiting_writer_is_freed_by_a_halt() {
    let (mut writer, mut drain) = small(Overflow::Block, 2);
    let thread = std::thread::spawn(move || (0..17u64).for_each(|i| writer.push(&i)));
    while drain.counts().total < 16 {
        std::thread::yield_now();
    }
    drain.halt();
    thread.join().unwrap();
    assert_eq!((drain.counts().total, drain.counts().dropped), (17, 1));
    assert_eq!((take(&mut drain), take(&mut drain)), (Some((0..8).collect()), Some((8..16).collect())));
}
