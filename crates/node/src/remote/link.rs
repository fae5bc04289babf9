//! A rank as a child of rank 0's node: a mailbox in this process whose other side is the [bridge](super::bridge).
//!
//! ```text
//! Child ── mailbox ──▶ RankLink ──▶ bridge ── frames ──▶ rank
//!   └ Berth: holds the link as long as the child lives
//! ```
//! A link outlives the children that use it one after another: each case of a command has a node of its own. The bridge touches
//! a child's mailbox and its node's memory under the link's lock only, and a child that goes takes both away under the same lock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ringlane_task::{BlobTensor, BufferHandle};

use super::error::RemoteError;
use super::peer::Peer;
use crate::child::ChildLaunch;
use crate::error::NodeError;
use crate::mailbox::{Region, Side, State};
use crate::memory::Memories;

/// A rank that a node of rank 0 can have as a worker, with [`ChildLaunch::on_rank`](crate::ChildLaunch::on_rank).
#[derive(Clone, Debug)]
pub struct RankLink {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    peer: Peer,
    /// Whether it is lost. The release in [`RankLink::lose`] pairs with the acquire in [`Berth::is_gone`].
    gone: AtomicBool,
    state: Mutex<LinkState>,
    waker: Arc<Waker>,
}

/// What the bridge and a child share.
#[derive(Debug, Default)]
pub(super) struct LinkState {
    pub(super) guest: Option<Guest>,
    pub(super) sent: Option<Sent>,
    lost: Option<RemoteError>,
}

/// A child that uses the link now.
#[derive(Debug)]
pub(super) struct Guest {
    pub(super) region: Arc<Region>,
    pub(super) memories: Memories,
    /// What its runs are asked for, until it is sent to the rank.
    pub(super) run_request: Option<Arc<[u8]>>,
    /// Calls so far: the number of the last one.
    pub(super) calls: u64,
}

/// What the rank has to answer.
#[derive(Debug)]
pub(super) enum Sent {
    /// What the child's runs are asked for.
    SetUp,
    /// A call.
    Call {
        /// The callable.
        name: &'static str,
        /// The tensors that come back, by the handles that they travel under.
        written: Vec<(BufferHandle, BlobTensor)>,
    },
}

impl Sent {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Sent::SetUp => "its start",
            Sent::Call { name, .. } => name,
        }
    }
}

impl Guest {
    /// Takes a step and notifies the child's node.
    pub(super) fn step_and_ring(&self, from: State, to: State) -> Result<(), NodeError> {
        self.region.layout().door.step_and_ring(Side::Child, from, to)?;
        if let Some(own) = self.memories.all().last() {
            own.bell().ring();
        }
        Ok(())
    }

    /// Notifies the child's node that something has happened, whatever the mailbox says.
    fn wake(&self) {
        self.region.layout().door.wake_parent();
        if let Some(own) = self.memories.all().last() {
            own.bell().ring_loudly();
        }
    }
}

impl RankLink {
    pub(super) fn new(peer: Peer, waker: Arc<Waker>) -> Self {
        let (gone, state) = (AtomicBool::new(false), Mutex::default());
        RankLink { shared: Arc::new(Shared { peer, gone, state, waker }) }
    }

    /// The rank.
    pub fn peer(&self) -> &Peer {
        &self.shared.peer
    }

    pub(super) fn state(&self) -> MutexGuard<'_, LinkState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is no going on with this rank; the first reason counts.
    pub(super) fn lose(&self, error: &RemoteError) {
        self.lose_at(&mut self.state(), error);
    }

    pub(super) fn lose_at(&self, state: &mut LinkState, error: &RemoteError) {
        state.lost.get_or_insert_with(|| error.clone());
        self.shared.gone.store(true, Ordering::Release);
        if let Some(guest) = &state.guest {
            guest.wake();
        }
    }

    /// Makes a child's mailbox the one that this rank serves, once it is set up for the child's runs.
    pub(crate) fn take(&self, region: &Arc<Region>, launch: &ChildLaunch) -> Result<Berth, NodeError> {
        let mut state = self.state();
        if let Some(error) = &state.lost {
            return Err(NodeError::RankLost { error: Box::new(error.clone()) });
        }
        if state.guest.is_some() {
            let worker = format!("{}", self.shared.peer.rank);
            return Err(NodeError::ChildBusy { worker, callable: "another node" });
        }
        let (memories, run_request) = (launch.memories.clone(), launch.run_request.clone());
        let guest = Guest { region: region.clone(), memories, run_request, calls: 0 };
        match guest.run_request {
            Some(_) => self.shared.waker.wake(),
            None => guest.step_and_ring(State::Starting, State::Idle)?,
        }
        state.guest = Some(guest);
        Ok(Berth { link: self.clone(), region: region.clone() })
    }
}

/// A child's hold on a rank; dropping it lets the next have it.
#[derive(Debug)]
pub(crate) struct Berth {
    link: RankLink,
    /// Separates this child's turn from that of the next.
    region: Arc<Region>,
}

impl Berth {
    /// Whether the rank is lost.
    pub(crate) fn is_gone(&self) -> bool {
        self.link.shared.gone.load(Ordering::Acquire)
    }

    /// Its process, on its host.
    pub(crate) fn process(&self) -> u32 {
        self.link.shared.peer.process
    }

    /// Says that there is a call.
    pub(crate) fn ring(&self) {
        self.link.shared.waker.wake();
    }

    /// Nobody waits for the rank any more. A rank that has a call is lost with it: what it will do next is not known.
    pub(crate) fn give_up(&self) {
        let mut state = self.link.state();
        if !state.guest.as_ref().is_some_and(|guest| Arc::ptr_eq(&guest.region, &self.region)) {
            return;
        }
        if let Some(sent) = &state.sent {
            let Peer { rank, .. } = self.link.shared.peer;
            let (place, during) = (self.link.shared.peer.place(), sent.name().to_string());
            self.link.lose_at(&mut state, &RemoteError::RankGivenUp { rank, place, during });
        }
        state.guest = None;
    }

    /// Why it is lost; if it is not, it is given up for this reason.
    pub(crate) fn lost(&self, during: &'static str) -> NodeError {
        let Peer { rank, .. } = self.link.shared.peer;
        let (place, during) = (self.link.shared.peer.place(), during.to_string());
        let given_up = RemoteError::RankGivenUp { rank, place, during };
        self.give_up();
        let mut state = self.link.state();
        self.link.lose_at(&mut state, &given_up);
        NodeError::RankLost { error: Box::new(state.lost.clone().unwrap_or(given_up)) }
    }
}

impl Drop for Berth {
    fn drop(&mut self) {
        self.give_up();
    }
}

/// Wakes the bridge.
#[derive(Debug, Default)]
pub(super) struct Waker {
    is_called: Mutex<bool>,
    called: Condvar,
}

impl Waker {
    pub(super) fn wake(&self) {
        *self.is_called.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.called.notify_one();
    }

    /// Sleeps until it is woken, or was since the last time, and no longer than this.
    pub(super) fn sleep(&self, at_most: Duration) {
        let is_called = self.is_called.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.called.wait_timeout_while(is_called, at_most, |is_called| !*is_called);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}
