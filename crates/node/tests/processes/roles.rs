//! What the test program is when a test starts it, and the callables that it has then.

use std::process::ExitCode;
use std::time::Duration;

use ringlane_node::engine::prelude::ParamSpec;
use ringlane_node::task::{CallConfig, Explain};
use ringlane_node::{
    CallError, Callable, Inherited, NoBackend, NodeError, Service, Signature, Spin, Tensors, WorkerBackend,
    WorkerKind, callable,
};

use crate::support::{child, launch, number, numbers};

callable! {
    /// Nothing.
    pub static EMPTY = function fn(_call; tensors: 0, scalars: []) { Ok(()) }
}

callable! {
    /// Fails unless the second number is the seed plus the first.
    pub static CHECK_SUM = function fn(call; tensors: 0, scalars: [UInt64, UInt64]) {
        let (config, a, sum) = (call.config(), call.scalar::<u64>(0)?, call.scalar::<u64>(1)?);
        if config.seed + a == sum {
            return Ok(());
        }
        Err(CallError::new("WrongSum", format!("{} + {a} is not {sum}", config.seed), "count again"))
    }
}

callable! {
    /// Sleeps for the given number of microseconds.
    pub static SLEEP = function fn(call; tensors: 0, scalars: [UInt64]) {
        std::thread::sleep(Duration::from_micros(call.scalar(0)?));
        Ok(())
    }
}

callable! {
    /// The sum of all of its tensors but the last, into the last.
    pub static SUM = function fn(call; tensors: 69, scalars: []) {
        let sum = (0..68).map(|index| Ok(call.slice::<u32>(index)?.iter().sum::<u32>())).sum::<Result<u32, CallError>>()?;
        call.slice_mut::<u32>(68)?.fill(sum);
        Ok(())
    }
}

callable! {
    /// Panics.
    pub static PANIC = function fn(_call; tensors: 0, scalars: []) { panic!("this callable panics") }
}

callable! {
    /// Says something and ends the process with a status.
    pub static LEAVE = function fn(call; tensors: 0, scalars: [UInt64]) {
        eprintln!("I am leaving");
        std::process::exit(call.scalar::<u64>(0)? as i32)
    }
}

callable! {
    /// Writes a word over the process's own mailbox, without the code that serves it.
    pub static SCRIBBLE = function fn(call; tensors: 0, scalars: [UInt64, UInt64]) {
        let path = format!("/proc/self/fd/{}", number("--mailbox-fd"));
        let file = std::fs::OpenOptions::new().write(true).open(path).expect("its own mailbox");
        let word = (call.scalar::<u64>(1)? as u32).to_le_bytes();
        std::os::unix::fs::FileExt::write_all_at(&file, &word, call.scalar(0)?).expect("room");
        Ok(())
    }
}

/// A callable that no child has, because it is not registered.
pub static NOWHERE: Callable = {
    const NOTHING: Signature = Signature { tensors: Tensors::Exactly(0), scalars: &[] };
    const PARAMS: [ParamSpec; NOTHING.param_count()] = NOTHING.params();
    Callable::new("processes", "NOWHERE", WorkerKind::Function, NOTHING, &PARAMS, |_| Ok(()))
};

/// What the program does in a role.
type Role = fn() -> ExitCode;

/// The roles.
const ROLES: [(&str, Role); 9] = [
    ("worker", worker),
    ("chip-worker", crate::levels::chip_worker),
    ("node-worker", crate::levels::node_worker),
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
    ("asked", asked),
];

pub fn is_role(word: &str) -> bool {
    ROLES.iter().any(|(role, _)| *role == word)
}

pub fn play(role: &str, _rest: &[String]) -> ExitCode {
    let (_, play) = ROLES.iter().find(|(name, _)| *name == role).expect("is_role said so");
    play()
}

/// A worker that serves only if it is asked for the right thing.
fn asked() -> ExitCode {
    serve(|service| match service.run_request() {
        Some(b"the right thing") => Ok(Box::new(NoBackend)),
        other => {
            let error = CallError::new("WrongRequest", format!("{other:?}"), "ask for the right thing");
            Err(NodeError::CannotSetUp { error })
        }
    })
}

fn worker() -> ExitCode {
    serve(|_| Ok(Box::new(NoBackend)))
}

/// Serves with the backend that `set_up` makes.
pub fn serve(set_up: impl FnOnce(&Service) -> Result<Box<dyn WorkerBackend>, NodeError>) -> ExitCode {
    let memories = numbers("--memory-fd").into_iter().map(|number| number as i32).collect();
    let run_request = numbers("--request-fd").first().map(|&number| number as i32);
    let inherited = Inherited { mailbox: number("--mailbox-fd") as i32, memories, run_request };
    let served = Service::adopt(&inherited, Spin::from_us(number("--spin-us"))).and_then(|service| {
        match set_up(&service) {
            Ok(mut backend) => service.serve(&mut *backend),
            Err(error) => Err(service.refuse(error)),
        }
    });
    match served {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}: {}", error.name(), error.detail());
            ExitCode::from(2)
        }
    }
}

/// Writes a state into the mailbox without any step.
pub fn scribble_state(state: u32) {
    let path = format!("/proc/self/fd/{}", number("--mailbox-fd"));
    let file = std::fs::OpenOptions::new().write(true).open(path).expect("its own mailbox");
    std::os::unix::fs::FileExt::write_all_at(&file, &state.to_le_bytes(), 64).expect("room");
}

/// A parent with two children, one of which has a call; prints who they are and waits to be killed. The thread that starts
/// them ends at once, which must not matter to them.
fn parent() -> ExitCode {
    let children = std::thread::spawn(|| {
        let mut busy = child("busy");
        busy.send(
            &SLEEP,
            &CallConfig::default(),
            (0, 1),
            &[],
            &[ringlane_node::task::Scalar::new(60_000_000u64)],
        )
        .unwrap();
        [busy, ringlane_node::Child::start(&launch("idle")).unwrap()]
    });
    let mut children = children.join().expect("both start");
    children[1].call(&EMPTY, &CallConfig::default(), &[], Duration::from_secs(5)).expect("it lives");
    println!("{} {}", children[0].pid(), children[1].pid());
    std::thread::sleep(Duration::from_secs(60));
    ExitCode::SUCCESS
}
