//! Children that fail to start, die, hang or scribble, and parents that die.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ringlane_node::task::{CallConfig, Explain, Scalar};
use ringlane_node::{Child, NodeError};

use crate::Test;
use crate::roles::{EMPTY, LEAVE, SCRIBBLE, SLEEP};
use crate::support::{LONG, Random, child, exists, holdings, launch, within};

pub const TESTS: &[Test] = &[
    ("a_child_that_dies_at_its_start_is_reported_with_its_status_and_captured_output", dies_at_its_start),
    ("a_child_inherits_its_run_request_every_time_it_is_started", inherits_its_run_request),
    ("a_program_that_is_not_there_cannot_be_started", a_program_that_is_not_there_cannot_be_started),
    ("a_child_that_is_never_ready_is_late_and_leaves_nothing", never_ready),
    ("a_child_that_prints_without_end_still_starts_and_works", a_child_that_prints_still_works),
    ("the_error_of_a_child_that_exits_has_the_callable_status_and_captured_output", a_child_that_leaves),
    ("a_child_killed_at_a_random_moment_in_each_of_200_calls_leaves_nothing", killed_in_each_of_200_calls),
    ("a_child_that_hangs_past_its_deadline_is_killed_and_starts_again", hangs_past_its_deadline),
    ("an_idle_childs_death_is_noticed_at_once", an_idle_childs_death_is_noticed_at_once),
    ("a_childs_corrupt_mailbox_is_named_and_costs_it_its_life", a_childs_corrupt_mailbox_is_named),
    ("a_state_that_no_step_leads_to_is_corrupt", a_state_that_no_step_leads_to_is_corrupt),
    ("a_parent_that_is_killed_leaves_no_child", a_parent_that_is_killed_leaves_no_child),
];

fn call(child: &mut Child, us: u64, timeout: Duration) -> Result<(), NodeError> {
    child.call(&SLEEP, &CallConfig::default(), &[Scalar::new(us)], timeout)
}

fn dies_at_its_start() {
    let before = holdings();
    let error = Child::start(&launch("short").with_arguments(["dies"])).unwrap_err();
    assert_eq!(error.name(), "ChildDied");
    let detail = error.detail();
    assert!(detail.starts_with("short during its start: process "), "{detail}");
    assert!(detail.ends_with("ended with status 3; captured output: no chip | at this address"), "{detail}");
    assert_eq!(holdings(), before);
}

fn inherits_its_run_request() {
    let before = holdings();
    let launch = launch("asked").with_arguments(["asked"]);
    let error = Child::start(&launch).unwrap_err();
    assert!(
        error.name() == "StartFailed" && error.detail().contains("WrongRequest: None"),
        "{}",
        error.detail()
    );
    let mut child = Child::start(&launch.with_run_request(*b"the right thing")).unwrap();
    child.restart().unwrap();
    call(&mut child, 0, LONG).unwrap();
    drop(child);
    assert_eq!(holdings(), before);
}

fn a_program_that_is_not_there_cannot_be_started() {
    let before = holdings();
    let error = Child::start(&launch("none").with_program("/nonexistent/ringlane")).unwrap_err();
    assert!(error.name() == "CannotStart" && error.detail().contains("No such file"), "{}", error.detail());
    assert_eq!(holdings(), before);
}

fn never_ready() {
    let before = holdings();
    let timeout = Duration::from_millis(300);
    let launch = launch("slow").with_arguments(["never-ready"]).with_start_timeout(timeout);
    let start = Instant::now();
    let error = Child::start(&launch).unwrap_err();
    let captured_output = "thinking".to_string();
    assert_eq!(error, NodeError::StartTimedOut { worker: "slow".into(), after: timeout, captured_output });
    assert!(start.elapsed() < Duration::from_secs(5) && holdings() == before);
}

fn a_child_that_prints_still_works() {
    let mut child = Child::start(&launch("chatty").with_arguments(["prints"])).unwrap();
    call(&mut child, 0, LONG).unwrap();
    assert!(within(LONG, || child.captured_output().ends_with("line 99999")), "{}", child.captured_output());
    assert!(child.captured_output().len() < 4096);
}

fn a_child_that_leaves() {
    let mut child = child("leaver");
    let error = child.call(&LEAVE, &CallConfig::default(), &[Scalar::new(7u64)], LONG).unwrap_err();
    let detail = error.detail();
    assert!(error.name() == "ChildDied" && detail.starts_with("leaver during LEAVE: process "), "{detail}");
    assert!(detail.ends_with("ended with status 7; captured output: I am leaving"), "{detail}");
    let again = call(&mut child, 0, LONG).unwrap_err();
    assert!(again.detail().contains("during SLEEP") && again.detail().contains("status 7"), "{again:?}");
}

