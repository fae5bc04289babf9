//! The bridge: one thread of rank 0 between the mailboxes of its node's children and the ranks that they represent.
//!
//! ```text
//! work (a thread of its own)                 bridge (the thread that has the transport)
//!   Node ─▶ Child::send ── Ready ───────────▶ tensors out of the node's memory, Call frame ─▶ rank
//!   Node ◀─ the node's bell ◀── Done, Failed ─ tensors back into it ◀────────── Answer frame ─┘
//! ```
//! Tensors travel by value, whole and dense: what a call reads there, what it writes back again. A rank that dies is lost to
//! all nodes that come, and so are the others, because a transport that lost one carries no more.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use ringlane_task::{Access, BlobTensor, BufferHandle, CallConfig, Scalar, TensorView};

use super::error::RemoteError;
use super::link::{Guest, LinkState, RankLink, Sent, Waker};
use super::ranks::{Answered, Ranks, Request};
use super::transport::{Rank, Transport};
use crate::call_error::CallError;
use crate::callable::{Digest, Table, located};
use crate::error::NodeError;
use crate::frame::{AnswerBuffer, Arrival, CallBuffer, Leaving};
use crate::mailbox::{CallTimes, Scratch, State};
use crate::memory::{gather, scatter};

/// How long the bridge waits for an answer before it checks for calls again.
const POLL_INTERVAL: Duration = Duration::from_micros(500);

/// How long it sleeps while the ranks have nothing to do; a call wakes it, a rank's death waits for so long.
const IDLE: Duration = Duration::from_millis(5);

/// Bytes of the stack of the thread that works: as many as that of a process.
const STACK_BYTES: usize = 8 << 20;

/// How long the work may take to end by itself after the ranks were lost. mpirun, which kills a process a second after it has
/// asked it to end, leaves enough time to say why.
const LAST_WORD: Duration = Duration::from_millis(400);

/// What became of [`bridge`].
#[derive(Debug)]
pub struct Bridged<R> {
    /// What the work gave.
    pub result: R,
    /// Whether the ranks were there to its end, and have nothing to do.
    pub ranks: Result<(), RemoteError>,
}

/// Runs `work` on its own thread; its nodes can use these ranks as workers. The calling thread transmits their calls.
///
/// If the ranks are lost, calls fail and the work ends; if it has not ended soon after, `report` is called once.
pub fn bridge<T: Transport, R: Send>(
    ranks: &mut Ranks<T>,
    report: impl FnOnce(&RemoteError),
    work: impl FnOnce(&[RankLink]) -> R + Send,
) -> Result<Bridged<R>, RemoteError> {
    let waker = Arc::new(Waker::default());
    let links: Vec<_> = ranks.peers().iter().map(|peer| RankLink::new(peer.clone(), waker.clone())).collect();
    let mut bridge = Bridge {
        ranks,
        table: Table::new().map_err(RemoteError::Node)?,
        links: &links,
        scratch: Scratch::default(),
    };
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("ringlane-run".to_string()).stack_size(STACK_BYTES);
        let theirs = (&links, &waker);
        let worker = builder.spawn_scoped(scope, move || {
            let _call = AtTheEnd(theirs.1);
            work(theirs.0)
        });
        let worker = worker.map_err(|error| {
            let (doing, error) = ("a thread for the run", error.to_string());
            RemoteError::Node(NodeError::CannotStart { worker: "rank 0".to_string(), doing, error })
        })?;
        let state = bridge.carry_until(|| worker.is_finished(), &waker);
        if let Err(error) = &state {
            links.iter().for_each(|link| link.lose(error));
            let deadline = Instant::now() + LAST_WORD;
            while !worker.is_finished() && Instant::now() < deadline {
                waker.sleep(IDLE);
            }
            if !worker.is_finished() {
                report(error);
            }
        }
        let result = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(Bridged { result, ranks: state.and_then(|()| bridge.all_idle()) })
    })
}

/// Wakes the bridge when the work ends, however it does.
struct AtTheEnd<'w>(&'w Waker);

impl Drop for AtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.wake();
    }
}

struct Bridge<'b, T> {
    ranks: &'b mut Ranks<T>,
    table: Table,
    links: &'b [RankLink],
    scratch: Scratch,
}

/// A call on its way from a mailbox to a rank.
struct Outgoing {
    name: &'static str,
    digest: Digest,
    config: CallConfig,
    member: (u32, u32),
    tensors: Vec<BlobTensor>,
    scalars: Vec<Scalar>,
    /// Of each tensor; `None` if it only comes back.
    values: Vec<Option<Vec<u8>>>,
}

