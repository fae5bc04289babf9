//! The kernels of a mixture of experts: choose, compute, combine.

use ringlane_engine::prelude::*;

use super::inputs::CHOICES;
use crate::arith::axpy;
use crate::cost;

kernel! {
    /// Scores every expert for every token, x·gate + bias; stores the best two and the softmax of their scores.
    pub(super) static GATE = aiv fn(
        x: View<f32, 2>,
        gate: View<f32, 2>,
        bias: &[f32],
        route: ViewMut<i32, 2>,
        weight: ViewMut<f32, 2>,
    ) {
        let (mut route, mut weight) = (route, weight);
        let mut scores = vec![0.0; bias.len()];
        for token in 0..x.shape()[0] {
            scores.copy_from_slice(bias);
            x.row(&[token]).iter().enumerate().for_each(|(d, &x)| axpy(&mut scores, x, gate.row(&[d])));
            let mut best = [(f32::NEG_INFINITY, 0); CHOICES];
            for (expert, &score) in scores.iter().enumerate() {
                if score > best[0].0 {
                    best = [(score, expert as i32), best[0]];
                } else if score > best[1].0 {
                    best[1] = (score, expert as i32);
                }
            }
            let second = (best[1].0 - best[0].0).exp();
            route.row(&[token]).copy_from_slice(&best.map(|(_, expert)| expert));
            weight.row(&[token]).copy_from_slice(&[1.0 / (1.0 + second), second / (1.0 + second)]);
        }
    }
    cuda include_str!("gate.cuh")
    cost cost::PASS
}

kernel! {
    /// One expert on the tokens that chose it, in order: y = relu(x·up)·down
    pub(super) static EXPERT = aic fn(
        x: View<f32, 2>,
        route: View<i32, 2>,
        up: View<f32, 2>,
        down: View<f32, 2>,
        y: ViewMut<f32, 2>,
        expert: i32,
    ) {
        let mut y = y;
        let mut hidden = vec![0.0; up.shape()[1]];
        for (at, token) in chosen(&route, expert).enumerate() {
            hidden.fill(0.0);
            x.row(&[token]).iter().enumerate().for_each(|(d, &x)| axpy(&mut hidden, x, up.row(&[d])));
            let row = y.row(&[at]);
            row.fill(0.0);
            hidden.iter().enumerate().for_each(|(h, &x)| axpy(row, x.max(0.0), down.row(&[h])));
        }
    }
    cuda include_str!("expert.cuh")
    cost Cost::Roofline { flops: expert_flops, bytes: cost::all_bytes }
}

kernel! {
    /// Adds the output of one expert, multiplied by its weight, to the tokens that chose it.
    pub(super) static COMBINE = aiv fn(
        part: View<f32, 2>,
        route: View<i32, 2>,
        weight: View<f32, 2>,
        y: ViewMut<f32, 2>,
        expert: i32,
    ) {
        let mut y = y;
        for (at, token) in chosen(&route, expert).enumerate() {
            let choice = (route[[token, 0]] != expert) as usize;
            axpy(y.row(&[token]), weight[[token, choice]], part.row(&[at]));
        }
    }
    cuda include_str!("combine.cuh")
    cost cost::PASS
}

/// The tokens that chose an expert, in order.
fn chosen(route: &View<'_, i32, 2>, expert: i32) -> impl Iterator<Item = usize> {
    (0..route.shape()[0]).filter(move |&token| route.row(&[token]).contains(&expert))
}

/// Two products for each token of the result: with `up` and with `down`, which have the same size.
fn expert_flops(args: &Args<'_>) -> f64 {
    let tokens = args.tensor(4).and_then(|y| y.len(0)).unwrap_or(0);
    4.0 * f64::from(tokens) * args.tensor(2).map_or(0.0, |up| up.elements() as f64)
}
