//! What the model should have computed: the formulas in f64, one position after another, without pages, parts or tiles.
//!
//! The run rounds differently, so two nearly equal logits, or scores of experts, may change places, and everything after
//! that differs. So this follows the choices of the run, and checks each: no other token may be better than the chosen one
//! by more than the tolerance. The logits of the last step, which depend on every position before, are compared one by one.

use ringlane_engine::prelude::*;
use ringlane_task::bf16;

use super::inputs::{Ids, THETA, cache, prompt};
use super::norm::EPSILON;
use super::shape::{CHOICES, Shape};
use crate::golden::{Check, Golden, Tolerance};

/// Logits have a standard deviation of 1. Most of the error comes from keys and values near the middle between two bf16.
const TOLERANCE: Tolerance = Tolerance::absolute(5e-3);
/// Products of more weights than this are divided among threads.
const SHARED_WEIGHTS: usize = 1 << 18;

/// Compares a run.
pub(super) fn check(
    data: &Buffers<'_>,
    shape: &Shape,
    table: &[Vec<u32>],
    ids: &Ids,
    seed: u64,
) -> Result<Golden> {
    let (tokens, logits) = (data.get::<i32>(ids.tokens)?, data.get::<f32>(ids.logits)?);
    let mut check = Check::new();
    let (batch, vocab) = (shape.batch as usize, shape.vocab as usize);
    for (&got, want) in tokens.iter().zip(prompt(shape, seed)).take(batch) {
        check.value(got, f64::from(want), Tolerance::EXACT);
    }
    let mut reference = Reference::new(data, shape, table, ids, seed)?;
    let mut last = Vec::new();
    for (step, (now, next)) in tokens.chunks(batch).zip(tokens.chunks(batch).skip(1)).enumerate() {
        // A token that the table does not have was found wrong where it was chosen.
        let now: Vec<usize> = now.iter().map(|&token| (token.max(0) as usize).min(vocab - 1)).collect();
        last = reference.step(&now, step, &mut check);
        for (logits, &token) in last.chunks(vocab).zip(next) {
            let best = logits.iter().copied().fold(f64::MIN, f64::max);
            let chosen = usize::try_from(token).ok().and_then(|token| logits.get(token));
            check.value(better_by(best, chosen), 0.0, twice(TOLERANCE));
        }
    }
    check.slice(logits, &last, TOLERANCE);
    Ok(hashed_with(check, tokens))
}

/// Adds the tokens to the hash: each was compared with a score, not with a number.
fn hashed_with(mut check: Check, tokens: &[i32]) -> Golden {
    tokens.iter().for_each(|&token| check.hash(token));
    check.finish()
}

/// How much the best is better than what was chosen; infinite if that does not exist.
fn better_by(best: f64, chosen: Option<&f64>) -> f64 {
    chosen.map_or(f64::INFINITY, |chosen| best - chosen)
}

/// Both of two numbers may be wrong.
fn twice(tolerance: Tolerance) -> Tolerance {
    Tolerance::absolute(2.0 * tolerance.absolute)
}

/// The model, and the keys and values of each layer and sequence: heads × dimensions for each position.
struct Reference<'a> {
    shape: &'a Shape,
    table: &'a [bf16],
    gains: [&'a [bf16]; 4],
    last_gain: &'a [bf16],
    qkv: &'a [bf16],
    out: &'a [bf16],
    gate_up: &'a [bf16],
    down: &'a [bf16],
    experts: Option<(&'a [bf16], &'a [i32])>,
    keys: Vec<Vec<f64>>,
    values: Vec<Vec<f64>>,
}

impl<'a> Reference<'a> {
    fn new(
        data: &'a Buffers<'_>,
        shape: &'a Shape,
        table: &[Vec<u32>],
        ids: &Ids,
        seed: u64,
    ) -> Result<Self> {
        let get = |id| data.get::<bf16>(id);
        let [attention, ffn, query, key] = ids.gains.map(get);
        let (cache, count) = (cache(shape, seed), (shape.layers * shape.batch) as usize);
        let past = |what: usize| -> Vec<Vec<f64>> {
            let of = |at: usize| {
                let (layer, sequence) = (at / shape.batch as usize, at % shape.batch as usize);
                past(shape, &cache, (layer, what), &table[sequence])
            };
            (0..count).map(of).collect()
        };
        Ok(Reference {
            shape,
            table: get(ids.table)?,
            gains: [attention?, ffn?, query?, key?],
            last_gain: get(ids.last_gain)?,
            qkv: get(ids.qkv)?,
            out: get(ids.out)?,
            gate_up: get(ids.gate_up)?,
            down: get(ids.down)?,
            experts: match ids.experts {
                Some((router, routes)) => Some((get(router)?, data.get(routes)?)),
                None => None,
            },
            keys: past(0),
            values: past(1),
        })
    }

