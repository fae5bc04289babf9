//! `fanin`: every consumer reads every producer, each through a separate tensor argument.
//!
//! ```text
//! producer 0 ─┬─▶ consumer 0
//! producer 1 ─┼─▶ consumer 1      64 × 64: 4,096 edges; `tensors` = 69: the kernels with the most arguments
//!     …       ┴─▶     …
//! ```
//! Half of the producers are in an outer scope, half in one inside it, and the consumers in scopes inside both, so
//! that no scope has more tasks than a window of 64.
//!
//! Golden: sums in f64, absolute tolerance 1e-4 (each sum has up to 68 terms below 4).

use ringlane_engine::api::kernel::{CudaBody, Registered};
use ringlane_engine::inventory;
use ringlane_engine::prelude::*;

use crate::arith::axpy;
use crate::cost;
use crate::golden::{Golden, Tolerance};
use crate::rng::Rng;
use crate::scene::{Case, Param, Program, Scene, made};
use crate::scopes::in_scopes;

/// Consumers in one scope.
const TASKS_PER_SCOPE: usize = 16;
const TOLERANCE: Tolerance = Tolerance::absolute(1e-4);

pub(crate) const SCENE: Scene = Scene {
    site: core::panic::Location::caller(),
    name: "fanin",
    about: "64 consumers that each read all of 64 producers",
    params: &[
        Param {
            name: "tensors",
            default: "65",
            about: "tensor arguments of a consumer: its producers and its result",
        },
        Param { name: "consumers", default: "64", about: "number of consumers" },
        Param { name: "elements", default: "64", about: "elements of each tensor" },
    ],
    cases: &[
        Case { name: "small", about: "64×64 tasks on small tensors", set: &[] },
        Case {
            name: "few",
            about: "4 producers, one consumer",
            set: &[("tensors", "5"), ("consumers", "1")],
        },
        Case { name: "wide", about: "69 tensors in one task", set: &[("tensors", "69")] },
        Case { name: "large", about: "64×64 tasks on large tensors", set: &[("elements", "65536")] },
    ],
    kernels: &[&PRODUCE, &GATHER_4, &GATHER_64, &GATHER_68],
    build: &|settings| {
        let tensors = settings.u32_of("tensors", &[5, 65, 69])?;
        let consumers = settings.u32("consumers", 1..=1 << 16)?;
        let elements = settings.u32("elements", 1..=1 << 20)?;
        Ok(Box::new(FanIn { producers: tensors - 1, consumers, elements, seed: settings.seed, ids: None }))
    },
};

kernel! {
    /// y = 2·x - 1 for the part of the input of one producer.
    static PRODUCE = aiv fn(x: &[f32], y: &mut [f32]) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = 2.0 * x - 1.0);
    }
    cuda "rl_map(y.data(), rl_min(x.len(), y.len()), [&](u64 i) { return 2.0f * x[i] - 1.0f; });"
    cost cost::PASS
}

/// The arguments of a consumer's kernel: `N` tensors to read, the number of the consumer, the result.
const fn params<const N: usize, const ALL: usize>() -> [ParamSpec; ALL] {
    let mut params = [<&[f32]>::SPEC; ALL];
    params[N] = <u32>::SPEC;
    params[N + 1] = <&mut [f32]>::SPEC;
    params
}

/// Adds `N` tensors, each multiplied by its weight for this consumer.
fn gather<const N: usize>(args: &mut Args<'_>) -> KernelResult {
    let mut inputs = [&[0.0f32; 0][..]; N];
    for input in &mut inputs {
        *input = args.take()?;
    }
    let consumer = args.take::<u32>()?;
    let sum = args.take::<&mut [f32]>()?;
    sum.fill(0.0);
    for (producer, input) in inputs.into_iter().enumerate() {
        axpy(sum, weight(producer as u32, consumer) as f32, input);
    }
    Ok(())
}

/// The same for GPUs. Like [`gather`], it takes its arguments itself.
const GATHER: CudaBody =
    CudaBody { source: include_str!("fanin.cuh"), params: &[], file: "fanin.cuh", line: 1 };

