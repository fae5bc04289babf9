//! `moe`: a mixture of experts, in which values computed in the run determine what is submitted.
//!
//! ```text
//! GATE of every token block ─▶ route      the orchestration reads it, block by block, then
//! for each expert that was chosen:   EXPERT on its tokens ─▶ COMBINE into the block of the result
//! ```
//! An expert that no token of a block chose gets no task, and the tensors between EXPERT and COMBINE have one row for
//! each token that chose the expert. The tokens of a block are combined in the order of the experts.
//!
//! Golden: routes, weights and experts in f64, token by token; routes are equal (inputs contain no token whose choice
//! depends on rounding), results have an absolute tolerance of 1e-5 (they stay below 2).

mod inputs;
mod kernels;

use ringlane_engine::prelude::*;

use self::inputs::{CHOICES, Inputs, Shape};
use self::kernels::{COMBINE, EXPERT, GATE};
use crate::error::SceneResult;
use crate::golden::{Check, Golden, Tolerance};
use crate::scene::{Case, Param, Program, Scene, made};
use crate::scopes::{in_scopes, pieces};
use crate::settings::Settings;

/// Experts in one scope, two tasks each: half of a window of 64.
const EXPERTS_PER_SCOPE: usize = 16;
/// Gates in one scope.
const GATES_PER_SCOPE: usize = 32;
const TOLERANCE: Tolerance = Tolerance::absolute(1e-5);

pub(crate) const SCENE: Scene = Scene {
    site: core::panic::Location::caller(),
    name: "moe",
    about: "a mixture of experts: routes computed in the run decide which experts get tasks",
    params: &[
        Param { name: "tokens", default: "96", about: "number of tokens" },
        Param { name: "block", default: "32", about: "tokens that are routed together" },
        Param { name: "dim", default: "32", about: "dimension of a token" },
        Param { name: "hidden", default: "64", about: "width of an expert" },
        Param { name: "experts", default: "8", about: "number of experts" },
        Param { name: "hot", default: "0", about: "experts that tokens can choose; 0: all of them" },
    ],
    cases: &[
        Case { name: "small", about: "three blocks of tokens, eight experts", set: &[] },
        Case {
            name: "skewed",
            about: "every token wants the same three experts",
            set: &[("experts", "16"), ("hot", "3")],
        },
        Case {
            name: "sparse",
            about: "more experts than tokens in a block, odd sizes",
            set: &[("tokens", "101"), ("block", "7"), ("dim", "19"), ("hidden", "21"), ("experts", "40")],
        },
        Case {
            name: "large",
            about: "8,192 tokens",
            set: &[("tokens", "8192"), ("block", "64"), ("dim", "128"), ("hidden", "256")],
        },
    ],
    kernels: &[&GATE, &EXPERT, &COMBINE],
    build: &|settings| Ok(Box::new(Moe { shape: shape(settings)?, seed: settings.seed, ids: None })),
};

fn shape(settings: &Settings) -> SceneResult<Shape> {
    let experts = settings.u32("experts", 2..=1 << 10)?;
    let hot = match settings.u32("hot", 0..=experts)? {
        0 => experts,
        1 => return Err(settings.refuse("hot", "0, or at least the 2 experts that each token goes to")),
        hot => hot,
    };
    Ok(Shape {
        tokens: settings.u32("tokens", 1..=1 << 16)?,
        block: settings.u32("block", 1..=1 << 12)?,
        dim: settings.u32("dim", 4..=1 << 10)?,
        hidden: settings.u32("hidden", 1..=1 << 11)?,
        experts,
        hot,
    })
}

#[derive(Clone, Copy)]
struct Ids {
    x: BufferId,
    gate: BufferId,
    bias: BufferId,
    up: BufferId,
    down: BufferId,
    route: BufferId,
    y: BufferId,
}

struct Moe {
    shape: Shape,
    seed: u64,
    ids: Option<Ids>,
}

/// One block of tokens and its tensors.
#[derive(Clone, Copy)]
struct Block<'s> {
    x: Tensor<'s>,
    route: Tensor<'s>,
    weight: Tensor<'s>,
    y: Tensor<'s>,
}

impl<'s> Block<'s> {
    fn rows(self, start: u32, len: u32) -> Result<Block<'s>> {
        let part = |tensor: Tensor<'s>| tensor.slice(0, start, len);
        Ok(Block { x: part(self.x)?, route: part(self.route)?, weight: part(self.weight)?, y: part(self.y)? })
    }
}

