//! `paged_attention`: attention of one position of each sequence over a context scattered over a pool of blocks.
//!
//! ```text
//! scope of a query block:  alloc max, sum, acc
//!   scope of up to 8 key blocks:
//!     for each block of the context:  QK ─▶ SOFTMAX ─▶ PV ─▶ UPDATE(max, sum, acc)
//!   NORMALISE ─▶ out
//! ```
//! The block table and the lengths determine the graph: a context has one step per block, and its last block may be
//! partly filled. Blocks of one context are only connected through UPDATE, query blocks not at all.
//!
//! Golden: the plain formula, softmax(q·kᵀ/√dim)·v over the gathered context in f64; absolute tolerance 2e-5 (the
//! values are in -1..1).

mod inputs;
mod kernels;
mod planted;

use core::ops::Range;

use ringlane_engine::prelude::*;

use self::inputs::{Shape, Table, Values};
use self::kernels::{NORMALISE, PV, QK, SOFTMAX, UPDATE};
use crate::error::SceneResult;
use crate::golden::{Golden, Tolerance};
use crate::parts::{PartArgument, Parts};
use crate::scene::{Case, Param, Program, Scene, made};
use crate::scopes::{in_scopes, pieces};
use crate::settings::Settings;

/// Blocks of the context in one scope: four tasks each, half of a window of 64.
const BLOCKS_PER_SCOPE: usize = 8;
const TOLERANCE: Tolerance = Tolerance::absolute(2e-5);

pub(crate) const SCENE: Scene = Scene {
    site: core::panic::Location::caller(),
    name: "paged_attention",
    about: "attention over contexts stored in a pool of key and value blocks, with an online softmax",
    params: &[
        Param { name: "batch", default: "4", about: "sequences" },
        Param { name: "heads", default: "16", about: "query heads of a sequence, sharing keys and values" },
        Param { name: "query_tile", default: "16", about: "heads in one query block" },
        Param { name: "dim", default: "64", about: "length of a query, key or value" },
        Param { name: "block", default: "16", about: "positions in one block of the pool" },
        Param { name: "context", default: "100", about: "longest context; the others are random" },
        Param { name: planted::PARAM, default: "", about: "" },
    ],
    cases: &[
        Case { name: "small", about: "4 sequences of up to 100 positions", set: &[] },
        Case {
            name: "ragged",
            about: "odd sizes everywhere",
            set: &[
                ("batch", "5"),
                ("heads", "7"),
                ("query_tile", "3"),
                ("dim", "33"),
                ("block", "13"),
                ("context", "171"),
            ],
        },
        Case {
            name: "one",
            about: "one sequence of one position",
            set: &[("batch", "1"), ("heads", "1"), ("context", "1")],
        },
        Case { name: "long", about: "long contexts on large blocks", set: LONG },
        Case { name: "large", about: "tasks large enough to keep 24 matrix cores busy", set: LARGE },
        Case { name: "scopes", about: "more than 8,469 scopes", set: SCOPES },
    ],
    kernels: &[&QK, &SOFTMAX, &PV, &UPDATE, &NORMALISE],
    build: &|settings| {
        let shape = shape(settings)?;
        let table = Table::new(&shape, settings.seed);
        let planted = planted::kernel(settings)?;
        Ok(Box::new(PagedAttention { shape, table, seed: settings.seed, planted, ids: None }))
    },
};

const LONG: &[(&str, &str)] =
    &[("batch", "32"), ("heads", "32"), ("dim", "128"), ("block", "128"), ("context", "4096")];

/// 20 µs per product on a2a3sim: as long as its orchestrator takes to submit the work of 24 cores for that time.
const LARGE: &[(&str, &str)] = &[
    ("batch", "32"),
    ("heads", "64"),
    ("query_tile", "64"),
    ("dim", "128"),
    ("block", "512"),
    ("context", "8192"),
];

const SCOPES: &[(&str, &str)] = &[
    ("batch", "2200"),
    ("heads", "8"),
    ("query_tile", "4"),
    ("dim", "32"),
    ("block", "16"),
    ("context", "64"),
];

