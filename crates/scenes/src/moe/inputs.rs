//! Tokens, the gate and the experts' weights; and the experts of each token, computed in f64.

use crate::rng::Rng;

/// Experts that each token goes to.
pub(super) const CHOICES: usize = 2;
/// The minimum distance between the deciding scores: a thousand times the rounding error in f32.
const MARGIN: f64 = 1e-3;
/// What the gate subtracts from the score of an expert that must not be chosen.
const COLD: f32 = -1000.0;

/// The sizes of a mixture of experts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) tokens: u32,
    pub(super) block: u32,
    pub(super) dim: u32,
    pub(super) hidden: u32,
    pub(super) experts: u32,
    /// Experts that can be chosen.
    pub(super) hot: u32,
}

/// The input values of a run.
pub(super) struct Inputs {
    /// tokens × dim
    pub(super) x: Vec<f32>,
    /// dim × experts
    pub(super) gate: Vec<f32>,
    /// One per expert.
    pub(super) bias: Vec<f32>,
    /// experts × dim × hidden
    pub(super) up: Vec<f32>,
    /// experts × hidden × dim
    pub(super) down: Vec<f32>,
}

impl Inputs {
    /// Random values. A token whose choice depends on rounding is drawn again.
    pub(super) fn new(shape: &Shape, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let (dim, experts) = (shape.dim as usize, shape.experts as usize);
        let weights = experts * dim * shape.hidden as usize;
        let gate = rng.signed(dim * experts);
        let bias: Vec<f32> = (0..shape.experts).map(|e| if e < shape.hot { 0.0 } else { COLD }).collect();
        let mut inputs = Inputs { x: Vec::new(), gate, bias, up: Vec::new(), down: Vec::new() };
        while inputs.x.len() < shape.tokens as usize * dim {
            let token = rng.signed(dim);
            if inputs.is_clear(&token) {
                inputs.x.extend(token);
            }
        }
        // Sums over `dim` and `hidden` terms then stay near 1.
        let scaled = |values: Vec<f32>, by: u32| values.into_iter().map(|v| v / (by as f32).sqrt()).collect();
        inputs.up = scaled(rng.signed(weights), shape.dim);
        inputs.down = scaled(rng.signed(weights), shape.hidden);
        inputs
    }

    /// The experts of a token by descending score, with the scores.
    pub(super) fn ranking(&self, token: &[f32]) -> Vec<(usize, f64)> {
        let experts = self.bias.len();
        let score = |e: usize| {
            let column = self.gate.iter().skip(e).step_by(experts);
            self.bias[e] as f64 + token.iter().zip(column).map(|(&x, &g)| x as f64 * g as f64).sum::<f64>()
        };
        let mut ranking: Vec<_> = (0..experts).map(|e| (e, score(e))).collect();
        ranking.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranking
    }

    fn is_clear(&self, token: &[f32]) -> bool {
        let ranking = self.ranking(token);
        ranking.windows(2).take(CHOICES).all(|pair| pair[0].1 - pair[1].1 >= MARGIN)
    }
}
