//! The tasks of all steps.
//!
//! Tensors between tasks are allocated once and overwritten by each layer, so that memory does not grow with the number of
//! tokens. The token of a step is written to a buffer from which the next step reads it: no step waits on the host.

use ringlane_engine::prelude::*;

use super::attend::{ATTEND, ATTEND_CACHED, EXTRA, MERGE};
use super::experts::{EXPERT_DOWN, EXPERT_UP, ROUTE};
use super::inputs::Ids;
use super::project::{DOWN, GATE_UP, OUT, QKV};
use super::shape::{CHOICES, Shape};
use super::tokens::{EMBED, LOGITS, PICK};
use crate::scopes::{in_scopes, pieces};

/// Sequences in one scope: with a few parts of their contexts, half of a window of 64.
const SEQUENCES_PER_SCOPE: usize = 8;

/// Submits all steps.
pub(super) fn all_steps(o: &mut Orch<'_, '_>, shape: &Shape, table: &[Vec<u32>], ids: &Ids) -> Result<()> {
    let model = Model::new(o, shape, table, ids)?;
    let x = o.alloc(f32, [shape.batch, shape.hidden])?;
    let (tokens, between) = (o.external(ids.tokens)?, Between::new(o, shape, x, x)?);
    let best = (o.alloc(f32, [shape.tiles, shape.batch])?, o.alloc(i32, [shape.tiles, shape.batch])?);
    for step in 0..shape.tokens {
        o.scope_named(&format!("token {step}"), |o| {
            let [token, next] = [tokens.select(0, step)?, tokens.select(0, step + 1)?];
            o.submit(&EMBED, [token.read(), model.table.read(), x.write()])?;
            for layer in 0..shape.layers {
                o.scope_named(&format!("layer {layer}"), |o| {
                    model.attention(o, &between, layer, step)?;
                    model.feed_forward(o, &between, layer, step)
                })?;
            }
            model.logits(o, x, best, 0)?;
            o.submit(&PICK, [best.0.read(), best.1.read(), next.write()]).map(drop)
        })?;
    }
    Ok(())
}

/// What tasks pass to each other, one row for each sequence.
#[derive(Clone, Copy)]
pub(super) struct Between<'s> {
    /// The vectors of the tokens.
    x: Tensor<'s>,
    /// What attention and the feed-forward network are added to: x, or a sum of its own.
    sums: Tensor<'s>,
    /// Queries, keys and values.
    qkv: Tensor<'s>,
    /// Results of the heads.
    heads: Tensor<'s>,
    /// Inner values of the feed-forward network; of each chosen expert.
    inner: Tensor<'s>,
    /// The shares of the chosen experts.
    share: Tensor<'s>,
}

impl<'s> Between<'s> {
    pub(super) fn new(o: &mut Orch<'s, '_>, shape: &Shape, x: Tensor<'s>, sums: Tensor<'s>) -> Result<Self> {
        let Shape { batch, head_dim, ffn, .. } = *shape;
        let inner = if shape.experts == 0 { vec![batch, ffn] } else { vec![batch, CHOICES, ffn] };
        Ok(Between {
            x,
            sums,
            qkv: o.alloc(f32, [batch, shape.all_heads() * head_dim])?,
            heads: o.alloc(f32, [batch, shape.heads, head_dim + EXTRA])?,
            inner: o.alloc(f32, inner)?,
            share: o.alloc(f32, [batch, CHOICES])?,
        })
    }
}

