//! Task graphs drawn from seeds, and modelled chips on which a part of them is free.

use std::cell::Cell;

use ringlane::Model;
use ringlane::prelude::*;
use ringlane_task::ChipSpec;

/// Ticks of a counter of 50 MHz in a microsecond.
const MICROSECOND: u32 = 50;

thread_local! {
    /// By how much kernels are faster than their cost models say. A modelled chip runs on the calling thread.
    static SPEED: Cell<u64> = const { Cell::new(1) };
}

fn ticks(args: &Args<'_>) -> u64 {
    args.tensors().next().map_or(0, |tensor| tensor.elements()) / SPEED.get()
}

kernel! { static MATRIX = aic fn(x: &mut [u8]) { x.fill(1); } cost Cost::Ticks(ticks) }
kernel! { static VECTOR = aiv fn(x: &mut [u8]) { x.fill(1); } cost Cost::Ticks(ticks) }
kernel! { static EITHER = any fn(x: &mut [u8]) { x.fill(1); } cost Cost::Ticks(ticks) }

/// What a vector core of `a2a3sim` computes and moves in a tick.
const FLOPS: f64 = 4_000.0;
const BYTES: f64 = 444.0;

kernel! {
    /// Waits for memory.
    static MOVES = aiv fn(x: &mut [u8]) { x.fill(1); } cost Cost::Roofline {
        flops: |args| 0.1 * FLOPS * ticks(args) as f64, bytes: |args| BYTES * ticks(args) as f64
    }
}
kernel! {
    /// Computes, and moves a little.
    static COMPUTES = aiv fn(x: &mut [u8]) { x.fill(1); } cost Cost::Roofline {
        flops: |args| FLOPS * ticks(args) as f64, bytes: |args| 0.1 * BYTES * ticks(args) as f64
    }
}

/// A task: its kernel, how long it takes, and the tasks before it that it waits for.
#[derive(Clone, Debug)]
struct Node {
    kernel: &'static Kernel,
    ticks: u32,
    after: Vec<usize>,
}

/// A graph with a name.
#[derive(Clone, Debug)]
pub struct Graph {
    pub name: String,
    nodes: Vec<Node>,
}

/// How long tasks take.
#[derive(Clone, Copy, Debug)]
pub enum Grain {
    /// All alike, in tenths of a microsecond.
    Even(u32),
    /// From one to `n` tenths of a microsecond; short ones are more frequent.
    Uneven(u32),
}

impl Grain {
    fn draw(self, rng: &mut Rng) -> u32 {
        let tenths = match self {
            Grain::Even(tenths) => tenths,
            Grain::Uneven(most) => {
                let (a, b) = (rng.below(most), rng.below(most));
                1 + (u64::from(a) * u64::from(b) / u64::from(most)) as u32
            }
        };
        tenths * MICROSECOND / 10
    }
}

/// The kinds of cores that tasks ask for, and of vector cores what for.
#[derive(Clone, Copy, Debug)]
pub enum Kinds {
    Vector,
    Any,
    MatrixAndVector,
    All,
    Moving,
    Computing,
}

impl Kinds {
    /// Those whose tasks take a time and do nothing in particular.
    pub const TIMED: [Kinds; 4] = [Kinds::Vector, Kinds::Any, Kinds::MatrixAndVector, Kinds::All];

    fn draw(self, rng: &mut Rng) -> &'static Kernel {
        let any =
            |kernels: &[&'static Kernel], rng: &mut Rng| kernels[rng.below(kernels.len() as u32) as usize];
        match self {
            Kinds::Vector => &VECTOR,
            Kinds::Any => &EITHER,
            Kinds::MatrixAndVector => any(&[&MATRIX, &VECTOR], rng),
            Kinds::All => any(&[&MATRIX, &VECTOR, &EITHER], rng),
            Kinds::Moving => &MOVES,
            Kinds::Computing => &COMPUTES,
        }
    }
}

/// A graph in the making.
pub struct Draw {
    rng: Rng,
    kinds: Kinds,
    grain: Grain,
    nodes: Vec<Node>,
}

impl Draw {
    pub fn new(seed: u64, kinds: Kinds, grain: Grain) -> Self {
        Draw { rng: Rng::new(seed), kinds, grain, nodes: Vec::new() }
    }

    fn node(&mut self, after: Vec<usize>) -> usize {
        let kernel = self.kinds.draw(&mut self.rng);
        let ticks = self.grain.draw(&mut self.rng);
        self.nodes.push(Node { kernel, ticks, after });
        self.nodes.len() - 1
    }

    fn finish(self, shape: &str) -> Graph {
        Graph { name: format!("{shape}, {:?}, {:?}", self.kinds, self.grain), nodes: self.nodes }
    }

