//! Arithmetic that the kernels share: products with bf16 weights, and RMSNorm.

use ringlane_engine::prelude::View;
use ringlane_task::bf16;

use crate::arith::{vectorised, wide};

/// What a norm adds to the mean square.
pub(super) const EPSILON: f32 = 1e-6;
/// Partial sums of [`dot`]: enough vectors of them to hide the latency of an addition. A power of two.
const LANES: usize = 32;

/// Σ wᵢ·xᵢ over the shorter of the two.
#[inline(always)]
pub(super) fn dot(w: &[bf16], x: &[f32]) -> f32 {
    let len = w.len().min(x.len());
    let ((w, w_rest), (x, x_rest)) = (w[..len].as_chunks::<LANES>(), x[..len].as_chunks::<LANES>());
    let mut lanes = [0.0f32; LANES];
    for (w, x) in w.iter().zip(x) {
        for i in 0..LANES {
            lanes[i] += wide(w[i]) * x[i];
        }
    }
    let rest: f32 = w_rest.iter().zip(x_rest).map(|(w, x)| wide(*w) * x).sum();
    sum_of_halves(lanes) + rest
}

/// The sum, in an order that vectors can follow: half of the numbers are added to the other half, until one is left.
#[inline(always)]
fn sum_of_halves(mut lanes: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        (0..half).for_each(|i| lanes[i] += lanes[i + half]);
        half /= 2;
    }
    lanes[0]
}

/// The factor of a norm: 1 / √(mean square + ε).
#[inline(always)]
pub(super) fn rms(x: &[f32]) -> f32 {
    (crate::arith::dot(x, x) / x.len() as f32 + EPSILON).sqrt().recip()
}

/// Each row, normalised and multiplied by the gain, one after another.
pub(super) fn normalised(x: &View<'_, f32, 2>, gain: &[bf16]) -> Vec<f32> {
    let [rows, len] = x.shape();
    let mut normed = vec![0.0; rows * len];
    for (i, normed) in normed.chunks_exact_mut(len.max(1)).enumerate() {
        let row = x.row(&[i]);
        vectorised(
            #[inline(always)]
            || normalise(row, gain, normed),
        );
    }
    normed
}

#[inline(always)]
fn normalise(row: &[f32], gain: &[bf16], into: &mut [f32]) {
    let factor = rms(row);
    let scaled = row.iter().zip(gain).map(|(x, gain)| x * factor * wide(*gain));
    into.iter_mut().zip(scaled).for_each(|(into, x)| *into = x);
}

/// x / (1 + e⁻ˣ)
pub(super) fn silu(x: f32) -> f32 {
    x / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_counts_every_element_once() {
        for len in [0, 1, 31, 32, 33, 100] {
            let w: Vec<bf16> = (0..len).map(|i| bf16::from_f32(i as f32)).collect();
            let x: Vec<f32> = (0..len).map(|i| (len - i) as f32).collect();
            let want: f32 = (0..len).map(|i| (i * (len - i)) as f32).sum();
            assert_eq!(dot(&w, &x), want);
            assert_eq!(vectorised(|| dot(&w, &x)), want);
        }
    }

    #[test]
    fn the_mean_square_of_a_normalised_row_is_one() {
        for len in [1, 8, 40, 100] {
            let (x, gain): (Vec<f32>, _) = ((1..=len).map(|i| i as f32).collect(), vec![bf16::ONE; len]);
            let mut normed = vec![0.0; len];
            normalise(&x, &gain, &mut normed);
            let square = normed.iter().map(|x| x * x).sum::<f32>() / len as f32;
            assert!((square - 1.0).abs() < 1e-5, "{len}: {square}");
        }
    }
}