impl Moe {
    /// Submits the experts that a block's tokens chose.
    fn experts<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        block: Block<'s>,
        (up, down): (Tensor<'s>, Tensor<'s>),
        route: &[i32],
    ) -> Result<()> {
        let tokens_of = |expert| route.iter().filter(|&&chosen| chosen == expert).count() as u32;
        let busy =
            (0..self.shape.experts as i32).map(|e| (e, tokens_of(e))).filter(|&(_, tokens)| tokens > 0);
        in_scopes(o, busy, EXPERTS_PER_SCOPE, |o, (expert, tokens)| {
            let (up, down) = (up.select(0, expert as u32)?.read(), down.select(0, expert as u32)?.read());
            let fresh = out(f32, [tokens, self.shape.dim]);
            let (x, route, number) = (block.x.read(), block.route.read(), scalar(expert));
            let part = o.submit(&EXPERT, [x, route, up, down, fresh, number])?.out(0).read();
            o.submit(&COMBINE, [part, route, block.weight.read(), block.y.inout(), number]).map(drop)
        })
    }

    /// The result of one token, by the formula: the weighted sum of its experts.
    fn plain(&self, inputs: &Inputs, token: &[f32], chosen: &[(usize, f64)]) -> Vec<f64> {
        let (dim, hidden) = (self.shape.dim as usize, self.shape.hidden as usize);
        let total: f64 = chosen.iter().map(|(_, score)| score.exp()).sum();
        let mut result = vec![0.0; dim];
        for &(expert, score) in chosen {
            let up = &inputs.up[expert * dim * hidden..][..dim * hidden];
            let down = &inputs.down[expert * dim * hidden..][..dim * hidden];
            for h in 0..hidden {
                let column = up.iter().skip(h).step_by(hidden);
                let sum: f64 = token.iter().zip(column).map(|(&x, &w)| x as f64 * w as f64).sum();
                let active = sum.max(0.0) * score.exp() / total;
                result.iter_mut().zip(&down[h * dim..]).for_each(|(r, &w)| *r += active * w as f64);
            }
        }
        result
    }
}

impl Program for Moe {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        let inputs = Inputs::new(&self.shape, self.seed);
        let Shape { tokens, dim, hidden, experts, .. } = self.shape;
        self.ids = Some(Ids {
            x: data.add(&[tokens, dim], &inputs.x)?,
            gate: data.add(&[dim, experts], &inputs.gate)?,
            bias: data.add(&[experts], &inputs.bias)?,
            up: data.add(&[experts, dim, hidden], &inputs.up)?,
            down: data.add(&[experts, hidden, dim], &inputs.down)?,
            route: data.add_zeroed(i32, &[tokens, CHOICES as u32])?,
            y: data.add_zeroed(f32, &[tokens, dim])?,
        });
        Ok(data)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let ids = made(&self.ids)?;
        let (gate, bias) = (o.external(ids.gate)?, o.external(ids.bias)?);
        let weights = (o.external(ids.up)?, o.external(ids.down)?);
        let all = Block {
            x: o.external(ids.x)?,
            route: o.external(ids.route)?,
            weight: o.alloc(f32, [self.shape.tokens, CHOICES as u32])?,
            y: o.external(ids.y)?,
        };
        let blocks = pieces(self.shape.tokens, self.shape.block);
        in_scopes(o, blocks.clone(), GATES_PER_SCOPE, |o, (start, len)| {
            let Block { x, route, weight, .. } = all.rows(start, len)?;
            o.submit(&GATE, [x.read(), gate.read(), bias.read(), route.write(), weight.write()]).map(drop)
        })?;
        for (start, len) in blocks {
            let block = all.rows(start, len)?;
            let route = o.read::<i32>(block.route)?;
            o.scope(|o| self.experts(o, block, weights, &route))?;
        }
        Ok(())
    }

    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        let ids = made(&self.ids)?;
        let inputs = Inputs::new(&self.shape, self.seed);
        let (mut want, mut routes) = (Vec::new(), Vec::new());
        for token in inputs.x.chunks_exact(self.shape.dim as usize) {
            let chosen = &inputs.ranking(token)[..CHOICES];
            routes.extend(chosen.iter().map(|&(expert, _)| expert as f64));
            want.extend(self.plain(&inputs, token, chosen));
        }
        let mut check = Check::new();
        check.slice(data.get::<i32>(ids.route)?, &routes, Tolerance::EXACT);
        check.slice(data.get::<f32>(ids.y)?, &want, TOLERANCE);
        Ok(check.finish())
    }

    fn outputs(&self) -> Vec<BufferId> {
        self.ids.iter().flat_map(|ids| [ids.route, ids.y]).collect()
    }
}
