//! Kernels made slower on purpose, to see whether a prediction of that comes true.

use std::time::{Duration, Instant};

/// A kernel that takes a multiple of its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Slowdown {
    /// The kernel's name.
    pub kernel: String,
    /// The multiple: at least 1.
    pub factor: f64,
}

/// The multiple of its time that a kernel takes.
pub fn factor_of(slowdowns: &[Slowdown], kernel: &str) -> Option<f64> {
    slowdowns.iter().find(|slow| slow.kernel == kernel).map(|slow| slow.factor)
}

/// Spins until a block that began then has taken this multiple of its time.
#[cold]
pub(crate) fn spin(begun: Instant, factor: f64) {
    let Ok(whole) = Duration::try_from_secs_f64(begun.elapsed().as_secs_f64() * factor) else { return };
    while begun.elapsed() < whole {
        core::hint::spin_loop();
    }
}
