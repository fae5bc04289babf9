//! A child and its mailbox, as its parent sees them: a process, or a rank of an MPI run.

mod launch;
mod life;
mod process;
pub(crate) mod run_request;
pub(crate) mod spawn;
mod supervisor;

use std::io::{self, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::process as system;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ringlane_task::{BlobTensor, CallConfig, Scalar, topics};
use tracing::debug;

pub use launch::ChildLaunch;
pub use process::{Process, ProcessObserver};

use crate::callable::Callable;
use crate::error::NodeError;
use crate::exit::Exit;
use crate::mailbox::{CallTimes, Meaning, Patience, Region, Request, Scratch, Side, State, Waited};
use life::Life;
use supervisor::{Owner, Supervisor};

/// What an error shows about a child that is not yet ready.
const ITS_START: &str = "its start";

/// A child process that runs callables, one at a time.
///
/// A child whose mailbox holds what cannot be, or that is late, is killed: what it would do next is not known. A child that
/// is dead stays so until [`Child::restart`]; until then every call says how it died. Dropping it kills the process.
#[derive(Debug)]
pub struct Child {
    launch: ChildLaunch,
    region: Arc<Region>,
    life: Life,
    sequence: u64,
    scratch: Scratch,
    sent: Option<&'static str>,
}

/// How a child with a mailbox is started; its death rings the bell that its answers ring.
#[derive(Debug)]
struct Post {
    launch: ChildLaunch,
    region: Arc<Region>,
    run_request: Option<OwnedFd>,
}

impl Owner for Post {
    fn spawn(&self, output: PipeWriter) -> io::Result<system::Child> {
        let mailbox = self.region.as_fd();
        let memories = self.launch.memories.all().map(|memory| memory.file().as_fd());
        let run_request = self.run_request.as_ref().map(|file| file.as_fd());
        let inherits: Vec<_> = memories.chain([mailbox]).chain(run_request).collect();
        spawn::spawn(self.launch.command(mailbox, run_request), &inherits, output)
    }

    fn printed(&self, printed: &[u8]) {
        if let Some(listener) = &self.launch.listener {
            listener.printed(printed);
        }
    }

    fn ended(&self) {
        if let Some(listener) = &self.launch.listener {
            listener.ended();
        }
        self.region.layout().door.wake_parent();
        // A node that waits for several children waits at its own bell.
        if let Some(own) = self.launch.memories.all().last() {
            own.bell().ring_loudly();
        }
    }
}

impl Child {
    /// Starts a child and waits until it is ready.
    pub fn start(launch: &ChildLaunch) -> Result<Self, NodeError> {
        let region = Arc::new(Region::create()?);
        let life = match &launch.rank {
            Some(rank) => Life::Rank(rank.take(&region, launch)?),
            None => {
                let run_request = launch.run_request.as_deref().map(run_request::write).transpose();
                let run_request = run_request.map_err(|error| NodeError::CannotStart {
                    worker: launch.name.clone(),
                    doing: "memory for its run request",
                    error: error.to_string(),
                })?;
                let post = Post { launch: launch.clone(), region: region.clone(), run_request };
                Life::Process(Supervisor::start(&launch.name, Arc::new(post))?)
            }
        };
        let (launch, scratch) = (launch.clone(), Scratch::default());
        let child = Child { launch, region, life, sequence: 0, scratch, sent: None };
        child.until_ready()?;
        debug!(target: topics::WORKERS, name = child.name(), pid = child.pid(), "a worker is ready");
        Ok(child)
    }

    fn until_ready(&self) -> Result<(), NodeError> {
        let worker = || self.launch.name.clone();
        let after = self.launch.start_timeout;
        match self.await_state(after, first_of_child)? {
            Waited::For(State::Failed) => {
                Err(NodeError::StartFailed { worker: worker(), error: self.region.read_error(0)? })
            }
            Waited::For(_) => Ok(()),
            Waited::Gone(_) => Err(self.died(ITS_START)),
            Waited::TimedOut(_) => {
                let captured_output = self.life.killed();
                Err(NodeError::StartTimedOut { worker: worker(), after, captured_output })
            }
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.launch.name
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.life.pid()
    }

    /// Whether the process has not ended yet.
    pub fn is_alive(&self) -> bool {
        !self.life.is_gone()
    }

    /// Calls, and waits for the answer: [`Child::send`] and [`Child::wait`].
    pub fn call(
        &mut self,
        callable: &Callable,
        config: &CallConfig,
        scalars: &[Scalar],
        timeout: Duration,
    ) -> Result<(), NodeError> {
        self.send(callable, config, (0, 1), &[], scalars)?;
        self.wait(timeout)
    }

    /// Sends a call; `member` is which of how many calls of a group it is, 0 of 1 for one alone. Whatever is wrong with it
    /// is found here, before the child hears of it.
    pub fn send(
        &mut self,
        callable: &Callable,
        config: &CallConfig,
        member: (u32, u32),
        tensors: &[BlobTensor],
        scalars: &[Scalar],
    ) -> Result<(), NodeError> {
        if let Some(callable) = self.sent {
            return Err(NodeError::ChildBusy { worker: self.launch.name.clone(), callable });
        }
        let name = callable.name();
        callable.signature().check(name, tensors.len(), scalars.iter().map(|scalar| scalar.dtype()))?;
        if self.life.is_gone() {
            return Err(self.died(name));
        }
        let request = Request { digest: callable.digest()?, config, member, tensors, scalars };
        self.region.write_request(self.sequence + 1, &request, &mut self.scratch)?;
        let door = &self.region.layout().door;
        door.step_and_ring(Side::Parent, State::Idle, State::Ready)
            .map_err(|error| self.distrusted(error))?;
        self.life.ring();
        self.sequence += 1;
        self.sent = Some(name);
        Ok(())
    }

    /// Whether [`Child::wait`] would not wait: the call that was sent is answered, or never will be.
    pub fn is_done(&self) -> bool {
        let answered = |state| matches!(answer_of_child(state), Meaning::Take | Meaning::Wrong);
        self.life.is_gone() || self.region.state().map_or(true, answered)
    }

    /// Waits for the answer to the call that was sent. A call that is not answered in time costs its child the life.
    pub fn wait(&mut self, timeout: Duration) -> Result<(), NodeError> {
        let worker = || self.launch.name.clone();
        let callable = self.sent.ok_or_else(|| NodeError::NoCall { worker: worker() })?;
        let answer = match self.await_state(timeout, answer_of_child) {
            Ok(Waited::For(state)) => self.answer(callable, state),
            Ok(Waited::Gone(_)) => Err(self.died(callable)),
            Ok(Waited::TimedOut(state)) => Err(self.late(callable, timeout, state)),
            Err(error) => Err(error),
        };
        self.sent = None;
        answer
    }

    /// Ends a call that was sent and takes longer than it may. The process is killed.
    pub(crate) fn give_up(&mut self, after: Duration) -> NodeError {
        let state = self.region.state();
        match (self.sent.take(), state) {
            (Some(callable), Ok(state)) => self.late(callable, after, state),
            (Some(_), Err(error)) => self.distrusted(error),
            (None, _) => NodeError::NoCall { worker: self.launch.name.clone() },
        }
    }

    fn late(&self, callable: &'static str, after: Duration, state: State) -> NodeError {
        let captured_output = self.life.killed();
        NodeError::CallTimedOut { worker: self.launch.name.clone(), callable, after, state, captured_output }
    }

    fn answer(&self, callable: &'static str, state: State) -> Result<(), NodeError> {
        let layout = self.region.layout();
        let read = || {
            layout.check_header()?;
            layout.check_answered(self.sequence)?;
            let error = (state == State::Failed).then(|| self.region.read_error(self.sequence));
            layout.door.step(state, State::Idle)?;
            error.transpose()
        };
        match read().map_err(|error| self.distrusted(error))? {
            None => Ok(()),
            Some(error) => Err(NodeError::CallFailed { worker: self.launch.name.clone(), callable, error }),
        }
    }

    fn await_state(&self, timeout: Duration, meaning: fn(State) -> Meaning) -> Result<Waited, NodeError> {
        // A time beyond the range of the clock is no deadline.
        let patience = Patience { spin: self.launch.spin, deadline: Instant::now().checked_add(timeout) };
        let is_gone = || self.life.is_gone();
        let waited = self.region.layout().door.wait(Side::Parent, patience, meaning, is_gone);
        waited.map_err(|error| self.distrusted(error))
    }

    /// The child wrote what cannot be: it is killed, and this is why.
    fn distrusted(&self, error: NodeError) -> NodeError {
        self.life.killed();
        error
    }

    fn died(&self, during: &'static str) -> NodeError {
        self.life.death(&self.launch.name, during)
    }

    /// Whether the mailbox holds a call that the child has not accepted.
    pub(crate) fn has_unheard_call(&self) -> bool {
        self.region.state() == Ok(State::Ready)
    }

    /// How the last call that was answered went, as the child reports it.
    pub fn times(&self) -> CallTimes {
        self.region.read_times()
    }

    /// Asks the process to end what it does (SIGINT): a worker with a chip ends its run at the next task.
    pub fn interrupt(&self) {
        self.life.interrupt();
    }

    /// What the child has printed last.
    pub fn captured_output(&self) -> String {
        self.life.captured_output()
    }

    /// Kills the process. A call that was sent fails; [`Child::wait`] says so.
    pub fn kill(&self) {
        self.life.kill();
    }

    /// Starts the child again, with a new process and a new mailbox. A call that was sent is forgotten.
    pub fn restart(&mut self) -> Result<(), NodeError> {
        self.life.killed();
        *self = Child::start(&self.launch)?;
        Ok(())
    }

    /// Asks the child to end and waits until it has. One that has a call, or that does not end in time, is killed.
    pub fn shutdown(self, timeout: Duration) -> Exit {
        let door = &self.region.layout().door;
        let requested = door.step_and_ring(Side::Parent, State::Idle, State::Shutdown);
        let timeout = if requested.is_ok() { timeout } else { Duration::ZERO };
        self.life.end_within(timeout)
    }
}

/// What a state means to a parent whose child starts.
fn first_of_child(state: State) -> Meaning {
    match state {
        State::Starting => Meaning::Wait,
        State::Idle | State::Failed => Meaning::Take,
        _ => Meaning::Wrong,
    }
}

/// What a state means to a parent that has sent a call.
fn answer_of_child(state: State) -> Meaning {
    match state {
        State::Ready | State::Accepted | State::Running => Meaning::Wait,
        State::Done | State::Failed => Meaning::Take,
        State::Starting | State::Idle | State::Shutdown => Meaning::Wrong,
    }
}
