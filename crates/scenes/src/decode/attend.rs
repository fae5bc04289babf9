//! Grouped-query attention of one sequence over pages of its cache. Each block has one head of keys and values.
//!
//! The result of a head has its values, then the maximum of its scores, then the sum of exp(score - maximum): what [`MERGE`]
//! needs to combine parts of a context.
#![expect(clippy::too_many_arguments, reason = "a kernel has a parameter for each tensor")]

use ringlane_engine::prelude::*;
use ringlane_task::bf16;

use super::norm::{dot, rms};
use crate::arith;
use crate::arith::wide;
use crate::cost;

/// Numbers after the values of a head: the maximum and the sum.
pub(super) const EXTRA: u32 = 2;

/// A head of queries or keys, normalised, multiplied by the gain and turned by the angles of the position.
fn turned(head: &[f32], gain: &[bf16], rotary: &[f32]) -> Vec<f32> {
    let (factor, half) = (rms(head), head.len() / 2);
    let normed: Vec<f32> = head.iter().zip(gain).map(|(x, gain)| x * factor * wide(*gain)).collect();
    let (low, high) = normed.split_at(half);
    let (cos, sin) = rotary.split_at(half);
    let first = (0..half).map(|i| low[i] * cos[i] - high[i] * sin[i]);
    first.chain((0..half).map(|i| high[i] * cos[i] + low[i] * sin[i])).collect()
}

/// An online softmax: the positions so far.
struct Running {
    max: f32,
    sum: f32,
    values: Vec<f32>,
}

impl Running {
    fn new(dim: usize) -> Self {
        Running { max: f32::NEG_INFINITY, sum: 0.0, values: vec![0.0; dim] }
    }

    /// Adds a position with this score.
    fn add(&mut self, score: f32, value: &[bf16]) {
        let max = self.max.max(score);
        let (old, new) = ((self.max - max).exp(), (score - max).exp());
        (self.max, self.sum) = (max, old * self.sum + new);
        self.values.iter_mut().zip(value).for_each(|(sum, v)| *sum = old * *sum + new * wide(*v));
    }

    fn store(&self, into: &mut [f32]) {
        let (values, extra) = into.split_at_mut(self.values.len());
        values.iter_mut().zip(&self.values).for_each(|(out, value)| *out = value / self.sum);
        extra.copy_from_slice(&[self.max, self.sum]);
    }
}

/// Attends from the query heads of one block to pages: the first `held` positions of each.
fn attend<'p>(
    qkv: &View<'_, f32, 2>,
    (gain, rotary): (&[bf16], &[f32]),
    block: Block,
    pages: impl Iterator<Item = (View<'p, bf16, 4>, usize)> + Clone,
    heads: &mut ViewMut<'_, f32, 2>,
) {
    let (group, dim) = (heads.shape()[0], gain.len());
    let scale = (dim as f32).sqrt().recip();
    for i in 0..group {
        let query = turned(qkv.row(&[block.index.0 as usize * group + i]), gain, rotary);
        let mut running = Running::new(dim);
        for (page, held) in pages.clone() {
            for slot in 0..held {
                let score = dot(page.row(&[0, 0, slot]), &query) * scale;
                running.add(score, page.row(&[0, 1, slot]));
            }
        }
        running.store(heads.row(&[i]));
    }
}

kernel! {
    /// Appends the key and the value of the newest position to the last page, then attends to that page and to full ones.
    /// `later` is weights of a later task, as for a projection.
    pub(super) static ATTEND = aiv fn(
        qkv: View<f32, 2>,
        query_gain: &[bf16],
        key_gain: &[bf16],
        rotary: &[f32],
        last: ViewMut<bf16, 4>,
        heads: ViewMut<f32, 2>,
        later: View<bf16, 2>,
        slot: u32,
        block: Block,
        full: Rest<View<bf16, 4>>,
    ) {
        let (mut last, mut heads, slot, _) = (last, heads, slot as usize, later);
        let (kv_heads, own) = (block.count as usize, block.index.0 as usize);
        let queries = qkv.shape()[0] - 2 * kv_heads;
        let key = turned(qkv.row(&[queries + own]), key_gain, rotary);
        let value = qkv.row(&[queries + kv_heads + own]);
        let store = |to: &mut [bf16], from: &[f32]| {
            to.iter_mut().zip(from).for_each(|(to, &x)| *to = bf16::from_f32(x));
        };
        store(last.row(&[0, 0, slot]), &key);
        store(last.row(&[0, 1, slot]), value);
        let full = full.map(|page| (page, page.shape()[2]));
        let pages: Vec<_> = full.chain([(last.as_view(), slot + 1)]).collect();
        attend(&qkv, (query_gain, rotary), block, pages.iter().copied(), &mut heads);
    }
    cuda include_str!("attend.cuh")
    cost Cost::Roofline { flops: attend_flops, bytes: attend_bytes }
}

kernel! {
    /// Attends to full pages.
    pub(super) static ATTEND_CACHED = aiv fn(
        qkv: View<f32, 2>,
        query_gain: &[bf16],
        rotary: &[f32],
        heads: ViewMut<f32, 2>,
        block: Block,
        full: Rest<View<bf16, 4>>,
    ) {
        let mut heads = heads;
        let pages: Vec<_> = full.map(|page| (page, page.shape()[2])).collect();
        attend(&qkv, (query_gain, rotary), block, pages.iter().copied(), &mut heads);
    }
    cuda include_str!("attend_cached.cuh")
    cost Cost::Roofline { flops: attend_flops, bytes: attend_bytes }
}

/// The elements of this block's pages.
fn page_elements(args: &Args<'_>) -> f64 {
    args.tensors().filter(|tensor| tensor.rank() == 4).map(|page| page.elements() as f64).sum()
}

/// Four operations for each element of a page and each query head of the group.
fn attend_flops(args: &Args<'_>) -> f64 {
    let heads = args.tensors().filter(|tensor| tensor.rank() == 2).nth(1);
    4.0 * page_elements(args) * f64::from(heads.and_then(|heads| heads.len(0)).unwrap_or(1))
}

fn attend_bytes(args: &Args<'_>) -> f64 {
    DType::BFloat16.size_bytes() as f64 * page_elements(args)
}

kernel! {
    /// Combines the parts of a context: each counts as much as its sum, after all are scaled to the largest maximum.
    pub(super) static MERGE = aiv fn(heads: ViewMut<f32, 2>, parts: Rest<View<f32, 2>>) {
        let mut heads = heads;
        let [rows, cols] = heads.shape();
        let (parts, dim) = (parts.collect::<Vec<_>>(), cols - EXTRA as usize);
        for i in 0..rows {
            let of = |part: &View<'_, f32, 2>| (part[[i, dim]], part[[i, dim + 1]]);
            let max = parts.iter().map(|part| of(part).0).fold(f32::NEG_INFINITY, f32::max);
            let weights = parts.iter().map(|part| (of(part).0 - max).exp() * of(part).1).collect::<Vec<_>>();
            let total: f32 = weights.iter().sum();
            let row = heads.row(&[i]);
            row.fill(0.0);
            for (part, weight) in parts.iter().zip(&weights) {
                arith::axpy(&mut row[..dim], weight / total, &part.row(&[i])[..dim]);
            }
            row[dim..].copy_from_slice(&[max, total]);
        }
    }
    cuda include_str!("merge.cuh")
    cost cost::PASS
}
