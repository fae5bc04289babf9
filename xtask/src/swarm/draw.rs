//! Draws a program from a seed.
//!
//! Tasks touch whatever is visible: external buffers, tensors of this scope and of those around it, in views that
//! overlap in every way. Three patterns answer for what is `unsafe`: see [`Draw::manual`] and [`Draw::hidden`].
#![forbid(unsafe_code)]

use ringlane_task::{DType, DfxFlags, Overflow};

use super::draw_args::Known;
use super::program::{
    BufferSpec, Capacity, Diagnostics, Fail, Meta, Notes, Op, Program, Recorded, Rings, Submit, TASK_BITS,
};
use super::rng::Rng;

/// Deepest scope, the root being 0.
pub(crate) const DEPTH_MAX: u32 = 6;

/// How many programs in a hundred are recorded: a recording takes many times as long as a program.
const RECORDED: u32 = 5;

/// How many programs in a hundred run on a modelled chip too, of those with at most this many tasks: each is recorded
/// twice at least.
const MODELLED: u32 = 10;
const MODELLED_TASKS_MAX: u32 = 60;

/// The types that buffers and tensors have.
pub(crate) const DTYPES: [DType; 5] =
    [DType::UInt8, DType::Int16, DType::UInt32, DType::Float32, DType::UInt64];

/// A program being drawn.
pub(crate) struct Draw {
    pub(crate) rng: Rng,
    next_tensor: u32,
    next_task: u32,
    /// Tasks that may still be drawn; repeated ones count as often as they run.
    pub(crate) budget: i32,
    pub(crate) repeats: i32,
    /// How many in a hundred fail, dawdle, have explicit edges.
    pub(crate) fail: u32,
    pub(crate) spin: u32,
    pub(crate) edges: u32,
    /// Whether the orchestration may stop or panic by itself.
    stops: bool,
    /// Whether some tensors are so large that the heap rings outgrow their first soft size.
    pub(crate) bulky: bool,
}

/// Draws the program of a seed; `size` is the number of tasks, roughly, or 0 for what the seed says.
pub(crate) fn program(seed: u64, size: u32) -> Program {
    let mut rng = Rng::new(seed);
    let budget = match rng.below(100) {
        _ if size > 0 => size,
        0..=4 => rng.within(100, 400),
        5..=29 => rng.within(30, 80),
        _ => rng.within(3, 30),
    };
    let fail = *rng.pick(&[0, 0, 0, 2, 8, 20]);
    let spin = *rng.pick(&[0, 10, 30, 60]);
    let edges = *rng.pick(&[0, 10, 25]);
    let stops = rng.percent(4);
    let (bulky, long) = (rng.below(1000) < 3, size == 0 && rng.below(1000) < 10);
    let mut draw = Draw {
        rng,
        next_tensor: 0,
        next_task: 0,
        budget: budget as i32,
        repeats: 1,
        fail,
        spin,
        edges,
        stops,
        bulky,
    };
    let (buffers, mut known) = draw.buffers();
    let mut body = if long { draw.long(&known) } else { Vec::new() };
    while draw.budget > 0 {
        let length = draw.rng.within(1, 12);
        body.extend(draw.body(&mut known, 0, length));
    }
    let rings = draw.rings();
    let threads = draw.rng.within(1, 4) as i32;
    let twice = draw.rng.percent(20);
    let tolerant = draw.rng.percent(30);
    let interrupt_at = draw.rng.percent(3).then(|| draw.rng.below(budget));
    let tasks = draw.next_task as usize + 1;
    let recorded = draw.rng.percent(RECORDED).then(|| draw.recorded());
    let small = !bulky && !long && budget <= MODELLED_TASKS_MAX;
    let modelled = (small && draw.rng.percent(MODELLED)).then(|| Box::new(draw.modelled()));
    Program { buffers, body, rings, threads, tasks, tolerant, twice, interrupt_at, recorded, modelled }
}

impl Draw {
    fn recorded(&mut self) -> Recorded {
        let diagnostics = self.diagnostics();
        Recorded { diagnostics, other_threads: self.rng.within(1, 4) as i32 }
    }

    /// A random set of diagnostics; half of the time all of them.
    pub(crate) fn diagnostics(&mut self) -> Diagnostics {
        let bits = if self.rng.percent(50) { 0x7f } else { self.rng.within(1, 0x7f) };
        let flags = DfxFlags::from_bits(bits.into()).expect("the bits of diagnostics");
        Diagnostics { flags, overflow: *self.rng.pick(&Overflow::ALL), pmu_group: 0 }
    }

    pub(crate) fn tensor_name(&mut self) -> u32 {
        self.next_tensor += 1;
        self.next_tensor - 1
    }

    pub(crate) fn task_name(&mut self) -> u32 {
        self.next_task += 1;
        debug_assert!(self.next_task < 1 << TASK_BITS);
        self.budget -= self.repeats;
        self.next_task
    }

    fn buffers(&mut self) -> (Vec<BufferSpec>, Known) {
        let extra = self.rng.within(0, 4) as usize;
        let (mut specs, mut known) = (Vec::new(), Known::default());
        for i in 0..DTYPES.len() + extra {
            let dtype = DTYPES.get(i).copied().unwrap_or_else(|| *self.rng.pick(&DTYPES));
            let read_only = i >= DTYPES.len() && self.rng.percent(50);
            let shape = self.shape(8);
            let name = self.tensor_name();
            known.add(name, dtype, &shape, read_only);
            specs.push(BufferSpec { dtype, shape, read_only, salt: self.rng.next() });
        }
        (specs, known)
    }

