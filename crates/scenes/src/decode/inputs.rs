//! Weights from the seed, the prompt, and the cache of the positions before the first step.

use ringlane_engine::prelude::{BufferId, Buffers, DType, Result};
use ringlane_task::bf16;

use super::shape::{CHOICES, Shape};
use crate::rng::Rng;

/// Base of the angles of the rotary embedding.
pub(super) const THETA: f64 = 1e6;

/// The buffers of a run. Weights are rows of outputs, each with one number for each input.
#[derive(Clone, Copy)]
pub(super) struct Ids {
    /// vocab × hidden: one row for each token, for its embedding and for its logit.
    pub(super) table: BufferId,
    /// Gains of the norms, by layer: before attention, before the feed-forward network; of queries, of keys.
    pub(super) gains: [BufferId; 4],
    /// The gain of the last norm.
    pub(super) last_gain: BufferId,
    /// layers × heads of queries, keys, values × hidden
    pub(super) qkv: BufferId,
    /// layers × hidden × width
    pub(super) out: BufferId,
    /// layers × (experts ×) ffn × gate and up × hidden
    pub(super) gate_up: BufferId,
    /// layers × (experts ×) hidden × ffn
    pub(super) down: BufferId,
    /// layers × experts × hidden, and the experts of each token: steps · layers × batch × choices
    pub(super) experts: Option<(BufferId, BufferId)>,
    /// Cosines and sines of a position: one row for each step.
    pub(super) rotary: BufferId,
    /// layers · pages × kv_heads × keys and values × page × head_dim
    pub(super) cache: BufferId,
    /// One row for each step, the first one for the prompt's last token.
    pub(super) tokens: BufferId,
    /// Of the last step.
    pub(super) logits: BufferId,
}

impl Ids {
    /// Makes all buffers.
    pub(super) fn make(data: &mut Buffers<'static>, shape: &Shape, seed: u64) -> Result<Self> {
        let Shape { layers, hidden, head_dim, ffn, vocab, batch, tokens, .. } = *shape;
        let mut source = Source { data, seed, stream: 0 };
        let table = source.weights(&[vocab, hidden], hidden)?;
        let gain = |source: &mut Source<'_>, dim| source.gains(&[layers, dim]);
        let gains = [
            gain(&mut source, hidden)?,
            gain(&mut source, hidden)?,
            gain(&mut source, head_dim)?,
            gain(&mut source, head_dim)?,
        ];
        let last_gain = source.gains(&[hidden])?;
        let qkv = source.weights(&[layers, shape.all_heads() * head_dim, hidden], hidden)?;
        let out = source.weights(&[layers, hidden, shape.width()], shape.width())?;
        let (gate_up, down) = match shape.experts {
            0 => (
                source.weights(&[layers, ffn, 2, hidden], hidden)?,
                source.weights(&[layers, hidden, ffn], ffn)?,
            ),
            experts => (
                source.weights(&[layers, experts, ffn, 2, hidden], hidden)?,
                source.weights(&[layers, experts, hidden, ffn], ffn)?,
            ),
        };
        let experts = match shape.experts {
            0 => None,
            experts => {
                let router = source.weights(&[layers, experts, hidden], hidden)?;
                let routes = data.add_zeroed(DType::Int32, &[tokens * layers, batch, CHOICES])?;
                Some((router, routes))
            }
        };
        let cache_shape = [layers * shape.pool(), shape.kv_heads, 2, shape.page, head_dim];
        Ok(Ids {
            table,
            gains,
            last_gain,
            qkv,
            out,
            gate_up,
            down,
            experts,
            rotary: data.add(&[tokens, head_dim], &rotary(shape))?,
            cache: data.add(&cache_shape, &cache(shape, seed))?,
            tokens: data.add(&[tokens + 1, batch], &prompt(shape, seed))?,
            logits: data.add_zeroed(DType::Float32, &[batch, vocab])?,
        })
    }
}

/// Makes buffers of random numbers, each from a sequence of its own.
struct Source<'a> {
    data: &'a mut Buffers<'static>,
    seed: u64,
    stream: u64,
}

impl Source<'_> {
    fn rng(&mut self) -> Rng {
        self.stream += 1;
        Rng::new(self.seed ^ self.stream << 56)
    }

    /// Weights of variance 1 / `inputs`, so that sums over the inputs stay near 1.
    fn weights(&mut self, shape: &[u32], inputs: u32) -> Result<BufferId> {
        let scale = (3.0 / inputs as f32).sqrt();
        let values = random(&mut self.rng(), shape, |x| x * scale);
        self.data.add(shape, &values)
    }

    /// Gains near 1.
    fn gains(&mut self, shape: &[u32]) -> Result<BufferId> {
        let values = random(&mut self.rng(), shape, |x| 1.0 + 0.25 * x);
        self.data.add(shape, &values)
    }
}

/// Numbers made from random ones in -1..1, four from each 64 bits.
fn random(rng: &mut Rng, shape: &[u32], of: impl Fn(f32) -> f32) -> Vec<bf16> {
    let mut values = vec![bf16::ZERO; shape.iter().map(|&len| len as usize).product()];
    for four in values.chunks_mut(4) {
        let bits = rng.bits();
        for (i, value) in four.iter_mut().enumerate() {
            *value = bf16::from_f32(of(f32::from((bits >> (16 * i)) as i16) / 32768.0));
        }
    }
    values
}

/// For the position of each step: the cosines of its angles, then the sines.
fn rotary(shape: &Shape) -> Vec<f32> {
    let half = shape.head_dim / 2;
    let of_step = |step: u32| {
        let angle = move |i: u32| {
            let position = f64::from(shape.context + step);
            position * THETA.powf(-2.0 * f64::from(i) / f64::from(shape.head_dim))
        };
        let cosines = (0..half).map(move |i| angle(i).cos() as f32);
        cosines.chain((0..half).map(move |i| angle(i).sin() as f32))
    };
    (0..shape.tokens).flat_map(of_step).collect()
}

/// The cache before the first step. Positions that come later hold numbers too: a kernel that reads them computes a wrong result.
pub(super) fn cache(shape: &Shape, seed: u64) -> Vec<bf16> {
    let page = [shape.layers * shape.pool(), shape.kv_heads, 2, shape.page, shape.head_dim];
    random(&mut Rng::new(!seed), &page, |x| 1.7 * x)
}

/// The last token of each prompt, and room for what follows.
pub(super) fn prompt(shape: &Shape, seed: u64) -> Vec<i32> {
    let mut rng = Rng::new(seed.rotate_left(32));
    let mut tokens: Vec<i32> = (0..shape.batch).map(|_| rng.below(shape.vocab) as i32).collect();
    tokens.resize((shape.tokens as usize + 1) * shape.batch as usize, -1);
    tokens
}

/// The pages of each sequence in the pool of a layer, in order: scattered, and the same in every layer.
pub(super) fn page_table(shape: &Shape, seed: u64) -> Vec<Vec<u32>> {
    let mut free: Vec<u32> = (0..shape.pool()).collect();
    Rng::new(seed).shuffle(&mut free);
    free.chunks(shape.pages() as usize).map(<[u32]>::to_vec).collect()
}
