//! The kernels of `matmul`: one for each type of A and B.

use core::array::from_fn;

use ringlane_engine::prelude::*;
use ringlane_task::bf16;

use crate::arith::{axpy, vectorised, wide};
use crate::cost;

kernel! {
    /// C += A·B on one tile.
    pub(super) static MATMUL = aic fn(a: View<f32, 2>, b: View<f32, 2>, c: ViewMut<f32, 2>) {
        let mut c = c;
        for i in 0..c.shape()[0] {
            let row = c.row(&[i]);
            for (k, &a) in a.row(&[i]).iter().enumerate() {
                axpy(row, a, b.row(&[k]));
            }
        }
    }
    cuda include_str!("matmul.cuh")
    cost cost::PRODUCT
}

kernel! {
    /// C += A·B on one tile of bf16 matrices.
    pub(super) static MATMUL_BF16 = aic fn(a: View<bf16, 2>, b: View<bf16, 2>, c: ViewMut<f32, 2>) {
        let mut c = c;
        let [rows, cols] = c.shape();
        let mut panel = vec![[0.0; COLS]; b.shape()[0]];
        for side in (0..cols).step_by(COLS) {
            let side = side..cols.min(side + COLS);
            for (k, panel) in panel.iter_mut().enumerate() {
                panel.iter_mut().zip(&b.row(&[k])[side.clone()]).for_each(|(to, &b)| *to = wide(b));
            }
            for top in (0..rows).step_by(ROWS) {
                let a = from_fn(|i| a.row(&[(top + i).min(rows - 1)]));
                let sums = vectorised(#[inline(always)] || sums(a, &panel));
                for (row, sums) in (top..rows).zip(&sums) {
                    c.row(&[row])[side.clone()].iter_mut().zip(sums).for_each(|(c, sum)| *c += sum);
                }
            }
        }
    }
    cuda include_str!("matmul_bf16.cuh")
    cost cost::PRODUCT
}

/// Rows and columns whose sums are in registers at the same time.
const ROWS: usize = 4;
const COLS: usize = 16;

/// Products of some rows of A and some columns of B.
#[inline(always)]
fn sums(a: [&[bf16]; ROWS], b: &[[f32; COLS]]) -> [[f32; COLS]; ROWS] {
    let mut sums = [[0.0; COLS]; ROWS];
    let a = a.map(|row| &row[..b.len()]);
    for (k, b) in b.iter().enumerate() {
        for (sums, row) in sums.iter_mut().zip(a) {
            axpy(sums, wide(row[k]), b);
        }
    }
    sums
}
