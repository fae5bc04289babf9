//! `ringlane bench mailbox`: a call of nothing in a child through its mailbox, beside a message of 64 bytes there and back
//! through a pipe and through a Unix socket, to children of the same kind.
//!
//! The rows without a slash are calls one after another. Those with `/run` are runs of one call, one run after another: what a
//! run costs beyond its calls. Those with `/first` are one call to a child that has had nothing to do for a while and sleeps, so
//! that the machine has to wake up too. `mailbox_sleep` is a mailbox where nobody looks before sleeping,
//! as it is when workers take all cores. `node` is a whole run of a node with one worker: each call is a task of its graph,
//! submitted, scheduled and reclaimed.

use std::thread::sleep;
use std::time::{Duration, Instant};

use ringlane_node::{Child, Kind, Launch, Memories, Node, NodeOptions, On, Spin, WorkerSpec};
use ringlane_task::CallConfig;

use crate::error::BenchError;
use crate::limits::REPETITIONS_MIN;
use crate::measure::{Effort, Interleaved};
use crate::peer::{EMPTY, Peer};
use crate::rows::{Bar, Ratio, Row};
use crate::{Bench, Lab};

/// Calls one after another.
const CALLS: u64 = 1000;
/// Runs of one call, one after another.
const RUNS: u64 = 100;
/// How long a child has nothing to do before a first call: far more than it looks before it sleeps.
const IDLE: Duration = Duration::from_millis(1);
/// No call takes so long unless something is broken.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// The parent and one child.
const PROCESSES: u32 = 2;
/// Nanoseconds of one more call.
const MARGINAL_NS_MAX: f64 = 5_000.0;
/// Nanoseconds that a run of calls takes beyond its calls.
const FIXED_NS_MAX: f64 = 50_000.0;

const _: () = assert!(ringlane_node::limits::SPIN.as_nanos() * 10 <= IDLE.as_nanos());

/// So many times there and back, one after another.
type Way = Box<dyn FnMut(u64) -> Result<(), BenchError>>;

/// Measures all ways in turn.
pub fn measure(bench: &Bench, lab: &mut Lab<'_>) -> Result<(), BenchError> {
    let mut ways: [(&str, Way); 5] = [
        ("mailbox", mailbox(Spin::for_workers(1))?),
        ("node", node()?),
        ("mailbox_sleep", mailbox(Spin::NONE)?),
        ("pipe", pipe()?),
        ("socket", socket()?),
    ];
    let time = bench.time_of_each(3);
    let marginal = rows(lab, &mut ways, "", CALLS, time, |way| timed(|| way(CALLS)))?;
    let run = rows(lab, &mut ways, "/run", RUNS, time, |way| timed(|| (0..RUNS).try_for_each(|_| way(1))))?;
    for (way, name) in ["mailbox", "node"].into_iter().enumerate() {
        let (marginal, fixed) = (marginal[way], (run[way] - marginal[way]).max(0.0));
        let own = [name.to_string(), format!("{name}/run")];
        lab.judge_by(
            Bar::at_most(format!("{name}: ns of one more call"), marginal, MARGINAL_NS_MAX),
            &own[..1],
        );
        lab.judge_by(
            Bar::at_most(format!("{name}: ns of a run beyond its calls"), fixed, FIXED_NS_MAX),
            &own,
        );
    }
    rows(lab, &mut ways, "/first", 1, time, |way| {
        sleep(IDLE);
        timed(|| way(1))
    })?;
    Ok(())
}

/// A row for each way, and their medians.
fn rows(
    lab: &mut Lab<'_>,
    ways: &mut [(&str, Way)],
    suffix: &str,
    calls: u64,
    time: Duration,
    once: impl Fn(&mut Way) -> Result<Duration, BenchError>,
) -> Result<Vec<f64>, BenchError> {
    lab.begin(&format!("mailbox{suffix}"), PROCESSES);
    let effort = Effort { time, rounds_min: REPETITIONS_MIN };
    let measured = Interleaved::take(effort, &vec![calls; ways.len()], |way| once(&mut ways[way].1))?;
    let mut medians = Vec::new();
    for (index, (name, _)) in ways.iter().enumerate() {
        let mut row = Row::new(format!("{name}{suffix}"), PROCESSES, 0, calls, &measured.samples[index]);
        medians.push(row.ns_per_task_median);
        if index > 0 {
            row.extra.ratio = Some(Ratio::of(&measured, index));
        }
        lab.done(row);
    }
    Ok(medians)
}

fn timed(mut work: impl FnMut() -> Result<(), BenchError>) -> Result<Duration, BenchError> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn mailbox(spin: Spin) -> Result<Way, BenchError> {
    let mut child = Child::start(&Launch::new("mailbox").with_spin(spin))?;
    let config = CallConfig::default();
    Ok(Box::new(
        move |calls| Ok((0..calls).try_for_each(|_| child.call(&EMPTY, &config, &[], CALL_TIMEOUT))?),
    ))
}

fn node() -> Result<Way, BenchError> {
    let worker = WorkerSpec { kind: Kind::Function, launch: Launch::new("function0") };
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
    let mut peer = Peer::with_pipes()?;
    Ok(Box::new(move |calls| {
        let there_and_back = (0..calls).try_for_each(|_| peer.round_trip());
        there_and_back.map_err(|error| BenchError::NoPeer { what: "pipe", error })
    }))
}

fn socket() -> Result<Way, BenchError> {
    let mut peer = Peer::with_socket()?;
    Ok(Box::new(move |calls| {
        let there_and_back = (0..calls).try_for_each(|_| peer.round_trip());
        there_and_back.map_err(|error| BenchError::NoPeer { what: "socket", error })
    }))
}