    /// The logits of one step.
    fn step(&mut self, tokens: &[usize], step: usize, check: &mut Check) -> Vec<f64> {
        let hidden = self.shape.hidden as usize;
        let row = |&token: &usize| self.table[token * hidden..][..hidden].iter().map(|x| x.to_f64());
        let mut x: Vec<f64> = tokens.iter().flat_map(row).collect();
        for layer in 0..self.shape.layers as usize {
            self.attention(&mut x, layer, step);
            if self.experts.is_some() {
                self.mixture(&mut x, layer, step, check);
            } else {
                self.feed_forward(&mut x, layer);
            }
        }
        product(self.table, &self.norm(&x, self.last_gain), hidden)
    }

    fn norm(&self, x: &[f64], gain: &[bf16]) -> Vec<f64> {
        let rows = x.chunks_exact(self.shape.hidden as usize);
        rows.flat_map(|row| normalised(row, gain)).collect()
    }

    fn attention(&mut self, x: &mut [f64], layer: usize, step: usize) {
        let (hidden, dim) = (self.shape.hidden as usize, self.shape.head_dim as usize);
        let gains = self.gains;
        let part = |gains: &'a [bf16], len: usize| &gains[layer * len..][..len];
        let normed = self.norm(x, part(gains[0], hidden));
        let position = self.shape.context as usize + step;
        let qkv = product(of_layer(self.qkv, self.shape, layer), &normed, hidden);
        let (heads, kv) = (self.shape.heads as usize, self.shape.kv_heads as usize);
        let mut results = Vec::new();
        for (sequence, qkv) in qkv.chunks_exact((heads + 2 * kv) * dim).enumerate() {
            let at = layer * self.shape.batch as usize + sequence;
            let (queries, rest) = qkv.split_at(heads * dim);
            let (keys, values) = rest.split_at(kv * dim);
            let turn = |head: &[f64], gain| turned(&normalised(head, part(gain, dim)), position);
            let key = keys.chunks_exact(dim).flat_map(|key| turn(key, gains[3]));
            self.keys[at].extend(key.map(rounded));
            self.values[at].extend(values.iter().copied().map(rounded));
            for (head, query) in queries.chunks_exact(dim).enumerate() {
                let shared = head / (heads / kv);
                results.extend(self.head(&turn(query, gains[2]), at, shared));
            }
        }
        add(x, &product(of_layer(self.out, self.shape, layer), &results, heads * dim));
    }

    /// softmax(q·kᵀ/√dim)·v over all positions.
    fn head(&self, query: &[f64], at: usize, shared: usize) -> Vec<f64> {
        let (dim, kv) = (query.len(), self.shape.kv_heads as usize);
        let of = |all: &'_ [f64]| {
            let rows: Vec<Vec<f64>> =
                all.chunks_exact(kv * dim).map(|row| row[shared * dim..][..dim].to_vec()).collect();
            rows
        };
        let (keys, values) = (of(&self.keys[at]), of(&self.values[at]));
        let score = |key: &Vec<f64>| query.iter().zip(key).map(|(q, k)| q * k).sum::<f64>();
        let scores: Vec<f64> = keys.iter().map(|key| score(key) / (dim as f64).sqrt()).collect();
        let max = scores.iter().copied().fold(f64::MIN, f64::max);
        let total: f64 = scores.iter().map(|score| (score - max).exp()).sum();
        let mut result = vec![0.0; dim];
        for (score, value) in scores.iter().zip(&values) {
            let weight = (score - max).exp() / total;
            result.iter_mut().zip(value).for_each(|(sum, v)| *sum += weight * v);
        }
        result
    }

    fn feed_forward(&self, x: &mut [f64], layer: usize) {
        let (hidden, ffn) = (self.shape.hidden as usize, self.shape.ffn as usize);
        let normed = self.norm(x, &self.gains[1][layer * hidden..][..hidden]);
        let of = |weights| of_layer(weights, self.shape, layer);
        let inner = gated(&product(of(self.gate_up), &normed, hidden));
        add(x, &product(of(self.down), &inner, ffn));
    }

    fn mixture(&self, x: &mut [f64], layer: usize, step: usize, check: &mut Check) {
        let Shape { hidden, ffn, experts, layers, batch, .. } = *self.shape;
        let (hidden, ffn, experts) = (hidden as usize, ffn as usize, experts as usize);
        let (router, routes) = self.experts.expect("only called with experts");
        let normed = self.norm(x, &self.gains[1][layer * hidden..][..hidden]);
        let scores = product(&router[layer * experts * hidden..][..experts * hidden], &normed, hidden);
        let first = (step * layers as usize + layer) * batch as usize * CHOICES as usize;
        for (b, x) in x.chunks_exact_mut(hidden).enumerate() {
            let (scores, normed) = (&scores[b * experts..][..experts], &normed[b * hidden..][..hidden]);
            let chosen = &routes[first + b * CHOICES as usize..][..CHOICES as usize];
            let chosen = followed(scores, chosen, check);
            let total: f64 = chosen.iter().map(|&expert| scores[expert].exp()).sum();
            for expert in chosen {
                let part =
                    |weights: &'a [bf16], len: usize| &weights[(layer * experts + expert) * len..][..len];
                let mut inner = gated(&product(part(self.gate_up, 2 * ffn * hidden), normed, hidden));
                inner.iter_mut().for_each(|inner| *inner *= scores[expert].exp() / total);
                add(x, &product(part(self.down, hidden * ffn), &inner, ffn));
            }
        }
    }
}