/// The buffers of a run as tensors.
pub(super) struct Model<'s, 'm> {
    pub(super) shape: &'m Shape,
    /// The pages of each sequence.
    pub(super) pages: &'m [Vec<u32>],
    pub(super) table: Tensor<'s>,
    pub(super) gains: [Tensor<'s>; 4],
    pub(super) last_gain: Tensor<'s>,
    pub(super) qkv: Tensor<'s>,
    pub(super) out: Tensor<'s>,
    pub(super) gate_up: Tensor<'s>,
    pub(super) down: Tensor<'s>,
    pub(super) experts: Option<(Tensor<'s>, Tensor<'s>)>,
    pub(super) rotary: Tensor<'s>,
    pub(super) cache: Tensor<'s>,
    pub(super) logits: Tensor<'s>,
}

impl<'s, 'm> Model<'s, 'm> {
    fn new(o: &mut Orch<'s, '_>, shape: &'m Shape, pages: &'m [Vec<u32>], ids: &Ids) -> Result<Self> {
        let [attention, ffn, query, key] = ids.gains.map(|id| o.external(id));
        Ok(Model {
            shape,
            pages,
            table: o.external(ids.table)?,
            gains: [attention?, ffn?, query?, key?],
            last_gain: o.external(ids.last_gain)?,
            qkv: o.external(ids.qkv)?,
            out: o.external(ids.out)?,
            gate_up: o.external(ids.gate_up)?,
            down: o.external(ids.down)?,
            experts: match ids.experts {
                Some((router, routes)) => Some((o.external(router)?, o.external(routes)?)),
                None => None,
            },
            rotary: o.external(ids.rotary)?,
            cache: o.external(ids.cache)?,
            logits: o.external(ids.logits)?,
        })
    }

    /// The attention of a layer, up to the sum with x.
    pub(super) fn attention<'c>(
        &self,
        o: &mut Orch<'c, '_>,
        t: &Between<'c>,
        layer: u32,
        step: u32,
    ) -> Result<()>
    where
        's: 'c,
    {
        let (shape, tiles) = (self.shape, self.shape.tiles);
        let gain = self.gains[0].select(0, layer)?.read();
        let weight = self.qkv.select(0, layer)?.read().split(0);
        let out = self.out.select(0, layer)?.read().split(0);
        o.submit(QKV.blocks(tiles), [t.x.read(), gain, weight, t.qkv.write().split(1), out])?;
        in_scopes(o, 0..shape.batch, SEQUENCES_PER_SCOPE, |o, sequence| {
            self.sequence(o, t, (layer, step), sequence)
        })?;
        let heads = t.heads.slice(2, 0, shape.head_dim)?.read();
        let [_, down] = self.feed_forward_rows(layer)?;
        o.submit(OUT.blocks(tiles), [t.sums.inout().split(1), out, heads, down]).map(drop)
    }

