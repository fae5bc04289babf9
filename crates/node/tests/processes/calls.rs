//! Calls that come back: with success, with an error, or refused.

use std::time::{Duration, Instant};

use ringlane_node::task::{CallConfig, DfxFlags, Explain, Scalar};
use ringlane_node::{NodeError, Spin};

use crate::Test;
use crate::roles::{CHECK_SUM, EMPTY, NOWHERE, PANIC, SLEEP};
use crate::support::{LONG, child, holdings, launch};

pub const TESTS: &[Test] = &[
    ("a_call_comes_back_and_so_does_the_thousandth", a_call_comes_back_and_so_does_the_thousandth),
    ("a_call_comes_back_whether_its_sides_poll_or_sleep", a_call_comes_back_whether_its_sides_poll_or_sleep),
    ("an_error_arrives_with_all_three_texts_and_the_child_lives", an_error_arrives_with_all_three_texts),
    ("a_panic_is_an_error_and_the_child_lives", a_panic_is_an_error_and_the_child_lives),
    ("an_unknown_callable_is_said_by_the_child", an_unknown_callable_is_said_by_the_child),
    ("what_is_wrong_with_a_call_is_found_before_the_child_hears_of_it", found_before_the_child_hears_of_it),
    ("two_mailboxes_work_at_once", two_mailboxes_work_at_once),
    ("a_shutdown_ends_in_order_and_leaves_nothing", a_shutdown_ends_in_order_and_leaves_nothing),
];

fn a_call_comes_back_and_so_does_the_thousandth() {
    let mut child = child("sums");
    for number in 0..1000u64 {
        let config = CallConfig::default().with_seed(number);
        let scalars = [Scalar::new(5u64), Scalar::new(number + 5)];
        child.call(&CHECK_SUM, &config, &scalars, LONG).unwrap();
    }
}

fn a_call_comes_back_whether_its_sides_poll_or_sleep() {
    for spin in [Spin::NONE, Spin::from_us(5), Spin::from_us(200)] {
        let mut child = ringlane_node::Child::start(&launch("spin").with_spin(spin)).unwrap();
        for pause_us in [0, 0, 0, 20, 400, 0] {
            std::thread::sleep(Duration::from_micros(pause_us));
            child.call(&SLEEP, &CallConfig::default(), &[Scalar::new(pause_us)], LONG).unwrap();
        }
    }
}

fn an_error_arrives_with_all_three_texts() {
    let mut child = child("errors");
    let error = child.call(&CHECK_SUM, &CallConfig::default(), &[Scalar::new(1u64); 2], LONG);
    assert_eq!(error, Ok(()));
    let scalars = [Scalar::new(1u64), Scalar::new(3u64)];
    let error = child.call(&CHECK_SUM, &CallConfig::default(), &scalars, LONG).unwrap_err();
    assert_eq!((error.name(), error.hint().as_str()), ("CallFailed", "count again"));
    assert_eq!(error.detail(), "CHECK_SUM in errors: WrongSum: 0 + 1 is not 3");
    child.call(&EMPTY, &CallConfig::default(), &[], LONG).unwrap();
}

fn a_panic_is_an_error_and_the_child_lives() {
    let mut child = child("panics");
    let error = child.call(&PANIC, &CallConfig::default(), &[], LONG).unwrap_err();
    assert!(
        error.detail().contains("CallablePanicked: panicked at crates/node/tests/processes/roles.rs:"),
        "{}",
        error.detail()
    );
    child.call(&EMPTY, &CallConfig::default(), &[], LONG).unwrap();
}

fn an_unknown_callable_is_said_by_the_child() {
    let mut child = child("unknown");
    let error = child.call(&NOWHERE, &CallConfig::default(), &[], LONG).unwrap_err();
    let NodeError::CallFailed { callable, error: said, .. } = error else { panic!("{error:?}") };
    assert_eq!((callable, said.name.as_str()), ("NOWHERE", "UnknownCallable"));
    assert!(said.detail.contains(&NOWHERE.digest().unwrap().to_string()), "{said}");
    assert!(said.detail.contains("CHECK_SUM") && !said.hint.is_empty(), "{said}");
    child.call(&EMPTY, &CallConfig::default(), &[], LONG).unwrap();
}

fn found_before_the_child_hears_of_it() {
    let mut child = child("refuses");
    let config = CallConfig::default().with_dfx_flags(DfxFlags::DEPS);
    let error = child.call(&EMPTY, &config, &[], LONG).unwrap_err();
    assert_eq!(error.name(), "MissingOutputPrefix");
    let error = child.call(&SLEEP, &CallConfig::default(), &[], LONG).unwrap_err();
    assert_eq!(error.name(), "WrongArguments");
    assert_eq!(child.wait(LONG).unwrap_err().name(), "NoCall");
    child.send(&EMPTY, &CallConfig::default(), (0, 1), &[], &[]).unwrap();
    let busy = child.send(&EMPTY, &CallConfig::default(), (0, 1), &[], &[]).unwrap_err();
    assert_eq!(busy, NodeError::ChildBusy { worker: "refuses".into(), callable: "EMPTY" });
    child.wait(LONG).unwrap();
}

fn two_mailboxes_work_at_once() {
    let mut children = [child("left"), child("right")];
    let start = Instant::now();
    for child in &mut children {
        child.send(&SLEEP, &CallConfig::default(), (0, 1), &[], &[Scalar::new(300_000u64)]).unwrap();
        assert!(!child.is_done());
    }
    for child in &mut children {
        child.wait(LONG).unwrap();
    }
    assert!(start.elapsed() < Duration::from_millis(590), "one after the other: {:?}", start.elapsed());
    let mut threads: Vec<_> = Vec::new();
    for mut child in children {
        threads.push(std::thread::spawn(move || {
            (0..500).for_each(|_| child.call(&EMPTY, &CallConfig::default(), &[], LONG).unwrap());
        }));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn a_shutdown_ends_in_order_and_leaves_nothing() {
    let before = holdings();
    let mut child = child("ends");
    child.call(&EMPTY, &CallConfig::default(), &[], LONG).unwrap();
    assert_ne!(holdings(), before);
    let exit = child.shutdown(LONG);
    assert!(exit.status.success() && exit.captured_output.is_empty(), "{exit}");
    assert_eq!(holdings(), before);
}
