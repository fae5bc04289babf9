//! Whole recordings: writers on threads of their own, a collector, storage that fails.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ringlane_probe::{
    Clock, KindCounts, KindSpec, Pool, ProbeError, RecordKind, Recorded, RecordedKind, Recording, Sink,
    Storage, Writers,
};
use ringlane_task::{Explain, Overflow};

struct Nanoseconds(Instant);

impl Clock for Nanoseconds {
    fn now(&self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }
}

/// Memory that takes some bytes and then fails like a full disk. It is interrupted and cut short now and then.
#[derive(Clone, Default)]
struct Disk {
    bytes: Arc<Mutex<Vec<u8>>>,
    capacity: usize,
    calls: Arc<AtomicU32>,
    slow: Duration,
}

impl Disk {
    fn of(capacity: usize) -> Self {
        Disk { capacity, ..Disk::default() }
    }
}

impl Storage for Disk {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::thread::sleep(self.slow);
        let (call, offset) = (self.calls.fetch_add(1, Relaxed), offset as usize);
        if call.is_multiple_of(3) {
            return Err(ErrorKind::Interrupted.into());
        }
        let end = (offset + bytes.len().min(1000)).min(self.capacity);
        if end <= offset {
            return Err(io::Error::from_raw_os_error(28));
        }
        let mut disk = self.bytes.lock().unwrap();
        if disk.len() < end {
            disk.resize(end, 0);
        }
        disk[offset..end].copy_from_slice(&bytes[..end - offset]);
        Ok(end - offset)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.calls.fetch_add(1, Relaxed).is_multiple_of(5) {
            return Err(ErrorKind::Interrupted.into());
        }
        let (disk, offset) = (self.bytes.lock().unwrap(), offset as usize);
        let len = bytes.len().min(700).min(disk.len() - offset);
        bytes[..len].copy_from_slice(&disk[offset..offset + len]);
        Ok(len)
    }

    fn clear(&self) -> io::Result<()> {
        self.bytes.lock().unwrap().clear();
        Ok(())
    }
}

const NUMBERS: RecordKind = RecordKind(0);
const PIECES: RecordKind = RecordKind(1);

fn spec(kind: RecordKind, sink: Sink, buffers: u32, buffer_bytes: u32, writers: u32) -> KindSpec {
    KindSpec {
        kind,
        name: "numbers",
        path: "run/numbers.json".into(),
        sink,
        buffers,
        buffer_bytes,
        ready_bytes: 4096,
        writers,
    }
}

fn start(overflow: Overflow, specs: Vec<KindSpec>) -> (Recording, Writers) {
    Recording::start(overflow, Arc::new(Nanoseconds(Instant::now())), specs).unwrap()
}

