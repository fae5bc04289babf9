//! One run of a program, on the oracle or on the engine, and everything about it that can be compared.
#![forbid(unsafe_code)]

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ringlane::{MemoryPlan, Runtime};
use ringlane_chip_cpu::CpuRuntime;
use ringlane_engine::chip_runtime::ChipRuntime;
use ringlane_engine::oracle::{self, Fate};
use ringlane_engine::prelude::*;
use ringlane_engine::report::{Run, RunReport};
use toy_chip::ToyRuntime;

use super::interpret::{Env, Interpreter};
use super::kernels::{self, Value};
use super::ledger::Needs;
use super::program::{BufferSpec, Op, Program};
use super::rng::Rng;

/// How the orchestration ended.
#[derive(Debug)]
pub(crate) enum Verdict {
    Done,
    Failed(Error),
    Panicked(String),
}

/// What a run produced.
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    /// Every buffer, element by element, as bits.
    pub(crate) buffers: Vec<Vec<u64>>,
    /// How many blocks of each task ran; none on a device, whose bodies do not count.
    pub(crate) ran: Option<Vec<u32>>,
    pub(crate) log: Vec<String>,
    pub(crate) attempts: u32,
    pub(crate) refused: BTreeSet<u32>,
    pub(crate) needs: Needs,
}

/// Calls `$f::<T>($args)` for the type of a buffer.
macro_rules! typed {
    ($dtype:expr, $f:ident($($arg:expr),*)) => {
        match $dtype {
            DType::UInt8 => $f::<u8>($($arg),*),
            DType::Int16 => $f::<i16>($($arg),*),
            DType::UInt32 => $f::<u32>($($arg),*),
            DType::UInt64 => $f::<u64>($($arg),*),
            _ => $f::<f32>($($arg),*),
        }
    };
}

/// What the buffers of a program hold at first, each a vector of its type.
fn values(program: &Program) -> Vec<Box<dyn Any>> {
    program.buffers.iter().map(|spec| typed!(spec.dtype, values_of(spec))).collect()
}

fn values_of<T: Value>(spec: &BufferSpec) -> Box<dyn Any> {
    let mut rng = Rng::new(spec.salt);
    let elements = spec.shape.iter().product::<u32>();
    Box::new((0..elements).map(|_| T::of(rng.next())).collect::<Vec<T>>())
}

/// The external buffers of a run: copies, or lent for reading.
struct Data<'d> {
    buffers: Buffers<'d>,
    ids: Vec<BufferId>,
}

impl<'d> Data<'d> {
    fn new(program: &Program, values: &'d [Box<dyn Any>]) -> Self {
        let mut data = Data { buffers: Buffers::new(), ids: Vec::new() };
        for (spec, values) in program.buffers.iter().zip(values) {
            let id = typed!(spec.dtype, add(&mut data.buffers, spec, &**values));
            data.ids.push(id);
        }
        data
    }

    fn bits(&self, program: &Program) -> Vec<Vec<u64>> {
        let each = self.ids.iter().zip(&program.buffers);
        each.map(|(&id, spec)| typed!(spec.dtype, bits_of(&self.buffers, id))).collect()
    }
}

fn add<'d, T: Value>(buffers: &mut Buffers<'d>, spec: &BufferSpec, values: &'d dyn Any) -> BufferId {
    let values = values.downcast_ref::<Vec<T>>().expect("made for this buffer");
    let added =
        if spec.read_only { buffers.lend(&spec.shape, values) } else { buffers.add(&spec.shape, values) };
    added.expect("the values fill the shape")
}

fn bits_of<T: Value>(buffers: &Buffers<'_>, id: BufferId) -> Vec<u64> {
    buffers.get::<T>(id).expect("the buffer was added with this type").iter().map(|v| v.bits()).collect()
}

/// The part of a run that is the same for all: binds the buffers and interprets the body.
fn orchestrate<'s>(
    o: &mut Orch<'s, '_>,
    interpreter: &mut Interpreter<'_>,
    ids: &[BufferId],
    body: &[Op],
) -> Result<()> {
    let mut env = Env::default();
    for (name, &id) in ids.iter().enumerate() {
        env.tensors.push((name as u32, o.external(id)?));
    }
    interpreter.body(o, &mut env, body)
}

fn gather(
    program: &Program,
    data: &Data<'_>,
    interpreter: Interpreter<'_>,
    result: std::thread::Result<Result<()>>,
) -> Outcome {
    let verdict = match result {
        Ok(Ok(())) => Verdict::Done,
        Ok(Err(error)) => match (error.fault(), interpreter.refusal) {
            (Fault::TaskFailed(_), Some(refusal)) => Verdict::Failed(refusal),
            _ => Verdict::Failed(error),
        },
        Err(panic) => {
            Verdict::Panicked(panic.downcast_ref::<&str>().map_or("?".to_string(), |t| t.to_string()))
        }
    };
    Outcome {
        verdict,
        buffers: data.bits(program),
        ran: Some(kernels::ran(program.tasks)),
        log: interpreter.log,
        attempts: interpreter.attempts,
        refused: interpreter.refused,
        needs: interpreter.ledger.needs,
    }
}

/// Runs a program in order; gives also what became of each task. Attempts in `leave_out` are left out.
pub(crate) fn on_oracle(program: &Program, leave_out: &BTreeSet<u32>) -> (Outcome, Vec<Fate>) {
    let values = values(program);
    let mut data = Data::new(program, &values);
    let mut interpreter = Interpreter::new(false, leave_out);
    kernels::forget(program.tasks);
    let mut fates = Vec::new();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let (buffers, ids) = (&mut data.buffers, &data.ids);
        let run = oracle::run_with_fates(buffers, |o| orchestrate(o, &mut interpreter, ids, &program.body));
        fates = run.1;
        run.0
    }));
    (gather(program, &data, interpreter, result), fates)
}

