//! Level 4 over level 3 over level 2: chips in processes of processes, on the memory of the outermost.

use std::process::ExitCode;
use std::time::Duration;

use ringlane_chip_cpu::CpuRuntime;
use ringlane_node::engine::prelude::*;
use ringlane_node::task::{Access, CallConfig, Explain};
use ringlane_node::{
    CallError, ChildLaunch, ChipProgram, ChipTimes, ChipWorker, Memories, NODE_CLOCK_HZ, Node, NodeError,
    NodeOptions, NodeProgram, On, RunOutcome, Title, Worker, WorkerBackend, WorkerKind, WorkerSpec, callable,
    now_ns,
};

use crate::Test;
use crate::node::{ADD, functions};
use crate::roles::{SLEEP, serve};
use crate::support::{LONG, exists, within};

pub const TESTS: &[Test] = &[
    ("a_chip_worker_runs_an_orchestration_on_its_chip", a_chip_worker_runs),
    ("level_four_over_three_over_two_computes_in_the_memory_of_the_first", level_four_over_three_over_two),
    ("a_chip_call_in_a_plain_worker_is_refused_by_it", a_chip_call_in_a_plain_worker),
    ("a_chip_worker_in_this_process_runs_the_same_callable", a_chip_worker_in_this_process),
    ("two_runs_are_in_flight_in_order_and_a_third_is_refused", two_runs_in_flight),
    ("a_submitted_run_is_where_it_was_submitted", a_submitted_run_is_where_it_was_submitted),
    ("a_worker_that_goes_interrupts_its_runs", a_worker_that_goes),
    ("when_the_outermost_is_killed_all_levels_die", when_the_outermost_is_killed),
];

kernel! { static TWICE = any fn(x: &[u32], y: &mut [u32]) { y.iter_mut().zip(x).for_each(|(y, x)| *y = 2 * x); } }

const TITLE: Title<'static> = Title { scene: "doubles", case: "small", part: None };

callable! {
    /// Doubles its first tensor into its second, row by row, on a chip.
    pub static DOUBLE = chip fn(call; tensors: 2, scalars: []) {
        call.on_chip(TITLE, |o, ids| {
            let (x, y) = (o.external(ids[0])?, o.external(ids[1])?);
            for row in 0..x.view().dims()[0].len {
                o.submit(&TWICE, [x.slice(0, row, 1)?.read(), y.slice(0, row, 1)?.write()])?;
            }
            Ok(())
        })
    }
}

callable! {
    /// The same over the chips of a node, a row each, then adds to each row in a plain worker.
    static DOUBLE_ALL = node fn(call; tensors: 2, scalars: []) {
        call.on_node(TITLE, |o, ids| {
            let (x, y) = (o.external(ids[0])?, o.external(ids[1])?);
            for row in 0..x.view().dims()[0].len {
                let (x, y) = (x.slice(0, row, 1)?, y.slice(0, row, 1)?);
                let config = CallConfig::default();
                let twice = o.submit(&DOUBLE, &[x.read(), out(u32, [1, 8])], &config, On::Any)?.out(0);
                o.submit(&ADD, &[twice.read(), y.write(), scalar(1u32)], &config, On::Any)?;
            }
            Ok(())
        })
    }
}

callable! {
    /// Fails.
    pub static FAIL = function fn(_call; tensors: 2, scalars: []) {
        Err(CallError::new("Refused", "as requested", "request something else"))
    }
}

/// A worker that has one core as its chip.
struct Chip(CpuRuntime);

impl WorkerBackend for Chip {
    fn run_chip(
        &mut self,
        _title: Title<'_>,
        _config: &CallConfig,
        buffers: &mut Buffers<'_>,
        program: &mut ChipProgram<'_>,
    ) -> RunOutcome {
        let start_ns = now_ns();
        let run = self.0.run(buffers, |o| program(o));
        let times = ChipTimes {
            start_ns,
            ticks: run.report.makespan_ticks,
            freq_hz: NODE_CLOCK_HZ,
            ..ChipTimes::default()
        };
        (Some(times), run.result.map_err(|error| CallError::of(&error)))
    }
}

/// A worker that has workers.
struct Workers(Node);

impl WorkerBackend for Workers {
    fn run_node(
        &mut self,
        _title: Title<'_>,
        _config: &CallConfig,
        buffers: &mut Buffers<'_>,
        program: &mut NodeProgram<'_>,
    ) -> RunOutcome {
        (None, self.0.run(buffers, |o| program(o)).result.map_err(|error| CallError::of(&error)))
    }
}

