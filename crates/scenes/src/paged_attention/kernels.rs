//! The kernels of attention over one block of keys and values, and of the running sum over blocks.
//!
//! For each query row, the blocks processed so far are represented by a maximum `m`, a sum `l = Σ exp(s - m)` and a
//! vector `acc = Σ exp(s - m)·v`; a new block with its `m'`, `l'`, `acc'` is merged by rescaling both to the larger
//! maximum.

use ringlane_engine::prelude::*;

use crate::arith::{axpy, dot};
use crate::cost;

kernel! {
    /// Scores of a block: s = q·kᵀ·scale
    pub(super) static QK = aic fn(q: View<f32, 2>, k: View<f32, 2>, s: ViewMut<f32, 2>, scale: f32) {
        let mut s = s;
        for i in 0..s.shape()[0] {
            let query = q.row(&[i]);
            s.row(&[i]).iter_mut().enumerate().for_each(|(j, s)| *s = dot(query, k.row(&[j])) * scale);
        }
    }
    cuda include_str!("qk.cuh")
    cost cost::PRODUCT
}

kernel! {
    /// Each row of scores becomes exp(s - max); its maximum and the sum of the results are stored.
    pub(super) static SOFTMAX = aiv fn(s: ViewMut<f32, 2>, max: &mut [f32], sum: &mut [f32]) {
        let mut s = s;
        softmax(&mut s, max, sum);
    }
    cuda include_str!("softmax.cuh")
    cost cost::PASS
}

/// The computation of SOFTMAX.
pub(super) fn softmax(s: &mut ViewMut<f32, 2>, max: &mut [f32], sum: &mut [f32]) {
    for (i, (max, sum)) in max.iter_mut().zip(sum).enumerate() {
        let row = s.row(&[i]);
        *max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.iter_mut().for_each(|s| *s = (*s - *max).exp());
        *sum = row.iter().sum();
    }
}

kernel! {
    /// The contribution of a block to the output: o = p·v
    pub(super) static PV = aic fn(p: View<f32, 2>, v: View<f32, 2>, o: ViewMut<f32, 2>) {
        let mut o = o;
        for i in 0..o.shape()[0] {
            let row = o.row(&[i]);
            row.fill(0.0);
            p.row(&[i]).iter().enumerate().for_each(|(j, &p)| axpy(row, p, v.row(&[j])));
        }
    }
    cuda include_str!("pv.cuh")
    cost cost::PRODUCT
}

kernel! {
    /// Merges a block into the blocks before it. A running sum of 0 means that there are none yet.
    pub(super) static UPDATE = aiv fn(
        max: &[f32],
        sum: &[f32],
        o: View<f32, 2>,
        running_max: &mut [f32],
        running_sum: &mut [f32],
        acc: ViewMut<f32, 2>,
    ) {
        let mut acc = acc;
        for i in 0..max.len() {
            let empty = running_sum[i] == 0.0;
            let joint = if empty { max[i] } else { running_max[i].max(max[i]) };
            let old = if empty { 0.0 } else { (running_max[i] - joint).exp() };
            let new = (max[i] - joint).exp();
            running_max[i] = joint;
            running_sum[i] = old * running_sum[i] + new * sum[i];
            let pairs = acc.row(&[i]).iter_mut().zip(o.row(&[i]));
            pairs.for_each(|(acc, o)| *acc = old * *acc + new * o);
        }
    }
    cuda include_str!("update.cuh")
    cost cost::PASS
}

kernel! {
    /// The result over all blocks: out = acc / sum
    pub(super) static NORMALISE = aiv fn(acc: View<f32, 2>, sum: &[f32], out: ViewMut<f32, 2>) {
        let mut out = out;
        for (i, sum) in sum.iter().enumerate() {
            out.row(&[i]).iter_mut().zip(acc.row(&[i])).for_each(|(out, acc)| *out = acc / sum);
        }
    }
    cuda include_str!("normalise.cuh")
    cost cost::PASS
}
