//! The errors between a node and its workers on other hosts.

use std::time::Duration;

use ringlane_task::{BufferHandle, Explain};

use super::transport::{Rank, TransportError};
use crate::call_error::CallError;
use crate::callable::Digest;
use crate::error::NodeError;
use crate::frame::FrameError;

/// Why a run over several hosts ends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum RemoteError {
    /// A rank died.
    RankDied {
        rank: Rank,
        place: String,
        during: String,
    },
    /// A rank cannot continue.
    RankLeft {
        rank: Rank,
        place: String,
        error: CallError,
    },
    /// A rank did not answer in time.
    RankSilent {
        rank: Rank,
        place: String,
        during: String,
        after: Duration,
    },
    /// A rank has a call that was abandoned.
    RankGivenUp {
        rank: Rank,
        place: String,
        during: String,
    },
    /// A rank was started from another build.
    UnlikeBuilds {
        rank: Rank,
        place: String,
        ours: Digest,
        theirs: Digest,
    },
    /// A rank sent an invalid frame.
    BadFrame {
        rank: Rank,
        error: FrameError,
    },
    /// A rank sent an unexpected frame.
    UnexpectedFrame {
        rank: Rank,
        kind: &'static str,
        sequence: u64,
    },
    /// An answer does not match its call.
    WrongAnswer {
        rank: Rank,
        sequence: u64,
        handle: BufferHandle,
    },
    /// A call cannot be sent.
    Unsendable {
        error: FrameError,
    },
    /// The run was terminated.
    RanksTerminated {
        during: String,
    },
    /// There is no such rank.
    NoSuchRank {
        rank: Rank,
        ranks: u32,
    },
    /// The ranks cannot be reached.
    RanksUnreachable {
        doing: &'static str,
        error: String,
    },
    Node(NodeError),
}

ringlane_task::display_explained!(RemoteError);

impl Explain for RemoteError {
    fn name(&self) -> &'static str {
        match self {
            RemoteError::RankDied { .. } => "RankDied",
            RemoteError::RankLeft { .. } => "RankLeft",
            RemoteError::RankSilent { .. } => "RankSilent",
            RemoteError::RankGivenUp { .. } => "RankGivenUp",
            RemoteError::UnlikeBuilds { .. } => "UnlikeBuilds",
            RemoteError::BadFrame { error, .. } | RemoteError::Unsendable { error } => error.name(),
            RemoteError::UnexpectedFrame { .. } => "UnexpectedFrame",
            RemoteError::WrongAnswer { .. } => "WrongAnswer",
            RemoteError::RanksTerminated { .. } => "RanksTerminated",
            RemoteError::NoSuchRank { .. } => "NoSuchRank",
            RemoteError::RanksUnreachable { .. } => "RanksUnreachable",
            RemoteError::Node(error) => error.name(),
        }
    }

    fn summary(&self) -> String {
        match self {
            RemoteError::RankDied { .. } => "a rank died",
            RemoteError::RankLeft { .. } => "a rank cannot continue",
            RemoteError::RankSilent { .. } => "a rank did not answer in time",
            RemoteError::RankGivenUp { .. } => "a rank has a call that was abandoned",
            RemoteError::UnlikeBuilds { .. } => "a rank was started from another build",
            RemoteError::BadFrame { .. } => "a rank sent an invalid frame",
            RemoteError::UnexpectedFrame { .. } => "a rank sent an unexpected frame",
            RemoteError::WrongAnswer { .. } => "an answer does not match its call",
            RemoteError::Unsendable { .. } => "a call cannot be sent",
            RemoteError::RanksTerminated { .. } => "the run was terminated",
            RemoteError::NoSuchRank { .. } => "there is no such rank",
            RemoteError::RanksUnreachable { .. } => "the ranks cannot be reached",
            RemoteError::Node(error) => return error.summary(),
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            RemoteError::RankDied { rank, place, during }
            | RemoteError::RankGivenUp { rank, place, during } => format!("{rank} ({place}) during {during}"),
            RemoteError::RankLeft { rank, place, error } => {
                format!("{rank} ({place}): {}", error.without_hint())
            }
            RemoteError::RankSilent { rank, place, during, after } => {
                format!("{rank} ({place}): no answer to {during} after {after:?}")
            }
            RemoteError::UnlikeBuilds { rank, place, ours, theirs } => {
                format!("{rank} ({place}) is build {theirs}, rank 0 is build {ours}")
            }
            RemoteError::BadFrame { rank, error } => format!("from {rank}: {}", error.detail()),
            RemoteError::UnexpectedFrame { rank, kind, sequence } => {
                format!("{rank}: {kind} with sequence number {sequence}")
            }
            RemoteError::WrongAnswer { rank, sequence, handle } => {
                let BufferHandle { id, generation } = handle;
                format!("{rank}, call {sequence}: buffer {id} of generation {generation}")
            }
            RemoteError::Unsendable { error } => error.detail(),
            RemoteError::RanksTerminated { during } => format!("SIGTERM during {during}"),
            RemoteError::NoSuchRank { rank, ranks } => format!("{rank}; the run has {ranks} ranks"),
            RemoteError::RanksUnreachable { doing, error } => format!("{doing}: {error}"),
            RemoteError::Node(error) => error.detail(),
        }
    }

    fn hint(&self) -> String {
        match self {
            RemoteError::RankDied { .. } => {
                "mpirun reports how it ended (was it out of memory?); start the run again"
            }
            RemoteError::RankLeft { error, .. } => return error.hint.clone(),
            RemoteError::RankSilent { .. } => {
                "check whether its host is overloaded or the callable loops forever"
            }
            RemoteError::RankGivenUp { .. } => "nothing to do: it ends together with rank 0",
            RemoteError::UnlikeBuilds { .. } => "start the same executable on every host",
            RemoteError::BadFrame { error, .. } | RemoteError::Unsendable { error } => return error.hint(),
            RemoteError::UnexpectedFrame { .. } | RemoteError::WrongAnswer { .. } => {
                "the sender is faulty: check that all ranks run the same build"
            }
            RemoteError::RanksTerminated { .. } => "nothing to do: mpirun or a user terminated the run",
            RemoteError::NoSuchRank { .. } => "start more ranks: mpirun -n N",
            RemoteError::RanksUnreachable { .. } => {
                "check that every host can reach rank 0's host, and that one mpirun started all ranks"
            }
            RemoteError::Node(error) => return error.hint(),
        }
        .to_string()
    }
}

impl RemoteError {
    /// The error for a transport error before any rank has connected.
    pub fn at_start(error: TransportError) -> Self {
        RemoteError::of(error, 0, "the start", |_| "not yet heard of".to_string())
    }

    /// The error for a transport error; `place` describes where a rank runs.
    pub(super) fn of(
        error: TransportError,
        ranks: u32,
        during: &str,
        place: impl Fn(Rank) -> String,
    ) -> Self {
        let during = during.to_string();
        match error {
            TransportError::Died(rank) => RemoteError::RankDied { rank, place: place(rank), during },
            TransportError::Terminated => RemoteError::RanksTerminated { during },
            TransportError::NoSuchRank(rank) => RemoteError::NoSuchRank { rank, ranks },
            TransportError::TooLarge { from, bytes } => {
                let error = match crate::frame::check_size(bytes) {
                    Err(error) => error,
                    Ok(()) => FrameError::CorruptFrame { field: "bytes of a message", value: bytes },
                };
                RemoteError::BadFrame { rank: from, error }
            }
            TransportError::Failed { doing, error } => RemoteError::RanksUnreachable { doing, error },
        }
    }
}
