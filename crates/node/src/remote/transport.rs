//! How frames get from rank to rank: a seam with two sides, MPI (`ringlane-mpi`) and channels between threads.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// A process among those that run together; 0 schedules, the others work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

impl Rank {
    /// The one that schedules.
    pub const SCHEDULER: Rank = Rank(0);
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {}", self.0)
    }
}

/// Why frames go no further. All of these end the run: ranks are not started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportError {
    /// A rank has ended without saying so.
    Died(Rank),
    /// Somebody wants this process to end.
    Terminated,
    /// There is no such rank.
    NoSuchRank(Rank),
    /// A rank announced a message that no frame can be.
    TooLarge {
        /// Which.
        from: Rank,
        /// How large.
        bytes: u64,
    },
    /// The library that carries the frames gave an error.
    Failed {
        /// What it was to do.
        doing: &'static str,
        /// What it said.
        error: String,
    },
}

/// A rank's end of the way to the others. Frames between two ranks arrive in the order in which they were sent, each once
/// and whole.
pub trait Transport {
    /// Which rank this is.
    fn rank(&self) -> Rank;

    /// How many ranks there are.
    fn ranks(&self) -> u32;

    /// Sends a frame. It may return before the frame has arrived, and must not wait for the receiver without
    /// taking in what others send meanwhile: two ranks that send to each other do not block each other.
    fn send(&mut self, to: Rank, frame: Vec<u8>) -> Result<(), TransportError>;

    /// The next frame, if one comes within that time.
    fn receive(&mut self, wait: Duration) -> Result<Option<(Rank, Vec<u8>)>, TransportError>;
}

enum Message {
    Frame(Rank, Vec<u8>),
    Died(Rank),
}

/// Ranks that are threads of this process; one that is dropped before it has [left](LocalRank::leave) counts as dead.
///
/// ```
/// use ringlane_node::remote::{LocalRank, Rank, Transport, TransportError};
/// # use std::time::Duration;
/// let [mut zero, one] = LocalRank::all::<2>();
/// drop(one);
/// assert_eq!(zero.receive(Duration::from_secs(1)), Err(TransportError::Died(Rank(1))));
/// ```
pub struct LocalRank {
    rank: Rank,
    inbox: Receiver<Message>,
    ranks: Vec<Sender<Message>>,
    left: bool,
}

impl LocalRank {
    /// This many ranks that know each other.
    pub fn all<const N: usize>() -> [LocalRank; N] {
        let ends: [_; N] = std::array::from_fn(|_| channel());
        let ranks: Vec<_> = ends.iter().map(|(sender, _)| sender.clone()).collect();
        let mut number = 0;
        ends.map(|(_, inbox)| {
            let rank = Rank(number);
            number += 1;
            LocalRank { rank, inbox, ranks: ranks.clone(), left: false }
        })
    }

    /// Ends in order: nobody is notified.
    pub fn leave(mut self) {
        self.left = true;
    }
}

impl Drop for LocalRank {
    fn drop(&mut self) {
        if !self.left {
            // A rank that has gone needs no notice.
            self.ranks.iter().for_each(|rank| drop(rank.send(Message::Died(self.rank))));
        }
    }
}

impl Transport for LocalRank {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    fn send(&mut self, to: Rank, frame: Vec<u8>) -> Result<(), TransportError> {
        let rank = self.ranks.get(to.0 as usize).ok_or(TransportError::NoSuchRank(to))?;
        rank.send(Message::Frame(self.rank, frame)).map_err(|_| TransportError::Died(to))
    }

    fn receive(&mut self, wait: Duration) -> Result<Option<(Rank, Vec<u8>)>, TransportError> {
        match self.inbox.recv_timeout(wait) {
            Ok(Message::Frame(from, frame)) => Ok(Some((from, frame))),
            Ok(Message::Died(rank)) => Err(TransportError::Died(rank)),
            // The senders live as long as `self`.
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }
}
