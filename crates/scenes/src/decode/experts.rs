//! A mixture of experts instead of one feed-forward network: each token goes to two of them.

use ringlane_engine::prelude::*;
use ringlane_task::bf16;

use super::norm::{dot, normalised, silu};
use super::shape::CHOICES;
use crate::arith::vectorised;
use crate::cost;

kernel! {
    /// Scores the experts for each token, router·norm(x); stores the best two and the softmax of their scores.
    pub(super) static ROUTE = aiv fn(
        x: View<f32, 2>,
        gain: &[bf16],
        router: View<bf16, 2>,
        route: ViewMut<i32, 2>,
        share: ViewMut<f32, 2>,
    ) {
        let (mut route, mut share) = (route, share);
        for (b, x) in normalised(&x, gain).chunks_exact(gain.len()).enumerate() {
            let mut best = [(f32::NEG_INFINITY, 0); CHOICES as usize];
            for expert in 0..router.shape()[0] {
                let score = dot(router.row(&[expert]), x);
                if score > best[0].0 {
                    best = [(score, expert as i32), best[0]];
                } else if score > best[1].0 {
                    best[1] = (score, expert as i32);
                }
            }
            let second = (best[1].0 - best[0].0).exp();
            route.row(&[b]).copy_from_slice(&best.map(|(_, expert)| expert));
            share.row(&[b]).copy_from_slice(&[1.0 / (1.0 + second), second / (1.0 + second)]);
        }
    }
    cuda include_str!("route.cuh")
    cost cost::PASS
}

kernel! {
    /// The inner values of the experts that each token chose: silu(gate·norm(x)) · (up·norm(x))
    pub(super) static EXPERT_UP = aic fn(
        x: View<f32, 2>,
        gain: &[bf16],
        route: View<i32, 2>,
        weight: View<bf16, 4>,
        inner: ViewMut<f32, 3>,
    ) {
        let mut inner = inner;
        let rows = weight.shape()[1];
        for (b, x) in normalised(&x, gain).chunks_exact(gain.len()).enumerate() {
            for (choice, &expert) in route.row(&[b]).iter().enumerate() {
                let mut sums = vec![[0.0; 2]; rows];
                vectorised(#[inline(always)] || {
                    for i in 0..2 * rows {
                        sums[i / 2][i % 2] = dot(weight.row(&[expert as usize, i / 2, i % 2]), x);
                    }
                });
                for (row, [gate, up]) in sums.into_iter().enumerate() {
                    inner[[b, choice, row]] = silu(gate) * up;
                }
            }
        }
    }
    cuda include_str!("expert_up.cuh")
    cost Cost::Roofline { flops: expert_flops, bytes: expert_bytes }
}

kernel! {
    /// Adds the projections of the experts' inner values to x, each multiplied by its share.
    pub(super) static EXPERT_DOWN = aic fn(
        x: ViewMut<f32, 2>,
        down: View<bf16, 3>,
        inner: View<f32, 3>,
        route: View<i32, 2>,
        share: View<f32, 2>,
    ) {
        let mut x = x;
        for b in 0..inner.shape()[0] {
            for (choice, &expert) in route.row(&[b]).iter().enumerate() {
                vectorised(#[inline(always)] || {
                    for row in 0..down.shape()[1] {
                        let weight = down.row(&[expert as usize, row]);
                        x[[b, row]] += share[[b, choice]] * dot(weight, inner.row(&[b, choice]));
                    }
                });
            }
        }
    }
    cuda include_str!("expert_down.cuh")
    cost Cost::Roofline { flops: expert_flops, bytes: expert_bytes }
}

/// Elements of the weights of one expert in this block, and the number of experts.
fn one_expert(args: &Args<'_>) -> (f64, f64) {
    let weights = args.tensors().filter(|tensor| tensor.dtype() == DType::BFloat16 && tensor.rank() >= 3);
    weights.fold((0.0, 1.0), |(elements, _), weights| {
        let experts = f64::from(weights.len(0).unwrap_or(1));
        (elements + weights.elements() as f64 / experts, experts)
    })
}

/// Choices of all sequences.
fn choices(args: &Args<'_>) -> f64 {
    args.tensor(0).and_then(|x| x.len(0)).map_or(1.0, |batch| f64::from(batch * CHOICES))
}

fn expert_flops(args: &Args<'_>) -> f64 {
    2.0 * choices(args) * one_expert(args).0
}

/// The weights of experts that were chosen, if all tokens choose different ones.
fn expert_bytes(args: &Args<'_>) -> f64 {
    let (elements, experts) = one_expert(args);
    DType::BFloat16.size_bytes() as f64 * elements * choices(args).min(experts)
}