/// Writers that each count to `records` on a thread of their own; then the recording is stopped.
fn count_to(records: u64, overflow: Overflow, spec: KindSpec) -> Recorded {
    let kind = spec.kind;
    let (recording, mut writers) = start(overflow, vec![spec]);
    let writers: Vec<_> = std::thread::scope(|scope| {
        let counting = |mut writer: ringlane_probe::Writer| {
            scope.spawn(move || {
                (0..records).for_each(|i| writer.push(&i));
                writer
            })
        };
        let threads: Vec<_> = writers.take(kind).into_iter().map(counting).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    recording.stop(writers).unwrap()
}

/// The numbers of each lane, as read back.
fn numbers(kind: &RecordedKind, lanes: usize) -> Vec<Vec<u64>> {
    let mut numbers = vec![Vec::new(); lanes];
    let read = kind.for_each_chunk(|lane, records| {
        let parsed = records.chunks_exact(8).map(|b| u64::from_ne_bytes(b.try_into().unwrap()));
        numbers[lane as usize].extend(parsed);
        Ok::<_, ProbeError>(())
    });
    read.unwrap();
    numbers
}

fn assert_adds_up(counts: KindCounts, total: u64) {
    assert_eq!((counts.total, counts.collected + counts.dropped), (total, total), "{counts:?}");
}

#[test]
fn with_block_a_million_records_through_four_tiny_buffers_are_read_back_complete_and_in_order() {
    let disk = Disk::of(usize::MAX);
    let sink = Sink::spool({
        let disk = disk.clone();
        || Ok(disk)
    });
    let recorded = count_to(1_000_000, Overflow::Block, spec(NUMBERS, sink, 4, 4096, 1));
    let kind = recorded.kind(NUMBERS).unwrap();
    let counts = kind.counts();
    assert_eq!((counts.total, counts.collected, counts.dropped), (1_000_000, 1_000_000, 0));
    assert_eq!((counts.bytes, counts.reserved_bytes), (8_000_000, 4 * 4096));
    assert!(counts.waited_ticks > 0 && counts.written_bytes > 7_000_000, "{counts:?}");
    for _ in 0..2 {
        assert!(numbers(kind, 1)[0].iter().copied().eq(0..1_000_000));
    }
    assert!(recorded.collector_busy() > Duration::ZERO);
}

#[test]
fn a_real_spool_holds_the_records_of_several_writers() {
    let path = std::env::temp_dir().join(format!("ringlane-probe-spool-{}", std::process::id()));
    let sink = Sink::spool(move || {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        std::fs::remove_file(&path)?;
        Ok(file)
    });
    let recorded = count_to(100_000, Overflow::Block, spec(NUMBERS, sink, 8, 1024, 3));
    let kind = recorded.kind(NUMBERS).unwrap();
    assert_eq!(kind.counts().collected, 300_000);
    assert!(kind.counts().written_bytes > 0);
    for lane in numbers(kind, 3) {
        assert!(lane.into_iter().eq(0..100_000));
    }
}

#[test]
fn with_drop_and_a_slow_disk_what_arrives_is_in_order_and_the_rest_is_counted() {
    let slow = Disk { slow: Duration::from_millis(1), ..Disk::of(usize::MAX) };
    let sink = Sink::spool(|| Ok(slow));
    let recorded = count_to(50_000, Overflow::Drop, spec(NUMBERS, sink, 4, 512, 2));
    let kind = recorded.kind(NUMBERS).unwrap();
    let counts = kind.counts();
    assert_adds_up(counts, 100_000);
    assert!(counts.dropped > 0 && counts.collected > 0 && counts.waited_ticks == 0, "{counts:?}");
    let lanes = numbers(kind, 2);
    assert!(lanes.iter().all(|lane| lane.is_sorted_by(|a, b| a < b)));
    assert_eq!(lanes.iter().map(Vec::len).sum::<usize>() as u64, counts.collected);
    assert!(kind.failure().is_none());
}

#[test]
fn a_short_run_never_opens_its_spool() {
    let sink = Sink::spool(|| -> io::Result<File> { panic!("the spool was opened") });
    let recorded = count_to(1000, Overflow::Block, spec(NUMBERS, sink, 16, 8192, 2));
    let kind = recorded.kind(NUMBERS).unwrap();
    assert_eq!((kind.counts().collected, kind.counts().written_bytes), (2000, 0));
    assert!(numbers(kind, 2).into_iter().all(|lane| lane.into_iter().eq(0..1000)));
}

#[test]
fn a_disk_that_fills_up_keeps_the_beginning_of_each_lane_and_counts_the_rest() {
    for capacity in [0, 5, 12, 1000, 30_000] {
        let sink = Sink::spool(move || Ok(Disk::of(capacity)));
        let recorded = count_to(100_000, Overflow::Block, spec(NUMBERS, sink, 6, 512, 2));
        let kind = recorded.kind(NUMBERS).unwrap();
        let counts = kind.counts();
        assert_adds_up(counts, 200_000);
        assert!(counts.dropped > 0, "{counts:?}");
        let lanes = numbers(kind, 2);
        for lane in &lanes {
            assert!(lane.iter().copied().eq(0..lane.len() as u64), "not the beginning of the lane");
        }
        assert_eq!(lanes.iter().map(Vec::len).sum::<usize>() as u64, counts.collected);
        let failure = kind.failure().unwrap();
        assert_eq!((failure.errno.as_str(), &failure.path), ("ENOSPC", &PathBuf::from("run/numbers.json")));
        assert!(failure.to_string().starts_with("ENOSPC: run/numbers.json: "), "{failure}");
    }
}

#[test]
fn a_spool_that_cannot_be_opened_is_reported_with_its_reason() {
    let sink = Sink::spool(|| File::open("/nowhere/at/all"));
    let recorded = count_to(100_000, Overflow::Block, spec(NUMBERS, sink, 4, 512, 1));
    let kind = recorded.kind(NUMBERS).unwrap();
    assert_adds_up(kind.counts(), 100_000);
    assert_eq!(kind.failure().unwrap().errno, "ENOENT");
}

/// Pieces of 0, 1, 2, … bytes, one after the other, all of the byte `length`.
fn write_pieces(pieces: u64, disk: Disk) -> Recorded {
    let (recording, mut writers) = start(Overflow::Block, vec![spec(PIECES, Sink::place(disk), 3, 512, 1)]);
    let mut writer = writers.take(PIECES).remove(0);
    assert_eq!(writer.piece_bytes_max(), 496);
    let mut offset = 0;
    for len in 0..pieces {
        if let Some(place) = writer.reserve_piece(offset, len as usize) {
            place.fill(len as u8);
        }
        offset += len;
    }
    recording.stop([writer]).unwrap()
}

#[test]
fn pieces_are_put_into_their_places_whatever_their_lengths() {
    let disk = Disk::of(usize::MAX);
    let recorded = write_pieces(256, disk.clone());
    let expected: Vec<u8> = (0..=255u8).flat_map(|len| vec![len; len.into()]).collect();
    assert_eq!(*disk.bytes.lock().unwrap(), expected);
    let counts = recorded.kind(PIECES).unwrap().counts();
    assert_eq!((counts.total, counts.collected, counts.written_bytes), (256, 256, expected.len() as u64));
    let visited = recorded.kind(PIECES).unwrap().for_each_chunk(|_, _| Err(ProbeError::CollectorDied));
    assert!(visited.is_ok());
}

#[test]
fn a_piece_that_cannot_be_written_ends_the_kind_and_all_are_counted() {
    let disk = Disk::of(10_000);
    let recorded = write_pieces(256, disk.clone());
    let kind = recorded.kind(PIECES).unwrap();
    assert_adds_up(kind.counts(), 256);
    // 0 + 1 + … + 140 = 9870 bytes fit. Those that were to be written together with the one that did not are lost with it.
    assert!(kind.counts().collected <= 141, "{:?}", kind.counts());
    assert_eq!(kind.failure().unwrap().errno, "ENOSPC");
}

#[test]
fn a_device_that_is_always_full_is_named() {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (recording, mut writers) = start(Overflow::Block, vec![spec(PIECES, Sink::place(full), 2, 64, 1)]);
    let mut writer = writers.take(PIECES).remove(0);
    for i in 0..100 {
        if let Some(place) = writer.reserve_piece(i, 8) {
            place.fill(1);
        }
    }
    let recorded = recording.stop([writer]).unwrap();
    assert_adds_up(recorded.kind(PIECES).unwrap().counts(), 100);
    assert_eq!(recorded.kind(PIECES).unwrap().failure().unwrap().errno, "ENOSPC");
}

#[test]
fn a_recording_stops_at_once_and_not_at_the_next_poll() {
    let times: Vec<Duration> = (0..50)
        .map(|_| {
            let sink = Sink::spool(|| File::open("/nowhere"));
            let (recording, mut writers) = start(Overflow::Block, vec![spec(NUMBERS, sink, 8, 4096, 1)]);
            let mut writer = writers.take(NUMBERS).remove(0);
            writer.push(&1u64);
            // The collector has had time to fall asleep.
            std::thread::sleep(Duration::from_micros(300));
            let begun = Instant::now();
            assert_eq!(recording.stop([writer]).unwrap().kind(NUMBERS).unwrap().counts().collected, 1);
            begun.elapsed()
        })
        .collect();
    let mut sorted = times.clone();
    sorted.sort();
    assert!(sorted[25] < Duration::from_millis(1), "{times:?}");
}

#[test]
fn a_kind_that_is_off_has_no_writers_and_a_dropped_recording_frees_those_that_wait() {
    let sink = Sink::spool(|| Ok(Disk { slow: Duration::from_millis(1), ..Disk::of(usize::MAX) }));
    let (recording, mut writers) = start(Overflow::Block, vec![spec(NUMBERS, sink, 2, 64, 1)]);
    assert!(writers.take(PIECES).is_empty());
    let mut writer = writers.take(NUMBERS).remove(0);
    assert!(writers.take(NUMBERS).is_empty());
    let written = Arc::new(AtomicU64::new(0));
    let seen = written.clone();
    let thread = std::thread::spawn(move || {
        for i in 0..1000u64 {
            writer.push(&i);
            seen.store(i, Relaxed);
        }
        writer.counts()
    });
    while written.load(Relaxed) < 50 {
        std::thread::yield_now();
    }
    drop(recording);
    let counts = thread.join().unwrap();
    assert!(counts.total == 1000 && counts.dropped > 0, "{counts:?}");
}

#[test]
fn unfit_sizes_and_a_kind_given_twice_are_refused_by_name() {
    let refused = |specs| {
        let clock = Arc::new(Nanoseconds(Instant::now()));
        let error = Recording::start(Overflow::Block, clock, specs).unwrap_err();
        assert!(!error.hint().is_empty());
        (error.name(), error.detail())
    };
    let sink = || Sink::spool(|| File::open("/nowhere"));
    let odd = refused(vec![spec(NUMBERS, sink(), 4, 100, 1)]);
    assert_eq!(odd, ("UnfitBuffers", "numbers: 4 buffers of 100 bytes".to_string()));
    assert_eq!(refused(vec![spec(NUMBERS, sink(), 1, 128, 1)]).0, "UnfitBuffers");
    let twice = vec![spec(NUMBERS, sink(), 2, 128, 1), spec(NUMBERS, sink(), 2, 128, 1)];
    assert_eq!(refused(twice).0, "KindTwice");
}

#[test]
fn memory_from_a_pool_goes_back_and_carries_no_record_into_the_next_recording() {
    let pool = Pool::default();
    for records in [500u64, 3, 0, 100] {
        let sink = Sink::spool(|| File::open("/nowhere"));
        let clock = Arc::new(Nanoseconds(Instant::now()));
        let specs = vec![spec(NUMBERS, sink, 16, 1024, 2)];
        let (recording, mut writers) = Recording::start_in(&pool, Overflow::Block, clock, specs).unwrap();
        assert_eq!(pool.idle_bytes(), 0);
        let mut all = writers.take(NUMBERS);
        (0..records).for_each(|i| all[1].push(&i));
        let recorded = recording.stop(all).unwrap();
        let kind = recorded.kind(NUMBERS).unwrap();
        assert_eq!(numbers(kind, 2), [vec![], (0..records).collect::<Vec<_>>()]);
        assert_eq!(kind.counts().total, records);
        drop(recorded);
        assert_eq!(pool.idle_bytes(), 2 * 16 * 1024);
    }
}
