//! `ringlane bench mailbox`: an empty call in a child through its mailbox, compared with a round trip of a 64-byte
//! message through a pipe and through a Unix socket, to children of the same kind.
//!
//! The rows without a slash are consecutive calls. Those with `/run` are consecutive runs of one call each: they show
//! the cost of a run beyond its calls. Those with `/first` are one call to a child that has been idle for a while and
//! sleeps, so that it has to be woken up. `mailbox_sleep` is a mailbox without polling before sleep, as it is when
//! workers use all cores. `node` is a complete run of a node with one worker: each call is a task of its graph,
//! submitted, scheduled and reclaimed.

use std::thread::sleep;
use std::time::{Duration, Instant};

use ringlane_node::{Child, ChildLaunch, Memories, Node, NodeOptions, On, Spin, WorkerKind, WorkerSpec};
use ringlane_task::CallConfig;

use crate::echo::{EMPTY, EchoChild};
use crate::error::BenchError;
use crate::limits::REPETITIONS_MIN;
use crate::measure::{Effort, Interleaved};
use crate::rows::{Ratio, Row, Target};
use crate::{Bench, Session};

/// Consecutive calls.
const CALLS: u64 = 1000;
/// Consecutive runs of one call.
const RUNS: u64 = 100;
/// How long a child is idle before a first call: much longer than it polls before it sleeps.
const IDLE: Duration = Duration::from_millis(1);
/// Only a broken call takes this long.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// The parent and one child.
const PROCESSES: u32 = 2;
/// Nanoseconds of one more call.
const MARGINAL_NS_MAX: f64 = 5_000.0;
/// Nanoseconds of a run of calls beyond its calls.
const FIXED_NS_MAX: f64 = 50_000.0;

const _: () = assert!(ringlane_node::limits::SPIN.as_nanos() * 10 <= IDLE.as_nanos());

/// Makes this number of consecutive round trips.
type Way = Box<dyn FnMut(u64) -> Result<(), BenchError>>;

/// Measures all connections alternately.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let mut ways: [(&str, Way); 5] = [
        ("mailbox", mailbox(Spin::for_workers(1))?),
        ("node", node()?),
        ("mailbox_sleep", mailbox(Spin::NONE)?),
        ("pipe", pipe()?),
        ("socket", socket()?),
    ];
    let time = bench.time_of_each(3);
    let marginal = rows(session, &mut ways, "", CALLS, time, |way| timed(|| way(CALLS)))?;
    let run =
        rows(session, &mut ways, "/run", RUNS, time, |way| timed(|| (0..RUNS).try_for_each(|_| way(1))))?;
    for (way, name) in ["mailbox", "node"].into_iter().enumerate() {
        let (marginal, fixed) = (marginal[way], (run[way] - marginal[way]).max(0.0));
        let own = [name.to_string(), format!("{name}/run")];
        session.judge_by(
            Target::at_most(format!("{name}: ns of one more call"), marginal, MARGINAL_NS_MAX),
            &own[..1],
        );
        session.judge_by(
            Target::at_most(format!("{name}: ns of a run beyond its calls"), fixed, FIXED_NS_MAX),
            &own,
        );
    }
    rows(session, &mut ways, "/first", 1, time, |way| {
        sleep(IDLE);
        timed(|| way(1))
    })?;
    Ok(())
}

/// A row for each connection, and their medians.
fn rows(
    session: &mut Session<'_>,
    ways: &mut [(&str, Way)],
    suffix: &str,
    calls: u64,
    time: Duration,
    once: impl Fn(&mut Way) -> Result<Duration, BenchError>,
) -> Result<Vec<f64>, BenchError> {
    session.begin(&format!("mailbox{suffix}"), PROCESSES);
    let effort = Effort { time, rounds_min: REPETITIONS_MIN };
    let measured = Interleaved::take(effort, &vec![calls; ways.len()], |way| once(&mut ways[way].1))?;
    let mut medians = Vec::new();
    for (index, (name, _)) in ways.iter().enumerate() {
        let mut row = Row::new(format!("{name}{suffix}"), PROCESSES, 0, calls, &measured.samples[index]);
        medians.push(row.ns_per_task_median);
        if index > 0 {
            row.extra.ratio = Some(Ratio::of(&measured, index));
        }
        session.done(row);
    }
    Ok(medians)
}

fn timed(mut work: impl FnMut() -> Result<(), BenchError>) -> Result<Duration, BenchError> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn mailbox(spin: Spin) -> Result<Way, BenchError> {
    let mut child = Child::start(&ChildLaunch::new("mailbox").with_spin(spin))?;
    let config = CallConfig::default();
    Ok(Box::new(
        move |calls| Ok((0..calls).try_for_each(|_| child.call(&EMPTY, &config, &[], CALL_TIMEOUT))?),
    ))
}

fn node() -> Result<Way, BenchError> {
    let worker = WorkerSpec { kind: WorkerKind::Function, launch: ChildLaunch::new("function0") };
    let mut node =
        Node::start(&Memories::default(), &CallConfig::default(), &NodeOptions::new(vec![worker]))?;
    let (mut data, config) = (node.buffers(), CallConfig::default());
    Ok(Box::new(move |calls| {
        let run = node.run(data.buffers(), |o| {
            (0..calls).try_for_each(|_| o.submit(&EMPTY, &[], &config, On::Any).map(drop))
        });
        run.result.map_err(BenchError::Run)
    }))
}

fn pipe() -> Result<Way, BenchError> {
    let mut child = EchoChild::with_pipes()?;
    Ok(Box::new(move |calls| {
        let round_trips = (0..calls).try_for_each(|_| child.round_trip());
        round_trips.map_err(|error| BenchError::NoPeer { what: "pipe", error })
    }))
}

fn socket() -> Result<Way, BenchError> {
    let mut child = EchoChild::with_socket()?;
    Ok(Box::new(move |calls| {
        let round_trips = (0..calls).try_for_each(|_| child.round_trip());
        round_trips.map_err(|error| BenchError::NoPeer { what: "socket", error })
    }))
}
