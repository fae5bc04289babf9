//! The errors between a node and its children.

use std::path::PathBuf;
use std::time::Duration;

use ringlane_task::{BlobError, ConfigError, Explain, Reader};
use rustix::io::Errno;

use crate::call_error::CallError;
use crate::callable::Digest;
use crate::exit::Exit;
use crate::mailbox::State;
use crate::remote::RemoteError;

/// Why a call, or a child, failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum NodeError {
    /// A mailbox has an invalid value.
    CorruptMailbox {
        field: &'static str,
        value: u64,
    },
    /// There is no memory for a mailbox.
    NoMailboxMemory {
        error: Errno,
    },
    /// There is no memory for a node.
    NoNodeMemory {
        bytes: u64,
        error: Errno,
    },
    /// A worker was started without a descriptor that it needs.
    NoMailbox {
        descriptor: i32,
        error: Errno,
    },
    Config(ConfigError),
    Arguments(BlobError),
    /// The arguments are not what the callable takes.
    WrongArguments {
        callable: &'static str,
        takes: String,
        given: String,
    },
    /// A worker does not have the callable.
    UnknownCallable {
        digest: Digest,
        known: Vec<&'static str>,
    },
    /// The executable, or a plugin, cannot be identified.
    NoBuildId {
        path: PathBuf,
        error: String,
    },
    /// A plugin is noted after the program was identified.
    LatePlugin {
        path: PathBuf,
    },
    /// A worker cannot be started.
    CannotStart {
        worker: String,
        doing: &'static str,
        error: String,
    },
    /// A worker failed during startup.
    StartFailed {
        worker: String,
        error: CallError,
    },
    /// A worker was not ready in time.
    StartTimedOut {
        worker: String,
        after: Duration,
        captured_output: String,
    },
    /// A worker died.
    ChildDied {
        worker: String,
        during: &'static str,
        exit: Exit,
    },
    RankLost {
        error: Box<RemoteError>,
    },
    /// A call took longer than its deadline.
    CallTimedOut {
        worker: String,
        callable: &'static str,
        after: Duration,
        state: State,
        captured_output: String,
    },
    /// A call failed.
    CallFailed {
        worker: String,
        callable: &'static str,
        error: CallError,
    },
    /// A worker has a call that was not waited for.
    ChildBusy {
        worker: String,
        callable: &'static str,
    },
    /// There is no call to wait for.
    NoCall {
        worker: String,
    },
    /// A worker cannot set up its chip or its own workers.
    CannotSetUp {
        error: CallError,
    },
    /// A worker cannot run this kind of callable.
    WrongKind {
        callable: &'static str,
        kind: &'static str,
    },
    /// A worker has too many runs in flight.
    TooManyRuns {
        limit: usize,
    },
    /// A node cannot have this many workers.
    TooManyWorkers {
        count: usize,
    },
    /// A call has the same buffer twice and writes it.
    BufferTwice {
        index: usize,
    },
    /// A call would write a buffer that was lent for reading.
    ReadOnlyBuffer {
        index: usize,
    },
    /// A tensor is not in memory that is shared with the workers.
    TensorElsewhere {
        index: usize,
    },
}

impl NodeError {
    /// A field of a mailbox has an invalid value.
    pub(crate) fn corrupt(field: &'static str, value: impl Into<u64>) -> Self {
        NodeError::CorruptMailbox { field, value: value.into() }
    }

    pub(crate) fn no_memory(error: Errno) -> Self {
        NodeError::NoMailboxMemory { error }
    }
}

ringlane_task::display_explained!(NodeError);

