//! The scheduler's side: calls to ranks, their answers, and what becomes of a rank that does not answer.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ringlane_task::{BlobTensor, BufferHandle, CallConfig, Scalar};

use super::error::RemoteError;
use super::peer::Peer;
use super::transport::{Rank, Transport, TransportError};
use crate::call_error::CallError;
use crate::callable::{Digest, this_build};
use crate::frame::limits::FORGET_HANDLES;
use crate::frame::{Answer, Call, CallBuffer, Frame, HostTime, Leaving, Outcome};
use crate::mailbox::CallTimes;

/// Pings for each clock. The shortest round trip of them counts.
const PINGS: u64 = 8;

/// A call to be sent.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// A name for errors.
    pub name: &'a str,
    /// Which callable.
    pub digest: Digest,
    /// What is asked of its run.
    pub config: CallConfig,
    /// Which member of how many it is: 0 of 1, unless a group is called.
    pub member: (u32, u32),
    /// Its tensors: views of the buffers.
    pub tensors: Vec<BlobTensor>,
    /// Its scalars.
    pub scalars: Vec<Scalar>,
    /// Its buffers.
    pub buffers: Vec<CallBuffer<'a>>,
}

/// An answer that fits its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Who answered.
    pub rank: Rank,
    /// The number of the call.
    pub sequence: u64,
    frame: Vec<u8>,
}

impl Answered {
    /// What it says. The times are on the worker's clock; its [`Peer`] has the offset.
    pub fn answer(&self) -> Result<Answer<'_>, RemoteError> {
        match Frame::decode(&self.frame) {
            Ok(Frame::Answer(answer)) => Ok(answer),
            Ok(other) => {
                let (rank, sequence) = (self.rank, self.sequence);
                Err(RemoteError::UnexpectedFrame { rank, kind: other.kind(), sequence })
            }
            Err(error) => Err(RemoteError::BadFrame { rank: self.rank, error }),
        }
    }
}

/// A call that was sent.
struct Pending {
    rank: Rank,
    name: String,
    /// The buffers that the answer must have, in their order.
    expected: Vec<(BufferHandle, Option<u64>, Leaving)>,
}

/// The ranks that work, as their scheduler sees them.
pub struct Ranks<T> {
    transport: T,
    peers: Vec<Peer>,
    pending: HashMap<u64, Pending>,
    sequence: u64,
}

impl<T: Transport> Ranks<T> {
    /// Waits until every other rank has introduced itself, and measures their clocks.
    pub fn greet(mut transport: T, patience: Duration) -> Result<Self, RemoteError> {
        let deadline = Instant::now() + patience;
        let ours = this_build().map_err(RemoteError::Node)?;
        let mut peers: Vec<Option<Peer>> = vec![None; transport.ranks() as usize];
        while let Some(missing) = (1..peers.len()).find(|&rank| peers[rank].is_none()) {
            let place = |_| "not yet heard of".to_string();
            let broken = |error, ranks| RemoteError::of(error, ranks, "the start", place);
            let wait = deadline.saturating_duration_since(Instant::now());
            let received = transport.receive(wait).map_err(|error| broken(error, transport.ranks()))?;
            let Some((rank, bytes)) = received else {
                let (rank, during) = (Rank(missing as u32), "the start".to_string());
                return Err(RemoteError::RankSilent { rank, place: place(rank), during, after: patience });
            };
            match Frame::decode(&bytes).map_err(|error| RemoteError::BadFrame { rank, error })? {
                Frame::Hello(hello) if peers.get(rank.0 as usize).is_some_and(Option::is_none) => {
                    peers[rank.0 as usize] = Some(Peer::new(rank, &hello, ours)?);
                }
                frame => return Err(unexpected(rank, place(rank), &frame)),
            }
        }
        let peers = peers.into_iter().flatten().collect();
        let mut ranks = Ranks { transport, peers, pending: HashMap::new(), sequence: 0 };
        ranks.measure_clocks(deadline, patience)?;
        Ok(ranks)
    }

    /// The ranks that work, in their order.
    pub fn peers(&self) -> &[Peer] {
        &self.peers
    }

    /// How many calls are not answered yet.
    pub fn in_flight(&self) -> usize {
        self.pending.len()
    }

    /// The way to them, to be ended in order once they have been shut down.
    pub fn into_transport(self) -> T {
        self.transport
    }

