//! The model divided among chips: each has some heads with their part of the cache, a part of the width of the feed-forward
//! networks, and some tokens of the vocabulary.
//!
//! ```text
//! for each token:  EMBED on one chip
//!   for each layer:  on each chip, attention with its heads ─▶ all-reduce ─▶ feed-forward with its part ─▶ all-reduce
//!   LOGITS of its tokens on each chip, PICK on one
//! ```
//! The chips' results of OUT and DOWN are sums over their own inputs; the all-reduces add them to x.

use ringlane_engine::prelude::*;
use ringlane_task::bf16;

use super::Decode;
use super::orchestrate::{Between, Model};
use super::shape::{CHOICES, LANES, Shape};
use super::tokens::{EMBED, PICK};
use crate::error::{SceneError, SceneResult};
use crate::scene::made;
use crate::shares::{Share, SharedData, SharedTensor, Shares, Step};

/// Tensors, by their numbers.
mod tensor {
    pub(super) const TABLE: usize = 0;
    pub(super) const GAINS: usize = 1;
    pub(super) const LAST_GAIN: usize = 5;
    pub(super) const QKV: usize = 6;
    pub(super) const OUT: usize = 7;
    pub(super) const GATE_UP: usize = 8;
    pub(super) const DOWN: usize = 9;
    pub(super) const ROTARY: usize = 10;
    pub(super) const CACHE: usize = 11;
    pub(super) const TOKENS: usize = 12;
    pub(super) const LOGITS: usize = 13;
    /// The vectors of the tokens, and what each chip adds to them.
    pub(super) const X: usize = 14;
    pub(super) const SUMS: usize = 15;
    /// The best logit of each block, and its token.
    pub(super) const BEST: usize = 16;
    pub(super) const WHICH: usize = 17;
    /// Only if there are experts.
    pub(super) const ROUTER: usize = 18;
    pub(super) const ROUTES: usize = 19;
}

/// What a step does.
enum Does {
    Embed,
    Attention(u32),
    FeedForward(u32),
    AddUp(u32),
    Logits,
    Pick,
}

impl Decode {
    /// The step of a token, and the token.
    fn does(&self, step: u32) -> (Does, u32) {
        let (in_layer, layers) = (4, self.shape.layers);
        let of_token = in_layer * layers + 3;
        let (token, at) = (step / of_token, step % of_token);
        let does = match at.checked_sub(1) {
            None => Does::Embed,
            Some(at) if at == in_layer * layers => Does::Logits,
            Some(at) if at > in_layer * layers => Does::Pick,
            Some(at) => match at % in_layer {
                0 => Does::Attention(at / in_layer),
                2 => Does::FeedForward(at / in_layer),
                _ => Does::AddUp(at / in_layer),
            },
        };
        (does, token)
    }
}

impl Shape {
    /// The sizes of one chip's share.
    fn share(&self, chips: u32) -> Shape {
        Shape {
            heads: self.heads / chips,
            kv_heads: self.kv_heads / chips,
            ffn: self.ffn / chips,
            vocab: self.vocab / chips,
            ..*self
        }
    }
}

impl Shares for Decode {
    fn check(&self, chips: u32) -> SceneResult<()> {
        let Shape { kv_heads, ffn, vocab, .. } = self.shape;
        for (name, size, unit) in [("kv_heads", kv_heads, 1), ("ffn", ffn, LANES), ("vocab", vocab, 1)] {
            if !size.is_multiple_of(chips * unit) {
                let each = if unit == 1 { String::new() } else { format!(" in multiples of {unit}") };
                let reason = format!("{name}={size} cannot be divided evenly among {chips} chips{each}");
                return Err(SceneError::Refused { scene: super::SCENE.name, reason });
            }
        }
        Ok(())
    }

