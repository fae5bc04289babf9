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
    let (tokens, between) = (o.external(ids.tokens)?, Between::new(o, shape)?);
    for step in 0..shape.tokens {
        o.scope_named(&format!("token {step}"), |o| {
            let [token, next] = [tokens.select(0, step)?, tokens.select(0, step + 1)?];
            o.submit(&EMBED, [token.read(), model.table.read(), between.x.write()])?;
            for layer in 0..shape.layers {
                o.scope_named(&format!("layer {layer}"), |o| {
                    model.attention(o, &between, layer, step)?;
                    model.feed_forward(o, &between, layer, step)
                })?;
            }
            model.pick(o, &between, next)
        })?;
    }
    Ok(())
}

/// What tasks pass to each other, one row for each sequence.
#[derive(Clone, Copy)]
struct Between<'s> {
    /// The vectors of the tokens.
    x: Tensor<'s>,
    /// Queries, keys and values.
    qkv: Tensor<'s>,
    /// Results of the heads.
    heads: Tensor<'s>,
    /// Inner values of the feed-forward network; of each chosen expert.
    inner: Tensor<'s>,
    /// The shares of the chosen experts.
    share: Tensor<'s>,
    /// The best logit of each block, and its token.
    best: Tensor<'s>,
    which: Tensor<'s>,
}

impl<'s> Between<'s> {
    fn new(o: &mut Orch<'s, '_>, shape: &Shape) -> Result<Self> {
        let Shape { batch, head_dim, ffn, tiles, .. } = *shape;
        let inner = if shape.experts == 0 { vec![batch, ffn] } else { vec![batch, CHOICES, ffn] };
        Ok(Between {
            x: o.alloc(f32, [batch, shape.hidden])?,
            qkv: o.alloc(f32, [batch, shape.all_heads() * head_dim])?,
            heads: o.alloc(f32, [batch, shape.heads, head_dim + EXTRA])?,
            inner: o.alloc(f32, inner)?,
            share: o.alloc(f32, [batch, CHOICES])?,
            best: o.alloc(f32, [tiles, batch])?,
            which: o.alloc(i32, [tiles, batch])?,
        })
    }
}

/// The buffers of a run as tensors.
struct Model<'s, 'm> {
    shape: &'m Shape,
    /// The pages of each sequence.
    pages: &'m [Vec<u32>],
    table: Tensor<'s>,
    gains: [Tensor<'s>; 4],
    last_gain: Tensor<'s>,
    qkv: Tensor<'s>,
    out: Tensor<'s>,
    gate_up: Tensor<'s>,
    down: Tensor<'s>,
    experts: Option<(Tensor<'s>, Tensor<'s>)>,
    rotary: Tensor<'s>,
    cache: Tensor<'s>,
    logits: Tensor<'s>,
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
    fn attention<'c>(&self, o: &mut Orch<'c, '_>, t: &Between<'c>, layer: u32, step: u32) -> Result<()>
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
        o.submit(OUT.blocks(tiles), [t.x.inout().split(1), out, heads, down]).map(drop)
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
    fn feed_forward<'c>(&self, o: &mut Orch<'c, '_>, t: &Between<'c>, layer: u32, step: u32) -> Result<()>
    where
        's: 'c,
    {
        let (x, tiles) = (t.x.inout().split(1), self.shape.tiles);
        let gain = self.gains[1].select(0, layer)?.read();
        let (gate_up, down) = (self.gate_up.select(0, layer)?.read(), self.down.select(0, layer)?.read());
        let Some((router, routes)) = self.experts else {
            let is_last = layer + 1 == self.shape.layers;
            let later = if is_last { self.table } else { self.qkv.select(0, layer + 1)? }.read().split(0);
            let inner = t.inner.write().split(1);
            o.submit(GATE_UP.blocks(tiles), [t.x.read(), gain, gate_up.split(0), inner, later])?;
            return o.submit(DOWN.blocks(tiles), [x, down.split(0), t.inner.read()]).map(drop);
        };
        let (router, route) = (router.select(0, layer)?, routes.select(0, step * self.shape.layers + layer)?);
        o.submit(&ROUTE, [t.x.read(), gain, router.read(), route.write(), t.share.write()])?;
        let (gate_up, inner) = (gate_up.split(1), t.inner.write().split(2));
        o.submit(EXPERT_UP.blocks(tiles), [t.x.read(), gain, route.read(), gate_up, inner])?;
        let args = [x, down.split(1), t.inner.read(), route.read(), t.share.read()];
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

    /// The logits, and the token of each sequence.
    fn pick<'c>(&self, o: &mut Orch<'c, '_>, t: &Between<'c>, token: Tensor<'c>) -> Result<()>
    where
        's: 'c,
    {
        let (logits, table) = (self.logits.write().split(1), self.table.read().split(0));
        let (best, which) = (t.best.write().split(0), t.which.write().split(0));
        let vocab = scalar(self.shape.vocab);
        let args = [t.x.read(), self.last_gain.read(), table, logits, best, which, vocab];
        o.submit(LOGITS.blocks(self.shape.tiles), args)?;
        o.submit(&PICK, [t.best.read(), t.which.read(), token.write()]).map(drop)
    }
}
