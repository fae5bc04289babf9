//! The work of a task: a fixed amount, not a fixed time.
//!
//! A task that spins until a deadline makes "progress" while its thread is not running, which rewards more threads
//! than cores. So the work is a chain of dependent multiplications, and its length is found by calibration: a call of
//! [`work`] takes `per_call + per_iteration × iterations`, both fitted from series of consecutive calls. The fence at
//! its end keeps the core from starting the following instructions before the work is done; otherwise the work would
//! hide a part of the runtime's cost. The peers work the same way.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::workload::Spin;

/// The iterations of each task. Set only between runs, before the run starts its tasks.
static ITERATIONS: AtomicU64 = AtomicU64::new(0);
/// The length that they correspond to, an index of [`Spin::ALL`]; set at the same time.
static CURRENT: AtomicUsize = AtomicUsize::new(Spin::Empty as usize);

/// Iterations of the two series that are fitted.
const SHORT_SERIES: u64 = 400;
const LONG_SERIES: u64 = 1600;
/// Calls of one series: enough to make the cost of reading the clock negligible.
const SERIES_CALLS: u32 = 100;
/// Series of each length; the fastest one is undisturbed.
const SERIES: u32 = 1000;

/// The cost of the work on this machine.
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

    /// The number of iterations for this duration.
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

/// Sets the number of iterations for the tasks of the following runs, on chips whose kernels run on the host.
pub fn set_iterations(iterations: u64) {
    ITERATIONS.store(iterations, Ordering::Relaxed);
    CURRENT.store(Spin::Empty as usize, Ordering::Relaxed);
}

/// Sets the length of the tasks of the following runs, on all chips.
pub fn set(spin: Spin, calibration: Option<Calibration>) {
    set_iterations(calibration.map_or(0, |calibration| calibration.iterations(spin)));
    CURRENT.store(spin as usize, Ordering::Relaxed);
}

/// The length of the tasks; empty after [`set_iterations`].
pub fn current() -> Spin {
    Spin::ALL[CURRENT.load(Ordering::Relaxed)]
}

/// The work of a measured task.
#[inline]
pub fn task_body() {
    work(ITERATIONS.load(Ordering::Relaxed));
}

/// Executes `iterations` dependent multiplications.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn work(iterations: u64) {
    if iterations == 0 {
        return;
    }
    // SAFETY: the code reads and writes only its two registers and the flags, ends after `iterations` (at least 1)
    // rounds, and the fence orders instructions without accessing memory.
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

/// Executes `iterations` dependent multiplications.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn work(iterations: u64) {
    let rounds = 0..iterations;
    std::hint::black_box(rounds.fold(3u64, |value, _| std::hint::black_box(value).wrapping_mul(5)));
}
