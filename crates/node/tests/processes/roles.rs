//! What the test program is when a test starts it, and the callables that it has then.

use std::process::ExitCode;
use std::time::Duration;

use ringlane_node::task::{BlobReader, CallConfig, Explain};
use ringlane_node::{CallError, Callable, Signature, Spin, callable, serve};

use crate::support::{child, launch, number};

callable! {
    /// Nothing.
    pub static EMPTY = fn(_config, _arguments; tensors: 0, scalars: []) { Ok(()) }
}

callable! {
    /// Fails unless the second number is the seed plus the first.
    pub static CHECK_SUM = fn(config, arguments; tensors: 0, scalars: [UInt64, UInt64]) {
        let (a, sum) = (scalar(arguments, 0), scalar(arguments, 1));
        if config.seed + a == sum {
            return Ok(());
        }
        Err(CallError::new("WrongSum", format!("{} + {a} is not {sum}", config.seed), "count again"))
    }
}

callable! {
    /// Sleeps for so many microseconds.
    pub static SLEEP = fn(_config, arguments; tensors: 0, scalars: [UInt64]) {
        std::thread::sleep(Duration::from_micros(scalar(arguments, 0)));
        Ok(())
    }
}

callable! {
    /// Counts the elements of its tensors.
    pub static COUNT = fn(_config, arguments; tensors: 69, scalars: [UInt64]) {
        let elements: u64 = arguments.tensors().filter_map(|t| t.resolve(0, 4096).ok()).map(|t| t.view.elements()).sum();
        if elements == scalar(arguments, 0) { Ok(()) } else { Err(CallError::new("WrongCount", elements.to_string(), "")) }
    }
}

callable! {
    /// Panics.
    pub static PANIC = fn(_config, _arguments; tensors: 0, scalars: []) { panic!("this callable panics") }
}

callable! {
    /// Says something and ends the process with a status.
    pub static LEAVE = fn(_config, arguments; tensors: 0, scalars: [UInt64]) {
        eprintln!("I am leaving");
        std::process::exit(scalar(arguments, 0) as i32)
    }
}

callable! {
    /// Writes a word over the process's own mailbox, behind the back of the code that serves it.
    pub static SCRIBBLE = fn(_config, arguments; tensors: 0, scalars: [UInt64, UInt64]) {
        let path = format!("/proc/self/fd/{}", number("--mailbox-fd"));
        let file = std::fs::OpenOptions::new().write(true).open(path).expect("its own mailbox");
        let word = (scalar(arguments, 1) as u32).to_le_bytes();
        std::os::unix::fs::FileExt::write_all_at(&file, &word, scalar(arguments, 0)).expect("room");
        Ok(())
    }
}

/// A callable that no child has, because it is not registered.
pub static NOWHERE: Callable =
    Callable::new("processes", "NOWHERE", Signature { tensors: 0, scalars: &[] }, |_, _| Ok(()));

fn scalar(arguments: &BlobReader<'_>, index: usize) -> u64 {
    arguments.scalar(index).and_then(|scalar| scalar.get()).expect("the signature says so")
}

/// What the program does in a role.
type Role = fn() -> ExitCode;

/// The roles.
const ROLES: [(&str, Role); 6] = [
    ("worker", worker),
    ("dies", || {
        eprintln!("no chip\nat this address");
        ExitCode::from(3)
    }),
    ("never-ready", || {
        eprintln!("thinking");
        std::thread::sleep(Duration::from_secs(60));
        ExitCode::SUCCESS
    }),
    ("prints", || {
        (0..100_000).for_each(|number| println!("line {number}"));
        worker()
    }),
    ("ready-at-once", || {
        scribble_state(4);
        std::thread::sleep(Duration::from_secs(60));
        ExitCode::SUCCESS
    }),
    ("parent", parent),
];

pub fn is_role(word: &str) -> bool {
    ROLES.iter().any(|(role, _)| *role == word)
}

pub fn play(role: &str, _rest: &[String]) -> ExitCode {
    let (_, play) = ROLES.iter().find(|(name, _)| *name == role).expect("is_role said so");
    play()
}

fn worker() -> ExitCode {
    match serve(number("--mailbox-fd") as i32, Spin::from_us(number("--spin-us"))) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}: {}", error.name(), error.detail());
            ExitCode::from(2)
        }
    }
}

/// Writes a state into the mailbox without any step.
fn scribble_state(state: u32) {
    let path = format!("/proc/self/fd/{}", number("--mailbox-fd"));
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("its own mailbox");
    std::os::unix::fs::FileExt::write_all_at(&file, &state.to_le_bytes(), 64).expect("room");
}

/// A parent with two children, one of which has a call; prints who they are and waits to be killed. The thread that starts
/// them ends at once, which must not matter to them.
fn parent() -> ExitCode {
    let children = std::thread::spawn(|| {
        let mut busy = child("busy");
        busy.send(&SLEEP, &CallConfig::default(), &[], &[ringlane_node::task::Scalar::new(60_000_000u64)])
            .unwrap();
        [busy, ringlane_node::Child::start(&launch("idle")).unwrap()]
    });
    let mut children = children.join().expect("both start");
    children[1].call(&EMPTY, &CallConfig::default(), &[], Duration::from_secs(5)).expect("it lives");
    println!("{} {}", children[0].pid(), children[1].pid());
    std::thread::sleep(Duration::from_secs(60));
    ExitCode::SUCCESS
}
