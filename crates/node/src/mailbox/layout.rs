//! The layout of a mailbox. `docs/node.md` has the same as a table.
//!
//! Everything is an atomic word: the other process may write whatever it likes at any time, and the worst that a reader
//! meets is a wrong value. So a reader copies first and checks the copy; nothing is checked in place.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use ringlane_task::{CallConfig, MAX_BLOB_BYTES};
use zerocopy::{FromZeros, IntoBytes};

use super::door::{Door, Line};
use crate::error::NodeError;
use crate::limits::{ERROR_DETAIL_BYTES, ERROR_HINT_BYTES, ERROR_NAME_BYTES};

/// The first eight bytes of every mailbox.
pub const MAGIC: u64 = u64::from_le_bytes(*b"ringlane");

/// The version of this layout; another is refused.
pub const VERSION: u32 = 2;

/// Bytes of a digest.
pub const DIGEST_BYTES: usize = 32;

const CONFIG_BYTES: usize = size_of::<CallConfig>().next_multiple_of(8);

/// A mailbox as it is in memory.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Layout {
    header: Line<Header>,
    pub(crate) door: Door,
    pub(crate) times: Line<Times>,
    pub(crate) error: ErrorBlock,
    pub(crate) config: Words<{ CONFIG_BYTES / 8 }>,
    pub(crate) digest: Words<{ DIGEST_BYTES / 8 }>,
    pub(crate) arguments: Words<{ MAX_BLOB_BYTES / 8 }>,
}

/// The head of a mailbox. The fields after `bytes` belong to the call: their reader comes after the acquire of the
/// state, their writer before its release.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Header {
    magic: AtomicU64,
    version: AtomicU32,
    bytes: AtomicU32,
    sequence: AtomicU64,
    answered: AtomicU64,
    argument_bytes: AtomicU32,
    reserved: AtomicU32,
    member: AtomicU32,
    members: AtomicU32,
}

/// What the child reports of the call's course, in nanoseconds of its monotonic clock; of a run on a chip, in the chip's
/// ticks too. Written before the release of the answer, read after its acquire; zero is what did not happen.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Times {
    pub(crate) words: [AtomicU64; TIMES],
}

/// Words of [`Times`].
pub(crate) const TIMES: usize = 7;

/// What a failed call leaves: the lengths of three texts, and the texts. Written before the release of
/// [`Failed`](super::State::Failed), read after its acquire.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ErrorBlock {
    pub(crate) lengths: [AtomicU32; 4],
    pub(crate) name: Words<{ ERROR_NAME_BYTES / 8 }>,
    pub(crate) detail: Words<{ ERROR_DETAIL_BYTES / 8 }>,
    pub(crate) hint: Words<{ ERROR_HINT_BYTES / 8 }>,
}

/// Bytes that another process may write at any time. Each word is relaxed; the state orders them as a whole.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Words<const N: usize>([AtomicU64; N]);

/// Bytes of a mailbox's file: the layout in whole pages.
pub const MAILBOX_BYTES: usize = size_of::<Layout>().next_multiple_of(4096);

// Under loom the door is made of other types, and no mailbox is mapped.
#[cfg(not(loom))]
const _: () = {
    use core::mem::offset_of;
    use ringlane_task::blob_bytes;
    assert!(offset_of!(Header, version) == 8 && offset_of!(Header, bytes) == 12);
    assert!(offset_of!(Header, sequence) == 16 && offset_of!(Header, answered) == 24);
    assert!(offset_of!(Header, argument_bytes) == 32 && offset_of!(Header, reserved) == 36);
    assert!(offset_of!(Header, member) == 40 && offset_of!(Header, members) == 44);
    assert!(offset_of!(Layout, header) == 0 && offset_of!(Layout, door) == 64);
    assert!(size_of::<Door>() == 192 && offset_of!(Layout, times) == 256);
    assert!(offset_of!(Layout, error) == 320);
    assert!(offset_of!(ErrorBlock, name) == 16 && offset_of!(ErrorBlock, detail) == 80);
    assert!(offset_of!(ErrorBlock, hint) == 1104 && size_of::<ErrorBlock>() == 1616);
    assert!(offset_of!(Layout, config) == 320 + 1616);
    assert!(offset_of!(Layout, digest) == offset_of!(Layout, config) + CONFIG_BYTES);
    assert!(offset_of!(Layout, arguments) == offset_of!(Layout, digest) + DIGEST_BYTES);
    assert!(CONFIG_BYTES == size_of::<CallConfig>() && MAX_BLOB_BYTES.is_multiple_of(8));
    assert!(blob_bytes(69, 64) <= MAX_BLOB_BYTES, "room for 69 tensors and 64 scalars");
    assert!(MAILBOX_BYTES == 20480 && align_of::<Layout>() == 64);
};