fn killed_in_each_of_200_calls() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(6);
    let mut random = Random(seed);
    let before = holdings();
    let mut child = child("victim");
    let mut died = 0;
    for round in 0..200 {
        let pid = child.pid();
        // From before the call is read to after it is answered.
        let (sleep_us, kill_us) = (random.below(400), random.below(1200));
        let sent = child.send(&SLEEP, &CallConfig::default(), (0, 1), &[], &[Scalar::new(sleep_us)]);
        std::thread::sleep(Duration::from_micros(kill_us));
        child.kill();
        let answer = sent.and_then(|()| child.wait(LONG));
        if let Err(error) = answer {
            died += 1;
            let detail = error.detail();
            assert_eq!(error.name(), "ChildDied", "SEED={seed} round {round}: {detail}");
            assert!(
                detail.contains("victim during SLEEP") && detail.contains("signal 9 (SIGKILL)"),
                "{detail}"
            );
        }
        child.restart().unwrap_or_else(|error| panic!("SEED={seed} round {round}: {error:?}"));
        assert!(!exists(pid), "SEED={seed} round {round}: an orphan or a zombie");
    }
    assert!((1..200).contains(&died), "SEED={seed}: {died} of 200 died in their calls");
    drop(child);
    assert_eq!(holdings(), before);
}

fn hangs_past_its_deadline() {
    let mut child = child("hangs");
    let (pid, start) = (child.pid(), Instant::now());
    let error = call(&mut child, 60_000_000, Duration::from_millis(200)).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert!(
        error.name() == "CallTimedOut" && error.detail().contains("SLEEP in hangs: still Running"),
        "{error:?}"
    );
    assert!(!exists(pid) && !child.is_alive());
    child.restart().unwrap();
    call(&mut child, 0, LONG).unwrap();
}

fn an_idle_childs_death_is_noticed_at_once() {
    let child = child("idle");
    child.kill();
    let start = Instant::now();
    assert!(within(LONG, || !child.is_alive()) && start.elapsed() < Duration::from_secs(1));
    assert!(child.is_done() && !exists(child.pid()));
}

fn a_childs_corrupt_mailbox_is_named() {
    let before = holdings();
    // The callable ends well, but over the head, the state or the doorbell of its mailbox there is something else by then.
    let cases = [(0u64, "magic"), (8, "version"), (12, "bytes"), (36, "reserved")];
    for (at, field) in cases {
        let mut child = child("scribbler");
        let scalars = [Scalar::new(at), Scalar::new(0xbad_f00du64)];
        let error = child.call(&SCRIBBLE, &CallConfig::default(), &scalars, LONG).unwrap_err();
        let NodeError::CorruptMailbox { field: named, value } = error else { panic!("{error:?}") };
        assert!(named == field && value as u32 == 0xbad_f00d, "{named} {value:#x}");
        assert!(!child.is_alive() && !exists(child.pid()));
        child.restart().unwrap();
        child.call(&EMPTY, &CallConfig::default(), &[], LONG).unwrap();
    }
    for bell in [128u64, 192] {
        let mut child = child("ringer");
        let scalars = [Scalar::new(bell), Scalar::new(0xffff_ffffu64)];
        child.call(&SCRIBBLE, &CallConfig::default(), &scalars, LONG).unwrap();
        child.call(&EMPTY, &CallConfig::default(), &[], LONG).unwrap();
    }
    assert_eq!(holdings(), before);
}

fn a_state_that_no_step_leads_to_is_corrupt() {
    let error = Child::start(&launch("eager").with_arguments(["ready-at-once"])).unwrap_err();
    assert_eq!(error, NodeError::CorruptMailbox { field: "state", value: 4 });
    for state in [0u64, 1, 7, 99] {
        let mut child = child("jumper");
        let scalars = [Scalar::new(64u64), Scalar::new(state)];
        let error = child.call(&SCRIBBLE, &CallConfig::default(), &scalars, LONG).unwrap_err();
        assert_eq!(error, NodeError::CorruptMailbox { field: "state", value: state });
    }
}

fn a_parent_that_is_killed_leaves_no_child() {
    let program = std::env::current_exe().unwrap();
    let mut parent = Command::new(program).arg("parent").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let pids: Vec<u32> = line.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert!(pids.len() == 2 && pids.iter().all(|&pid| exists(pid)), "{line}");
    parent.kill().unwrap();
    parent.wait().unwrap();
    // The process that adopts them may reap them late, but they are dead.
    let is_gone = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
    };
    assert!(within(Duration::from_secs(1), || pids.iter().all(|&pid| is_gone(pid))), "{line}");
}