    fn divide(&self, chips: u32, data: &Buffers<'_>) -> Result<SharedData> {
        let (ids, own) = (made(&self.ids)?, self.shape.share(chips));
        let Shape { layers, hidden, batch, head_dim, page, tokens, tiles, experts, .. } = self.shape;
        let mut layout = Layout { data, chips, shared: Buffers::new(), tensors: Vec::new() };
        let all_experts = layers * experts.max(1);
        let head = head_dim * hidden;
        // Of each layer: queries, keys, values.
        let heads = [own.heads * head, own.kv_heads * head, own.kv_heads * head];
        layout.divided(ids.table, &[own.vocab, hidden], 1, &[own.vocab * hidden])?;
        for gain in ids.gains {
            layout.whole(gain)?;
        }
        layout.whole(ids.last_gain)?;
        layout.divided(ids.qkv, &[layers, own.all_heads() * head_dim, hidden], layers, &heads)?;
        layout.divided(ids.out, &[layers, hidden, own.width()], layers * hidden, &[own.width()])?;
        let (gate_up, down) = match experts {
            0 => (vec![layers, own.ffn, 2, hidden], vec![layers, hidden, own.ffn]),
            _ => (vec![layers, experts, own.ffn, 2, hidden], vec![layers, experts, hidden, own.ffn]),
        };
        layout.divided(ids.gate_up, &gate_up, all_experts, &[own.ffn * 2 * hidden])?;
        layout.divided(ids.down, &down, all_experts * hidden, &[own.ffn])?;
        layout.whole(ids.rotary)?;
        let (pages, of_head) = (layers * self.shape.pool(), 2 * page * head_dim);
        layout.divided(
            ids.cache,
            &[pages, own.kv_heads, 2, page, head_dim],
            pages,
            &[own.kv_heads * of_head],
        )?;
        layout.whole(ids.tokens)?;
        layout.zeroed(DType::Float32, &[chips, batch, own.vocab], true)?;
        layout.zeroed(DType::Float32, &[batch, hidden], false)?;
        layout.zeroed(DType::Float32, &[chips, batch, hidden], true)?;
        layout.zeroed(DType::Float32, &[chips, tiles, batch], true)?;
        layout.zeroed(DType::Int32, &[chips, tiles, batch], true)?;
        if let Some((router, _)) = ids.experts {
            layout.whole(router)?;
            layout.zeroed(DType::Int32, &[chips, tokens * layers, batch, CHOICES], true)?;
        }
        Ok(SharedData { buffers: layout.shared, tensors: layout.tensors })
    }

    fn steps(&self) -> u32 {
        self.shape.tokens * (4 * self.shape.layers + 3)
    }

    fn step(&self, step: u32) -> Step {
        let has_experts = self.shape.experts != 0;
        match self.does(step).0 {
            Does::Embed => Step::One { written: &[tensor::X] },
            Does::Attention(_) => Step::Each { written: &[tensor::SUMS, tensor::CACHE] },
            Does::FeedForward(_) if has_experts => Step::Each { written: &[tensor::SUMS, tensor::ROUTES] },
            Does::FeedForward(_) => Step::Each { written: &[tensor::SUMS] },
            Does::AddUp(_) => Step::AllReduce { partial: tensor::SUMS, total: tensor::X },
            Does::Logits => Step::Each { written: &[tensor::LOGITS, tensor::BEST, tensor::WHICH] },
            Does::Pick => Step::One { written: &[tensor::TOKENS] },
        }
    }

    fn label(&self, step: u32) -> String {
        let (does, token) = self.does(step);
        match does {
            Does::Embed => format!("token {token}: embedding"),
            Does::Attention(layer) => format!("token {token} layer {layer}: attention"),
            Does::FeedForward(layer) => format!("token {token} layer {layer}: feed-forward"),
            Does::AddUp(layer) => format!("token {token} layer {layer}: all-reduce"),
            Does::Logits => format!("token {token}: logits"),
            Does::Pick => format!("token {token}: choice"),
        }
    }

    fn orchestrate_share<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        step: u32,
        share: Share,
        tensors: &[Tensor<'s>],
    ) -> Result<()> {
        let (does, token) = self.does(step);
        let own = self.shape.share(share.chips);
        let tokens = tensors[tensor::TOKENS];
        match does {
            Does::Embed => {
                let table = tensors[tensor::TABLE].reshape(&[self.shape.vocab, self.shape.hidden])?;
                let token = tokens.select(0, token)?;
                return o.submit(&EMBED, [token.read(), table.read(), tensors[tensor::X].write()]).map(drop);
            }
            Does::Pick => {
                let rows = [share.chips * self.shape.tiles, self.shape.batch];
                let [best, which] = [tensor::BEST, tensor::WHICH].map(|at| tensors[at].reshape(&rows));
                let next = tokens.select(0, token + 1)?;
                return o.submit(&PICK, [best?.read(), which?.read(), next.write()]).map(drop);
            }
            _ => {}
        }
        let model = Model {
            shape: &own,
            pages: &self.table,
            table: tensors[tensor::TABLE],
            gains: core::array::from_fn(|i| tensors[tensor::GAINS + i]),
            last_gain: tensors[tensor::LAST_GAIN],
            qkv: tensors[tensor::QKV],
            out: tensors[tensor::OUT],
            gate_up: tensors[tensor::GATE_UP],
            down: tensors[tensor::DOWN],
            experts: tensors.get(tensor::ROUTES).map(|routes| (tensors[tensor::ROUTER], *routes)),
            rotary: tensors[tensor::ROTARY],
            cache: tensors[tensor::CACHE],
            logits: tensors[tensor::LOGITS],
        };
        let [x, sums] = [tensor::X, tensor::SUMS].map(|at| tensors[at]);
        let [best, which] = [tensor::BEST, tensor::WHICH].map(|at| tensors[at]);
        match does {
            Does::Logits => model.logits(o, x, (best, which), share.chip * own.vocab),
            Does::Attention(layer) => {
                let between = Between::new(o, &own, x, sums)?;
                model.attention(o, &between, layer, token)
            }
            Does::FeedForward(layer) => {
                let between = Between::new(o, &own, x, sums)?;
                model.feed_forward(o, &between, layer, token)
            }
            Does::Embed | Does::Pick | Does::AddUp(_) => Ok(()),
        }
    }

