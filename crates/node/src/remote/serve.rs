//! The life of a worker on another host: say what it is, then answer frames until the scheduler says that it is enough.

use std::time::Duration;

use ringlane_task::BufferHandle;

use super::error::RemoteError;
use super::store::{Store, lost};
use super::transport::{Rank, Transport, TransportError};
use crate::call_error::CallError;
use crate::callable::this_build;
use crate::clock::now_ns;
use crate::frame::{Answer, AnswerBuffer, Call, Frame, Goodbye, Hello, HostTime, Outcome};
use crate::mailbox::{CallTimes, ChipTimes};

/// How long one wait for a frame is; it only bounds how often the loop goes round.
const WAIT: Duration = Duration::from_secs(1);

/// What a worker offers to its scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Its level.
    pub level: u32,
    /// How many chips it has.
    pub chips: u32,
    /// How many workers for plain functions it has.
    pub functions: u32,
}

/// What runs the calls that a worker receives.
pub trait RankService {
    /// What it offers.
    fn offer(&self) -> Offer;

    /// Makes ready for runs that are asked for this.
    fn set_up(&mut self, _run_request: &[u8]) -> Result<(), CallError> {
        Ok(())
    }

    /// Runs a call. Its buffers are in the store, each with the size that the call says. A run on a chip that it makes is
    /// reported beside the result.
    fn run(&mut self, call: &Call<'_>, store: &mut Store) -> (Option<ChipTimes>, Result<(), CallError>);
}

/// Serves the scheduler until it says that it is enough; gives the number of calls.
pub fn serve(transport: &mut impl Transport, service: &mut impl RankService) -> Result<u64, RemoteError> {
    let mut worker = Worker { transport, service, store: Store::default(), calls: 0 };
    worker.greet()?;
    let ended = worker.answer_all();
    if let Err(RemoteError::BadFrame { error, .. }) = &ended {
        let (calls, error) = (worker.calls, Some(CallError::of(error)));
        worker.send(&Frame::Goodbye(Goodbye { calls, error }))?;
    }
    ended.map(|()| worker.calls)
}

struct Worker<'w, T, S> {
    transport: &'w mut T,
    service: &'w mut S,
    store: Store,
    calls: u64,
}

