//! The life of a child: wait for a call, check it, run it, answer; until the parent says that it is enough.

use ringlane_task::Explain;

use crate::call_error::CallError;
use crate::callable::{Call, Callable, Table};
use crate::child::run_request;
use crate::child::spawn::inherited;
use crate::clock::now_ns;
use crate::error::NodeError;
use crate::mailbox::{CallTimes, Meaning, Patience, Received, Region, Scratch, Side, Spin, State, Waited};
use crate::memory::Memories;
use crate::worker_backend::WorkerBackend;

/// What a worker has inherited from the node that started it: descriptors by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inherited {
    /// Its mailbox.
    pub mailbox: i32,
    /// The memories of the nodes above it, outermost first.
    pub memories: Vec<i32>,
    /// What its runs are asked for, if the launch has a run request.
    pub run_request: Option<i32>,
}

impl Inherited {
    /// Refuses a descriptor that is listed twice: it would have two owners, and the second would close what is not open any more.
    fn check_each_once(&self) -> Result<(), NodeError> {
        let mut all = [&[self.mailbox], &self.memories[..], self.run_request.as_slice()].concat();
        all.sort_unstable();
        match all.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(NodeError::corrupt("descriptor that is given twice", pair[0].unsigned_abs())),
            None => Ok(()),
        }
    }
}

/// A worker that is about to serve.
#[derive(Debug)]
pub struct Service {
    region: Region,
    memories: Memories,
    run_request: Option<Vec<u8>>,
    spin: Spin,
}

impl Service {
    /// Takes over what this process has inherited.
    ///
    /// A process calls this once, before it opens anything: the descriptors become its own here.
    pub fn adopt(inherited_from_node: &Inherited, spin: Spin) -> Result<Self, NodeError> {
        inherited_from_node.check_each_once()?;
        let region = Region::adopt(inherited(inherited_from_node.mailbox)?)?;
        let memories = inherited_from_node.memories.iter().map(|&memory| inherited(memory));
        let memories = memories.collect::<Result<_, _>>().and_then(Memories::adopt);
        let run_request = inherited_from_node.run_request;
        let run_request = run_request.map(|file| inherited(file).and_then(run_request::read)).transpose();
        match memories.and_then(|memories| Ok((memories, run_request?))) {
            Ok((memories, run_request)) => Ok(Service { region, memories, run_request, spin }),
            Err(error) => Err(refuse(&region, error)),
        }
    }

    /// What its runs are asked for, as the node that started it has encoded it; none if it has not.
    pub fn run_request(&self) -> Option<&[u8]> {
        self.run_request.as_deref()
    }

    /// The memories of the nodes above.
    pub fn memories(&self) -> &Memories {
        &self.memories
    }

    /// Says that this worker cannot serve, and why: its parent reports it as the reason that it did not start.
    pub fn refuse(self, error: NodeError) -> NodeError {
        refuse(&self.region, error)
    }

    /// Serves until the parent says that it is enough; gives the number of calls. The parent's death ends the process without
    /// a word.
    pub fn serve(self, backend: &mut dyn WorkerBackend) -> Result<u64, NodeError> {
        let table = match Table::new() {
            Ok(table) => table,
            Err(error) => return Err(self.refuse(error)),
        };
        self.step_and_ring(State::Starting, State::Idle)?;
        let (mut calls, mut scratch) = (0, Scratch::default());
        let patience = Patience { spin: self.spin, deadline: None };
        loop {
            match self.region.layout().door.wait(Side::Child, patience, call_of_parent, || false)? {
                Waited::For(State::Ready) => {
                    calls += 1;
                    self.answer(&table, calls, &mut scratch, backend)?;
                }
                _ => return Ok(calls),
            }
        }
    }

    /// Takes a step and notifies the parent: at the mailbox, and at the bell of its node if it waits for several.
    fn step_and_ring(&self, from: State, to: State) -> Result<(), NodeError> {
        self.region.layout().door.step_and_ring(Side::Child, from, to)?;
        if let Some(above) = self.memories.bell_above() {
            above.bell().ring();
        }
        Ok(())
    }

