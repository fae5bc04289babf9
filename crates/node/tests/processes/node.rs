//! A node over workers for plain functions: dependencies, groups, failures, deaths, runs in a row.

use std::time::{Duration, Instant};

use ringlane_node::engine::prelude::*;
use ringlane_node::task::{CallConfig, Explain};
use ringlane_node::{
    CallStatus, ChildLaunch, Memories, Node, NodeOptions, On, WorkerKind, WorkerSpec, callable,
};

use crate::Test;
use crate::roles::{EMPTY, LEAVE, NOWHERE, PANIC, SLEEP, SUM};
use crate::support::{Random, exists, holdings, within};

pub const TESTS: &[Test] = &[
    ("calls_follow_each_other_through_the_tensors_they_touch", calls_follow_each_other),
    ("workers_write_into_the_node_s_memory", workers_write_into_the_nodes_memory),
    ("sixty_nine_tensors_arrive_where_they_are", sixty_nine_tensors_arrive),
    ("a_group_runs_in_several_workers_at_once_each_with_its_part", a_group_runs_at_once),
    ("a_group_is_not_kept_waiting_by_those_after_it", a_group_is_not_starved),
    ("a_call_goes_to_the_worker_it_asks_for", a_call_goes_to_the_worker_it_asks_for),
    ("what_no_worker_could_run_is_refused_at_submit", refused_at_submit),
    ("a_failed_call_skips_those_that_need_it_and_no_others", a_failed_call_skips),
    ("a_worker_that_dies_is_restarted_and_its_captured_output_is_reported", a_worker_that_dies),
    ("a_worker_that_is_late_is_killed_and_started_again", a_worker_that_is_late),
    ("a_worker_killed_at_any_moment_fails_at_most_its_own_call", killed_at_any_moment),
    ("an_interrupted_node_ends_long_before_its_calls", an_interrupted_node_ends),
    ("random_programs_give_what_they_give_in_order", random_programs),
    ("a_node_leaves_no_process_file_or_descriptor", a_node_leaves_no_process_file_or_descriptor),
];

callable! {
    /// y = x + a
    pub static ADD = function fn(call; tensors: 2, scalars: [UInt32]) {
        let (x, y, a) = (call.slice::<u32>(0)?, call.slice_mut::<u32>(1)?, call.scalar::<u32>(0)?);
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x.wrapping_mul(3).wrapping_add(a));
        Ok(())
    }
}

callable! {
    /// Who it is, and of how many, and in which process.
    static WHO = function fn(call; tensors: 1, scalars: []) {
        let (member, members) = (call.member(), call.members());
        call.slice_mut::<u32>(0)?.copy_from_slice(&[member, members, std::process::id()]);
        Ok(())
    }
}

/// Workers for plain functions.
pub fn functions(count: usize) -> Vec<WorkerSpec> {
    let spec =
        |i| WorkerSpec { kind: WorkerKind::Function, launch: ChildLaunch::new(format!("function{i}")) };
    (0..count).map(spec).collect()
}

pub fn node(workers: usize) -> Node {
    let options = NodeOptions::new(functions(workers));
    Node::start(&Memories::default(), &CallConfig::default(), &options).unwrap_or_else(|e| panic!("{e:?}"))
}

const ANY: CallConfig = CallConfig::DEFAULT;

fn calls_follow_each_other() {
    let mut node = node(2);
    let mut data = node.buffers();
    let x = data.add(&[4], &[1u32, 2, 3, 4]).unwrap();
    let run = node.run(data.buffers(), |o| {
        let mut last = o.external(x)?;
        for step in 0..20u32 {
            last = o.submit(&ADD, &[last.read(), out(u32, [4]), scalar(step)], &ANY, On::Any)?.out(0);
        }
        o.read::<u32>(last)
    });
    let expected =
        (0..20u32).fold([1u32, 2, 3, 4], |x, step| x.map(|x| x.wrapping_mul(3).wrapping_add(step)));
    assert_eq!((run.result.unwrap(), run.report.tasks), (expected.to_vec(), 20));
    let calls = &node.journal().calls;
    assert_eq!(calls.len(), 20);
    for call in calls {
        let order = [call.submit_ns, call.sent_ns, call.accepted_ns, call.run_ns, call.end_ns, call.done_ns];
        assert!(order.is_sorted() && call.status == CallStatus::Ok, "{call:?}");
    }
}