    fn measure_clocks(&mut self, deadline: Instant, patience: Duration) -> Result<(), RemoteError> {
        for index in 0..self.peers.len() {
            let rank = self.peers[index].rank;
            for sequence in 0..PINGS {
                let sent = HostTime::now();
                self.send_frame(rank, &Frame::Ping { sequence, sent })?;
                let (from, bytes) = self.receive_by(rank, deadline, "a ping", patience)?;
                let heard = HostTime::now();
                match Frame::decode(&bytes).map_err(|error| RemoteError::BadFrame { rank: from, error })? {
                    Frame::Pong { sequence: number, sent: echo, echoed }
                        if number == sequence && echo == sent =>
                    {
                        // A ping is a call that takes no time.
                        let (accepted_ns, end_ns) = (echoed.0, echoed.0);
                        let times = CallTimes { accepted_ns, end_ns, ..CallTimes::default() };
                        self.peers[index].clock.learn(sent.0, &times, heard.0);
                    }
                    frame => return Err(self.unexpected(from, &frame)),
                }
            }
        }
        Ok(())
    }

    /// Sends a call and gives its number.
    pub fn send(&mut self, to: Rank, request: Request<'_>) -> Result<u64, RemoteError> {
        self.sequence += 1;
        let sequence = self.sequence;
        let left = request.buffers.iter().filter(|buffer| buffer.leaves != Leaving::Forgotten);
        let expected =
            left.map(|buffer| (buffer.handle, Some(buffer.arrives.bytes()), buffer.leaves)).collect();
        let Request { name, digest, config, member, tensors, scalars, buffers } = request;
        self.send_frame(
            to,
            &Frame::Call(Call { sequence, digest, config, member, tensors, scalars, buffers }),
        )?;
        self.pending.insert(sequence, Pending { rank: to, name: name.to_string(), expected });
        Ok(sequence)
    }

    /// Says what the runs of a rank will be asked for; the answer comes once it is ready for them.
    pub fn set_up(&mut self, to: Rank, run_request: &[u8]) -> Result<u64, RemoteError> {
        self.sequence += 1;
        let sequence = self.sequence;
        self.send_frame(to, &Frame::SetUp { sequence, run_request })?;
        let (name, expected) = ("a set-up".to_string(), Vec::new());
        self.pending.insert(sequence, Pending { rank: to, name, expected });
        Ok(sequence)
    }

    /// Asks for the bytes of a buffer that a rank has kept; the answer has it by value.
    pub fn fetch(&mut self, from: Rank, handle: BufferHandle) -> Result<u64, RemoteError> {
        self.sequence += 1;
        let sequence = self.sequence;
        self.send_frame(from, &Frame::Fetch { sequence, handle })?;
        let expected = vec![(handle, None, Leaving::ReturnedAndKept)];
        self.pending.insert(sequence, Pending { rank: from, name: "a fetch".to_string(), expected });
        Ok(sequence)
    }

    /// Lets a rank forget buffers that it has kept.
    pub fn forget(&mut self, rank: Rank, handles: &[BufferHandle]) -> Result<(), RemoteError> {
        handles
            .chunks(FORGET_HANDLES)
            .try_for_each(|some| self.send_frame(rank, &Frame::Forget(some.to_vec())))
    }

