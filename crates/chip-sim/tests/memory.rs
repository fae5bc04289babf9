//! A chip whose memory the host cannot access: everything is copied, and the host sees only copies.

mod support;

use std::sync::atomic::{AtomicU64, Ordering};

use ringlane_chip_sim::link::{Copied, Direction};
use ringlane_chip_sim::{SimOptions, SimRuntime};
use ringlane_engine::observe::ObservedTask;
use ringlane_engine::prelude::*;
use ringlane_engine::seams::{Probe, RecordBytes};
use ringlane_task::{CallConfig, ChipSpec, CoreId, Explain, HostMemory};

kernel! { static DOUBLE = aiv fn(x: &[f32], y: &mut [f32]) { y.iter_mut().zip(x).for_each(|(y, x)| *y = 2.0 * x); } }

fn copied() -> ChipSpec {
    ChipSpec { host_memory: HostMemory::Copied, ..support::a2a3() }
}

fn runtime(spec: &ChipSpec) -> SimRuntime {
    SimRuntime::new(spec, &CallConfig::default(), SimOptions::default()).unwrap()
}

#[test]
fn inputs_are_copied_in_outputs_and_reads_out_and_each_takes_its_time_on_the_link() {
    let mut data = Buffers::new();
    let x = data.add(&[1000], &[1.5f32; 1000]).unwrap();
    let y = data.add_zeroed(f32, &[1000]).unwrap();
    let mut runtime = runtime(&copied());
    let run = runtime.run(&mut data, |o| {
        let (x, y) = (o.external(x)?, o.external(y)?);
        let made = o.submit(&DOUBLE, [x.read(), out(f32, [1000])])?.out(0);
        assert_eq!(o.read::<f32>(made)?, [3.0; 1000]);
        o.submit(&DOUBLE, [made.read(), y.write()]).map(drop)
    });
    run.result.unwrap();
    assert_eq!(data.get::<f32>(y).unwrap(), [6.0; 1000]);
    let totals = runtime.totals();
    let seen: Vec<_> = totals.copies.iter().map(|copy| (copy.direction, copy.what, copy.bytes)).collect();
    let buffer = |direction, number| (direction, Copied::Buffer(number), 4000);
    assert_eq!(
        seen,
        [
            buffer(Direction::In, 0),
            buffer(Direction::In, 1),
            (Direction::Out, Copied::Read, 4000),
            buffer(Direction::Out, 0),
            buffer(Direction::Out, 1)
        ]
    );
    // 5 µs and 4,000 bytes at 25 GB/s.
    assert!(totals.copies.iter().all(|copy| copy.end - copy.start == 5_160_000));
    assert!(totals.copies.is_sorted_by(|a, b| a.end <= b.start));
    assert_eq!(totals.makespan, totals.copies[4].end);
}

#[test]
fn uploaded_values_are_copied_at_once_and_only_if_the_host_cannot_access_the_memory() {
    let upload = |spec: &ChipSpec| {
        let mut runtime = runtime(spec);
        let run = runtime.run(&mut Buffers::new(), |o| {
            let ones = o.upload(&[1.0f32; 1000], [1000])?;
            let first = o.submit(&DOUBLE, [ones.read(), out(f32, [1000])])?.out(0);
            let learnt: Vec<f32> = o.read::<f32>(first)?.iter().map(|x| x + 1.0).collect();
            let second = o.upload(&learnt, [1000])?;
            let doubled = o.submit(&DOUBLE, [second.read(), out(f32, [1000])])?.out(0);
            o.read::<f32>(doubled)
        });
        assert_eq!(run.result.unwrap(), [6.0; 1000]);
        let copies = &runtime.totals().copies;
        copies.iter().map(|copy| (copy.direction, copy.what, copy.bytes)).collect::<Vec<_>>()
    };
    let (up, read) = ((Direction::In, Copied::Upload, 4000), (Direction::Out, Copied::Read, 4000));
    assert_eq!(upload(&copied()), [up, read, up, read]);
    assert_eq!(upload(&support::a2a3()), []);
}