fn shape(settings: &Settings) -> SceneResult<Shape> {
    let shape = Shape {
        batch: settings.u32("batch", 1..=1 << 14)?,
        heads: settings.u32("heads", 1..=1 << 10)?,
        query_tile: settings.u32("query_tile", 1..=1 << 10)?,
        dim: settings.u32("dim", 1..=1 << 10)?,
        block: settings.u32("block", 1..=1 << 10)?,
        context: settings.u32("context", 1..=1 << 20)?,
    };
    let positions = shape.batch as u64 * shape.context.next_multiple_of(shape.block) as u64;
    if positions * shape.dim as u64 > 1 << 30 {
        return Err(settings.refuse("context", "batch · context · dim of at most 2^30 numbers"));
    }
    Ok(shape)
}

#[derive(Clone, Copy)]
struct Ids {
    queries: BufferId,
    keys: BufferId,
    values: BufferId,
    out: BufferId,
}

struct PagedAttention {
    shape: Shape,
    table: Table,
    seed: u64,
    /// The kernel that replaces SOFTMAX in one task.
    planted: Option<&'static Kernel>,
    ids: Option<Ids>,
}

/// The external tensors of a run, one row for each query or position.
#[derive(Clone, Copy)]
struct Tensors<'s> {
    queries: Tensor<'s>,
    keys: Tensor<'s>,
    values: Tensor<'s>,
    out: Tensor<'s>,
}

/// The running state of the blocks that a query block has processed.
#[derive(Clone, Copy)]
struct Running<'s> {
    max: Tensor<'s>,
    sum: Tensor<'s>,
    acc: Tensor<'s>,
}

impl PagedAttention {
    fn scale(&self) -> f32 {
        (self.shape.dim as f32).sqrt().recip()
    }

    /// One query block: `rows` queries from `first`, over the whole context of their sequence. `softmax` returns the
    /// kernel for a block of the context.
    fn query_block<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        t: Tensors<'s>,
        sequence: usize,
        (first, rows): (u32, u32),
        softmax: impl Fn(u32) -> &'static Kernel,
    ) -> Result<()> {
        o.scope(|o| {
            let queries = t.queries.slice(0, first, rows)?;
            let running = Running {
                max: o.alloc(f32, [rows])?,
                sum: o.alloc(f32, [rows])?,
                acc: o.alloc(f32, [rows, self.shape.dim])?,
            };
            in_scopes(o, self.table.used(&self.shape, sequence), BLOCKS_PER_SCOPE, |o, (block, held)| {
                let part = |pool: Tensor<'s>| pool.slice(0, block * self.shape.block, held);
                self.key_block(o, softmax(block), queries, (part(t.keys)?, part(t.values)?), running)
            })?;
            let target = t.out.slice(0, first, rows)?;
            o.submit(&NORMALISE, [running.acc.read(), running.sum.read(), target.write()]).map(drop)
        })
    }

    /// SOFTMAX; or the injected kernel, for the first queries of the middle sequence and the middle block of its
    /// context.
    fn softmax(&self, sequence: usize, head: u32, block: u32) -> &'static Kernel {
        let blocks = &self.table.blocks[sequence];
        let middle =
            sequence == self.shape.batch as usize / 2 && head == 0 && block == blocks[blocks.len() / 2];
        self.planted.filter(|_| middle).unwrap_or(&SOFTMAX)
    }

    /// The filled part of one block of keys and values.
    fn key_block<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        softmax: &'static Kernel,
        queries: Tensor<'s>,
        (keys, values): (Tensor<'s>, Tensor<'s>),
        running: Running<'s>,
    ) -> Result<()> {
        let (rows, held) = (queries.view().dims()[0].len, keys.view().dims()[0].len);
        let scale = scalar(self.scale());
        let s = o.submit(&QK, [queries.read(), keys.read(), out(f32, [rows, held]), scale])?.out(0);
        let softmax = o.submit(softmax, [s.inout(), out(f32, [rows]), out(f32, [rows])])?;
        let (max, sum) = (softmax.out(0).read(), softmax.out(1).read());
        let part = o.submit(&PV, [s.read(), values.read(), out(f32, [rows, self.shape.dim])])?.out(0);
        let Running { max: all_max, sum: all_sum, acc } = running;
        o.submit(&UPDATE, [max, sum, part.read(), all_max.inout(), all_sum.inout(), acc.inout()]).map(drop)
    }

    /// Attention of one query over the positions of a context, computed by the formula.
    fn plain(&self, query: &[f32], context: &[usize], values: &Values) -> Vec<f64> {
        let dim = self.shape.dim as usize;
        let product = |key: &[f32]| query.iter().zip(key).map(|(&q, &k)| q as f64 * k as f64).sum::<f64>();
        let scale = 1.0 / (dim as f64).sqrt();
        let scores: Vec<f64> =
            context.iter().map(|&p| product(&values.keys[p * dim..][..dim]) * scale).collect();
        let max = scores.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - max).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mut result = vec![0.0; dim];
        for (&position, weight) in context.iter().zip(&weights) {
            let value = &values.values[position * dim..][..dim];
            result.iter_mut().zip(value).for_each(|(r, &v)| *r += weight / total * v as f64);
        }
        result
    }

    /// The positions in the pool of a sequence's context, in order.
    fn context(&self, sequence: usize) -> Vec<usize> {
        let size = self.shape.block;
        let position = |i: u32| self.table.blocks[sequence][(i / size) as usize] * size + i % size;
        (0..self.table.lengths[sequence]).map(|i| position(i) as usize).collect()
    }
}

