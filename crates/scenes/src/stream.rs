//! `stream`: millions of tiny tasks through nested scopes; the rings bound the memory.
//!
//! A few independent chains each step a linear congruential generator, `x ← x·1664525 + 1013904223`, on four lanes.
//! Tasks come in groups of 32, and each group advances one chain by 31 steps (the 32nd task is an `alloc`):
//!
//! ```text
//! depth 1   alloc scratch · state ▶ scratch · scratch ▶ scratch ·   two rounds of   · scratch ▶ state
//! depth 2      scratch ▶ fresh ▶ fresh ▶ fresh ▶ fresh ▶
//! depth 3         ▶ fresh ▶ fresh ▶ fresh ▶ fresh ▶ fresh ▶
//! depth 4            ▶ fresh ▶ fresh ▶ fresh ▶ fresh ▶ scratch
//! ```
//! So the heaps of all inner rings are reused all the time, and no scope has more than 10 tasks of a ring.
//!
//! Golden: the generator jumps ahead by squaring its step, in 64-bit arithmetic; every lane is equal. Each step
//! depends on the one before it, so one wrong task anywhere is a wrong result.

use ringlane_engine::prelude::*;

use crate::golden::{Check, Golden, Tolerance};
use crate::rng::Rng;
use crate::scene::{Case, Param, Program, Scene, made};

/// Tasks of a full group, including its `alloc`.
const GROUP: u64 = 32;
/// Numbers that one task advances.
const LANES: u32 = 4;
const FACTOR: u32 = 1664525;
const OFFSET: u32 = 1013904223;

pub(crate) const SCENE: Scene = Scene {
    site: core::panic::Location::caller(),
    name: "stream",
    about: "ten million tiny tasks through nested scopes, in bounded memory",
    params: &[
        Param { name: "tasks", default: "10000000", about: "number of tasks, including one alloc in 32" },
        Param { name: "chains", default: "16", about: "independent chains that the tasks continue" },
    ],
    cases: &[
        Case { name: "ten_million", about: "ten million tasks, to test memory use", set: &[] },
        Case { name: "short", about: "the same with 10,007 tasks", set: &[("tasks", "10007")] },
    ],
    kernels: &[&STEP, &STEP_IN_PLACE],
    build: &|settings| {
        let tasks = settings.u64("tasks", 1..=1_000_000_000_000)?;
        let chains = settings.u32("chains", 1..=1 << 16)?;
        Ok(Box::new(Stream { tasks, chains, seed: settings.seed, state: None }))
    },
};

kernel! {
    /// y is one step after x.
    static STEP = aiv fn(x: &[u32], y: &mut [u32]) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x.wrapping_mul(FACTOR).wrapping_add(OFFSET));
    }
    cuda "rl_each(i, rl_min(x.len(), y.len())) y[i] = x[i] * 1664525u + 1013904223u;"
}

kernel! {
    /// Advances x by one step.
    static STEP_IN_PLACE = aiv fn(x: &mut [u32]) {
        x.iter_mut().for_each(|x| *x = x.wrapping_mul(FACTOR).wrapping_add(OFFSET));
    }
    cuda "rl_each(i, x.len()) x[i] = x[i] * 1664525u + 1013904223u;"
}

struct Stream {
    tasks: u64,
    chains: u32,
    seed: u64,
    state: Option<BufferId>,
}

impl Stream {
    fn input(&self) -> Vec<u32> {
        let mut rng = Rng::new(self.seed);
        (0..self.chains * LANES).map(|_| rng.bits() as u32).collect()
    }

    /// Steps of each chain: groups go to the chains in turn, and each group has one task that is not a step.
    fn steps(&self, chain: u64) -> u64 {
        let (full, rest) = (self.tasks / GROUP, self.tasks % GROUP);
        let chains = self.chains as u64;
        let groups = full / chains + (chain < full % chains) as u64;
        let partial = if chain == full % chains { rest.saturating_sub(1) } else { 0 };
        groups * (GROUP - 1) + partial
    }
}