    /// Chains side by side, submitted step by step.
    pub fn chains(mut self, chains: usize, steps: usize) -> Graph {
        for step in 0..steps {
            for chain in 0..chains {
                let after = if step == 0 { vec![] } else { vec![(step - 1) * chains + chain] };
                self.node(after);
            }
        }
        self.finish(&format!("{chains} chains of {steps}"))
    }

    /// One task, some that wait for it, one that waits for those, and so on.
    pub fn fork_join(mut self, width: usize, rounds: usize) -> Graph {
        let mut last = vec![];
        for _ in 0..rounds {
            let fork = self.node(last);
            let middle: Vec<_> = (0..width).map(|_| self.node(vec![fork])).collect();
            last = vec![self.node(middle)];
        }
        self.finish(&format!("fork-join {width} × {rounds}"))
    }

    /// Layers; each task waits for some of the layer before.
    pub fn layers(mut self, width: usize, layers: usize, fan_in: u32) -> Graph {
        let mut before: Vec<usize> = Vec::new();
        for layer in 0..layers {
            let width = width / 2 + self.rng.below(width as u32) as usize;
            let mut row = Vec::new();
            for _ in 0..width.max(1) {
                let mut after = Vec::new();
                if layer > 0 {
                    let count = 1 + self.rng.below(fan_in);
                    let mut draw = || before[self.rng.below(before.len() as u32) as usize];
                    after = (0..count).map(|_| draw()).collect();
                    after.sort_unstable();
                    after.dedup();
                }
                row.push(self.node(after));
            }
            before = row;
        }
        self.finish(&format!("layers {width} × {layers}"))
    }

    /// A grid whose tasks wait for the one above and the one to the left.
    pub fn wavefront(mut self, side: usize) -> Graph {
        for row in 0..side {
            for column in 0..side {
                let above = (row > 0).then(|| (row - 1) * side + column);
                let left = (column > 0).then(|| row * side + column - 1);
                self.node(above.into_iter().chain(left).collect());
            }
        }
        self.finish(&format!("wavefront {side}"))
    }
}

impl Graph {
    /// Submits all of it.
    pub fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let mut tasks = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let after: Vec<_> = node.after.iter().map(|&before| tasks[before]).collect();
            tasks.push(o.submit_after(&after, node.kernel, [out(u8, [node.ticks.max(1)])])?.task());
        }
        Ok(())
    }
}

/// What is taken away from a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing.
    None,
    /// Submits cost nothing.
    Submits,
    /// Schedulers, and what is between them and the cores, cost nothing.
    Scheduling,
    /// Eight times the cores, with as much more memory bandwidth.
    Cores,
    /// Kernels take next to nothing.
    Kernels,
    /// Moving data takes next to nothing.
    Memory,
}

/// How long an orchestration takes on `a2a3sim`, in ticks, with something taken away.
pub fn makespan(
    remedy: Remedy,
    config: &CallConfig,
    data: &mut Buffers<'_>,
    f: impl for<'r, 'e> FnOnce(&mut Orch<'r, 'e>) -> Result<()>,
) -> u64 {
    let mut chip = Platform::A2a3sim.modelled().expect("a modelled chip");
    make_free(remedy, &mut chip);
    let model = Model { chip: Some(chip), ..Model::default() };
    let mut runtime = Runtime::on(Platform::A2a3sim).model(model).with(config).expect("a runtime");
    SPEED.set(if remedy == Remedy::Kernels { 1_000 } else { 1 });
    let run = runtime.run(data, f);
    SPEED.set(1);
    run.result.unwrap_or_else(|error| panic!("{remedy:?}: {error:?}"));
    run.report.makespan_ticks
}

fn make_free(remedy: Remedy, chip: &mut ChipSpec) {
    let (costs, rates) = (&mut chip.costs, &mut chip.rates);
    match remedy {
        Remedy::None => {}
        Remedy::Submits => (costs.admit, costs.look_up, costs.insert, costs.wire) = (0, 0, 0, 0),
        Remedy::Scheduling => {
            (costs.dispatch_store, costs.dispatch_seen, costs.turn_around) = (0, 0, 0);
            (costs.done_seen, costs.poll) = (0, 0);
            (costs.resolve, costs.reclaim, costs.round) = (0, 0, 0);
            chip.dispatch_ahead = 0;
        }
        Remedy::Cores => {
            chip.clusters *= 8;
            rates.memory_bytes *= 8.0;
        }
        Remedy::Kernels => {
            (rates.aic_flops, rates.aiv_flops) = (1e18, 1e18);
            rates.memory_bytes = 1e18;
        }
        Remedy::Memory => rates.memory_bytes = 1e18,
    }
}
