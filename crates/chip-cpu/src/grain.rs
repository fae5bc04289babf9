//! How long tasks take, roughly, so that tiny ones stay where they are.
//!
//! A task that another core runs moves a handful of cache lines, 60–100 ns each. For tasks shorter than that, handing
//! them over costs more than running them, so while tasks are *fine* the submitter runs them itself between submits
//! and idle threads leave them alone. Every thread times one task in sixteen; the estimate is
//! shared, and wrong only for as long as a few samples take. It decides who runs a task, never what it computes.

use std::time::Instant;

use ringlane_engine::sync::Padded;

use crate::sync::{AtomicU32, Ordering};

/// One task in this many is timed.
const SAMPLE_EVERY: u32 = 16;
/// Tasks shorter than this are not worth moving.
pub(crate) const FINE_NS: u32 = 300;
/// A sample counts at most this much, so that one interrupted task does not hide a thousand tiny ones.
const SAMPLE_MAX_NS: u128 = 20_000;
/// What it takes a helper to get hold of a task that another thread prepared, and to complete it: it is no part of the task.
const MOVED_NS: u32 = 250;

/// The shared estimate: nanoseconds a task. Written and read relaxed; it is a hint.
#[derive(Debug)]
pub(crate) struct Grain(Padded<AtomicU32>);

/// One thread's sampling.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    tasks: u32,
    started: Option<Instant>,
}

impl Grain {
    pub(crate) fn new() -> Self {
        Self::of_ns(SAMPLE_MAX_NS as u32)
    }

    /// An estimate to begin with.
    pub(crate) fn of_ns(ns: u32) -> Self {
        Grain(Padded(AtomicU32::new(ns)))
    }

    /// Whether tasks are too short to be worth moving.
    #[inline]
    pub(crate) fn is_fine(&self) -> bool {
        self.0.load(Ordering::Relaxed) < FINE_NS
    }

    /// What a task takes, roughly.
    pub(crate) fn task_ns(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// How many tasks take this long, at least one.
    pub(crate) fn tasks_in(&self, ns: u32) -> u32 {
        (ns / self.0.load(Ordering::Relaxed).max(1)).max(1)
    }

    /// Takes a sample into account. One that agrees with the estimate leaves it alone: every thread reads that line.
    fn add(&self, sample_ns: u32) {
        let before = self.0.load(Ordering::Relaxed);
        let now = (3 * before + sample_ns) / 4;
        if now.abs_diff(before) > before / 16 {
            self.0.store(now, Ordering::Relaxed);
        }
    }
}

impl Sampler {
    /// Before a task runs.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.tasks += 1;
        if self.tasks >= SAMPLE_EVERY {
            self.tasks = 0;
            self.started = Some(Instant::now());
        }
    }

    /// After it ran, on this core.
    #[inline]
    pub(crate) fn end(&mut self, grain: &Grain, core: usize) {
        if let Some(started) = self.started.take() {
            let took_ns = started.elapsed().as_nanos().min(SAMPLE_MAX_NS) as u32;
            grain.add(if core == 0 { took_ns } else { took_ns.saturating_sub(MOVED_NS) });
        }
    }
}