fn workers_write_into_the_nodes_memory() {
    let mut node = node(2);
    let mut data = node.buffers();
    let x = data.add(&[1000, 1000], &vec![5u32; 1_000_000]).unwrap();
    let y = data.add_zeroed(DType::UInt32, &[1000, 1000]).unwrap();
    let run = node.run(data.buffers(), |o| {
        let (x, y) = (o.external(x)?, o.external(y)?);
        for row in 0..10u32 {
            let (x, y) = (x.slice(0, row * 100, 100)?, y.slice(0, row * 100, 100)?);
            o.submit(&ADD, &[x.read(), y.write(), scalar(row)], &ANY, On::Any)?;
        }
        Ok(())
    });
    run.result.unwrap();
    let y = data.get::<u32>(y).unwrap();
    assert!(y.iter().enumerate().all(|(i, &y)| y == 15 + (i / 100_000) as u32));
}

fn sixty_nine_tensors_arrive() {
    let mut node = node(1);
    let mut data = node.buffers();
    let all: Vec<_> = (0..69u32).map(|i| data.add(&[8], &[i; 8]).unwrap()).collect();
    let run = node.run(data.buffers(), |o| {
        let tensors = all.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
        let mut args: Vec<Arg<'_>> = tensors.iter().map(|tensor| tensor.read()).collect();
        args[68] = tensors[68].write();
        o.submit(&SUM, &args, &ANY, On::Any).map(drop)
    });
    run.result.unwrap();
    assert_eq!(data.get::<u32>(all[68]).unwrap(), [8 * (0..68).sum::<u32>(); 8]);
}

fn a_group_runs_at_once() {
    let mut node = node(3);
    let mut data = node.buffers();
    let y = data.add_zeroed(DType::UInt32, &[3, 3]).unwrap();
    let run = node.run(data.buffers(), |o| {
        let y = o.external(y)?;
        o.group(&WHO, 3, &[y.out_split(0)], &ANY, On::Workers(vec![2, 0, 1])).map(drop)
    });
    run.result.unwrap();
    let pids: Vec<u32> = node.worker_records().iter().map(|worker| worker.pid).collect();
    assert_eq!(data.get::<u32>(y).unwrap(), [0, 3, pids[2], 1, 3, pids[0], 2, 3, pids[1]]);
    assert_eq!((run.report.tasks, run.report.blocks), (1, 3));
}

fn a_group_is_not_starved() {
    let mut node = node(2);
    let mut data = node.buffers();
    let y = data.add_zeroed(DType::UInt32, &[2, 3]).unwrap();
    let run = node.run(data.buffers(), |o| {
        let y = o.external(y)?;
        o.submit(&SLEEP, &[scalar(30_000u64)], &ANY, On::Any)?;
        o.group(&WHO, 2, &[y.out_split(0)], &ANY, On::Any)?;
        (0..50).try_for_each(|_| o.submit(&SLEEP, &[scalar(1000u64)], &ANY, On::Any).map(drop))
    });
    run.result.unwrap();
    // At most one call could begin before the group was there to wait.
    let calls = &node.journal().calls;
    let group = calls.iter().position(|call| call.callable == "WHO").unwrap();
    assert!(group <= 2, "{group}");
}

fn a_call_goes_to_the_worker_it_asks_for() {
    let mut node = node(3);
    let mut data = node.buffers();
    let run = node.run(data.buffers(), |o| {
        (0..30u32).try_for_each(|i| o.submit(&EMPTY, &[], &ANY, On::Worker(i % 3)).map(drop))
    });
    run.result.unwrap();
    for worker in 0..3 {
        let calls = node.journal().calls.iter().filter(|call| call.worker == worker);
        assert!(calls.map(|call| call.seq).eq(1..=10));
    }
}

