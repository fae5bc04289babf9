//! Kernels made slower on purpose, to see whether a prediction of that comes true.

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
