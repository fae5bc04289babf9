//! How a child is started.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ringlane_task::Reader;

use super::process::ProcessObserver;
use crate::limits;
use crate::mailbox::Spin;
use crate::memory::Memories;
use crate::remote::RankLink;

/// What runs, even if the file on disk is another by now.
pub(crate) const THIS_PROGRAM: &str = "/proc/self/exe";

/// How a child is started: by default from this very executable, with the command `worker`.
///
/// ```
/// use ringlane_node::{ChildLaunch, Spin};
/// let launch = ChildLaunch::new("chip 0").with_spin(Spin::for_workers(2));
/// assert_eq!(launch.name(), "chip 0");
/// ```
#[derive(Clone, Debug)]
pub struct ChildLaunch {
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) start_timeout: Duration,
    pub(crate) spin: Spin,
    pub(crate) memories: Memories,
    /// What its runs are asked for; its own defaults without one.
    pub(crate) run_request: Option<Arc<[u8]>>,
    /// The rank that it is, if it is no process of this machine.
    pub(crate) rank: Option<RankLink>,
    /// Who hears what it prints, if it is a process of this machine.
    pub(crate) listener: Option<Arc<dyn ProcessObserver>>,
}

impl ChildLaunch {
    /// A child with this name, which errors show.
    pub fn new(name: impl Into<String>) -> Self {
        ChildLaunch {
            name: name.into(),
            program: THIS_PROGRAM.into(),
            arguments: vec!["worker".into()],
            start_timeout: limits::START,
            spin: Spin::for_workers(1),
            memories: Memories::default(),
            run_request: None,
            rank: None,
            listener: None,
        }
    }

    /// A rank of an MPI run, which is there already. It is not started again when it dies.
    pub fn on_rank(link: &RankLink) -> Self {
        let launch = ChildLaunch::new(format!("rank{}", link.peer().rank.0));
        ChildLaunch { rank: Some(link.clone()), ..launch }
    }

    /// The command that starts it, with a mailbox and a run request that it inherits.
    pub(crate) fn command(&self, mailbox: BorrowedFd<'_>, run_request: Option<BorrowedFd<'_>>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command.args(["--mailbox-fd".to_string(), mailbox.as_raw_fd().to_string()]);
        if let Some(run_request) = run_request {
            command.args(["--request-fd".to_string(), run_request.as_raw_fd().to_string()]);
        }
        command.args(["--spin-us".to_string(), self.spin.us().to_string()]);
        // The hints of its errors have the same readers as ours.
        if Reader::current() == Reader::Command {
            command.arg("--for-command");
        }
        for memory in self.memories.all() {
            command.args(["--memory-fd".to_string(), memory.file().as_raw_fd().to_string()]);
        }
        command
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Another executable.
    #[must_use]
    pub fn with_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    /// Other arguments before `--mailbox-fd N [--request-fd N] --spin-us N [--for-command] --memory-fd N…`, which every child
    /// gets.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// What its runs are asked for, in bytes that it reads itself: the encoding of a `ringlane::RunRequest`.
    #[must_use]
    pub fn with_run_request(mut self, bytes: impl Into<Arc<[u8]>>) -> Self {
        self.run_request = Some(bytes.into());
        self
    }

    /// How long it may take until it is ready.
    #[must_use]
    pub fn with_start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = timeout;
        self
    }

    /// Somebody hears what it prints. What a child prints last is kept in any case.
    #[must_use]
    pub fn with_listener(mut self, listener: Arc<dyn ProcessObserver>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// How long both sides poll the mailbox before they sleep: [`Spin::for_workers`] of all children there will be.
    #[must_use]
    pub fn with_spin(mut self, spin: Spin) -> Self {
        self.spin = spin;
        self
    }

    /// The memories that it inherits; the last is that of the node that starts it, whose bell it rings.
    #[must_use]
    pub(crate) fn with_memories(mut self, memories: Memories) -> Self {
        self.memories = memories;
        self
    }
}