pub fn chip_worker() -> ExitCode {
    serve(|_| {
        let runtime = CpuRuntime::new(&CallConfig::default().with_threads(1));
        Ok(Box::new(Chip(runtime.expect("one thread"))))
    })
}

pub fn node_worker() -> ExitCode {
    serve(|service| Ok(Box::new(Workers(level_three(service.memories())?))))
}

fn worker(kind: WorkerKind, name: &str, role: &str) -> WorkerSpec {
    WorkerSpec { kind, launch: ChildLaunch::new(name).with_arguments([role]) }
}

/// Two chips and a worker for functions.
fn level_three(above: &Memories) -> Result<Node, NodeError> {
    let chip = |i| worker(WorkerKind::Chip, &format!("chip{i}"), "chip-worker");
    let workers = (0..2).map(chip).chain(functions(1)).collect();
    Node::start(above, &CallConfig::default(), &NodeOptions::new(workers))
}

/// Two nodes of level three.
fn level_four() -> Node {
    let workers = (0..2).map(|i| worker(WorkerKind::Node, &format!("node{i}"), "node-worker")).collect();
    Node::start(&Memories::default(), &CallConfig::default(), &NodeOptions::new(workers)).unwrap()
}

fn values() -> Vec<u32> {
    (0..64).collect()
}

fn a_chip_worker_runs() {
    let mut node = level_three(&Memories::default()).unwrap();
    let mut data = node.buffers();
    let x = data.add(&[8, 8], &values()).unwrap();
    let y = data.add_zeroed(DType::UInt32, &[8, 8]).unwrap();
    let run = node.run(data.buffers(), |o| {
        let args = [o.external(x)?.read(), o.external(y)?.write()];
        o.submit(&DOUBLE, &args, &CallConfig::default(), On::Any).map(drop)
    });
    run.result.unwrap();
    assert!(data.get::<u32>(y).unwrap().iter().copied().eq(values().into_iter().map(|x| 2 * x)));
    let call = &node.journal().calls[0];
    let chip = call.chip.expect("it ran on a chip");
    assert!((call.run_ns..=call.end_ns).contains(&chip.start_ns) && chip.ticks > 0, "{call:?}");
}

fn level_four_over_three_over_two() {
    let mut node = level_four();
    let mut data = node.buffers();
    let x = data.add(&[8, 8], &values()).unwrap();
    let y = data.add_zeroed(DType::UInt32, &[8, 8]).unwrap();
    for _ in 0..3 {
        let run = node.run(data.buffers(), |o| {
            let (x, y) = (o.external(x)?, o.external(y)?);
            for half in [0, 4] {
                let args = [x.slice(0, half, 4)?.read(), y.slice(0, half, 4)?.write()];
                o.submit(&DOUBLE_ALL, &args, &CallConfig::default(), On::Any)?;
            }
            Ok(())
        });
        run.result.unwrap();
    }
    assert!(data.get::<u32>(y).unwrap().iter().copied().eq(values().into_iter().map(|x| 6 * x + 1)));
}

fn a_chip_call_in_a_plain_worker() {
    let liar = WorkerSpec { kind: WorkerKind::Chip, launch: ChildLaunch::new("plain") };
    let mut node =
        Node::start(&Memories::default(), &CallConfig::default(), &NodeOptions::new(vec![liar])).unwrap();
    let mut data = node.buffers();
    let x = data.add(&[1, 8], &[1u32; 8]).unwrap();
    let y = data.add_zeroed(DType::UInt32, &[1, 8]).unwrap();
    let run = node.run(data.buffers(), |o| {
        let args = [o.external(x)?.read(), o.external(y)?.write()];
        o.submit(&DOUBLE, &args, &CallConfig::default(), On::Any).map(drop)
    });
    let detail = run.result.unwrap_err().detail();
    assert!(detail.contains("WrongWorker") && detail.contains("needs a chip"), "{detail}");
}

/// The children of a process, and theirs.
fn descendants(pid: u32) -> Vec<u32> {
    let mut all = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|pid| pid.parse().ok()) {
            all.push(child);
            all.extend(descendants(child));
        }
    }
    all
}