fn refused_at_submit() {
    let mut node = node(2);
    let mut data = node.buffers();
    let run = node.run(data.buffers(), |o| {
        let mut names = Vec::new();
        let mut note = |result: Result<()>| names.push(result.unwrap_err().name());
        note(o.group(&EMPTY, 3, &[], &ANY, On::Any).map(drop));
        note(o.submit(&EMPTY, &[], &ANY, On::Worker(2)).map(drop));
        note(o.group(&EMPTY, 2, &[], &ANY, On::Workers(vec![0, 0])).map(drop));
        note(o.submit(&SLEEP, &[], &ANY, On::Any).map(drop));
        note(o.submit(&SLEEP, &[scalar(1u32)], &ANY, On::Any).map(drop));
        note(o.submit(&crate::levels::DOUBLE, &[], &ANY, On::Any).map(drop));
        let recorded = CallConfig::default().with_dfx_flags(ringlane_node::task::DfxFlags::DEPS);
        note(o.submit(&EMPTY, &[], &recorded, On::Any).map(drop));
        let tiny = CallConfig::default().with_tensormap(3);
        note(o.submit(&EMPTY, &[], &tiny, On::Any).map(drop));
        Ok(names)
    });
    let launch = "BadLaunch";
    let expected =
        [launch, launch, launch, "ArgCount", "ArgDType", launch, "MissingOutputPrefix", "CapacityTooSmall"];
    let names = run.result.unwrap();
    assert_eq!(names[..7], expected[..7]);
    assert!(names[7].starts_with("Capacity"), "{}", names[7]);
    assert_eq!(run.report.tasks, 0);
    // A callable that is not registered has no worker that knows it.
    let run = node.run(data.buffers(), |o| o.submit(&NOWHERE, &[], &ANY, On::Any).map(drop));
    let error = run.result.unwrap_err();
    assert!(error.name() == launch && error.detail().contains("NOWHERE: no worker knows it"), "{error:?}");
    // Buffers of its own are in no worker's memory.
    let mut elsewhere = Buffers::new();
    elsewhere.add(&[1], &[1u32]).unwrap();
    assert_eq!(node.run(&mut elsewhere, |_| Ok(())).result.unwrap_err().name(), "NotShared");
}

fn a_failed_call_skips() {
    let mut node = node(2);
    let mut data = node.buffers();
    let x = data.add(&[1], &[1u32]).unwrap();
    let run = node.run(data.buffers(), |o| {
        let x = o.external(x)?;
        let bad = o.submit(&crate::levels::FAIL, &[x.read(), out(u32, [1])], &ANY, On::Any)?.out(0);
        o.submit(&ADD, &[bad.read(), out(u32, [1]), scalar(1u32)], &ANY, On::Any)?;
        let good = o.submit(&ADD, &[x.read(), out(u32, [1]), scalar(1u32)], &ANY, On::Any)?.out(0);
        o.read::<u32>(good)
    });
    let error = run.result.unwrap_err();
    assert_eq!((error.name(), run.report.failed, run.report.skipped), ("TaskFailed", 1, 1));
    let detail = error.detail();
    assert!(detail.contains("FAIL") && detail.contains("Refused: as requested"), "{detail}");
    let panicked = node.run(data.buffers(), |o| o.submit(&PANIC, &[], &ANY, On::Any).map(drop));
    assert!(panicked.result.unwrap_err().detail().contains("this callable panics"));
    assert!(node.run(data.buffers(), |o| o.submit(&EMPTY, &[], &ANY, On::Any).map(drop)).result.is_ok());
}