#[test]
fn an_access_without_a_copy_is_refused_with_its_address_and_cause() {
    let read = |spec: &ChipSpec| {
        let mut data = Buffers::new();
        let x = data.add(&[4], &[1.0f32; 4]).unwrap();
        runtime(spec).run(&mut data, |o| {
            let x = o.external(x)?;
            let made = o.submit(&DOUBLE, [x.read(), out(f32, [4])])?.out(0);
            o.with_slice(made, |values: &[f32]| values.to_vec())
        })
    };
    assert_eq!(read(&support::a2a3()).result.unwrap(), [2.0; 4]);
    let error = read(&copied()).result.unwrap_err();
    assert_eq!(error.name(), "NotMapped");
    let (_, detail) = error.detail().split_once(": ").map(|(at, d)| (at.to_string(), d.to_string())).unwrap();
    assert_eq!(detail, "16 bytes at heap ring 0+0x0 cannot be accessed without a copy to the host");
    assert!(error.hint().contains("o.read"), "{}", error.hint());
}

#[test]
fn a_link_that_is_too_slow_ends_the_run_at_the_end_of_virtual_time() {
    let mut spec = copied();
    spec.link.bytes_per_second = 1;
    let mut data = Buffers::new();
    let ids: Vec<_> = (0..6).map(|_| data.add_zeroed(f32, &[1 << 20]).unwrap()).collect();
    let run = runtime(&spec).run(&mut data, |o| {
        let x = ids.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
        o.submit(&DOUBLE, [x[0].read(), x[1].write()]).map(drop)
    });
    assert_eq!(run.result.unwrap_err().name(), "VirtualTimeOver");
}

/// Records scopes of 1,000 bytes, and captures 100,000 bytes before and after each task.
#[derive(Default)]
struct Captures(AtomicU64);

impl Probe for Captures {
    fn record_bytes(&self) -> RecordBytes {
        RecordBytes { scope: 1_000, ..RecordBytes::default() }
    }

    fn dispatch(&self, _core: CoreId, _task: &ObservedTask<'_>) {
        self.0.fetch_add(100_000, Ordering::Relaxed);
    }

    fn complete(&self, _core: CoreId, _task: &ObservedTask<'_>) {
        self.0.fetch_add(100_000, Ordering::Relaxed);
    }

    fn captured_bytes(&self, _core: CoreId) -> u64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}

#[test]
fn scopes_and_captured_bytes_go_over_the_link_and_a_thread_without_a_free_buffer_waits() {
    let run = |captures: bool, scopes: usize| {
        let mut spec = copied();
        spec.schedulers = 1;
        let (mut data, mut runtime) = (Buffers::new(), runtime(&spec));
        let x = data.add_zeroed(f32, &[8]).unwrap();
        let orchestrate = |o: &mut Orch<'_, '_>| (0..scopes).try_for_each(|_| o.scope(|_| Ok(())));
        let body = |o: &mut Orch<'_, '_>, x| {
            orchestrate(o)?;
            let x = o.external(x)?;
            (0..4).try_for_each(|_| o.submit(&DOUBLE, [x.read(), out(f32, [8])]).map(drop))
        };
        let at = std::panic::Location::caller();
        let run = match captures {
            true => runtime.run_at(at, &mut data, &Captures::default(), |o| body(o, x)),
            false => runtime.run(&mut data, |o| body(o, x)),
        };
        run.result.unwrap();
        runtime.totals().clone()
    };
    let sent = |totals: &ringlane_chip_sim::Totals, thread| -> u64 {
        let records = totals.copies.iter().filter(|copy| copy.what == Copied::Records(thread));
        records.map(|copy| copy.bytes).sum()
    };
    let quiet = run(false, 200);
    assert_eq!((sent(&quiet, 0), sent(&quiet, 1), quiet.record_waits), (0, 0, 0));
    let recorded = run(true, 200);
    // Four tasks, before and after each; and 201 scopes, including that of the run.
    assert_eq!((sent(&recorded, 0), sent(&recorded, 1)), (8 * 100_000, 201 * 1_000));
    assert!(recorded.record_waits > 0 && recorded.makespan > quiet.makespan, "{recorded:?}");
}