impl Explain for NodeError {
    fn name(&self) -> &'static str {
        match self {
            NodeError::CorruptMailbox { .. } => "CorruptMailbox",
            NodeError::NoMailboxMemory { .. } => "NoMailboxMemory",
            NodeError::NoNodeMemory { .. } => "NoNodeMemory",
            NodeError::NoMailbox { .. } => "NoMailbox",
            NodeError::Config(error) => error.name(),
            NodeError::Arguments(error) => error.name(),
            NodeError::WrongArguments { .. } => "WrongArguments",
            NodeError::UnknownCallable { .. } => "UnknownCallable",
            NodeError::NoBuildId { .. } => "NoBuildId",
            NodeError::LatePlugin { .. } => "LatePlugin",
            NodeError::CannotStart { .. } => "CannotStart",
            NodeError::StartFailed { .. } => "StartFailed",
            NodeError::StartTimedOut { .. } => "StartTimedOut",
            NodeError::ChildDied { .. } => "ChildDied",
            NodeError::RankLost { error } => error.name(),
            NodeError::CallTimedOut { .. } => "CallTimedOut",
            NodeError::CallFailed { .. } => "CallFailed",
            NodeError::ChildBusy { .. } => "ChildBusy",
            NodeError::NoCall { .. } => "NoCall",
            NodeError::CannotSetUp { .. } => "CannotSetUp",
            NodeError::WrongKind { .. } => "WrongKind",
            NodeError::TooManyRuns { .. } => "TooManyRuns",
            NodeError::TooManyWorkers { .. } => "TooManyWorkers",
            NodeError::BufferTwice { .. } => "BufferTwice",
            NodeError::ReadOnlyBuffer { .. } => "ReadOnlyBuffer",
            NodeError::TensorElsewhere { .. } => "TensorElsewhere",
        }
    }

    fn summary(&self) -> String {
        match self {
            NodeError::CorruptMailbox { .. } => "a mailbox has an invalid value",
            NodeError::NoMailboxMemory { .. } => "there is no memory for a mailbox",
            NodeError::NoNodeMemory { .. } => "there is no memory for a node",
            NodeError::NoMailbox { .. } => "a worker was started without a descriptor that it needs",
            NodeError::Config(error) => return error.summary(),
            NodeError::Arguments(error) => return error.summary(),
            NodeError::WrongArguments { .. } => "the arguments are not what the callable takes",
            NodeError::UnknownCallable { .. } => "a worker does not have the callable",
            NodeError::NoBuildId { .. } => "the executable or a plugin cannot be identified",
            NodeError::LatePlugin { .. } => "a plugin was loaded too late",
            NodeError::CannotStart { .. } => "a worker cannot be started",
            NodeError::StartFailed { .. } => "a worker failed during startup",
            NodeError::StartTimedOut { .. } => "a worker was not ready in time",
            NodeError::ChildDied { .. } => "a worker died",
            NodeError::RankLost { error } => return error.summary(),
            NodeError::CallTimedOut { .. } => "a call took longer than its deadline",
            NodeError::CallFailed { .. } => "a call failed",
            NodeError::ChildBusy { .. } => "a worker still has an unfinished call",
            NodeError::NoCall { .. } => "there is no call to wait for",
            NodeError::CannotSetUp { .. } => "a worker cannot set up its chip or its own workers",
            NodeError::WrongKind { .. } => "a worker cannot run this kind of callable",
            NodeError::TooManyRuns { .. } => "a worker has too many runs in flight",
            NodeError::TooManyWorkers { .. } => "a node cannot have this number of workers",
            NodeError::BufferTwice { .. } => "a call has the same buffer twice and writes it",
            NodeError::ReadOnlyBuffer { .. } => "a call would write a buffer that was lent for reading",
            NodeError::TensorElsewhere { .. } => "a tensor is not in memory that is shared with the workers",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            NodeError::CorruptMailbox { field, value } => format!("{field} is {value} ({value:#x})"),
            NodeError::NoMailboxMemory { error } => error.to_string(),
            NodeError::NoNodeMemory { bytes, error } => format!("{bytes} bytes: {error}"),
            NodeError::NoMailbox { descriptor, error } => format!("descriptor {descriptor}: {error}"),
            NodeError::Config(error) => error.detail(),
            NodeError::Arguments(error) => error.detail(),
            NodeError::WrongArguments { callable, takes, given } => {
                format!("{callable} takes {takes}, but the call has {given}")
            }
            NodeError::UnknownCallable { digest, known } => {
                format!("digest {digest}; the worker has: {}", known.join(", "))
            }
            NodeError::NoBuildId { path, error } => format!("{}: {error}", path.display()),
            NodeError::LatePlugin { path } => {
                format!("{}: workers were started, or the program identified, before", path.display())
            }
            NodeError::CannotStart { worker, doing, error } => format!("{worker}: {doing}: {error}"),
            NodeError::StartFailed { worker, error } => format!("{worker}: {}", error.without_hint()),
            NodeError::StartTimedOut { worker, after, captured_output } => {
                format!("{worker} was not ready after {after:?}; {}", said(captured_output))
            }
            NodeError::ChildDied { worker, during, exit } => format!("{worker} during {during}: {exit}"),
            NodeError::RankLost { error } => error.detail(),
            NodeError::CallTimedOut { worker, callable, after, state, captured_output } => {
                let said = said(captured_output);
                format!("{callable} in {worker}: still {state:?} after {after:?}, and was killed; {said}")
            }
            NodeError::CallFailed { worker, callable, error } => {
                format!("{callable} in {worker}: {}", error.without_hint())
            }
            NodeError::ChildBusy { worker, callable } => format!("{callable} in {worker}"),
            NodeError::NoCall { worker } => worker.clone(),
            NodeError::CannotSetUp { error } => error.without_hint(),
            NodeError::WrongKind { callable, kind } => format!("{callable} needs a {kind} worker"),
            NodeError::TooManyRuns { limit } => format!("{limit} runs have not ended yet"),
            NodeError::TooManyWorkers { count } => {
                format!("{count} workers; a node has 1 to {}", crate::limits::WORKERS_MAX)
            }
            NodeError::BufferTwice { index }
            | NodeError::ReadOnlyBuffer { index }
            | NodeError::TensorElsewhere { index } => {
                format!("argument {index} of the call")
            }
        }
    }

    fn hint(&self) -> String {
        let text = match self {
            NodeError::Config(error) => return error.hint(),
            NodeError::Arguments(error) => return error.hint(),
            NodeError::RankLost { error } => return error.hint(),
            NodeError::StartFailed { error, .. }
            | NodeError::CallFailed { error, .. }
            | NodeError::CannotSetUp { error } => {
                return error.hint.clone();
            }
            NodeError::CorruptMailbox { .. } => {
                "the other process overwrote the mailbox or is another build: restart it"
            }
            NodeError::NoMailboxMemory { .. } => {
                "close descriptors or free memory; `ulimit -n` prints the limit of descriptors"
            }
            NodeError::NoNodeMemory { .. } => "give the node less memory; `ulimit -v` prints the limit",
            NodeError::NoMailbox { .. } => "do not start a worker by hand: a node starts its workers itself",
            NodeError::WrongArguments { .. } => "pass the arguments of its signature, in order",
            NodeError::UnknownCallable { .. } => {
                "declare it with callable! in a crate that the worker's executable is built from; node and worker must have the same build and the same plugins"
            }
            NodeError::NoBuildId { .. } => "check that /proc is mounted and that the file can be read",
            NodeError::LatePlugin { .. } => "load plugins before the first node or worker starts",
            NodeError::CannotStart { .. } => {
                "check the limits of processes (`ulimit -u`) and descriptors (`ulimit -n`)"
            }
            NodeError::StartTimedOut { .. } => Reader::choose(
                "check the load of the machine; ChildLaunch::with_start_timeout allows more time",
                "check the load of the machine, or start fewer workers: --workers N",
            ),
            NodeError::ChildDied { .. } => {
                Reader::choose("restart it with Child::restart", "run it again: that starts new workers")
            }
            NodeError::CallTimedOut { .. } => Reader::choose(
                "allow more time; restart the worker with Child::restart",
                "allow more time: --call-timeout SECONDS",
            ),
            NodeError::ChildBusy { .. } => "wait for that call first",
            NodeError::NoCall { .. } => "send a call before waiting",
            NodeError::WrongKind { .. } => "call it through a node that has such a worker",
            NodeError::TooManyRuns { .. } => "wait for one of them first",
            NodeError::TooManyWorkers { .. } => "add a level: workers that are nodes themselves",
            NodeError::BufferTwice { .. } => "pass it once, with both read and write access",
            NodeError::ReadOnlyBuffer { .. } => "lend the buffer with `lend_mut`",
            NodeError::TensorElsewhere { .. } => "create the buffers with the node's `buffers()`",
        };
        text.to_string()
    }
}

/// The last output of a worker, as an error shows it.
pub(crate) fn said(captured_output: &str) -> String {
    if captured_output.is_empty() {
        "no output".to_string()
    } else {
        format!("captured output: {captured_output}")
    }
}
