//! The states of a call, and the steps between them.
//!
//! ```text
//!             child            parent          child              child             child
//!  Starting ─────────▶ Idle ──────────▶ Ready ───────▶ Accepted ───────▶ Running ───────▶ Done
//!      │                │ ▲               │               │                 │               │
//!      │         parent │ └───────────────┼───────────────┼─────────────────┼───────────────┤ parent
//!      │                ▼                 ▼               ▼                 ▼               │
//!      │            Shutdown            Failed ◀──────────┴─────────────────┘               │
//!      └──────────────────────────────▶ Failed ─────────────────────────────────────────────┘
//! ```
//! A step is a compare-and-swap: a state that is not the one it starts from is a corrupt mailbox.

use crate::error::NodeError;
use crate::sync::{AtomicU32, Ordering};

/// The state of a mailbox's call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// The child is not up yet; what fresh memory says.
    Starting = 0,
    /// The child waits for a call.
    Idle = 1,
    /// A call is written.
    Ready = 2,
    /// The child has read the call and found nothing wrong.
    Accepted = 3,
    /// The callable runs.
    Running = 4,
    /// The callable has ended well.
    Done = 5,
    /// The call failed; the error block says why.
    Failed = 6,
    /// The child is to end.
    Shutdown = 7,
}

impl State {
    /// All of them, by their codes.
    pub const ALL: [State; 8] = [
        State::Starting,
        State::Idle,
        State::Ready,
        State::Accepted,
        State::Running,
        State::Done,
        State::Failed,
        State::Shutdown,
    ];

    /// The state with this code.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }

    /// Whether one step leads from here to `next`.
    pub const fn allows(self, next: State) -> bool {
        matches!(
            (self, next),
            (State::Starting | State::Done | State::Failed, State::Idle)
                | (State::Idle, State::Ready | State::Shutdown)
                | (State::Ready, State::Accepted | State::Failed)
                | (State::Accepted, State::Running | State::Failed)
                | (State::Running, State::Done | State::Failed)
                | (State::Starting, State::Failed)
        )
    }
}

/// The state as it is stored in the mailbox.
#[derive(Debug)]
#[cfg_attr(not(loom), repr(transparent))]
pub(crate) struct StateCell(AtomicU32);

impl StateCell {
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        StateCell(AtomicU32::new(0))
    }

    /// The current state. The acquire pairs with the release in [`StateCell::step`]: what the other side wrote before its step is
    /// seen after this.
    pub(crate) fn load(&self) -> Result<State, NodeError> {
        known(self.0.load(Ordering::Acquire))
    }

    /// Takes the step. Its release pairs with the acquire in [`StateCell::load`].
    pub(crate) fn step(&self, from: State, to: State) -> Result<(), NodeError> {
        if !from.allows(to) {
            return Err(NodeError::corrupt("state", from as u32));
        }
        let swapped = self.0.compare_exchange(from as u32, to as u32, Ordering::AcqRel, Ordering::Acquire);
        swapped.map(drop).map_err(|found| NodeError::corrupt("state", found))
    }
}

fn known(code: u32) -> Result<State, NodeError> {
    State::from_code(code).ok_or(NodeError::corrupt("state", code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_states_are_the_same_numbers() {
        for (code, state) in State::ALL.into_iter().enumerate() {
            assert_eq!((state as usize, State::from_code(code as u32)), (code, Some(state)));
        }
        assert_eq!(State::from_code(8), None);
    }

    #[test]
    fn a_step_from_another_state_names_the_state_that_it_met_and_changes_nothing() {
        let cell = StateCell(AtomicU32::new(State::Running as u32));
        let error = cell.step(State::Idle, State::Ready).unwrap_err();
        assert_eq!(error, NodeError::CorruptMailbox { field: "state", value: 4 });
        assert_eq!(cell.load(), Ok(State::Running));
    }

    #[test]
    fn a_step_that_does_not_exist_is_refused_even_from_its_own_state() {
        let cell = StateCell(AtomicU32::new(State::Idle as u32));
        assert!(cell.step(State::Idle, State::Done).is_err());
        assert_eq!(cell.load(), Ok(State::Idle));
    }

    #[test]
    fn every_state_but_shutdown_has_a_way_on() {
        let ways = |from: State| State::ALL.into_iter().filter(|to| from.allows(*to)).count();
        assert!(State::ALL.into_iter().all(|from| (from == State::Shutdown) == (ways(from) == 0)));
    }

    #[test]
    fn an_unknown_state_is_corrupt() {
        let cell = StateCell(AtomicU32::new(99));
        assert_eq!(cell.load(), Err(NodeError::CorruptMailbox { field: "state", value: 99 }));
    }
}