impl Program for Stream {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        self.state = Some(data.add(&[self.chains, LANES], &self.input())?);
        Ok(data)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let state = o.external(made(&self.state)?)?;
        let mut left = self.tasks;
        for chain in (0..self.chains).cycle() {
            let state = state.select(0, chain)?;
            match left {
                0 => break,
                1..GROUP => partial_group(o, state, left)?,
                GROUP.. => full_group(o, state)?,
            }
            left = left.saturating_sub(GROUP);
        }
        Ok(())
    }

    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        let mut check = Check::new();
        let lanes = LANES as usize;
        let chains = data.get::<u32>(made(&self.state)?)?.chunks_exact(lanes);
        for (chain, (got, from)) in chains.zip(self.input().chunks_exact(lanes)).enumerate() {
            let (factor, offset) = jump(self.steps(chain as u64));
            for (&got, &x) in got.iter().zip(from) {
                check.value(got, ((x as u64 * factor + offset) & MASK) as f64, Tolerance::EXACT);
            }
        }
        Ok(check.finish())
    }

    fn outputs(&self) -> Vec<BufferId> {
        self.state.into_iter().collect()
    }
}

/// 32 tasks that advance `state` by 31 steps.
fn full_group<'s>(o: &mut Orch<'s, '_>, state: Tensor<'s>) -> Result<()> {
    o.scope(|o| {
        let scratch = o.alloc(u32, [LANES])?;
        o.submit(&STEP, [state.read(), scratch.write()])?;
        o.submit(&STEP_IN_PLACE, [scratch.inout()])?;
        round(o, scratch)?;
        round(o, scratch)?;
        o.submit(&STEP, [scratch.read(), state.write()]).map(drop)
    })
}

/// 14 tasks that advance `scratch` by 14 steps through new tensors of three scopes.
fn round<'s>(o: &mut Orch<'s, '_>, scratch: Tensor<'s>) -> Result<()> {
    o.scope(|o| {
        let x = steps(o, scratch, 4)?;
        o.scope(|o| {
            let x = steps(o, x, 5)?;
            o.scope(|o| {
                let x = steps(o, x, 4)?;
                o.submit(&STEP, [x.read(), scratch.write()]).map(drop)
            })
        })
    })
}

/// The tensor `count` steps after `x`.
fn steps<'s>(o: &mut Orch<'s, '_>, mut x: Tensor<'s>, count: u32) -> Result<Tensor<'s>> {
    for _ in 0..count {
        x = o.submit(&STEP, [x.read(), out(u32, [LANES])])?.out(0);
    }
    Ok(x)
}

/// The end of the stream: an `alloc`, then steps in place.
fn partial_group<'s>(o: &mut Orch<'s, '_>, state: Tensor<'s>, tasks: u64) -> Result<()> {
    o.scope(|o| {
        o.alloc(u32, [LANES])?;
        (1..tasks).try_for_each(|_| o.submit(&STEP_IN_PLACE, [state.inout()]).map(drop))
    })
}

/// The bits of a 32-bit number.
const MASK: u64 = u32::MAX as u64;

/// The factor and offset of `count` steps at once.
fn jump(mut count: u64) -> (u64, u64) {
    let (mut factor, mut offset) = (1u64, 0u64);
    let (mut step_factor, mut step_offset) = (FACTOR as u64, OFFSET as u64);
    while count > 0 {
        if count & 1 == 1 {
            (factor, offset) = ((factor * step_factor) & MASK, (offset * step_factor + step_offset) & MASK);
        }
        (step_factor, step_offset) =
            ((step_factor * step_factor) & MASK, (step_offset * step_factor + step_offset) & MASK);
        count >>= 1;
    }
    (factor, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_equals_its_number_of_steps() {
        let mut x = 17u32;
        for count in 0..200 {
            let (factor, offset) = jump(count);
            assert_eq!((17 * factor + offset) & MASK, x as u64);
            x = x.wrapping_mul(FACTOR).wrapping_add(OFFSET);
        }
    }

    #[test]
    fn the_steps_of_all_chains_and_the_allocs_add_up_to_the_tasks() {
        for tasks in [1, 2, 31, 32, 33, 511, 512, 513, 10_007, 10_000_000] {
            let stream = Stream { tasks, chains: 16, seed: 0, state: None };
            let steps: u64 = (0..16).map(|chain| stream.steps(chain)).sum();
            assert_eq!(steps + tasks.div_ceil(GROUP), tasks);
        }
    }
}