    fn collect(&self, chips: u32, shared: &SharedData, data: &mut Buffers<'_>) -> Result<()> {
        let (ids, own) = (made(&self.ids)?, self.shape.share(chips));
        let of = |at: usize| shared.tensors[at].buffer;
        data.copy_from(ids.tokens, &shared.buffers, of(tensor::TOKENS))?;
        let Shape { vocab, batch, .. } = self.shape;
        let divided = shared.buffers.get::<f32>(of(tensor::LOGITS))?;
        let rows: Vec<&[f32]> = divided.chunks_exact(own.vocab as usize).collect();
        let of_sequence = |sequence: u32| (0..chips).map(move |chip| (chip * batch + sequence) as usize);
        let logits: Vec<f32> = (0..batch).flat_map(of_sequence).flat_map(|row| rows[row]).copied().collect();
        put(data, ids.logits, &[batch, vocab], &logits)?;
        if let Some((_, routes)) = ids.experts {
            // All chips choose alike.
            let shape = data.bytes(routes)?.0.shape();
            let len = data.get::<i32>(routes)?.len();
            put(data, routes, &shape, &shared.buffers.get::<i32>(of(tensor::ROUTES))?[..len])?;
        }
        Ok(())
    }
}

/// Overwrites a buffer.
fn put<T: Element>(data: &mut Buffers<'_>, id: BufferId, shape: &[u32], values: &[T]) -> Result<()> {
    let mut from = Buffers::new();
    let values = from.lend(shape, values)?;
    data.copy_from(id, &from, values)
}

/// Makes the tensors in the order of their numbers.
struct Layout<'a, 'b> {
    data: &'a Buffers<'b>,
    chips: u32,
    shared: Buffers<'static>,
    tensors: Vec<SharedTensor>,
}

impl Layout<'_, '_> {
    fn add(&mut self, buffer: BufferId, is_divided: bool) {
        self.tensors.push(SharedTensor { buffer, is_divided });
    }

    fn zeroed(&mut self, dtype: DType, shape: &[u32], is_divided: bool) -> Result<()> {
        let buffer = self.shared.add_zeroed(dtype, shape)?;
        self.add(buffer, is_divided);
        Ok(())
    }

    fn whole(&mut self, id: BufferId) -> Result<()> {
        let (view, _) = self.data.bytes(id)?;
        let buffer = self.shared.add_zeroed(view.dtype(), &view.shape())?;
        self.shared.copy_from(buffer, self.data, id)?;
        self.add(buffer, false);
        Ok(())
    }

    /// A row of the shape `own` for each chip. The data has `groups` that are alike, each with some pieces for all chips; a chip
    /// has this many elements of each piece.
    fn divided(&mut self, id: BufferId, own: &[u32], groups: u32, pieces: &[u32]) -> Result<()> {
        let from = self.data.get::<bf16>(id)?;
        let mut values = Vec::with_capacity(from.len());
        let group: usize = from.len() / groups as usize;
        for chip in 0..self.chips as usize {
            for group in from.chunks_exact(group) {
                let mut start = 0;
                for &piece in pieces {
                    let piece = piece as usize;
                    values.extend_from_slice(&group[start + chip * piece..][..piece]);
                    start += piece * self.chips as usize;
                }
            }
        }
        let shape = [&[self.chips], own].concat();
        let buffer = self.shared.add(&shape, &values)?;
        self.add(buffer, true);
        Ok(())
    }
}