/// The experts that a run chose, after a check that they are different ones and the best, the best one first.
fn followed(scores: &[f64], chosen: &[i32], check: &mut Check) -> Vec<usize> {
    let mut left = scores.to_vec();
    let mut followed = Vec::new();
    for &expert in chosen {
        let best = left.iter().copied().fold(f64::MIN, f64::max);
        let known = usize::try_from(expert).ok().filter(|&expert| expert < left.len());
        check.value(better_by(best, known.map(|expert| &left[expert])), 0.0, twice(TOLERANCE));
        let expert = known.unwrap_or(0);
        left[expert] = f64::NEG_INFINITY;
        followed.push(expert);
    }
    followed
}

/// The keys (0) or the values (1) of a sequence in one layer before the first step.
fn past(shape: &Shape, cache: &[bf16], (layer, what): (usize, usize), pages: &[u32]) -> Vec<f64> {
    let (kv, size, dim) = (shape.kv_heads as usize, shape.page as usize, shape.head_dim as usize);
    let row = |position: usize, head: usize| {
        let page = layer * shape.pool() as usize + pages[position / size] as usize;
        let at = ((page * kv + head) * 2 + what) * size + position % size;
        cache[at * dim..][..dim].iter().map(|x| x.to_f64())
    };
    let positions = 0..shape.context as usize;
    positions.flat_map(|position| (0..kv).flat_map(move |head| row(position, head))).collect()
}

/// The weights of one layer.
fn of_layer<'w>(weights: &'w [bf16], shape: &Shape, layer: usize) -> &'w [bf16] {
    let len = weights.len() / shape.layers as usize;
    &weights[layer * len..][..len]
}

fn normalised(x: &[f64], gain: &[bf16]) -> Vec<f64> {
    let square = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
    x.iter().zip(gain).map(|(x, gain)| x / (square + f64::from(EPSILON)).sqrt() * gain.to_f64()).collect()
}

/// Each pair of numbers, half a head apart, turned by its angle.
fn turned(x: &[f64], position: usize) -> Vec<f64> {
    let half = x.len() / 2;
    let mut turned = vec![0.0; x.len()];
    for i in 0..half {
        let (sin, cos) = (position as f64 * THETA.powf(-(i as f64) / half as f64)).sin_cos();
        turned[i] = x[i] * cos - x[i + half] * sin;
        turned[i + half] = x[i + half] * cos + x[i] * sin;
    }
    turned
}

/// silu(gate) · up for pairs of both.
fn gated(pairs: &[f64]) -> Vec<f64> {
    pairs.chunks_exact(2).map(|pair| pair[0] / (1.0 + (-pair[0]).exp()) * pair[1]).collect()
}

fn rounded(x: f64) -> f64 {
    bf16::from_f64(x).to_f64()
}

fn add(x: &mut [f64], y: &[f64]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

/// weights · x for each vector of `x`.
fn product(weights: &[bf16], x: &[f64], inputs: usize) -> Vec<f64> {
    let rows = weights.len() / inputs;
    let mut by_row = vec![0.0; x.len() / inputs * rows];
    let batch = x.len() / inputs;
    let some = |weights: &[bf16], results: &mut [f64]| {
        for (row, results) in weights.chunks_exact(inputs).zip(results.chunks_exact_mut(batch)) {
            let row: Vec<f64> = row.iter().map(|&w| exact(w)).collect();
            for (x, result) in x.chunks_exact(inputs).zip(results) {
                *result = dot(&row, x);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    if weights.len() > SHARED_WEIGHTS && threads > 1 {
        let each = rows.div_ceil(threads);
        std::thread::scope(|scope| {
            for (weights, results) in weights.chunks(each * inputs).zip(by_row.chunks_mut(each * batch)) {
                scope.spawn(|| some(weights, results));
            }
        });
    } else {
        some(weights, &mut by_row);
    }
    (0..batch).flat_map(|b| by_row.iter().skip(b).step_by(batch).copied()).collect()
}

/// The number that a weight is. Weights are finite, and the conversion that also handles NaN takes most of the time of a check.
fn exact(w: bf16) -> f64 {
    f64::from(f32::from_bits(u32::from(w.to_bits()) << 16))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|i| sums[i] += a[i] * b[i]);
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}
