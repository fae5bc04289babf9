//! Inner loops that several kernels share, written so that they vectorise and always add in the same order.

use ringlane_task::bf16;

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
#[inline(always)]
pub(crate) fn axpy(y: &mut [f32], a: f32, x: &[f32]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

/// The number that a bf16 is, without the special treatment of NaN that keeps a loop from being vectorised.
#[inline(always)]
pub(crate) fn wide(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// Runs a loop with the widest vectors of this processor. The result is the same with any: the order of additions is fixed, and a
/// product and a sum are never rounded as one.
///
/// Pass a closure with `#[inline(always)]`. Without it the compiler makes the closure a function of its own, for any processor,
/// and left a loop like that of [`dot`] there without vectors: six times slower.
#[inline(always)]
pub(crate) fn vectorised<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2")
    {
        // SAFETY: the processor has what the function is compiled for.
        #[allow(unsafe_code, reason = "a closure cannot be compiled for a processor in another way")]
        return unsafe { with_avx2(f) };
    }
    f()
}

/// Vectors of 256 bits. A closure that is inlined into this is compiled for them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi2")]
fn with_avx2<R>(f: impl FnOnce() -> R) -> R {
    f()
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