fn when_the_outermost_is_killed() {
    let node = level_four();
    let worker = node.worker_records()[0].pid;
    let below = descendants(worker);
    assert_eq!(below.len(), 3, "{below:?}");
    let pid = rustix::process::Pid::from_raw(worker as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert!(within(Duration::from_secs(5), || !below.iter().any(|&pid| exists(pid))), "{below:?}");
}

fn a_chip_worker_in_this_process() {
    let runtime = CpuRuntime::new(&CallConfig::default().with_threads(1)).unwrap();
    let mut worker = ChipWorker::new(Chip(runtime));
    let mut data = Buffers::new();
    let x = data.add(&[8, 8], &values()).unwrap();
    let y = data.add_zeroed(DType::UInt32, &[8, 8]).unwrap();
    let tensors = [(x, Access::Input), (y, Access::OutputExisting)];
    let times = worker.call(&DOUBLE, &CallConfig::DEFAULT, &mut data, &tensors, &[]).unwrap();
    assert!(times.is_some_and(|times| times.ticks > 0));
    assert!(data.get::<u32>(y).unwrap().iter().copied().eq(values().into_iter().map(|x| 2 * x)));
    let twice = [(y, Access::Input), (y, Access::InOut)];
    let error = worker.call(&DOUBLE, &CallConfig::DEFAULT, &mut data, &twice, &[]).unwrap_err();
    assert_eq!(error.name(), "BufferTwice");
    let error = worker.call(&FAIL, &CallConfig::DEFAULT, &mut data, &tensors, &[]).unwrap_err();
    assert_eq!(error.name(), "WrongKind");
    let error = worker.call(&DOUBLE, &CallConfig::DEFAULT, &mut data, &[], &[]).unwrap_err();
    assert_eq!(error.name(), "WrongArguments");
}

fn two_runs_in_flight() {
    let worker =
        Worker::start(&Memories::default(), &CallConfig::DEFAULT, &NodeOptions::new(functions(2))).unwrap();
    let submit = |add: u32, sleep_us: u64| {
        let mut data = worker.buffers();
        let x = data.add(&[1], &[1u32]).unwrap();
        worker.submit(&CallConfig::DEFAULT, data, move |o| {
            let x = o.external(x)?;
            o.submit(&SLEEP, &[scalar(sleep_us)], &CallConfig::DEFAULT, On::Any)?;
            let y = o
                .submit(&ADD, &[x.read(), out(u32, [1]), scalar(add)], &CallConfig::DEFAULT, On::Any)?
                .out(0);
            o.read::<u32>(y)
        })
    };
    for round in 0..5 {
        let first = submit(round, 30_000).unwrap();
        let second = submit(round + 1, 0).unwrap();
        assert_eq!(submit(0, 0).unwrap_err().name(), "TooManyRuns");
        let first = first.wait(Duration::ZERO).unwrap_err();
        let second = second.wait(LONG).unwrap();
        assert!(first.done());
        let first = first.wait(Duration::ZERO).unwrap();
        assert_eq!(
            (first.run.result.unwrap(), second.run.result.unwrap()),
            (vec![3 + round], vec![4 + round])
        );
        assert_eq!((first.journal.calls.len(), first.run.report.tasks), (2, 2));
    }
    let recorded = CallConfig::DEFAULT.with_dfx_flags(ringlane_node::task::DfxFlags::DEPS);
    let error = worker.submit(&recorded, worker.buffers(), |_| Ok(())).unwrap_err();
    assert_eq!(error.name(), "MissingOutputPrefix");
}

fn a_submitted_run_is_where_it_was_submitted() {
    let worker =
        Worker::start(&Memories::default(), &CallConfig::default(), &NodeOptions::new(functions(1))).unwrap();
    let handle = worker.submit(&CallConfig::default(), worker.buffers(), |o| {
        o.submit(&SLEEP, &[scalar(0u64)], &CallConfig::default(), On::Any)?;
        o.submit(&crate::roles::PANIC, &[], &CallConfig::default(), On::Any).map(drop)
    });
    let detail = handle.unwrap().wait(LONG).expect("it ends").run.result.unwrap_err().detail();
    assert!(detail.contains("scope at crates/node/tests/processes/levels.rs"), "{detail}");
}

fn a_worker_that_goes() {
    let worker =
        Worker::start(&Memories::default(), &CallConfig::DEFAULT, &NodeOptions::new(functions(1))).unwrap();
    let sleep = || {
        worker.submit(&CallConfig::DEFAULT, worker.buffers(), |o| {
            o.submit(&SLEEP, &[scalar(60_000_000u64)], &CallConfig::DEFAULT, On::Any).map(drop)
        })
    };
    let runs = [sleep().unwrap(), sleep().unwrap()];
    drop(worker);
    for run in runs {
        assert_eq!(run.wait(Duration::ZERO).unwrap().run.result.unwrap_err().name(), "Interrupted");
    }
}