/// What kernels count while they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    Blocks,
    Nothing,
}

impl Counts {
    fn of(self, outcome: Outcome) -> Outcome {
        Outcome { ran: outcome.ran.filter(|_| self == Counts::Blocks), ..outcome }
    }
}

/// What runs programs: the chip itself, or the facade that records what it does.
pub(crate) trait Engine {
    /// Whether its kernels count the blocks that run.
    const COUNTS: Counts = Counts::Blocks;
    /// Runs an orchestration on these buffers.
    fn run<'e>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<()>,
    ) -> Run<()>;
    /// Ends its run at the next task.
    fn interrupt(&self) -> Box<dyn Fn()>;
}

impl Engine for CpuRuntime {
    fn run<'e>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<()>,
    ) -> Run<()> {
        CpuRuntime::run(self, buffers, f)
    }

    fn interrupt(&self) -> Box<dyn Fn()> {
        let remote = self.remote();
        Box::new(move || remote.interrupt())
    }
}

impl Engine for ToyRuntime {
    fn run<'e>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<()>,
    ) -> Run<()> {
        ToyRuntime::run(self, buffers, f)
    }

    fn interrupt(&self) -> Box<dyn Fn()> {
        let remote = self.remote();
        Box::new(move || remote.interrupt())
    }
}

impl Engine for Runtime {
    fn run<'e>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<()>,
    ) -> Run<()> {
        Runtime::run(self, buffers, f)
    }

    fn interrupt(&self) -> Box<dyn Fn()> {
        let remote = self.remote();
        Box::new(move || remote.interrupt())
    }
}

/// A device, which does not run the Rust bodies.
pub(crate) struct OnDevice(pub(crate) Runtime);

impl Engine for OnDevice {
    const COUNTS: Counts = Counts::Nothing;

    fn run<'e>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<()>,
    ) -> Run<()> {
        self.0.run(buffers, f)
    }

    fn interrupt(&self) -> Box<dyn Fn()> {
        Engine::interrupt(&self.0)
    }
}

/// Runs a program on the engine, interrupted at this submit; gives also the engine's own totals, unless the
/// orchestration panicked.
pub(crate) fn on_engine(
    runtime: &mut impl Engine,
    program: &Program,
    interrupt_at: Option<u32>,
) -> (Outcome, Option<RunReport>) {
    let values = values(program);
    let mut data = Data::new(program, &values);
    let nothing = BTreeSet::new();
    let mut interpreter = Interpreter::new(program.tolerant, &nothing);
    interpreter.interrupt = interrupt_at.map(|at| (at, runtime.interrupt()));
    kernels::forget(program.tasks);
    let mut report = None;
    let result = catch_unwind(AssertUnwindSafe(|| {
        let (buffers, ids) = (&mut data.buffers, &data.ids);
        let run = runtime.run(buffers, |o| orchestrate(o, &mut interpreter, ids, &program.body));
        report = Some(run.report);
        run.result
    }));
    (counts_of(runtime).of(gather(program, &data, interpreter, result)), report)
}

fn counts_of<E: Engine>(_: &E) -> Counts {
    E::COUNTS
}

/// Captures a program, with a limit on the memory of its tensors, and replays it this many times on fresh buffers.
pub(crate) fn on_graph(
    runtime: &mut Runtime,
    program: &Program,
    limit: Option<u64>,
    replays: usize,
    counts: Counts,
) -> Result<(Vec<(Outcome, RunReport)>, MemoryPlan)> {
    let (values, nothing) = (values(program), BTreeSet::new());
    let data = Data::new(program, &values);
    let mut interpreter = Interpreter::new(program.tolerant, &nothing);
    let site = std::panic::Location::caller();
    let capture = |o: &mut Orch<'_, '_>| orchestrate(o, &mut interpreter, &data.ids, &program.body);
    let ((), mut graph) = runtime.capture_from(site, &data.buffers, limit, capture)?;
    let log = interpreter.log;
    let runs = (0..replays).map(|_| {
        let mut data = Data::new(program, &values);
        kernels::forget(program.tasks);
        let run = runtime.replay(&mut graph, &mut data.buffers);
        let mut interpreter = Interpreter::new(program.tolerant, &nothing);
        interpreter.log.clone_from(&log);
        (counts.of(gather(program, &data, interpreter, Ok(run.result))), run.report)
    });
    Ok((runs.collect(), graph.memory()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swarm::{check, draw};

    /// A generator that draws programs in which nothing happens finds nothing.
    #[test]
    fn programs_submit_read_fail_and_skip_and_few_submits_are_mistakes() {
        let _alone = check::alone();
        let (mut tasks, mut failed, mut skipped, mut reads, mut mistakes) = (0, 0, 0, 0, 0);
        for seed in 0..400 {
            let (outcome, fates) = on_oracle(&draw::program(seed, 20), &BTreeSet::new());
            tasks += fates.len();
            failed += fates.iter().filter(|f| matches!(f, Fate::Failed(_))).count();
            skipped += fates.iter().filter(|f| **f == Fate::Skipped).count();
            reads += outcome.log.iter().filter(|line| line.starts_with("read ")).count();
            mistakes += outcome.log.iter().filter(|line| line.starts_with("attempt ")).count();
        }
        println!("{tasks} tasks, {failed} failed, {skipped} skipped, {reads} reads, {mistakes} mistakes");
        assert!(failed > tasks / 100 && skipped > tasks / 50 && reads > tasks / 50);
        assert!((tasks / 1000..tasks / 10).contains(&mistakes), "{mistakes} mistakes of {tasks}");
    }
}