const fn consumer<const N: usize>(name: &'static str, params: &'static [ParamSpec]) -> Kernel {
    Kernel::new(name, CoreType::Aiv, params, gather::<N>).with_cost(cost::PASS).with_cuda(GATHER)
}

static GATHER_4: Kernel = consumer::<4>("GATHER_4", &params::<4, 6>());
static GATHER_64: Kernel = consumer::<64>("GATHER_64", &params::<64, 66>());
static GATHER_68: Kernel = consumer::<68>("GATHER_68", &params::<68, 70>());

inventory::submit! { Registered(&GATHER_4) }
inventory::submit! { Registered(&GATHER_64) }
inventory::submit! { Registered(&GATHER_68) }

/// The weight of a producer for a consumer: a small multiple of ¼, so that products are exact.
fn weight(producer: u32, consumer: u32) -> f64 {
    ((producer * 5 + consumer * 3) % 9) as f64 / 4.0 - 1.0
}

#[derive(Clone, Copy)]
struct Ids {
    inputs: BufferId,
    sums: BufferId,
}

struct FanIn {
    producers: u32,
    consumers: u32,
    elements: u32,
    seed: u64,
    ids: Option<Ids>,
}

impl FanIn {
    fn inputs(&self) -> Vec<f32> {
        Rng::new(self.seed).signed((self.producers * self.elements) as usize)
    }

    /// Submits some producers; their tensors are appended to `made_so_far`.
    fn produce<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        inputs: Tensor<'s>,
        producers: core::ops::Range<u32>,
        made_so_far: &mut Vec<Tensor<'s>>,
    ) -> Result<()> {
        for producer in producers {
            let task = o.submit(&PRODUCE, [inputs.select(0, producer)?.read(), out(f32, [self.elements])])?;
            made_so_far.push(task.out(0));
        }
        Ok(())
    }

    fn consume<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        read: &[Tensor<'s>],
        sums: Tensor<'s>,
        consumer: u32,
    ) -> Result<()> {
        let kernel = match self.producers {
            4 => &GATHER_4,
            64 => &GATHER_64,
            _ => &GATHER_68,
        };
        let mut args: Vec<Arg<'s>> = read.iter().map(|tensor| tensor.read()).collect();
        args.extend([scalar(consumer), sums.select(0, consumer)?.write()]);
        o.submit_slice(&[], kernel, &args).map(drop)
    }
}

impl Program for FanIn {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        let inputs = data.add(&[self.producers, self.elements], &self.inputs())?;
        self.ids = Some(Ids { inputs, sums: data.add_zeroed(f32, &[self.consumers, self.elements])? });
        Ok(data)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let ids = made(&self.ids)?;
        let (inputs, sums) = (o.external(ids.inputs)?, o.external(ids.sums)?);
        let half = self.producers / 2;
        o.scope(|o| {
            let mut outer = Vec::new();
            self.produce(o, inputs, 0..half, &mut outer)?;
            o.scope(|o| {
                let mut all = outer.clone();
                self.produce(o, inputs, half..self.producers, &mut all)?;
                in_scopes(o, 0..self.consumers, TASKS_PER_SCOPE, |o, c| self.consume(o, &all, sums, c))
            })
        })
    }

    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        let inputs = self.inputs();
        let elements = self.elements as usize;
        let mut want = vec![0.0f64; self.consumers as usize * elements];
        for (consumer, want) in want.chunks_exact_mut(elements).enumerate() {
            for (producer, input) in inputs.chunks_exact(elements).enumerate() {
                let weight = weight(producer as u32, consumer as u32);
                want.iter_mut().zip(input).for_each(|(want, &x)| *want += weight * (2.0 * x as f64 - 1.0));
            }
        }
        Ok(Golden::compare(data.get::<f32>(made(&self.ids)?.sums)?, &want, TOLERANCE))
    }

    fn outputs(&self) -> Vec<BufferId> {
        self.ids.iter().map(|ids| ids.sums).collect()
    }
}
