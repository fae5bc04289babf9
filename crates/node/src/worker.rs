//! The life of a child: wait for a call, check it, run it, answer; until the parent says that it is enough.

use ringlane_task::Explain;

use crate::call_error::CallError;
use crate::callable::Table;
use crate::child::spawn::inherited;
use crate::error::NodeError;
use crate::mailbox::{Meaning, Patience, Region, Scratch, Side, Spin, State, Waited};

/// Serves the mailbox that this process has inherited as a descriptor of this number, until the parent says that it is
/// enough; gives the number of calls.
///
/// A process calls this once, before it opens anything: the descriptor becomes its own here. The parent's death ends the
/// process without a word.
pub fn serve(mailbox: i32, spin: Spin) -> Result<u64, NodeError> {
    let region = Region::adopt(inherited(mailbox)?)?;
    let door = &region.layout().door;
    let table = match Table::new() {
        Ok(table) => table,
        Err(error) => {
            region.write_error(0, &CallError::of(&error));
            door.step_and_ring(Side::Child, State::Starting, State::Failed)?;
            return Err(error);
        }
    };
    door.step_and_ring(Side::Child, State::Starting, State::Idle)?;
    let (mut calls, mut scratch) = (0, Scratch::default());
    let patience = Patience { spin, deadline: None };
    loop {
        match door.wait(Side::Child, patience, call_of_parent, || false)? {
            Waited::For(State::Ready) => {
                calls += 1;
                answer(&region, &table, calls, &mut scratch)?;
            }
            _ => return Ok(calls),
        }
    }
}

/// Answers the call of this number.
fn answer(region: &Region, table: &Table, sequence: u64, scratch: &mut Scratch) -> Result<(), NodeError> {
    let door = &region.layout().door;
    let (from, result) = run(region, table, sequence, scratch)?;
    let to = match result {
        Ok(()) => {
            region.layout().set_answered(sequence);
            State::Done
        }
        Err(error) => {
            region.write_error(sequence, &error);
            State::Failed
        }
    };
    door.step_and_ring(Side::Child, from, to)
}

/// Reads the call, checks it and runs it; gives the state that it came to, and its result.
fn run(
    region: &Region,
    table: &Table,
    sequence: u64,
    scratch: &mut Scratch,
) -> Result<(State, Result<(), CallError>), NodeError> {
    let door = &region.layout().door;
    let failed = |state, error: &dyn Explain| Ok((state, Err(CallError::of(error))));
    let call = match region.read_request(sequence, scratch) {
        Ok(call) => call,
        Err(error) => return failed(State::Ready, &error),
    };
    door.step(State::Ready, State::Accepted)?;
    let callable = match table.resolve(call.digest) {
        Ok(callable) => callable,
        Err(error) => return failed(State::Accepted, &error),
    };
    let arguments = &call.arguments;
    let types = (0..arguments.scalar_count()).filter_map(|index| arguments.scalar(index)).map(|s| s.dtype());
    if let Err(error) = callable.signature().check(callable.name(), arguments.tensor_count(), types) {
        return failed(State::Accepted, &error);
    }
    door.step(State::Accepted, State::Running)?;
    Ok((State::Running, callable.run(&call.config, arguments)))
}

/// What a state means to a child that waits for a call.
fn call_of_parent(state: State) -> Meaning {
    match state {
        State::Idle | State::Done | State::Failed => Meaning::Wait,
        State::Ready | State::Shutdown => Meaning::Take,
        State::Starting | State::Accepted | State::Running => Meaning::Wrong,
    }
}
