//! The sizes of a model and of what it generates.

use crate::error::SceneResult;
use crate::settings::Settings;

/// Experts that each token goes to.
pub(super) const CHOICES: u32 = 2;
/// Elements that a GPU loads at once: rows of weights have a multiple of them.
pub(super) const LANES: u32 = 8;
/// Elements of all weights, at most: 8 GiB.
const WEIGHTS_MAX: u64 = 1 << 32;
/// Elements of the cache of keys and values, at most: 8 GiB.
const CACHE_MAX: u64 = 1 << 32;
/// The longest row of weights: the inputs of one sequence then fit into the scratch memory of a GPU's block.
const WIDTH_MAX: u32 = 1 << 14;
/// Parts of a context, at most: one task reads all of them.
const PARTS_MAX: u32 = 100;
/// Pages that one attention task reads, at most.
const SPAN_MAX: u32 = 1 << 6;
/// Weights above this are too many to be generated and checked in passing: 512 MiB.
const USUAL_WEIGHTS_MAX: u64 = 1 << 28;

/// The sizes of a model and of what it generates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) layers: u32,
    /// Length of the vector of a token.
    pub(super) hidden: u32,
    /// Heads of queries.
    pub(super) heads: u32,
    /// Heads of keys and values, each shared by a group of query heads.
    pub(super) kv_heads: u32,
    pub(super) head_dim: u32,
    /// Width of the feed-forward network, or of each expert.
    pub(super) ffn: u32,
    /// Experts in a layer; 0 if its feed-forward network is dense.
    pub(super) experts: u32,
    pub(super) vocab: u32,
    /// Sequences.
    pub(super) batch: u32,
    /// Positions of each sequence before the first step.
    pub(super) context: u32,
    /// Tokens to generate for each sequence.
    pub(super) tokens: u32,
    /// Blocks of a projection.
    pub(super) tiles: u32,
    /// Positions in one page of the cache.
    pub(super) page: u32,
    /// Pages that one attention task reads.
    pub(super) span: u32,
}

impl Shape {
    pub(super) fn new(settings: &Settings) -> SceneResult<Self> {
        let kv_heads = settings.u32("kv_heads", 1..=1 << 7)?;
        let shape = Shape {
            layers: settings.u32("layers", 1..=1 << 8)?,
            hidden: settings.u32("hidden", LANES..=1 << 14)?,
            heads: settings.u32("heads", 1..=1 << 8)?,
            kv_heads,
            head_dim: settings.u32("head_dim", LANES..=1 << 8)?,
            ffn: settings.u32("ffn", LANES..=WIDTH_MAX)?,
            experts: settings.u32("experts", 0..=1 << 8)?,
            vocab: settings.u32("vocab", 2..=1 << 20)?,
            batch: settings.u32("batch", 1..=1 << 6)?,
            context: settings.u32("context", 0..=1 << 16)?,
            tokens: settings.u32("tokens", 1..=1 << 14)?,
            tiles: settings.u32("tiles", 1..=1 << 10)?,
            page: settings.u32("page", 1..=1 << 8)?,
            span: settings.u32("span", 1..=SPAN_MAX)?,
        };
        for (name, value) in [("hidden", shape.hidden), ("head_dim", shape.head_dim), ("ffn", shape.ffn)] {
            if !value.is_multiple_of(LANES) {
                return Err(settings.refuse(name, format!("a multiple of {LANES}")));
            }
        }
        if !shape.heads.is_multiple_of(kv_heads) {
            return Err(settings.refuse("heads", format!("a multiple of kv_heads, {kv_heads}")));
        }
        if shape.width() > WIDTH_MAX {
            return Err(settings.refuse("heads", format!("heads · head_dim of at most {WIDTH_MAX}")));
        }
        shape.check_parts(settings)?;
        if shape.experts != 0 && shape.experts < CHOICES {
            return Err(settings.refuse("experts", format!("0, or at least the {CHOICES} of each token")));
        }
        if shape.weights() > WEIGHTS_MAX {
            return Err(settings.refuse("layers", "weights of at most 8 GiB"));
        }
        if shape.cache() > CACHE_MAX {
            return Err(settings.refuse("context", "a cache of keys and values of at most 8 GiB"));
        }
        Ok(shape)
    }

    /// A context of too many parts needs a larger span, or larger pages where no span is large enough.
    fn check_parts(&self, settings: &Settings) -> SceneResult<()> {
        let span = self.pages().div_ceil(PARTS_MAX);
        if span <= self.span {
            return Ok(());
        }
        let why = format!("so that a context has at most {PARTS_MAX} parts");
        if span <= SPAN_MAX {
            return Err(settings.refuse("span", format!("at least {span}, {why}")));
        }
        let page = (self.context + self.tokens).div_ceil(PARTS_MAX * SPAN_MAX);
        Err(settings.refuse("page", format!("at least {page}, with span={SPAN_MAX}, {why}")))
    }

    /// Length of the queries of a token, and of the result of its attention.
    pub(super) fn width(&self) -> u32 {
        self.heads * self.head_dim
    }

    /// Heads of queries, keys and values together.
    pub(super) fn all_heads(&self) -> u32 {
        self.heads + 2 * self.kv_heads
    }

    /// Pages of one sequence in one layer.
    pub(super) fn pages(&self) -> u32 {
        (self.context + self.tokens).div_ceil(self.page)
    }

    /// Pages of all sequences in one layer.
    pub(super) fn pool(&self) -> u32 {
        self.batch * self.pages()
    }

    /// Elements of all weights.
    fn weights(&self) -> u64 {
        let hidden = u64::from(self.hidden);
        let attention = u64::from(self.all_heads() * self.head_dim + self.width());
        let ffn = 3 * u64::from(self.ffn) * u64::from(self.experts.max(1));
        hidden * (u64::from(self.vocab) + u64::from(self.layers) * (attention + ffn))
    }

    /// Elements of the cache.
    fn cache(&self) -> u64 {
        let page = 2 * u64::from(self.kv_heads * self.head_dim * self.page);
        u64::from(self.layers) * u64::from(self.pool()) * page
    }

    /// Whether it has so many weights that it runs only when it is selected by name.
    pub(super) fn is_large(&self) -> bool {
        self.weights() > USUAL_WEIGHTS_MAX
    }
}
