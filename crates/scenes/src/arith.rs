//! Inner loops that several kernels share, written so that they vectorise and always add in the same order.

/// Partial sums of [`dot`], enough to hide the latency of an addition.
const LANES: usize = 16;

/// Σ aᵢ·bᵢ over the shorter of the two.
#[inline]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let len = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..len].as_chunks::<LANES>(), b[..len].as_chunks::<LANES>());
    let mut lanes = [0.0f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for i in 0..LANES {
            lanes[i] += a[i] * b[i];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f32>() + rest
}

/// yᵢ += a·xᵢ
#[inline]
pub(crate) fn axpy(y: &mut [f32], a: f32, x: &[f32]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_product_counts_every_element_once() {
        for len in [0, 1, 15, 16, 17, 40] {
            let x: Vec<f32> = (0..len).map(|i| i as f32).collect();
            let want: f32 = x.iter().map(|x| x * x).sum();
            assert_eq!(dot(&x, &x), want);
        }
    }
}