    /// The next answer of any rank, if one comes within that time.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Answered>, RemoteError> {
        let received = self.transport.receive(wait).map_err(|error| self.broken(error))?;
        let Some((rank, frame)) = received else { return Ok(None) };
        let sequence = match Frame::decode(&frame).map_err(|error| RemoteError::BadFrame { rank, error })? {
            Frame::Answer(answer) => {
                let place = self.pending.get(&answer.sequence).filter(|pending| pending.rank == rank);
                let Some(pending) = place else { return Err(self.unexpected(rank, &Frame::Answer(answer))) };
                check_answer(rank, pending, &answer)?;
                answer.sequence
            }
            other => return Err(self.unexpected(rank, &other)),
        };
        self.pending.remove(&sequence);
        Ok(Some(Answered { rank, sequence, frame }))
    }

    /// Ends the other ranks in order: each says goodbye.
    pub fn shutdown(&mut self, patience: Duration) -> Result<(), RemoteError> {
        let deadline = Instant::now() + patience;
        for index in 0..self.peers.len() {
            self.send_frame(self.peers[index].rank, &Frame::Shutdown)?;
        }
        let mut staying: Vec<_> = self.peers.iter().map(|peer| peer.rank).collect();
        while let Some(&rank) = staying.first() {
            let (from, bytes) = self.receive_by(rank, deadline, "the end", patience)?;
            match Frame::decode(&bytes).map_err(|error| RemoteError::BadFrame { rank: from, error })? {
                Frame::Goodbye(goodbye) if goodbye.error.is_none() => staying.retain(|&rank| rank != from),
                // Of a call that nobody waited for.
                Frame::Answer(_) => {}
                frame => return Err(self.unexpected(from, &frame)),
            }
        }
        Ok(())
    }

    fn send_frame(&mut self, to: Rank, frame: &Frame<'_>) -> Result<(), RemoteError> {
        if !self.peers.iter().any(|peer| peer.rank == to) {
            return Err(RemoteError::NoSuchRank { rank: to, ranks: self.transport.ranks() });
        }
        let mut bytes = Vec::new();
        frame.encode(&mut bytes).map_err(|error| RemoteError::Unsendable { error })?;
        self.transport.send(to, bytes).map_err(|error| self.broken(error))
    }

    /// The next frame; a rank from which none comes in time is silent.
    fn receive_by(
        &mut self,
        rank: Rank,
        deadline: Instant,
        during: &str,
        patience: Duration,
    ) -> Result<(Rank, Vec<u8>), RemoteError> {
        let wait = deadline.saturating_duration_since(Instant::now());
        let received = self.transport.receive(wait).map_err(|error| self.broken(error))?;
        received.ok_or_else(|| self.silent(rank, during, patience))
    }

    /// The error of a rank that has not answered for so long.
    pub fn silent(&self, rank: Rank, during: &str, after: Duration) -> RemoteError {
        RemoteError::RankSilent { rank, place: self.place(rank), during: during.to_string(), after }
    }

    fn place(&self, rank: Rank) -> String {
        let peer = self.peers.iter().find(|peer| peer.rank == rank);
        peer.map_or_else(|| "not yet heard of".to_string(), Peer::place)
    }

    fn broken(&self, error: TransportError) -> RemoteError {
        let during = match &error {
            TransportError::Died(rank) => {
                let pending = self.pending.values().find(|pending| pending.rank == *rank);
                pending.map_or("nothing", |pending| &pending.name)
            }
            _ => "a run",
        };
        RemoteError::of(error, self.transport.ranks(), during, |rank| self.place(rank))
    }

    fn unexpected(&self, rank: Rank, frame: &Frame<'_>) -> RemoteError {
        unexpected(rank, self.place(rank), frame)
    }
}

/// A frame that nobody asked for: a rank's captured output is shown, others are named.
fn unexpected(rank: Rank, place: String, frame: &Frame<'_>) -> RemoteError {
    if let Frame::Goodbye(goodbye) = frame {
        let early = || CallError::new("EarlyGoodbye", format!("after {} calls", goodbye.calls), "report it");
        let error = goodbye.error.clone().unwrap_or_else(early);
        return RemoteError::RankLeft { rank, place, error };
    }
    RemoteError::UnexpectedFrame { rank, kind: frame.kind(), sequence: frame.sequence() }
}

/// Holds an answer to its call: the buffers that were asked for, of their sizes, and no others.
fn check_answer(rank: Rank, pending: &Pending, answer: &Answer<'_>) -> Result<(), RemoteError> {
    let Ok(buffers) = &answer.result else { return Ok(()) };
    let sequence = answer.sequence;
    let wrong = |handle| RemoteError::WrongAnswer { rank, sequence, handle };
    for (index, (handle, bytes, leaves)) in pending.expected.iter().enumerate() {
        let buffer = buffers.get(index).ok_or(wrong(*handle))?;
        let how = match buffer.outcome {
            Outcome::Value(_) => Leaving::Returned,
            Outcome::Kept { .. } => Leaving::Kept,
            Outcome::ValueAndKept(_) => Leaving::ReturnedAndKept,
        };
        let fits = bytes.is_none_or(|bytes| bytes == buffer.outcome.bytes());
        if buffer.handle != *handle || how != *leaves || !fits {
            return Err(wrong(*handle));
        }
    }
    buffers.get(pending.expected.len()).map_or(Ok(()), |more| Err(wrong(more.handle)))
}