impl<T: Transport, S: RankService> Worker<'_, T, S> {
    fn greet(&mut self) -> Result<(), RemoteError> {
        let Offer { level, chips, functions } = self.service.offer();
        self.send(&Frame::Hello(Hello {
            build: this_build().map_err(RemoteError::Node)?,
            host: &host_name(),
            process: std::process::id(),
            level,
            chips,
            functions,
            clock: HostTime::now(),
        }))
    }

    fn answer_all(&mut self) -> Result<(), RemoteError> {
        loop {
            let received = self.transport.receive(WAIT).map_err(|error| self.broken(error))?;
            let Some((from, bytes)) = received else { continue };
            let accepted_ns = now_ns();
            let frame = Frame::decode(&bytes).map_err(|error| RemoteError::BadFrame { rank: from, error })?;
            match frame {
                Frame::SetUp { sequence, run_request } => self.set_up(sequence, run_request, accepted_ns)?,
                Frame::Call(call) => self.call(&call, accepted_ns)?,
                Frame::Fetch { sequence, handle } => self.fetch(sequence, handle, accepted_ns)?,
                Frame::Forget(handles) => handles.iter().for_each(|&handle| self.store.forget(handle)),
                Frame::Ping { sequence, sent } => {
                    self.send(&Frame::Pong { sequence, sent, echoed: HostTime::now() })?;
                }
                Frame::Shutdown => {
                    return self.send(&Frame::Goodbye(Goodbye { calls: self.calls, error: None }));
                }
                Frame::Hello(_) | Frame::Answer(_) | Frame::Pong { .. } | Frame::Goodbye(_) => {
                    let kind = frame.kind();
                    return Err(RemoteError::UnexpectedFrame {
                        rank: from,
                        kind,
                        sequence: frame.sequence(),
                    });
                }
            }
        }
    }

    fn set_up(&mut self, sequence: u64, run_request: &[u8], at_ns: u64) -> Result<(), RemoteError> {
        let result = self.service.set_up(run_request).map(|()| Vec::new());
        let times = CallTimes { accepted_ns: at_ns, run_ns: at_ns, end_ns: now_ns(), chip: None };
        let (bytes, _) = encode_answer(Answer { sequence, times, result })?;
        self.send_bytes(bytes)
    }

    fn call(&mut self, call: &Call<'_>, accepted_ns: u64) -> Result<(), RemoteError> {
        self.calls += 1;
        let sequence = call.sequence;
        if let Err(error) = self.store.place(call) {
            let times = CallTimes { accepted_ns, ..CallTimes::default() };
            let (bytes, _) = encode_answer(Answer { sequence, times, result: Err(error) })?;
            return self.send_bytes(bytes);
        }
        let run_ns = now_ns();
        let (chip, result) = self.service.run(call, &mut self.store);
        let times = CallTimes { accepted_ns, run_ns, end_ns: now_ns(), chip };
        let result = result.map(|()| self.store.outcomes(&call.buffers));
        let (bytes, said) = encode_answer(Answer { sequence, times, result })?;
        match said {
            Said::Success => {
                let left = call.buffers.iter().filter(|buffer| !buffer.leaves.keeps());
                left.for_each(|buffer| self.store.forget(buffer.handle));
            }
            Said::Failure => self.store.take_back(&call.buffers),
        }
        self.send_bytes(bytes)
    }

    fn fetch(&mut self, sequence: u64, handle: BufferHandle, at_ns: u64) -> Result<(), RemoteError> {
        let times = CallTimes { accepted_ns: at_ns, run_ns: at_ns, end_ns: now_ns(), chip: None };
        let result = match self.store.get(handle) {
            Some(buffer) => Ok(vec![AnswerBuffer { handle, outcome: Outcome::ValueAndKept(buffer.bytes()) }]),
            None => Err(lost(handle, "not here")),
        };
        let (bytes, _) = encode_answer(Answer { sequence, times, result })?;
        self.send_bytes(bytes)
    }

    fn send(&mut self, frame: &Frame<'_>) -> Result<(), RemoteError> {
        let mut bytes = Vec::new();
        frame.encode(&mut bytes).map_err(|error| RemoteError::Unsendable { error })?;
        self.send_bytes(bytes)
    }

    fn send_bytes(&mut self, bytes: Vec<u8>) -> Result<(), RemoteError> {
        self.transport.send(Rank::SCHEDULER, bytes).map_err(|error| self.broken(error))
    }

    fn broken(&self, error: TransportError) -> RemoteError {
        RemoteError::of(error, self.transport.ranks(), "serving", |_| "the scheduler".to_string())
    }
}

/// What an answer says.
enum Said {
    Success,
    Failure,
}

/// An answer as bytes; one that is too large for a frame becomes the error that says so.
fn encode_answer(answer: Answer<'_>) -> Result<(Vec<u8>, Said), RemoteError> {
    let mut bytes = Vec::new();
    let (sequence, times) = (answer.sequence, answer.times);
    let said = if answer.result.is_ok() { Said::Success } else { Said::Failure };
    let Err(error) = Frame::Answer(answer).encode(&mut bytes) else { return Ok((bytes, said)) };
    let times = CallTimes { chip: None, ..times };
    let result = Err(CallError::of(&error));
    let encoded = Frame::Answer(Answer { sequence, times, result }).encode(&mut bytes);
    encoded.map(|()| (bytes, Said::Failure)).map_err(|error| RemoteError::Unsendable { error })
}

/// The name of this host; where it cannot be had, that is all there is to say.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "a host without a name".to_string() } else { name.trim().to_string() }
}