impl<T: Transport> Bridge<'_, T> {
    /// Carries calls there and answers back, until that is no more use.
    fn carry_until(&mut self, is_over: impl Fn() -> bool, waker: &Waker) -> Result<(), RemoteError> {
        while !is_over() {
            self.carry()?;
            if self.ranks.in_flight() == 0 {
                waker.sleep(IDLE);
            }
        }
        Ok(())
    }

    /// Carries calls there and answers back, once. An error is the end of all ranks.
    fn carry(&mut self) -> Result<(), RemoteError> {
        for link in self.links {
            self.set_up(link)?;
            let taken = take_call(&mut link.state(), &self.table, &mut self.scratch);
            match taken {
                Ok(None) => {}
                Ok(Some(outgoing)) => self.send(link, &outgoing)?,
                Err(error) => link.lose(&RemoteError::Node(error)),
            }
        }
        let wait = if self.ranks.in_flight() == 0 { Duration::ZERO } else { POLL_INTERVAL };
        match self.ranks.next(wait)? {
            Some(answered) => self.deliver(&answered),
            None => Ok(()),
        }
    }

    /// Sends a rank what the runs of its new child are asked for, once.
    fn set_up(&mut self, link: &RankLink) -> Result<(), RemoteError> {
        let mut state = link.state();
        let Some(run_request) = state.guest.as_mut().and_then(|guest| guest.run_request.take()) else {
            return Ok(());
        };
        match self.ranks.set_up(link.peer().rank, &run_request) {
            Ok(_) => state.sent = Some(Sent::SetUp),
            // It did not leave: the child cannot start, and the rank is as it was.
            Err(RemoteError::Unsendable { error }) => {
                let started = state.guest.as_ref().map(|guest| start(guest, Err(CallError::of(&error))));
                if let Some(Err(error)) = started {
                    link.lose_at(&mut state, &RemoteError::Node(error));
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn send(&mut self, link: &RankLink, outgoing: &Outgoing) -> Result<(), RemoteError> {
        match self.ranks.send(link.peer().rank, request(outgoing)) {
            Ok(_) => Ok(()),
            // It did not leave: the call fails, and the rank is as it was.
            Err(RemoteError::Unsendable { error }) => {
                let mut state = link.state();
                state.sent = None;
                let times = CallTimes::default();
                let answered =
                    state.guest.as_ref().map(|guest| answer(guest, &times, Err(CallError::of(&error))));
                if let Some(Err(error)) = answered {
                    link.lose_at(&mut state, &RemoteError::Node(error));
                }
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn deliver(&mut self, answered: &Answered) -> Result<(), RemoteError> {
        let Rank(number) = answered.rank;
        let Some(link) = self.links.iter().find(|link| link.peer().rank.0 == number) else { return Ok(()) };
        let reply = answered.answer()?;
        let mut state = link.state();
        let LinkState { guest, sent, .. } = &mut *state;
        // An abandoned call has already excluded its rank from further calls.
        let (Some(sent), Some(guest)) = (sent.take(), guest) else { return Ok(()) };
        let passed_on = match sent {
            Sent::SetUp => start(guest, reply.result.map(drop)),
            Sent::Call { written, .. } => {
                let result = reply.result.map(|buffers| bring_back(guest, &written, &buffers));
                answer(guest, &reply.times, result)
            }
        };
        if let Err(error) = passed_on {
            link.lose_at(&mut state, &RemoteError::Node(error));
        }
        Ok(())
    }

    /// Whether no rank has a call.
    fn all_idle(&self) -> Result<(), RemoteError> {
        let busy = self.links.iter().find_map(|link| Some((link.peer(), link.state().sent.take()?)));
        match busy {
            None => Ok(()),
            Some((peer, sent)) => {
                let (place, during) = (peer.place(), sent.name().to_string());
                Err(RemoteError::RankGivenUp { rank: peer.rank, place, during })
            }
        }
    }
}

/// The call that a child has written, if there is one. What is wrong with it is the answer to it.
fn take_call(
    state: &mut LinkState,
    table: &Table,
    scratch: &mut Scratch,
) -> Result<Option<Outgoing>, NodeError> {
    let Some(guest) = &mut state.guest else { return Ok(None) };
    if guest.region.state()? != State::Ready {
        return Ok(None);
    }
    guest.calls += 1;
    match read_call(guest, table, scratch) {
        Ok((outgoing, written)) => {
            let door = &guest.region.layout().door;
            door.step(State::Ready, State::Accepted)?;
            door.step(State::Accepted, State::Running)?;
            state.sent = Some(Sent::Call { name: outgoing.name, written });
            Ok(Some(outgoing))
        }
        Err(error) => {
            guest.region.write_error(guest.calls, &CallError::of(&error));
            guest.step_and_ring(State::Ready, State::Failed)?;
            Ok(None)
        }
    }
}

type Read = (Outgoing, Vec<(BufferHandle, BlobTensor)>);

/// Reads a call, and copies its tensors.
fn read_call(guest: &Guest, table: &Table, scratch: &mut Scratch) -> Result<Read, NodeError> {
    let received = guest.region.read_request(guest.calls, scratch)?;
    let name = table.resolve(received.digest)?.name();
    let scalars = received.arguments.scalars().collect();
    let (mut tensors, mut values, mut written) = (Vec::new(), Vec::new(), Vec::new());
    for (index, call_tensor) in located(&received, &guest.memories)?.into_iter().enumerate() {
        let (BlobTensor { view, access, buffer: memory }, id) = (call_tensor.tensor, index as u32);
        let handle = BufferHandle { id, generation: 0 };
        let dense = TensorView::contiguous(view.dtype(), &view.shape())
            .map_err(|source| NodeError::Arguments(ringlane_task::BlobError::BadView { index, source }))?;
        tensors.push(BlobTensor { view: dense, buffer: handle, access });
        // Fresh memory has no value. Other memory that is written may be written in part.
        let source = guest.memories.get(memory.id).filter(|_| access != Access::Output);
        #[allow(unsafe_code)]
        // SAFETY: the node orders this call against all others that write the tensor; the child, and with it its run, is
        // there as long as the state is locked.
        values.push(source.map(|source| unsafe { gather(source, &view) }));
        if access.writes() {
            written.push((handle, call_tensor.tensor));
        }
    }
    let (digest, config, member) = (received.digest, received.config, received.member);
    Ok((Outgoing { name, digest, config, member, tensors, scalars, values }, written))
}

fn request(outgoing: &Outgoing) -> Request<'_> {
    let each = outgoing.tensors.iter().zip(&outgoing.values);
    let buffers = each.map(|(tensor, value)| CallBuffer {
        handle: tensor.buffer,
        arrives: match value {
            Some(value) => Arrival::Value(value),
            None => Arrival::Fresh { bytes: tensor.view.bytes() },
        },
        leaves: if tensor.access.writes() { Leaving::Returned } else { Leaving::Forgotten },
    });
    let buffers = buffers.collect();
    let Outgoing { name, digest, config, member, tensors, scalars, .. } = outgoing;
    let (tensors, scalars) = (tensors.clone(), scalars.clone());
    Request { name, digest: *digest, config: *config, member: *member, tensors, scalars, buffers }
}

/// Puts what a call has written where its tensors are. That the buffers are those that were asked for is checked by now.
fn bring_back(guest: &Guest, written: &[(BufferHandle, BlobTensor)], buffers: &[AnswerBuffer<'_>]) {
    for (handle, tensor) in written {
        let buffer = buffers.iter().find(|buffer| buffer.handle == *handle);
        let value = buffer.and_then(|buffer| buffer.outcome.value());
        if let (Some(value), Some(memory)) = (value, guest.memories.get(tensor.buffer.id)) {
            #[allow(unsafe_code)]
            // SAFETY: as in `read_call`; the call is not over before its answer is in the mailbox.
            unsafe {
                scatter(memory, &tensor.view, value);
            }
        }
    }
}

/// Says whether the rank is ready for the child's runs.
fn start(guest: &Guest, result: Result<(), CallError>) -> Result<(), NodeError> {
    match result {
        Ok(()) => guest.step_and_ring(State::Starting, State::Idle),
        Err(error) => {
            guest.region.write_error(0, &error);
            guest.step_and_ring(State::Starting, State::Failed)
        }
    }
}

/// Writes the answer to the last call into the mailbox.
fn answer(guest: &Guest, times: &CallTimes, result: Result<(), CallError>) -> Result<(), NodeError> {
    guest.region.write_times(times);
    let to = match result {
        Ok(()) => {
            guest.region.layout().set_answered(guest.calls);
            State::Done
        }
        Err(error) => {
            guest.region.write_error(guest.calls, &error);
            State::Failed
        }
    };
    guest.step_and_ring(State::Running, to)
}