    /// Answers the call of this number.
    fn answer(
        &self,
        table: &Table,
        sequence: u64,
        scratch: &mut Scratch,
        backend: &mut dyn WorkerBackend,
    ) -> Result<(), NodeError> {
        let mut times = CallTimes::default();
        let (from, result) = self.run(table, sequence, scratch, backend, &mut times)?;
        self.region.write_times(&times);
        let to = match result {
            Ok(()) => {
                self.region.layout().set_answered(sequence);
                State::Done
            }
            Err(error) => {
                self.region.write_error(sequence, &error);
                State::Failed
            }
        };
        self.step_and_ring(from, to)
    }

    /// Reads the call, checks it and runs it; gives the state that it came to, and its result.
    fn run(
        &self,
        table: &Table,
        sequence: u64,
        scratch: &mut Scratch,
        backend: &mut dyn WorkerBackend,
        times: &mut CallTimes,
    ) -> Result<(State, Result<(), CallError>), NodeError> {
        let door = &self.region.layout().door;
        let failed = |state, error: &dyn Explain| Ok((state, Err(CallError::of(error))));
        let received = match self.region.read_request(sequence, scratch) {
            Ok(received) => received,
            Err(error) => return failed(State::Ready, &error),
        };
        door.step(State::Ready, State::Accepted)?;
        times.accepted_ns = now_ns();
        let call = resolved(table, &received).and_then(|callable| {
            let call = Call::new(callable.name(), &received, &self.memories, backend)?;
            Ok((callable, call))
        });
        let (callable, mut call) = match call {
            Ok(found) => found,
            Err(error) => return failed(State::Accepted, &error),
        };
        door.step(State::Accepted, State::Running)?;
        times.run_ns = now_ns();
        let result = callable.run(&mut call);
        (times.end_ns, times.chip) = (now_ns(), call.chip);
        Ok((State::Running, result))
    }
}

/// The callable that is called, if it takes what it is given.
fn resolved(table: &Table, received: &Received<'_>) -> Result<&'static Callable, NodeError> {
    let arguments = &received.arguments;
    let types = (0..arguments.scalar_count()).filter_map(|index| arguments.scalar(index)).map(|s| s.dtype());
    table.resolve_for(received.digest, arguments.tensor_count(), types)
}

fn refuse(region: &Region, error: NodeError) -> NodeError {
    region.write_error(0, &CallError::of(&error));
    // A mailbox that is spoilt as well changes nothing: the worker ends either way.
    let _ = region.layout().door.step_and_ring(Side::Child, State::Starting, State::Failed);
    error
}

/// What a state means to a child that waits for a call.
fn call_of_parent(state: State) -> Meaning {
    match state {
        State::Idle | State::Done | State::Failed => Meaning::Wait,
        State::Ready | State::Shutdown => Meaning::Take,
        State::Starting | State::Accepted | State::Running => Meaning::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_that_is_given_twice_is_refused_before_it_is_taken() {
        for (mailbox, memories) in [(901, vec![901]), (901, vec![902, 903, 902])] {
            let run_request = None;
            let refused =
                Service::adopt(&Inherited { mailbox, memories, run_request }, Spin::NONE).unwrap_err();
            assert!(matches!(
                refused,
                NodeError::CorruptMailbox { field: "descriptor that is given twice", .. }
            ));
        }
        let twice = Inherited { mailbox: 901, memories: vec![902], run_request: Some(902) };
        assert_eq!(Service::adopt(&twice, Spin::NONE).unwrap_err().name(), "CorruptMailbox");
        let missing = Inherited { mailbox: 901, memories: vec![902], run_request: None };
        let missing = Service::adopt(&missing, Spin::NONE);
        assert!(matches!(missing.unwrap_err(), NodeError::NoMailbox { descriptor: 901, .. }));
    }
}
