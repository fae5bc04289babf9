//! The work of a task: a fixed amount, not a fixed time.
//!
//! A task that spins until a time stamp makes "progress" while its thread is not running, which rewards more threads
//! than cores. So the work is a chain of dependent multiplications, and its length is found by calibration:
//! a call of [`work`] takes `per_call + per_iteration × iterations`, both fitted from series of calls that follow
//! each other directly. The fence at its end keeps the core from starting on what comes next before the work is done;
//! otherwise a part of the runtime's own cost would hide behind it. The peers work the same way.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::workload::Spin;

/// How much each task works. Set between runs only; a run starts its workers' tasks after it was set.
static ITERATIONS: AtomicU64 = AtomicU64::new(0);

/// Iterations of the two series from which the line is fitted.
const SHORT_SERIES: u64 = 400;
const LONG_SERIES: u64 = 1600;
/// Calls of one series: long against the clock's own cost.
const SERIES_CALLS: u32 = 100;
/// Series of each kind; the fastest is the one that nothing disturbed.
const SERIES: u32 = 1000;

/// What the work costs on this machine.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Calibration {
    /// Leaving the loop, and the fence.
    ns_per_call: f64,
    /// One multiplication.
    ns_per_iteration: f64,
}

impl Calibration {
    /// Measures; takes about a quarter of a second.
    pub fn measure() -> Self {
        let short = ns_per_call(SHORT_SERIES);
        let long = ns_per_call(LONG_SERIES);
        let ns_per_iteration = (long - short) / (LONG_SERIES - SHORT_SERIES) as f64;
        Calibration { ns_per_call: short - ns_per_iteration * SHORT_SERIES as f64, ns_per_iteration }
    }

    /// The iterations that take so long.
    pub fn iterations(&self, spin: Spin) -> u64 {
        let ns = f64::from(spin.us()) * 1000.0;
        if ns == 0.0 { 0 } else { ((ns - self.ns_per_call) / self.ns_per_iteration).round().max(1.0) as u64 }
    }
}

fn ns_per_call(iterations: u64) -> f64 {
    let series = || {
        let start = Instant::now();
        (0..SERIES_CALLS).for_each(|_| work(iterations));
        start.elapsed()
    };
    let best = (0..SERIES).map(|_| series()).min().unwrap_or(Duration::ZERO);
    best.as_nanos() as f64 / f64::from(SERIES_CALLS)
}

/// Sets how much the tasks of the next runs work.
pub fn set_iterations(iterations: u64) {
    ITERATIONS.store(iterations, Ordering::Relaxed);
}

/// What a measured task does.
#[inline]
pub fn task_body() {
    work(ITERATIONS.load(Ordering::Relaxed));
}

/// So many dependent multiplications.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn work(iterations: u64) {
    if iterations == 0 {
        return;
    }
    // SAFETY: the code reads and writes only its two registers and the flags, ends after `iterations` (at least 1)
    // rounds, and the fence orders instructions without touching memory.
    unsafe {
        std::arch::asm!(
            "2:",
            "imul {value}, {value}, 5",
            "dec {left}",
            "jnz 2b",
            "lfence",
            value = inout(reg) 3u64 => _,
            left = inout(reg) iterations => _,
            options(nomem, nostack),
        );
    }
}

/// So many dependent multiplications.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn work(iterations: u64) {
    let rounds = 0..iterations;
    std::hint::black_box(rounds.fold(3u64, |value, _| std::hint::black_box(value).wrapping_mul(5)));
}
