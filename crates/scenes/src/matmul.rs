//! `matmul`: C = A·B on tiles of row-major matrices, K split into pieces that accumulate through `inout`.
//!
//! The tasks of one tile of C run one after another, in the order of K; different tiles share nothing that is written
//! and run in parallel.
//!
//! Golden: plain loops in f64; the absolute tolerance is `3e-7 · K` (inputs are in -1..1).

use core::ops::Range;

use ringlane_engine::prelude::*;

use crate::arith::axpy;
use crate::cost;
use crate::golden::{Golden, Tolerance};
use crate::parts::{PartArgument, Parts};
use crate::rng::Rng;
use crate::scene::{Case, Param, Program, Scene, made};
use crate::scopes::{in_scopes, pieces};

/// Tasks of one tile of C in one scope: half of a window of 64, so that two scopes are in flight.
const TASKS_PER_SCOPE: usize = 32;

pub(crate) const SCENE: Scene = Scene {
    site: core::panic::Location::caller(),
    name: "matmul",
    about: "tiled C = A·B, accumulated over K through inout",
    params: &[
        Param { name: "m", default: "128", about: "rows of C" },
        Param { name: "n", default: "128", about: "columns of C" },
        Param { name: "k", default: "128", about: "length of the sums" },
        Param { name: "tile", default: "32", about: "rows and columns of a tile" },
        Param { name: "k_tile", default: "32", about: "length of the sum of one task" },
    ],
    cases: &[
        Case { name: "small", about: "4×4 tiles, K in 4 parts", set: &[] },
        Case {
            name: "ragged",
            about: "no side is a multiple of the tile",
            set: &[("m", "45"), ("n", "77"), ("k", "101")],
        },
        Case { name: "deep", about: "one tile, large K", set: &[("m", "32"), ("n", "32"), ("k", "4096")] },
        Case {
            name: "large",
            about: "20×20 tiles, K in 20 parts",
            set: &[("m", "1280"), ("n", "1280"), ("k", "1280"), ("tile", "64"), ("k_tile", "64")],
        },
    ],
    kernels: &[&MATMUL],
    build: &|settings| {
        let side = |name| settings.u32(name, 1..=1 << 14);
        let (m, n, k) = (side("m")?, side("n")?, side("k")?);
        let (tile, k_tile) = (side("tile")?, side("k_tile")?);
        Ok(Box::new(Matmul { m, n, k, tile, k_tile, seed: settings.seed, ids: None }))
    },
};

kernel! {
    /// C += A·B on one tile.
    static MATMUL = aic fn(a: View<f32, 2>, b: View<f32, 2>, c: ViewMut<f32, 2>) {
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

#[derive(Clone, Copy)]
struct Ids {
    a: BufferId,
    b: BufferId,
    c: BufferId,
}

struct Matmul {
    m: u32,
    n: u32,
    k: u32,
    tile: u32,
    k_tile: u32,
    seed: u64,
    ids: Option<Ids>,
}

impl Matmul {
    /// The matrix rows of a range of tile rows.
    fn rows(&self, tiles: &Range<u32>) -> Range<u32> {
        let at = |tile: u32| (u64::from(tile) * u64::from(self.tile)).min(self.m.into()) as u32;
        at(tiles.start)..at(tiles.end)
    }

    fn inputs(&self) -> (Vec<f32>, Vec<f32>) {
        let mut rng = Rng::new(self.seed);
        (rng.signed((self.m * self.k) as usize), rng.signed((self.k * self.n) as usize))
    }
}

impl Program for Matmul {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        let (a, b) = self.inputs();
        let (a, b) = (data.add(&[self.m, self.k], &a)?, data.add(&[self.k, self.n], &b)?);
        self.ids = Some(Ids { a, b, c: data.add_zeroed(f32, &[self.m, self.n])? });
        Ok(data)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let ids = made(&self.ids)?;
        let tensors = [o.external(ids.a)?, o.external(ids.b)?, o.external(ids.c)?];
        self.orchestrate_part(o, 0..self.units(), &tensors)
    }

    fn parts(&self) -> Option<&dyn Parts> {
        Some(self)
    }

    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        let (a, b) = self.inputs();
        let (n, k) = (self.n as usize, self.k as usize);
        let mut want = vec![0.0f64; (self.m * self.n) as usize];
        for (a, want) in a.chunks_exact(k).zip(want.chunks_exact_mut(n)) {
            for (&a, b) in a.iter().zip(b.chunks_exact(n)) {
                want.iter_mut().zip(b).for_each(|(want, &b)| *want += a as f64 * b as f64);
            }
        }
        let tolerance = Tolerance::absolute(3e-7 * self.k as f64);
        Ok(Golden::compare(data.get::<f32>(made(&self.ids)?.c)?, &want, tolerance))
    }

    fn outputs(&self) -> Vec<BufferId> {
        self.ids.iter().map(|ids| ids.c).collect()
    }
}

/// A part is a range of tile rows.
impl Parts for Matmul {
    fn units(&self) -> u32 {
        self.m.div_ceil(self.tile)
    }

    fn part_buffers(&self) -> Result<Vec<BufferId>> {
        made(&self.ids).map(|ids| vec![ids.a, ids.b, ids.c])
    }

    fn arguments(&self, tiles: Range<u32>) -> Result<Vec<PartArgument>> {
        let rows = &self.rows(&tiles);
        Ok(vec![PartArgument::rows(rows), PartArgument::WHOLE, PartArgument::rows(rows).updated()])
    }

    fn orchestrate_part<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        tiles: Range<u32>,
        tensors: &[Tensor<'s>],
    ) -> Result<()> {
        let &[a, b, c] = tensors else {
            return Err(Error::user(format!("a product has three tensors, not {}", tensors.len())));
        };
        for (i, rows) in pieces(self.rows(&tiles).len() as u32, self.tile) {
            for (j, cols) in pieces(self.n, self.tile) {
                let c = c.tile(&[i, j], &[rows, cols])?;
                in_scopes(o, pieces(self.k, self.k_tile), TASKS_PER_SCOPE, |o, (k, depth)| {
                    let (a, b) = (a.tile(&[i, k], &[rows, depth])?, b.tile(&[k, j], &[depth, cols])?);
                    o.submit(&MATMUL, [a.read(), b.read(), c.inout()]).map(drop)
                })?;
            }
        }
        Ok(())
    }
}
