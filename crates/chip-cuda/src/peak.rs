//! What the tensor cores of a GPU can do at most.

/// Operations of all tensor cores of a processor in a cycle, in dense products of bf16 matrices with f32 sums: a multiplication
/// and an addition are two. NVIDIA's white papers on the A100 and the H100 give 312 · 10¹² operations per second for 108
/// processors at 1.41 GHz, and 989.4 · 10¹² for 132 at 1.83 GHz. Other architectures differ among their products.
const fn operations_per_cycle(architecture: u32) -> Option<u32> {
    match architecture {
        80 => Some(2048),
        90 => Some(4096),
        _ => None,
    }
}

/// The operations per second of this many processors of an architecture at a clock.
pub(crate) fn matrix_operations_max(architecture: u32, processors: u32, clock_khz: u32) -> Option<f64> {
    let per_cycle = operations_per_cycle(architecture)?;
    Some(f64::from(per_cycle) * f64::from(processors) * f64::from(clock_khz) * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peaks_are_those_that_nvidia_gives() {
        let tera = |operations: Option<f64>| operations.map(|operations| (operations / 1e12).round());
        assert_eq!(tera(matrix_operations_max(80, 108, 1_410_000)), Some(312.0));
        assert_eq!(tera(matrix_operations_max(90, 132, 1_830_000)), Some(989.0));
        assert_eq!(matrix_operations_max(120, 170, 2_400_000), None);
    }
}
