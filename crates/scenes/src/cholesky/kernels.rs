//! The four kernels of a tiled Cholesky factorisation, on row-major tiles; only lower triangles are touched.

use ringlane_engine::prelude::*;

use crate::arith::dot;
use crate::cost;

kernel! {
    /// Replaces a diagonal tile by its Cholesky factor.
    pub(super) static POTRF = aic fn(a: ViewMut<f32, 2>) -> KernelResult {
        let mut a = a;
        let n = a.shape()[0];
        let mut pivot_row = Vec::with_capacity(n);
        for j in 0..n {
            pivot_row.clear();
            pivot_row.extend_from_slice(&a.row(&[j])[..j]);
            let square = a[[j, j]] - dot(&pivot_row, &pivot_row);
            if square <= 0.0 {
                return Err(KernelError::new(format_args!("the matrix is not positive definite: pivot {square}")));
            }
            let pivot = square.sqrt();
            a[[j, j]] = pivot;
            for i in j + 1..n {
                let row = a.row(&[i]);
                row[j] = (row[j] - dot(&row[..j], &pivot_row)) / pivot;
            }
        }
        Ok(())
    }
    cuda include_str!("potrf.cuh")
    cost Cost::Roofline { flops: |args| cubed(args) / 3.0, bytes: cost::all_bytes }
}

kernel! {
    /// Replaces B by X with X·Lᵀ = B, for a tile below the diagonal.
    pub(super) static TRSM = aic fn(l: View<f32, 2>, b: ViewMut<f32, 2>) {
        let mut b = b;
        for i in 0..b.shape()[0] {
            let x = b.row(&[i]);
            for j in 0..x.len() {
                let l = l.row(&[j]);
                x[j] = (x[j] - dot(&x[..j], l)) / l[j];
            }
        }
    }
    cuda include_str!("trsm.cuh")
    cost Cost::Roofline { flops: cubed, bytes: cost::all_bytes }
}

kernel! {
    /// C -= A·Aᵀ on the lower triangle of a diagonal tile.
    pub(super) static SYRK = aic fn(a: View<f32, 2>, c: ViewMut<f32, 2>) {
        let mut c = c;
        for i in 0..c.shape()[0] {
            let left = a.row(&[i]);
            let row = &mut c.row(&[i])[..=i];
            row.iter_mut().enumerate().for_each(|(j, c)| *c -= dot(left, a.row(&[j])));
        }
    }
    cuda include_str!("syrk.cuh")
    cost Cost::Roofline { flops: cubed, bytes: cost::all_bytes }
}

kernel! {
    /// C -= A·Bᵀ
    pub(super) static GEMM = aic fn(a: View<f32, 2>, b: View<f32, 2>, c: ViewMut<f32, 2>) {
        let mut c = c;
        for i in 0..c.shape()[0] {
            let left = a.row(&[i]);
            c.row(&[i]).iter_mut().enumerate().for_each(|(j, c)| *c -= dot(left, b.row(&[j])));
        }
    }
    cuda include_str!("gemm.cuh")
    cost cost::PRODUCT
}

/// The operations of a triangular solve or update with tiles of the size of the first argument.
fn cubed(args: &Args<'_>) -> f64 {
    let square = args.tensor(0).map_or(0.0, |tile| tile.elements() as f64);
    // A square root is rounded the same way on every host, a power is not.
    square * square.sqrt()
}
