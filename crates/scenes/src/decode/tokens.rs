//! From tokens to vectors and back.
#![expect(clippy::too_many_arguments, reason = "a kernel has a parameter for each tensor")]

use ringlane_engine::prelude::*;
use ringlane_task::bf16;

use super::norm::{dot, normalised};
use super::project::PROJECTION;
use crate::arith::{vectorised, wide};
use crate::cost;

kernel! {
    /// The row of the table that belongs to each token.
    pub(super) static EMBED = aiv fn(
        tokens: &[i32],
        table: View<bf16, 2>,
        x: ViewMut<f32, 2>,
    ) -> KernelResult {
        let mut x = x;
        for (b, &token) in tokens.iter().enumerate() {
            if token < 0 || token as usize >= table.shape()[0] {
                return Err(KernelError::new("the table has no such token"));
            }
            let row = table.row(&[token as usize]);
            x.row(&[b]).iter_mut().zip(row).for_each(|(x, &value)| *x = wide(value));
        }
        Ok(())
    }
    cuda include_str!("embed.cuh")
    cost Cost::Roofline { flops: |_| 0.0, bytes: embed_bytes }
}

/// The rows that are read have half the bytes of the result.
fn embed_bytes(args: &Args<'_>) -> f64 {
    args.tensor(2).map_or(0.0, |x| 1.5 * x.bytes() as f64)
}

kernel! {
    /// The logits of `vocab` tokens from `first` on: the norm of x, times their rows of the table; and the best of them for each
    /// sequence, the first of several that are equal.
    pub(super) static LOGITS = aic fn(
        x: View<f32, 2>,
        gain: &[bf16],
        table: View<bf16, 2>,
        logits: ViewMut<f32, 2>,
        best: ViewMut<f32, 2>,
        which: ViewMut<i32, 2>,
        vocab: u32,
        first: u32,
        block: Block,
    ) {
        let (mut logits, mut best, mut which) = (logits, best, which);
        let first = first + block.index.0 * vocab.div_ceil(block.count);
        let (x, hidden) = (normalised(&x, gain), gain.len());
        if best.shape()[0] == 0 {
            return;
        }
        best.row(&[0]).fill(f32::NEG_INFINITY);
        which.row(&[0]).fill(-1);
        vectorised(#[inline(always)] || {
            for row in 0..table.shape()[0] {
                let weight = table.row(&[row]);
                for (b, x) in x.chunks_exact(hidden).enumerate() {
                    let logit = dot(weight, x);
                    logits[[b, row]] = logit;
                    if logit > best[[0, b]] {
                        (best[[0, b]], which[[0, b]]) = (logit, (first + row as u32) as i32);
                    }
                }
            }
        });
    }
    cuda include_str!("logits.cuh")
    cost PROJECTION
}

kernel! {
    /// The best token of each sequence, the first of several that are equal.
    pub(super) static PICK = aiv fn(best: View<f32, 2>, which: View<i32, 2>, token: &mut [i32]) {
        for (b, token) in token.iter_mut().enumerate() {
            let mut highest = f32::NEG_INFINITY;
            *token = -1;
            for block in 0..best.shape()[0] {
                if best[[block, b]] > highest {
                    (highest, *token) = (best[[block, b]], which[[block, b]]);
                }
            }
        }
    }
    cuda include_str!("pick.cuh")
    cost cost::PASS
}
