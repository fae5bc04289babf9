//! `decode`: a language model generates tokens.
//!
//! ```text
//! for each token:  EMBED
//!   for each layer:  QKV ─▶ ATTEND of each sequence ─▶ OUT ─▶ GATE_UP ─▶ DOWN
//!   LOGITS ─▶ PICK ─▶ the token that the next EMBED reads
//! ```
//! A decoder-only transformer as Qwen3 has it: RMSNorm, grouped-query attention with norms of queries and keys and a rotary
//! embedding, a SiLU-gated feed-forward network, and one table for embeddings and logits. Weights and the cache of keys and
//! values are bf16, everything else is f32.
//!
//! - A projection is one task of `tiles` blocks, each with its own rows of the weights. The norm before a projection is part
//!   of its task, and so is what follows it: the residual sum, the gate.
//! - ATTEND appends the keys and values of the token to the cache and attends, one block for each head of keys and values.
//!   The cache has pages, scattered over a pool. A context of more than `span` pages is divided: ATTEND_CACHED computes the
//!   earlier parts, and MERGE combines them.
//! - With experts, ROUTE chooses two for each token, EXPERT_UP and EXPERT_DOWN read the choice. The orchestration reads
//!   nothing, so every case can be captured.
//!
//! Golden: `golden.rs`, in f64, following the tokens that the run chose.

mod attend;
mod experts;
mod golden;
mod inputs;
mod norm;
mod orchestrate;
mod project;
mod shape;
mod shares;
mod tokens;

use ringlane_engine::prelude::*;

use self::inputs::Ids;
use self::shape::Shape;
use crate::golden::Golden;
use crate::scene::{Case, Param, Program, Scene, made};
use crate::shares::Shares;

pub(crate) const SCENE: Scene = Scene {
    site: core::panic::Location::caller(),
    name: "decode",
    about: "a language model generates tokens: attention over a paged cache, projections, a choice of experts",
    params: &[
        Param { name: "layers", default: "2", about: "layers" },
        Param { name: "hidden", default: "64", about: "length of the vector of a token" },
        Param { name: "heads", default: "4", about: "heads of queries" },
        Param {
            name: "kv_heads",
            default: "2",
            about: "heads of keys and values, each shared by a group of queries",
        },
        Param { name: "head_dim", default: "16", about: "length of a query, key or value" },
        Param { name: "ffn", default: "128", about: "width of the feed-forward network, or of each expert" },
        Param {
            name: "experts",
            default: "0",
            about: "experts in a layer, of which each token uses 2; 0: none",
        },
        Param { name: "vocab", default: "256", about: "tokens that the model knows" },
        Param { name: "batch", default: "2", about: "sequences" },
        Param { name: "context", default: "20", about: "positions of each sequence before the first step" },
        Param { name: "tokens", default: "4", about: "tokens to generate for each sequence" },
        Param { name: "tiles", default: "4", about: "blocks of a projection" },
        Param { name: "page", default: "8", about: "positions in one page of the cache" },
        Param { name: "span", default: "2", about: "pages of the cache that one attention task reads" },
    ],
    cases: &[
        Case { name: "small", about: "two layers, four tokens for each of two sequences", set: &[] },
        Case { name: "medium", about: "four layers of width 256", set: MEDIUM },
        Case {
            name: "moe",
            about: "a choice of two of eight experts for each token",
            set: &[("experts", "8"), ("ffn", "64"), ("batch", "3")],
        },
        Case { name: "qwen3_0.6b", about: "the sizes of Qwen3-0.6B: 1.2 GB of random weights", set: QWEN3 },
    ],
    kernels: &[
        &tokens::EMBED,
        &project::QKV,
        &attend::ATTEND,
        &attend::ATTEND_CACHED,
        &attend::MERGE,
        &project::OUT,
        &project::GATE_UP,
        &project::DOWN,
        &experts::ROUTE,
        &experts::EXPERT_UP,
        &experts::EXPERT_DOWN,
        &tokens::LOGITS,
        &tokens::PICK,
    ],
    build: &|settings| {
        let shape = Shape::new(settings)?;
        let table = inputs::page_table(&shape, settings.seed);
        Ok(Box::new(Decode { shape, table, seed: settings.seed, ids: None }) as Box<dyn Program>)
    },
};

const MEDIUM: &[(&str, &str)] = &[
    ("layers", "4"),
    ("hidden", "256"),
    ("heads", "8"),
    ("kv_heads", "4"),
    ("head_dim", "32"),
    ("ffn", "768"),
    ("vocab", "2048"),
    ("context", "100"),
    ("tokens", "3"),
    ("tiles", "8"),
    ("page", "16"),
];

/// One task of a projection has a block for each processor of an H200.
const QWEN3: &[(&str, &str)] = &[
    ("layers", "28"),
    ("hidden", "1024"),
    ("heads", "16"),
    ("kv_heads", "8"),
    ("head_dim", "128"),
    ("ffn", "3072"),
    ("vocab", "151936"),
    ("batch", "1"),
    ("context", "128"),
    ("tokens", "8"),
    ("tiles", "132"),
    ("page", "32"),
    ("span", "8"),
];

struct Decode {
    shape: Shape,
    /// The pages of each sequence.
    table: Vec<Vec<u32>>,
    seed: u64,
    ids: Option<Ids>,
}

impl Program for Decode {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        self.ids = Some(Ids::make(&mut data, &self.shape, self.seed)?);
        Ok(data)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        orchestrate::all_steps(o, &self.shape, &self.table, &made(&self.ids)?)
    }

    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        golden::check(data, &self.shape, &self.table, &made(&self.ids)?, self.seed)
    }

    fn outputs(&self) -> Vec<BufferId> {
        self.ids.iter().map(|ids| ids.logits).collect()
    }

    fn is_large(&self) -> bool {
        self.shape.is_large()
    }

    fn shares(&self) -> Option<&dyn Shares> {
        Some(self)
    }
}
