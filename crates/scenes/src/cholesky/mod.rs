//! `cholesky`: A = L·Lᵀ, right-looking, on tiles of one symmetric positive definite matrix, in place.
//!
//! ```text
//! for k:  POTRF(k,k)   for i>k: TRSM(i,k)   for i>k: SYRK(i,i), for k<j<i: GEMM(i,j)
//! ```
//! Dependencies follow from the tiles alone: step k+1 starts while the updates of step k still run. The matrix is
//! `2·I + U·Uᵀ/4` with a random U of [`RANK`] columns: well conditioned at every size.
//!
//! Golden: a plain Cholesky factorisation in f64 of the same matrix, absolute tolerance 1e-5 (the entries stay below
//! 3); above the diagonal the input must be unchanged.

mod kernels;

use ringlane_engine::prelude::*;

use self::kernels::{GEMM, POTRF, SYRK, TRSM};
use crate::golden::{Check, Golden, Tolerance};
use crate::rng::Rng;
use crate::scene::{Case, Param, Program, Scene, made};
use crate::scopes::{in_scopes, pieces};

/// Columns of the random factor of the matrix.
const RANK: usize = 16;
/// Tasks in one scope: half of a window of 64, so that two scopes are in flight.
const TASKS_PER_SCOPE: usize = 32;
const TOLERANCE: Tolerance = Tolerance::absolute(1e-5);

pub(crate) const SCENE: Scene = Scene {
    site: core::panic::Location::caller(),
    name: "cholesky",
    about: "tiled Cholesky factorisation: POTRF, TRSM, SYRK, GEMM on one matrix",
    params: &[
        Param { name: "n", default: "128", about: "rows and columns of the matrix" },
        Param { name: "tile", default: "32", about: "rows and columns of a tile" },
    ],
    cases: &[
        Case { name: "small", about: "4×4 tiles", set: &[] },
        Case { name: "one_tile", about: "only POTRF", set: &[("n", "32")] },
        Case { name: "ragged", about: "the last tiles are smaller", set: &[("n", "150"), ("tile", "28")] },
        Case { name: "fine", about: "many small tasks", set: &[("n", "320"), ("tile", "8")] },
        Case { name: "large", about: "24×24 tiles", set: &[("n", "1536"), ("tile", "64")] },
    ],
    kernels: &[&POTRF, &TRSM, &SYRK, &GEMM],
    build: &|settings| {
        let n = settings.u32("n", 1..=1 << 14)?;
        let tile = settings.u32("tile", 1..=1 << 14)?;
        Ok(Box::new(Cholesky { n, tile, seed: settings.seed, matrix: None }))
    },
};

struct Cholesky {
    n: u32,
    tile: u32,
    seed: u64,
    matrix: Option<BufferId>,
}

impl Cholesky {
    fn input(&self) -> Vec<f32> {
        let n = self.n as usize;
        let factor = Rng::new(self.seed).signed(n * RANK);
        let mut matrix = vec![0.0f32; n * n];
        for (i, u) in factor.chunks_exact(RANK).enumerate() {
            for (j, v) in factor.chunks_exact(RANK).enumerate() {
                let product: f32 = u.iter().zip(v).map(|(u, v)| u * v).sum();
                matrix[i * n + j] = product / 4.0 + if i == j { 2.0 } else { 0.0 };
            }
        }
        matrix
    }
}

impl Program for Cholesky {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        self.matrix = Some(data.add(&[self.n, self.n], &self.input())?);
        Ok(data)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let matrix = o.external(made(&self.matrix)?)?;
        let rows: Vec<_> = pieces(self.n, self.tile).collect();
        for (step, &k) in rows.iter().enumerate() {
            let below = &rows[step + 1..];
            o.scope(|o| o.submit(&POTRF, [tile(matrix, k, k)?.inout()]).map(drop))?;
            in_scopes(o, below, TASKS_PER_SCOPE, |o, &i| {
                o.submit(&TRSM, [tile(matrix, k, k)?.read(), tile(matrix, i, k)?.inout()]).map(drop)
            })?;
            let updates =
                below.iter().enumerate().flat_map(|(at, &i)| below[..=at].iter().map(move |&j| (i, j)));
            in_scopes(o, updates, TASKS_PER_SCOPE, |o, (i, j)| update(o, matrix, k, i, j))?;
        }
        Ok(())
    }

    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        let n = self.n as usize;
        let input = self.input();
        let factor = plain_cholesky(&input, n);
        let mut check = Check::new();
        for (at, &got) in data.get::<f32>(made(&self.matrix)?)?.iter().enumerate() {
            if at % n <= at / n {
                check.value(got, factor[at], TOLERANCE);
            } else {
                check.value(got, input[at] as f64, Tolerance::EXACT);
            }
        }
        Ok(check.finish())
    }

    fn outputs(&self) -> Vec<BufferId> {
        self.matrix.into_iter().collect()
    }
}

/// Subtracts the contribution of column `k` from tile (i, j).
fn update<'s>(
    o: &mut Orch<'s, '_>,
    matrix: Tensor<'s>,
    k: (u32, u32),
    i: (u32, u32),
    j: (u32, u32),
) -> Result<()> {
    let (left, target) = (tile(matrix, i, k)?.read(), tile(matrix, i, j)?.inout());
    if i == j {
        o.submit(&SYRK, [left, target]).map(drop)
    } else {
        o.submit(&GEMM, [left, tile(matrix, j, k)?.read(), target]).map(drop)
    }
}

/// The tile at a range of rows and columns, each given as (start, length).
fn tile<'s>(matrix: Tensor<'s>, rows: (u32, u32), cols: (u32, u32)) -> Result<Tensor<'s>> {
    matrix.tile(&[rows.0, cols.0], &[rows.1, cols.1])
}

/// The lower factor of a matrix of `n` rows, row by row, by the textbook formula.
fn plain_cholesky(matrix: &[f32], n: usize) -> Vec<f64> {
    let mut l = vec![0.0f64; n * n];
    for i in 0..n {
        for j in 0..=i {
            let (row_i, row_j) = (&l[i * n..i * n + j], &l[j * n..j * n + j]);
            let rest = matrix[i * n + j] as f64 - row_i.iter().zip(row_j).map(|(a, b)| a * b).sum::<f64>();
            l[i * n + j] = if i == j { rest.sqrt() } else { rest / l[j * n + j] };
        }
    }
    l
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_factor_times_itself_is_the_matrix() {
        let program = Cholesky { n: 20, tile: 4, seed: 3, matrix: None };
        let (matrix, l) = (program.input(), plain_cholesky(&program.input(), 20));
        for i in 0..20 {
            for j in 0..20 {
                let product: f64 = (0..20).map(|k| l[i * 20 + k] * l[j * 20 + k]).sum();
                assert!((product - matrix[i * 20 + j] as f64).abs() < 1e-6);
            }
        }
    }
}
