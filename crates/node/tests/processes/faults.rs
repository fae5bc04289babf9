//! What goes wrong where a node least expects it: a worker that cannot be started again, a death between two polls, an
//! interrupt on the way to a worker.

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use ringlane_node::engine::prelude::*;
use ringlane_node::task::{CallConfig, Explain};
use ringlane_node::{ChildLaunch, Memories, Node, NodeOptions, On, WorkerKind, WorkerSpec, callable};
use rustix::process::{Pid, Signal, kill_process};

use crate::Test;
use crate::node::node;
use crate::roles::{EMPTY, LEAVE, SLEEP, scribble_state};
use crate::support::LONG;

pub const TESTS: &[Test] = &[
    ("a_node_whose_last_worker_is_lost_fails_what_waits_for_it", the_last_worker_is_lost),
    ("a_worker_that_was_lost_is_tried_again_by_the_next_run", a_lost_worker_is_tried_again),
    ("a_call_that_an_interrupted_worker_never_began_is_not_sent_again", an_unheard_call_after_an_interrupt),
    ("an_interrupted_run_starts_no_worker_again_but_the_next_one_does", no_restart_after_an_interrupt),
    ("a_call_that_had_to_be_sent_twice_has_a_number_of_its_own", a_call_sent_twice),
];

const ANY: CallConfig = CallConfig::DEFAULT;

callable! {
    /// Spoils the state of its mailbox a moment after it was answered.
    static SPOIL_LATER = function fn(_call; tensors: 1, scalars: []) {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            scribble_state(6);
        });
        Ok(())
    }
}

/// A node whose workers are made from a copy of this program, and the copy.
fn node_of_a_copy(workers: usize) -> (Node, PathBuf) {
    let copy = std::env::temp_dir().join(format!("ringlane-worker-{}-{workers}", std::process::id()));
    std::fs::copy("/proc/self/exe", &copy).expect("room for a copy");
    let spec = |i| WorkerSpec {
        kind: WorkerKind::Function,
        launch: ChildLaunch::new(format!("function{i}")).with_program(&copy),
    };
    let options = NodeOptions::new((0..workers).map(spec).collect());
    (Node::start(&Memories::default(), &ANY, &options).unwrap_or_else(|e| panic!("{e:?}")), copy)
}

/// What a test does on a thread of its own; a test that hangs fails.
fn in_time(test: impl FnOnce() + Send + 'static) {
    let (sender, ended) = channel();
    let thread = std::thread::spawn(move || {
        test();
        let _ = sender.send(());
    });
    if ended.recv_timeout(LONG).is_err() && !thread.is_finished() {
        panic!("it hangs");
    }
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn the_last_worker_is_lost() {
    in_time(|| {
        for workers in [1, 2] {
            let (mut node, copy) = node_of_a_copy(workers);
            std::fs::remove_file(copy).unwrap();
            let mut data = node.buffers();
            let run = node.run(data.buffers(), |o| {
                for worker in 0..workers as u32 {
                    o.submit(&LEAVE, &[scalar(1u64)], &ANY, On::Worker(worker))?;
                }
                (0..3).try_for_each(|_| o.submit(&EMPTY, &[], &ANY, On::Any).map(drop))?;
                o.submit(&EMPTY, &[], &ANY, On::Worker(0)).map(drop)
            });
            assert!(run.result.unwrap_err().detail().contains("LEAVE"));
            assert_eq!(run.report.failed, workers as u64 + 4);
        }
    });
}

fn a_lost_worker_is_tried_again() {
    in_time(|| {
        let (mut node, copy) = node_of_a_copy(1);
        let away = copy.with_extension("away");
        std::fs::rename(&copy, &away).unwrap();
        let mut data = node.buffers();
        let run = node.run(data.buffers(), |o| {
            o.submit(&LEAVE, &[scalar(1u64)], &ANY, On::Any)?;
            o.submit(&EMPTY, &[], &ANY, On::Any).map(drop)
        });
        assert_eq!(run.report.failed, 2);
        std::fs::rename(&away, &copy).unwrap();
        let run = node.run(data.buffers(), |o| o.submit(&EMPTY, &[], &ANY, On::Any).map(drop));
        std::fs::remove_file(copy).unwrap();
        run.result.unwrap();
    });
}

fn an_unheard_call_after_an_interrupt() {
    let mut node = node(1);
    let (remote, mut data) = (node.remote(), node.buffers());
    let pid = Pid::from_raw(node.worker_records()[0].pid as i32).unwrap();
    // It no longer polls its mailbox.
    kill_process(pid, Signal::STOP).unwrap();
    let began = Instant::now();
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        remote.interrupt();
        std::thread::sleep(Duration::from_millis(200));
        kill_process(pid, Signal::KILL).unwrap();
    });
    let run =
        node.run(data.buffers(), |o| o.submit(&SLEEP, &[scalar(5_000_000u64)], &ANY, On::Any).map(drop));
    killer.join().unwrap();
    assert_eq!(run.result.unwrap_err().name(), "Interrupted");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_eq!(node.journal().calls.len(), 1);
}

fn no_restart_after_an_interrupt() {
    let mut node = node(2);
    let (remote, mut data) = (node.remote(), node.buffers());
    let interrupter = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        remote.interrupt();
    });
    let run = node.run(data.buffers(), |o| {
        (0..4).try_for_each(|_| o.submit(&SLEEP, &[scalar(60_000_000u64)], &ANY, On::Any).map(drop))
    });
    interrupter.join().unwrap();
    assert_eq!(run.result.unwrap_err().name(), "Interrupted");
    let restarts = |node: &Node| node.worker_records().iter().map(|worker| worker.restarts).sum::<u32>();
    assert_eq!(restarts(&node), 0);
    node.run(data.buffers(), |o| o.submit(&EMPTY, &[], &ANY, On::Any).map(drop)).result.unwrap();
    assert_eq!(restarts(&node), 2);
}

fn a_call_sent_twice() {
    let mut node = node(1);
    let mut data = node.buffers();
    let run = node.run(data.buffers(), |o| {
        o.submit(&EMPTY, &[], &ANY, On::Any)?;
        let answered = o.submit(&SPOIL_LATER, &[out(u32, [1])], &ANY, On::Any)?.out(0);
        o.read::<u32>(answered)?;
        // The worker is idle when its mailbox is spoilt.
        std::thread::sleep(Duration::from_millis(200));
        o.submit(&EMPTY, &[], &ANY, On::Any)?;
        o.submit(&EMPTY, &[], &ANY, On::Any).map(drop)
    });
    run.result.unwrap();
    assert!(node.journal().calls.iter().map(|call| call.seq).eq(1..=4), "{:?}", node.journal().calls);
    assert_eq!(node.worker_records()[0].restarts, 1);
}
