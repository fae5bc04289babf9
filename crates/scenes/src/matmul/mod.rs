//! `matmul`: C = A·B on tiles of row-major matrices, K split into pieces that accumulate through `inout`.
//!
//! The tasks of one tile of C run one after another, in the order of K; different tiles share nothing that is written
//! and run in parallel.
//!
//! A and B are f32, or bf16 as on the tensor cores of a GPU. C is f32.
//!
//! Golden: plain loops in f64 over the same inputs, which are in -1..1. The absolute tolerance is `3e-7 · K` for f32, and
//! `1e-7 · K · √K` for bf16. Tensor cores add 8 or more products to a partial sum at once and round none of these numbers: they
//! cut each off at 2⁻²³ of the largest one or later, by half of that on average ([Fasi et al., 2021]). A value of C that ends at
//! six standard deviations, 2·√K, is about √K on the way, so K/8 sums of nine numbers lose 9/8 · 2⁻²⁴ · K · √K = 7e-8 · K · √K
//! if all are cut in the same direction. A product that is missing changes a value by 0.25 on average, five times the tolerance
//! of the largest case. Of a large product, two rows of each tile are compared.
//!
//! [Fasi et al., 2021]: https://peerj.com/articles/cs-330/

mod kernels;

use core::array::from_fn;
use core::ops::Range;
use std::collections::BTreeSet;

use ringlane_engine::prelude::*;
use ringlane_task::bf16;

use self::kernels::{MATMUL, MATMUL_BF16};
use crate::arith::wide;
use crate::golden::{Check, Golden, Tolerance};
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
        Param { name: "n_tile", default: "0", about: "columns of a tile; 0: as many as rows" },
        Param { name: "k_tile", default: "32", about: "length of the sum of one task" },
        Param { name: "dtype", default: "f32", about: "elements of A and B: f32 or bf16" },
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
        Case { name: "bf16", about: "A and B in bf16, no side is a multiple of the tile", set: BF16 },
        Case {
            name: "h200",
            about: "bf16: 32 tasks of about 10 µs for each processor of an H200",
            set: H200,
        },
    ],
    kernels: &[&MATMUL, &MATMUL_BF16],
    build: &|settings| {
        let side = |name| settings.u32(name, 1..=1 << 14);
        let (m, n, k) = (side("m")?, side("n")?, side("k")?);
        let (tile, k_tile) = (side("tile")?, side("k_tile")?);
        let n_tile = settings.u32("n_tile", 0..=1 << 14)?;
        let n_tile = if n_tile == 0 { tile } else { n_tile };
        let dtype = match settings.one_of("dtype", &["f32", "bf16"])? {
            "bf16" => DType::BFloat16,
            _ => DType::Float32,
        };
        Ok(Box::new(Matmul { m, n, k, tile, n_tile, k_tile, dtype, seed: settings.seed, ids: None }))
    },
};

const BF16: &[(&str, &str)] = &[
    ("dtype", "bf16"),
    ("m", "168"),
    ("n", "304"),
    ("k", "200"),
    ("tile", "128"),
    ("n_tile", "256"),
    ("k_tile", "76"),
];

/// 33 × 16 tiles, four for each of 132 processors. On tensor cores, a task computes at about 5 · 10¹² operations per second.
const H200: &[(&str, &str)] = &[
    ("dtype", "bf16"),
    ("m", "4224"),
    ("n", "4096"),
    ("k", "6144"),
    ("tile", "128"),
    ("n_tile", "256"),
    ("k_tile", "768"),
];

/// Multiplications of a product that is generated and checked in passing.
const USUAL_MULTIPLICATIONS_MAX: u64 = 1 << 33;
/// Rows of each tile that the golden of a larger product compares.
const ROWS_COMPARED: usize = 2;

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
    n_tile: u32,
    k_tile: u32,
    /// Of A and B.
    dtype: DType,
    seed: u64,
    ids: Option<Ids>,
}

impl Matmul {
    /// The matrix rows of a range of tile rows.
    fn rows(&self, tiles: &Range<u32>) -> Range<u32> {
        let at = |tile: u32| (u64::from(tile) * u64::from(self.tile)).min(self.m.into()) as u32;
        at(tiles.start)..at(tiles.end)
    }

    /// A and B: numbers that their type has.
    fn inputs(&self) -> [Vec<f32>; 2] {
        let mut rng = Rng::new(self.seed);
        [self.m * self.k, self.k * self.n].map(|len| {
            let mut values = rng.signed(len as usize);
            if self.dtype == DType::BFloat16 {
                values.iter_mut().for_each(|x| *x = wide(bf16::from_f32(*x)));
            }
            values
        })
    }

    fn kernel(&self) -> &'static Kernel {
        if self.dtype == DType::BFloat16 { &MATMUL_BF16 } else { &MATMUL }
    }

    fn add(&self, data: &mut Buffers<'static>, shape: &[u32], values: &[f32]) -> Result<BufferId> {
        if self.dtype == DType::BFloat16 {
            let values: Vec<bf16> = values.iter().map(|&x| bf16::from_f32(x)).collect();
            return data.add(shape, &values);
        }
        data.add(shape, values)
    }

    /// The rows of C that the golden compares: all of a usual product, some of each tile of a large one.
    fn rows_compared(&self) -> BTreeSet<u32> {
        if !self.is_large() {
            return (0..self.m).collect();
        }
        let mut rng = Rng::new(self.seed);
        let mut some = |(start, len)| from_fn::<u32, ROWS_COMPARED, _>(|_| start + rng.below(len));
        pieces(self.m, self.tile).flat_map(&mut some).collect()
    }

    fn tolerance(&self) -> Tolerance {
        let k = f64::from(self.k);
        Tolerance::absolute(if self.dtype == DType::BFloat16 { 1e-7 * k * k.sqrt() } else { 3e-7 * k })
    }
}

impl Program for Matmul {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        let [a, b] = self.inputs();
        let a = self.add(&mut data, &[self.m, self.k], &a)?;
        let b = self.add(&mut data, &[self.k, self.n], &b)?;
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
        let [a, b] = self.inputs();
        let (n, k, compared) = (self.n as usize, self.k as usize, self.rows_compared());
        let (mut check, mut want) = (Check::new(), vec![0.0; n]);
        let c = data.get::<f32>(made(&self.ids)?.c)?;
        for (i, (a, c)) in a.chunks_exact(k).zip(c.chunks_exact(n)).enumerate() {
            if !compared.contains(&(i as u32)) {
                c.iter().for_each(|&c| check.hash(c));
                continue;
            }
            want.fill(0.0);
            for (&a, b) in a.iter().zip(b.chunks_exact(n)) {
                want.iter_mut().zip(b).for_each(|(want, &b)| *want += a as f64 * b as f64);
            }
            check.slice(c, &want, self.tolerance());
        }
        Ok(check.finish())
    }

    fn is_large(&self) -> bool {
        [self.m, self.n, self.k].into_iter().map(u64::from).product::<u64>() > USUAL_MULTIPLICATIONS_MAX
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
            for (j, cols) in pieces(self.n, self.n_tile) {
                let c = c.tile(&[i, j], &[rows, cols])?;
                in_scopes(o, pieces(self.k, self.k_tile), TASKS_PER_SCOPE, |o, (k, depth)| {
                    let (a, b) = (a.tile(&[i, k], &[rows, depth])?, b.tile(&[k, j], &[depth, cols])?);
                    o.submit(self.kernel(), [a.read(), b.read(), c.inout()]).map(drop)
                })?;
            }
        }
        Ok(())
    }
}
