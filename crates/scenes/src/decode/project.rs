//! The projections of a layer. Each block has some rows of the weights and the same columns of the result, for all sequences.
//!
//! The last argument of a projection is the weights of a later one. Only the body for GPUs uses it: a projection waits for
//! memory more than for anything else, and weights that wait for nobody can be on their way before their task begins.

use ringlane_engine::prelude::*;
use ringlane_task::bf16;

use super::norm::{dot, normalised, silu};
use crate::arith::vectorised;

/// Two operations for each weight and each sequence; every weight is read once.
pub(super) const PROJECTION: Cost = Cost::Roofline { flops: projection_flops, bytes: projection_bytes };

/// The weights of this block. What follows them is of a later task.
fn own_weights<'a>(args: &Args<'a>) -> Option<BlockView<'a>> {
    args.tensors().find(|tensor| tensor.dtype() == DType::BFloat16 && tensor.rank() > 1)
}

fn projection_flops(args: &Args<'_>) -> f64 {
    let batch = args.tensor(0).and_then(|x| x.len(0)).unwrap_or(1);
    2.0 * f64::from(batch) * own_weights(args).map_or(0.0, |weights| weights.elements() as f64)
}

fn projection_bytes(args: &Args<'_>) -> f64 {
    let vectors = args.tensors().filter(|tensor| tensor.dtype() != DType::BFloat16);
    let vectors: u64 = vectors.map(|tensor| tensor.bytes()).sum();
    vectors as f64 + own_weights(args).map_or(0.0, |weights| weights.bytes() as f64)
}

kernel! {
    /// Queries, keys and values: the norm of x, times the weights.
    pub(super) static QKV = aic fn(
        x: View<f32, 2>,
        gain: &[bf16],
        weight: View<bf16, 2>,
        qkv: ViewMut<f32, 2>,
        later: View<bf16, 2>,
    ) {
        let (mut qkv, _) = (qkv, later);
        let (x, hidden) = (normalised(&x, gain), gain.len());
        vectorised(#[inline(always)] || {
            for row in 0..weight.shape()[0] {
                let weight = weight.row(&[row]);
                for (b, x) in x.chunks_exact(hidden).enumerate() {
                    qkv[[b, row]] = dot(weight, x);
                }
            }
        });
    }
    cuda include_str!("qkv.cuh")
    cost PROJECTION
}

kernel! {
    /// Adds the projection of the attention's result to x.
    pub(super) static OUT = aic fn(
        x: ViewMut<f32, 2>,
        weight: View<bf16, 2>,
        heads: View<f32, 3>,
        later: View<bf16, 2>,
    ) {
        let (mut x, _) = (x, later);
        let [batch, count, dim] = heads.shape();
        // The rows of the heads have gaps between them: dense, they are one product with a row of the weights.
        let of = (0..batch).flat_map(|b| (0..count).map(move |head| [b, head]));
        let results: Vec<&[f32]> = of.map(|at| heads.row(&at)).collect();
        let results = results.concat();
        vectorised(#[inline(always)] || {
            for row in 0..weight.shape()[0] {
                let weight = weight.row(&[row]);
                for (b, results) in results.chunks_exact(count * dim).enumerate() {
                    x[[b, row]] += dot(weight, results);
                }
            }
        });
    }
    cuda include_str!("out.cuh")
    cost PROJECTION
}

kernel! {
    /// The inner values of the feed-forward network: silu(gate·norm(x)) · (up·norm(x)). A row of the weights has both.
    pub(super) static GATE_UP = aic fn(
        x: View<f32, 2>,
        gain: &[bf16],
        weight: View<bf16, 3>,
        inner: ViewMut<f32, 2>,
        later: View<bf16, 2>,
    ) {
        let (mut inner, _) = (inner, later);
        let (x, hidden) = (normalised(&x, gain), gain.len());
        let [rows, ..] = weight.shape();
        let mut sums = vec![[0.0; 2]; rows * x.len() / hidden];
        vectorised(#[inline(always)] || {
            // One loop over both: the processor prefetches weights that one loop reads in order, four times as fast.
            for i in 0..2 * rows {
                let weight = weight.row(&[i / 2, i % 2]);
                for (b, x) in x.chunks_exact(hidden).enumerate() {
                    sums[b * rows + i / 2][i % 2] = dot(weight, x);
                }
            }
        });
        for (i, [gate, up]) in sums.into_iter().enumerate() {
            inner[[i / rows, i % rows]] = silu(gate) * up;
        }
    }
    cuda include_str!("gate_up.cuh")
    cost PROJECTION
}

kernel! {
    /// Adds the projection of the inner values to x.
    pub(super) static DOWN = aic fn(x: ViewMut<f32, 2>, weight: View<bf16, 2>, inner: View<f32, 2>) {
        let mut x = x;
        vectorised(#[inline(always)] || {
            for row in 0..weight.shape()[0] {
                let weight = weight.row(&[row]);
                for b in 0..inner.shape()[0] {
                    x[[b, row]] += dot(weight, inner.row(&[b]));
                }
            }
        });
    }
    cuda include_str!("down.cuh")
    cost PROJECTION
}