impl Program for PagedAttention {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        let given = Values::new(&self.shape, &self.table, self.seed);
        let Shape { batch, heads, dim, block, .. } = self.shape;
        let pool = [self.table.pool * block, dim];
        self.ids = Some(Ids {
            queries: data.add(&[batch * heads, dim], &given.queries)?,
            keys: data.add(&pool, &given.keys)?,
            values: data.add(&pool, &given.values)?,
            out: data.add_zeroed(f32, &[batch * heads, dim])?,
        });
        Ok(data)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let ids = made(&self.ids)?;
        let tensors = [ids.queries, ids.keys, ids.values, ids.out].map(|id| o.external(id));
        let [queries, keys, values, out] = tensors;
        self.orchestrate_part(o, 0..self.shape.batch, &[queries?, keys?, values?, out?])
    }

    fn parts(&self) -> Option<&dyn Parts> {
        Some(self)
    }

    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        let values = Values::new(&self.shape, &self.table, self.seed);
        let (dim, heads) = (self.shape.dim as usize, self.shape.heads as usize);
        let mut want = Vec::new();
        for (sequence, queries) in values.queries.chunks_exact(heads * dim).enumerate() {
            let context = self.context(sequence);
            queries.chunks_exact(dim).for_each(|query| want.extend(self.plain(query, &context, &values)));
        }
        Ok(Golden::compare(data.get::<f32>(made(&self.ids)?.out)?, &want, TOLERANCE))
    }

    fn outputs(&self) -> Vec<BufferId> {
        self.ids.iter().map(|ids| ids.out).collect()
    }
}

/// A part is a range of sequences: their rows of queries and results, and the whole pool.
impl Parts for PagedAttention {
    fn units(&self) -> u32 {
        self.shape.batch
    }

    fn part_buffers(&self) -> Result<Vec<BufferId>> {
        made(&self.ids).map(|ids| vec![ids.queries, ids.keys, ids.values, ids.out])
    }

    fn arguments(&self, sequences: Range<u32>) -> Result<Vec<PartArgument>> {
        let rows = &(sequences.start * self.shape.heads..sequences.end * self.shape.heads);
        let (queries, out) = (PartArgument::rows(rows), PartArgument::rows(rows).written());
        Ok(vec![queries, PartArgument::WHOLE, PartArgument::WHOLE, out])
    }

    fn orchestrate_part<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        sequences: Range<u32>,
        tensors: &[Tensor<'s>],
    ) -> Result<()> {
        let &[queries, keys, values, out] = tensors else {
            return Err(Error::user(format!("attention has four tensors, not {}", tensors.len())));
        };
        let tensors = Tensors { queries, keys, values, out };
        let before = sequences.start * self.shape.heads;
        for sequence in sequences {
            for (head, rows) in pieces(self.shape.heads, self.shape.query_tile) {
                let first = sequence * self.shape.heads + head - before;
                let softmax = |block| self.softmax(sequence as usize, head, block);
                self.query_block(o, tensors, sequence as usize, (first, rows), softmax)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_case_scopes_opens_at_least_8469_scopes_with_any_seed() {
        for seed in 0..5 {
            let settings = SCENE.settings(SCENE.case("scopes").unwrap(), &[], seed).unwrap();
            let shape = shape(&settings).unwrap();
            let table = Table::new(&shape, seed);
            let query_blocks = shape.heads.div_ceil(shape.query_tile) as usize;
            let inner = |blocks: &Vec<u32>| 1 + blocks.len().div_ceil(BLOCKS_PER_SCOPE);
            let scopes = 1 + table.blocks.iter().map(|blocks| query_blocks * inner(blocks)).sum::<usize>();
            assert!(scopes >= 8469, "{scopes}");
        }
    }
}
