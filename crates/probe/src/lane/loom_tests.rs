//! Loom walks through every order in which a writer and a collector can meet in a lane, with every value that a weak
//! memory may show them. The types are the shipped ones; what is small is the program.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p ringlane-probe --release --lib loom
//! ```
//! The bytes of a buffer are watched as plain memory, so that an ordering that is too weak anywhere shows up as two
//! threads at one buffer. Each record fills a buffer, so that every one of them is an exchange.

use std::sync::Arc;

use loom::thread;

use super::*;

struct Still;

impl Clock for Still {
    fn now(&self) -> u64 {
        0
    }
}

/// A record of one buffer, all of one number: torn, it would hold two.
type Record = [u32; 16];

fn small(overflow: Overflow, buffers: u32) -> (Writer, Drain) {
    let rules = Rules { overflow, clock: Arc::new(Still), waker: Arc::default() };
    lane(&rules, &Pool::default(), buffers, size_of::<Record>() as u32).unwrap()
}

/// The number of the next record, which must be whole; its buffer goes back.
fn take(drain: &mut Drain) -> Option<u32> {
    let filled = drain.take()?;
    assert_eq!((filled.rows, filled.used), (1, size_of::<Record>() as u32));
    let record = drain.records(&filled);
    let number = u32::from_ne_bytes(record[..4].try_into().unwrap());
    assert!(record.chunks(4).all(|part| part == number.to_ne_bytes()), "a torn record: {record:?}");
    drain.give_back(filled);
    Some(number)
}

fn check(preemptions: Option<usize>, program: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(program);
}

/// A writer of `records` through `buffers`, and a collector that takes them meanwhile.
fn blocking(buffers: u32, records: u32) {
    let (mut writer, mut drain) = small(Overflow::Block, buffers);
    let thread = thread::spawn(move || (1..=records).for_each(|i| writer.push::<Record>(&[i; 16])));
    let mut expected = 1;
    while expected <= records {
        match take(&mut drain) {
            Some(number) => {
                assert_eq!(number, expected, "a record is lost, or came twice");
                expected += 1;
            }
            None => thread::yield_now(),
        }
    }
    thread.join().unwrap();
    assert_eq!(take(&mut drain), None);
    assert_eq!((drain.counts().total, drain.counts().dropped), (records.into(), 0));
}

#[test]
fn loom_two_buffers_carry_four_records_once_each_in_order() {
    check(Some(4), || blocking(2, 4));
}

#[test]
fn loom_three_buffers_carry_four_records_once_each_in_order() {
    check(Some(3), || blocking(3, 4));
}

#[test]
fn loom_with_drop_every_record_arrives_whole_or_is_counted() {
    check(Some(3), || {
        let (mut writer, mut drain) = small(Overflow::Drop, 2);
        let thread = thread::spawn(move || (1..=4).for_each(|i| writer.push::<Record>(&[i; 16])));
        let mut numbers = Vec::new();
        (0..3).for_each(|_| numbers.extend(take(&mut drain)));
        thread.join().unwrap();
        while let Some(number) = take(&mut drain) {
            numbers.push(number);
        }
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        let counts = drain.counts();
        assert_eq!((counts.total, counts.total - counts.dropped), (4, numbers.len() as u64));
    });
}

#[test]
fn loom_a_halt_at_any_moment_frees_the_writer_and_no_record_is_uncounted() {
    check(Some(3), || {
        let (mut writer, mut drain) = small(Overflow::Block, 2);
        let thread = thread::spawn(move || (1..=3).for_each(|i| writer.push::<Record>(&[i; 16])));
        let mut taken = u64::from(take(&mut drain).is_some());
        drain.halt();
        thread.join().unwrap();
        while take(&mut drain).is_some() {
            taken += 1;
        }
        assert_eq!((drain.counts().total, drain.counts().dropped + taken), (3, 3));
    });
}