    fn rings(&mut self) -> Rings {
        match self.rng.below(100) {
            0..=24 => Rings::Roomy,
            25..=64 => Rings::Fitted,
            _ => {
                let rng = &mut self.rng;
                Rings::Tiny(Capacity {
                    window: core::array::from_fn(|_| rng.power(2, 6)),
                    heap: core::array::from_fn(|_| rng.power(8, 14) as u64),
                    dep_pool: core::array::from_fn(|_| rng.power(0, 8)),
                    args: core::array::from_fn(|_| rng.power(8, 13)),
                    tensormap: rng.power(4, 9),
                })
            }
        }
    }

    /// Up to `length` operations of one scope.
    fn body(&mut self, known: &mut Known, depth: u32, length: u32) -> Vec<Op> {
        let mut ops = Vec::new();
        for _ in 0..length {
            if self.budget <= 0 {
                break;
            }
            match self.rng.below(1000) {
                0..=599 => ops.push(self.submit(known)),
                600..=659 => ops.push(self.alloc(known)),
                660..=799 => ops.extend(self.scope(known, depth)),
                800..=849 => ops.extend(self.repeat(known, depth)),
                850..=859 => ops.extend(self.relay(known, depth)),
                860..=869 => ops.extend(self.mosaic(known, depth)),
                870..=919 => ops.push(self.branch(known, depth)),
                920..=949 => ops.push(self.barrier(known)),
                950..=964 => ops.extend(self.manual(known, depth)),
                965..=979 => ops.extend(self.hidden(known)),
                980..=989 => ops.push(self.large(known)),
                990..=994 if self.stops => ops.push(Op::Stop),
                995.. if self.stops => ops.push(Op::Panic),
                _ => ops.push(self.submit(known)),
            }
        }
        ops
    }

    fn scope(&mut self, known: &Known, depth: u32) -> Option<Op> {
        if depth == DEPTH_MAX {
            return None;
        }
        let length = self.rng.within(1, 8);
        let body = self.body(&mut known.clone(), depth + 1, length);
        Some(Op::Scope { body })
    }

    /// The same scope (or, seldom, the same tasks) several times: rings turn around.
    fn repeat(&mut self, known: &Known, depth: u32) -> Option<Op> {
        let times = self.rng.within(2, 8);
        let before = self.repeats;
        self.repeats *= times as i32;
        let body = match self.rng.percent(80) {
            true => self.scope(known, depth).into_iter().collect(),
            false => self.body(&mut known.clone(), depth, 2),
        };
        self.repeats = before;
        Some(Op::Repeat { times, body })
    }

    fn branch(&mut self, known: &Known, depth: u32) -> Op {
        let from = self.any_place(known);
        let strict = self.rng.percent(10);
        let (left, right) = (self.rng.within(0, 3), self.rng.within(0, 3));
        let then = self.body(&mut known.clone(), depth, left);
        let otherwise = self.body(&mut known.clone(), depth, right);
        Op::Branch { from, strict, then, otherwise }
    }

    fn alloc(&mut self, known: &mut Known) -> Op {
        let dtype = *self.rng.pick(&DTYPES);
        let (shape, name) = (self.shape(4), self.tensor_name());
        self.budget -= self.repeats;
        known.add(name, dtype, &shape, false);
        let upload = self.rng.percent(40).then(|| self.rng.next());
        Op::Alloc { name, dtype, shape, upload }
    }

    fn barrier(&mut self, known: &mut Known) -> Op {
        let name = self.task_name();
        known.tasks.push(name);
        Op::Barrier { name }
    }

    pub(crate) fn submit(&mut self, known: &mut Known) -> Op {
        let name = self.task_name();
        let (kernels, blocks) = self.launch();
        let args = self.args(known, &kernels, blocks, name);
        let mut after = Vec::new();
        if self.rng.percent(self.edges) && !known.tasks.is_empty() {
            after.extend((0..self.rng.within(1, 3)).map(|_| *self.rng.pick(&known.tasks)));
        }
        known.tasks.push(name);
        let (as_slice, notes) = (self.rng.percent(20), self.notes());
        Op::Submit(Submit { name, kernels, blocks, args, after, as_slice, notes })
    }

    fn large(&mut self, known: &mut Known) -> Op {
        let name = self.task_name();
        let kernels = vec![self.large_kernel()];
        let args = self.args(known, &kernels, 1, name);
        known.tasks.push(name);
        let notes = self.notes();
        Op::Submit(Submit { name, kernels, blocks: 1, args, after: Vec::new(), as_slice: true, notes })
    }

    /// A name, a duration, both, and mostly nothing. A few names are longer than the longest.
    fn notes(&mut self) -> Notes {
        let rng = &mut self.rng;
        let label = rng.percent(15).then(|| if rng.percent(5) { 300 } else { rng.below(24) });
        let duration_ns = rng.percent(15).then(|| rng.power(0, 20));
        Notes { label, duration_ns }
    }

    /// The scalars of a kernel: its number and salt, whether it dawdles or fails.
    pub(crate) fn meta(&mut self, task: u32) -> Meta {
        let rng = &mut self.rng;
        let spin = if rng.percent(self.spin) { (rng.power(1, 10) - 1) as u16 } else { 0 };
        let fail = match rng.percent(self.fail) {
            true => *rng.pick(&[Fail::Error, Fail::Error, Fail::Panic, Fail::LastBlock]),
            false => Fail::Not,
        };
        Meta {
            task: task as u16,
            salt: rng.next() as u32 & 0xff_ffff,
            spin,
            spin_first: rng.percent(50),
            gaps: rng.percent(15),
            fail,
            fail_late: rng.percent(50),
        }
    }
}