impl<const N: usize> Words<N> {
    /// Writes bytes to the start; a last word that they do not fill gets zeros. More than there is room for is cut.
    pub(crate) fn store(&self, bytes: &[u8]) {
        let (whole, rest) = bytes.as_chunks::<8>();
        for (word, chunk) in self.0.iter().zip(whole) {
            word.store(u64::from_le_bytes(*chunk), Ordering::Relaxed);
        }
        if let (Some(word), [_, ..]) = (self.0.get(whole.len()), rest) {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            word.store(u64::from_le_bytes(last), Ordering::Relaxed);
        }
    }

    /// Copies the start; what there is no room for, on either side, is left.
    pub(crate) fn load(&self, into: &mut [u64]) {
        for (word, place) in self.0.iter().zip(into) {
            *place = word.load(Ordering::Relaxed);
        }
    }

    /// A copy of it all as a value of the same size.
    pub(crate) fn get<T: FromZeros + zerocopy::FromBytes + IntoBytes>(&self) -> T {
        const { assert!(size_of::<T>() == N * 8) };
        let mut value = T::new_zeroed();
        let (places, _) = value.as_mut_bytes().as_chunks_mut::<8>();
        for (word, place) in self.0.iter().zip(places) {
            *place = word.load(Ordering::Relaxed).to_le_bytes();
        }
        value
    }
}

impl Layout {
    /// Writes the head of a fresh mailbox.
    pub(crate) fn write_header(&self) {
        let Header { magic, version, bytes, .. } = &self.header.0;
        magic.store(MAGIC, Ordering::Relaxed);
        version.store(VERSION, Ordering::Relaxed);
        bytes.store(MAILBOX_BYTES as u32, Ordering::Relaxed);
    }

    /// Checks what never changes.
    pub(crate) fn check_header(&self) -> Result<(), NodeError> {
        let Header { magic, version, bytes, reserved, .. } = &self.header.0;
        let narrow = |word: &AtomicU32| u64::from(word.load(Ordering::Relaxed));
        for (field, found, expected) in [
            ("magic", magic.load(Ordering::Relaxed), MAGIC),
            ("version", narrow(version), VERSION.into()),
            ("bytes", narrow(bytes), MAILBOX_BYTES as u64),
            ("reserved", narrow(reserved), 0),
        ] {
            if found != expected {
                return Err(NodeError::corrupt(field, found));
            }
        }
        Ok(())
    }

    /// Numbers the call that is written, and says how many bytes its arguments have and which member of how many it is.
    pub(crate) fn set_call(&self, sequence: u64, argument_bytes: usize, (member, members): (u32, u32)) {
        self.header.0.sequence.store(sequence, Ordering::Relaxed);
        self.header.0.argument_bytes.store(argument_bytes as u32, Ordering::Relaxed);
        self.header.0.member.store(member, Ordering::Relaxed);
        self.header.0.members.store(members, Ordering::Relaxed);
        self.times.0.words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Which member of how many the call is.
    pub(crate) fn member(&self) -> Result<(u32, u32), NodeError> {
        let member = self.header.0.member.load(Ordering::Relaxed);
        let members = self.header.0.members.load(Ordering::Relaxed);
        if member < members { Ok((member, members)) } else { Err(NodeError::corrupt("member", member)) }
    }

    /// The number of the call, as it is stored there.
    pub(crate) fn sequence(&self) -> u64 {
        self.header.0.sequence.load(Ordering::Relaxed)
    }

    /// How many bytes the arguments have: no more than there is room for.
    pub(crate) fn argument_bytes(&self) -> Result<usize, NodeError> {
        let found = self.header.0.argument_bytes.load(Ordering::Relaxed);
        let fits = found as usize <= MAX_BLOB_BYTES && found.is_multiple_of(8);
        fits.then_some(found as usize).ok_or(NodeError::corrupt("argument_bytes", found))
    }

    /// Says which call is answered.
    pub(crate) fn set_answered(&self, sequence: u64) {
        self.header.0.answered.store(sequence, Ordering::Relaxed);
    }

    /// Checks that this call is the one that is answered.
    pub(crate) fn check_answered(&self, sequence: u64) -> Result<(), NodeError> {
        let found = self.header.0.answered.load(Ordering::Relaxed);
        if found == sequence { Ok(()) } else { Err(NodeError::corrupt("answered", found)) }
    }
}
