//! The part of a mailbox that both sides write at the same time: the state and the two bells, and how to wait at them.

use std::time::{Duration, Instant};

use super::bell::Bell;
use super::state::{State, StateCell};
use crate::error::NodeError;
use crate::limits;

/// Something on a cache line of its own, so that polling it is not disturbed by writes beside it.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Line<T>(pub(crate) T);

/// The state of a mailbox and its bells.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Door {
    state: Line<StateCell>,
    to_child: Line<Bell>,
    to_parent: Line<Bell>,
}

/// One of the two that share a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Parent,
    Child,
}

/// What a state means to the side that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It is what is waited for.
    Take,
    /// It comes before it.
    Wait,
    /// It cannot be.
    Wrong,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// With a state that was waited for.
    For(State),
    /// The other side is gone, in this state.
    Gone(State),
    /// Time is up, in this state.
    TimedOut(State),
}

/// How long a side polls a mailbox before it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spin(Duration);

impl Spin {
    /// Sleep at once.
    pub const NONE: Spin = Spin(Duration::ZERO);

    /// The right one for this many worker processes on this machine: none as soon as they take all cores, because a
    /// process that polls then takes the core that the one it waits for needs.
    ///
    /// ```
    /// use ringlane_node::Spin;
    /// assert_eq!(Spin::for_workers(usize::MAX), Spin::NONE);
    /// ```
    pub fn for_workers(workers: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self::for_workers_on(workers, cores)
    }

    /// The same on this many cores.
    fn for_workers_on(workers: usize, cores: usize) -> Self {
        if workers < cores { Spin(limits::SPIN) } else { Spin::NONE }
    }

    /// This many microseconds; what is more than a second is a second.
    pub fn from_us(us: u64) -> Self {
        Spin(Duration::from_micros(us.min(1_000_000)))
    }

    /// In microseconds.
    pub fn us(self) -> u64 {
        self.0.as_micros() as u64
    }
}

/// How long a side waits, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) spin: Spin,
    pub(crate) deadline: Option<Instant>,
}

impl Door {
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        let state = Line(StateCell::new());
        Door { state, to_child: Line(Bell::new()), to_parent: Line(Bell::new()) }
    }

    /// The state of the call.
    pub(crate) fn poll(&self) -> Result<State, NodeError> {
        self.state.0.load()
    }

    /// Takes a step that the other side does not wait for.
    pub(crate) fn step(&self, from: State, to: State) -> Result<(), NodeError> {
        self.state.0.step(from, to)
    }

    /// Takes a step and rings for the other side.
    pub(crate) fn step_and_ring(&self, side: Side, from: State, to: State) -> Result<(), NodeError> {
        self.step(from, to)?;
        match side {
            Side::Parent => self.to_child.0.ring(),
            Side::Child => self.to_parent.0.ring(),
        }
        Ok(())
    }

    /// Wakes the parent, whatever the mailbox says.
    pub(crate) fn wake_parent(&self) {
        self.to_parent.0.ring_loudly();
    }

    /// Waits until a state means [`Meaning::Take`], the other side is gone or time is up.
    pub(crate) fn wait(
        &self,
        side: Side,
        patience: Patience,
        meaning: impl Fn(State) -> Meaning,
        is_gone: impl Fn() -> bool,
    ) -> Result<Waited, NodeError> {
        let once = || self.once(&meaning, &is_gone);
        if let Some(waited) = self.spin(patience.spin, &once)? {
            return Ok(waited);
        }
        let bell = match side {
            Side::Parent => &self.to_parent.0,
            Side::Child => &self.to_child.0,
        };
        loop {
            let seen = bell.announce();
            let waited = once()?.or(timed_out(patience.deadline, self.poll()?));
            if let Some(waited) = waited {
                bell.leave();
                return Ok(waited);
            }
            bell.sleep(seen, sleep_of(patience.deadline));
        }
    }

    /// Polls once.
    fn once(
        &self,
        meaning: &impl Fn(State) -> Meaning,
        is_gone: &impl Fn() -> bool,
    ) -> Result<Option<Waited>, NodeError> {
        // First this and then the state, so that what a process wrote before it went is still seen.
        let gone = is_gone();
        let state = self.poll()?;
        match meaning(state) {
            Meaning::Take => Ok(Some(Waited::For(state))),
            Meaning::Wait => Ok(gone.then_some(Waited::Gone(state))),
            Meaning::Wrong => Err(NodeError::corrupt("state", state as u32)),
        }
    }

    fn spin(
        &self,
        Spin(limit): Spin,
        once: &impl Fn() -> Result<Option<Waited>, NodeError>,
    ) -> Result<Option<Waited>, NodeError> {
        if limit.is_zero() {
            return once();
        }
        let mut pause = Pause::for_at_most(limit);
        loop {
            if let Some(waited) = once()? {
                return Ok(Some(waited));
            }
            if pause.is_over() {
                return Ok(None);
            }
        }
    }
}

/// A pause between two polls, for as long as polling is worth it.
pub(crate) struct Pause {
    end: Instant,
    polls: u32,
}

impl Pause {
    /// For no longer than this.
    pub(crate) fn for_at_most(limit: Duration) -> Self {
        Pause { end: Instant::now() + limit, polls: 0 }
    }

    /// Pauses; whether that was the last time. Now and then the core is offered to others: the one that is waited for may have
    /// been put on the same core, and cannot get on before the one that waits is off it.
    pub(crate) fn is_over(&mut self) -> bool {
        core::hint::spin_loop();
        self.polls += 1;
        if !self.polls.is_multiple_of(limits::POLLS_PER_CLOCK_READ) {
            return false;
        }
        if self.polls.is_multiple_of(limits::POLLS_PER_YIELD) {
            std::thread::yield_now();
        }
        Instant::now() >= self.end
    }
}

fn timed_out(deadline: Option<Instant>, state: State) -> Option<Waited> {
    (deadline? <= Instant::now()).then_some(Waited::TimedOut(state))
}

fn sleep_of(deadline: Option<Instant>) -> Duration {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    left.map_or(limits::SLEEP, |left| left.min(limits::SLEEP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_spins_when_workers_take_all_cores() {
        assert_eq!(Spin::for_workers_on(1, 2), Spin(limits::SPIN));
        assert_eq!([Spin::for_workers_on(2, 2), Spin::for_workers_on(1, 1)], [Spin::NONE; 2]);
    }
}
