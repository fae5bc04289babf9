//! What a scheduler knows of a worker on another host.

use super::error::RemoteError;
use super::transport::Rank;
use crate::callable::Digest;
use crate::frame::Hello;
use crate::runtime::ClockOffset;

/// A rank that has introduced itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Which.
    pub rank: Rank,
    /// The name of its host.
    pub host: String,
    /// Its process there.
    pub process: u32,
    /// Its level.
    pub level: u32,
    /// How many chips it offers.
    pub chips: u32,
    /// How many workers for plain functions it offers.
    pub functions: u32,
    /// How far its clock is from ours.
    pub clock: ClockOffset,
}

impl Peer {
    /// Who says hello; refused if it is of another build.
    pub(super) fn new(rank: Rank, hello: &Hello<'_>, ours: Digest) -> Result<Self, RemoteError> {
        let peer = Peer {
            rank,
            host: hello.host.to_string(),
            process: hello.process,
            level: hello.level,
            chips: hello.chips,
            functions: hello.functions,
            clock: ClockOffset::default(),
        };
        if hello.build != ours {
            let (place, theirs) = (peer.place(), hello.build);
            return Err(RemoteError::UnlikeBuilds { rank, place, ours, theirs });
        }
        Ok(peer)
    }

    /// Where it is, for errors.
    pub fn place(&self) -> String {
        format!("process {} on {}", self.process, self.host)
    }
}