    /// The attention of one sequence: to all pages in one task if they are few, otherwise in parts.
    fn sequence<'c>(
        &self,
        o: &mut Orch<'c, '_>,
        t: &Between<'c>,
        (layer, step): (u32, u32),
        sequence: u32,
    ) -> Result<()>
    where
        's: 'c,
    {
        let Shape { kv_heads, heads, head_dim, page, span, .. } = *self.shape;
        let [query_gain, key_gain] = [self.gains[2].select(0, layer)?, self.gains[3].select(0, layer)?];
        let position = self.shape.context + step;
        let (newest, slot) = (position / page, position % page);
        let qkv = t.qkv.select(0, sequence)?.reshape(&[self.shape.all_heads(), head_dim])?.read();
        let (row, rotary) = (t.heads.select(0, sequence)?, self.rotary.select(0, step)?.read());
        let pages = |first: u32, count: u32| {
            let pages = &self.pages[sequence as usize][first as usize..][..count as usize];
            pages.iter().map(move |&page| self.cache.select(0, layer * self.shape.pool() + page))
        };
        let mut parts = Vec::new();
        for (first, count) in pieces(newest + 1, span) {
            let is_last = first + count > newest;
            let alone = is_last && first == 0;
            let result = if alone { row.write() } else { out(f32, [heads, head_dim + EXTRA]) }.split(0);
            let full = pages(first, count - u32::from(is_last)).map(|page| Ok(page?.read().split(0)));
            let part = if is_last {
                let last = pages(newest, 1).next().expect("one page")?.inout().split(0);
                let (query_gain, key_gain) = (query_gain.read(), key_gain.read());
                let [later, _] = self.feed_forward_rows(layer)?;
                let mut args = vec![qkv, query_gain, key_gain, rotary, last, result, later, scalar(slot)];
                args.append(&mut full.collect::<Result<_>>()?);
                o.submit_slice(&[], ATTEND.blocks(kv_heads), &args)?
            } else {
                let mut args = vec![qkv, query_gain.read(), rotary, result];
                args.append(&mut full.collect::<Result<_>>()?);
                o.submit_slice(&[], ATTEND_CACHED.blocks(kv_heads), &args)?
            };
            if !alone {
                parts.push(part.out(0).read().split(0));
            }
        }
        if !parts.is_empty() {
            parts.insert(0, row.write().split(0));
            o.submit_slice(&[], MERGE.blocks(kv_heads), &parts)?;
        }
        Ok(())
    }

    /// The feed-forward network of a layer, up to the sum with x.
    pub(super) fn feed_forward<'c>(
        &self,
        o: &mut Orch<'c, '_>,
        t: &Between<'c>,
        layer: u32,
        step: u32,
    ) -> Result<()>
    where
        's: 'c,
    {
        let (sums, tiles) = (t.sums.inout().split(1), self.shape.tiles);
        let gain = self.gains[1].select(0, layer)?.read();
        let (gate_up, down) = (self.gate_up.select(0, layer)?.read(), self.down.select(0, layer)?.read());
        let Some((router, routes)) = self.experts else {
            let is_last = layer + 1 == self.shape.layers;
            let later = if is_last { self.table } else { self.qkv.select(0, layer + 1)? }.read().split(0);
            let inner = t.inner.write().split(1);
            o.submit(GATE_UP.blocks(tiles), [t.x.read(), gain, gate_up.split(0), inner, later])?;
            return o.submit(DOWN.blocks(tiles), [sums, down.split(0), t.inner.read()]).map(drop);
        };
        let (router, route) = (router.select(0, layer)?, routes.select(0, step * self.shape.layers + layer)?);
        o.submit(&ROUTE, [t.x.read(), gain, router.read(), route.write(), t.share.write()])?;
        let (gate_up, inner) = (gate_up.split(1), t.inner.write().split(2));
        o.submit(EXPERT_UP.blocks(tiles), [t.x.read(), gain, route.read(), gate_up, inner])?;
        let args = [sums, down.split(1), t.inner.read(), route.read(), t.share.read()];
        o.submit(EXPERT_DOWN.blocks(tiles), args).map(drop)
    }

    /// The weights of a layer's feed-forward network as rows: of the gate and the inner values, and of the result.
    fn feed_forward_rows(&self, layer: u32) -> Result<[Arg<'s>; 2]> {
        let Shape { hidden, ffn, experts, .. } = *self.shape;
        let rows = |weight: Tensor<'s>, cols: u32, rows: u32| -> Result<Arg<'s>> {
            let shape = [rows * experts.max(1), cols];
            Ok(weight.select(0, layer)?.reshape(&shape)?.read().split(0))
        };
        Ok([rows(self.gate_up, hidden, 2 * ffn)?, rows(self.down, ffn, hidden)?])
    }

    /// The logits of the model's tokens, the first of which is `first`; and the best one of each block, with its token.
    pub(super) fn logits<'c>(
        &self,
        o: &mut Orch<'c, '_>,
        x: Tensor<'c>,
        (best, which): (Tensor<'c>, Tensor<'c>),
        first: u32,
    ) -> Result<()>
    where
        's: 'c,
    {
        let (logits, table) = (self.logits.write().split(1), self.table.read().split(0));
        let (best, which) = (best.write().split(0), which.write().split(0));
        let (vocab, first) = (scalar(self.shape.vocab), scalar(first));
        let args = [x.read(), self.last_gain.read(), table, logits, best, which, vocab, first];
        o.submit(LOGITS.blocks(self.shape.tiles), args).map(drop)
    }
}