fn a_worker_that_dies() {
    let mut node = node(2);
    let mut data = node.buffers();
    let before = node.worker_records()[1].pid;
    let run = node.run(data.buffers(), |o| {
        o.submit(&LEAVE, &[scalar(7u64)], &ANY, On::Worker(1))?;
        (0..20u32).try_for_each(|i| o.submit(&EMPTY, &[], &ANY, On::Worker(i % 2)).map(drop))
    });
    let detail = run.result.unwrap_err().detail();
    for expected in ["LEAVE", "function1", "status 7", "I am leaving", "ChildDied"] {
        assert!(detail.contains(expected), "{expected}: {detail}");
    }
    assert_eq!((run.report.failed, run.report.skipped, run.report.tasks), (1, 0, 21));
    let worker = &node.worker_records()[1];
    assert!(worker.restarts == 1 && worker.pid != before && !exists(before));
    assert!(node.journal().calls.iter().any(|call| call.status == CallStatus::Died));
    // One that dies between two runs is not noticed by them.
    let pid = rustix::process::Pid::from_raw(worker.pid as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let run = node.run(data.buffers(), |o| {
        (0..20u32).try_for_each(|i| o.submit(&EMPTY, &[], &ANY, On::Worker(i % 2)).map(drop))
    });
    run.result.unwrap();
}

fn a_worker_that_is_late() {
    let options = NodeOptions { call_timeout: Duration::from_millis(50), ..NodeOptions::new(functions(2)) };
    let mut node = Node::start(&Memories::default(), &CallConfig::default(), &options).unwrap();
    let mut data = node.buffers();
    let run = node.run(data.buffers(), |o| {
        o.submit(&SLEEP, &[scalar(60_000_000u64)], &ANY, On::Any)?;
        (0..10).try_for_each(|_| o.submit(&EMPTY, &[], &ANY, On::Any).map(drop))
    });
    let detail = run.result.unwrap_err().detail();
    assert!(detail.contains("CallTimedOut") && detail.contains("50ms"), "{detail}");
    assert_eq!((run.report.failed, run.report.skipped), (1, 0));
    assert!(node.journal().calls.iter().any(|call| call.status == CallStatus::Late));
    assert!(node.run(data.buffers(), |o| o.submit(&EMPTY, &[], &ANY, On::Any).map(drop)).result.is_ok());
}

/// `KILLS` runs, in each of which a worker is killed at a random moment.
fn killed_at_any_moment() {
    let kills: u32 = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(1000);
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let (mut random, mut node) = (Random(seed), node(2));
    let mut failures = 0;
    for round in 0..kills {
        let victim = node.worker_records()[random.below(2) as usize].pid;
        let pause = Duration::from_micros(random.below(3000));
        let killer = std::thread::spawn(move || {
            std::thread::sleep(pause);
            let pid = rustix::process::Pid::from_raw(victim as i32).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        });
        let mut data = node.buffers();
        let x = data.add(&[1], &[1u32]).unwrap();
        let run = node.run(data.buffers(), |o| {
            let x = o.external(x)?;
            for step in 0..10u32 {
                let y = o.submit(&ADD, &[x.read(), out(u32, [1]), scalar(step)], &ANY, On::Any)?.out(0);
                o.submit(&SLEEP, &[scalar(random.below(300))], &ANY, On::Any)?;
                o.submit(&ADD, &[y.read(), out(u32, [1]), scalar(step)], &ANY, On::Any)?;
            }
            Ok(())
        });
        assert!(run.report.failed <= 1, "round {round}: {:?}", run.report);
        if let Err(error) = run.result {
            failures += 1;
            let detail = error.detail();
            assert!(detail.starts_with("task ") && detail.contains("ChildDied"), "round {round}: {detail}");
        } else {
            assert_eq!(run.report.skipped, 0);
        }
        killer.join().unwrap();
        assert!(within(Duration::from_secs(5), || !exists(victim)), "round {round}: {victim} is still there");
    }
    println!("{failures} of {kills} runs lost a call");
    assert!(node.run(node.buffers().buffers(), |_| Ok(())).result.is_ok());
}

fn an_interrupted_node_ends() {
    let mut node = node(2);
    let (remote, mut data) = (node.remote(), node.buffers());
    let began = Instant::now();
    let interrupter = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        remote.interrupt();
    });
    let run = node.run(data.buffers(), |o| {
        (0..10).try_for_each(|_| o.submit(&SLEEP, &[scalar(60_000_000u64)], &ANY, On::Any).map(drop))
    });
    assert_eq!(run.result.unwrap_err().name(), "Interrupted");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    interrupter.join().unwrap();
    assert!(node.run(data.buffers(), |o| o.submit(&EMPTY, &[], &ANY, On::Any).map(drop)).result.is_ok());
}

/// Random chains over a few tensors, compared with the same steps in order.
fn random_programs() {
    let (mut random, mut node) = (Random(7), node(3));
    for _ in 0..20 {
        let steps: Vec<(usize, usize, u32)> = (0..40)
            .map(|_| (random.below(6) as usize, random.below(6) as usize, random.below(100) as u32))
            .filter(|(from, to, _)| from != to)
            .collect();
        let mut model = [[0u32; 4]; 6];
        let mut data = node.buffers();
        let ids: Vec<_> = (0..6).map(|_| data.add_zeroed(DType::UInt32, &[4]).unwrap()).collect();
        let run = node.run(data.buffers(), |o| {
            let tensors = ids.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
            for &(from, to, a) in &steps {
                o.scope(|o| {
                    o.submit(&ADD, &[tensors[from].read(), tensors[to].write(), scalar(a)], &ANY, On::Any)
                        .map(drop)
                })?;
            }
            Ok(())
        });
        run.result.unwrap();
        for &(from, to, a) in &steps {
            model[to] = model[from].map(|x| x.wrapping_mul(3).wrapping_add(a));
        }
        for (id, expected) in ids.iter().zip(model) {
            assert_eq!(data.get::<u32>(*id).unwrap(), expected);
        }
    }
}

fn a_node_leaves_no_process_file_or_descriptor() {
    let before = holdings();
    let pids: Vec<u32> = {
        let mut node = node(3);
        let mut data = node.buffers();
        node.run(data.buffers(), |o| o.submit(&EMPTY, &[], &ANY, On::Any).map(drop)).result.unwrap();
        let pids = node.worker_records().iter().map(|worker| worker.pid).collect();
        node.shutdown(Duration::from_secs(5));
        pids
    };
    assert!(pids.iter().all(|&pid| !exists(pid)));
    assert_eq!(holdings(), before);
}
