//! The fixed parts of frames, byte for byte. Any bytes can be read as one; the decoders check what they say.

use ringlane_task::BufferHandle;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What every frame begins with.
pub const MAGIC: [u8; 8] = *b"ringfrme";

/// The version of the layout; a reader refuses every other.
pub const VERSION: u32 = 1;

/// The head of every frame.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct Head {
    pub magic: [u8; 8],
    pub version: u32,
    pub kind: u32,
    /// Bytes of the whole frame, this head included.
    pub bytes: u64,
    /// The number of a set-up, a call, a fetch or a ping, and of its answer; zero in the others.
    pub sequence: u64,
}

/// What a rank says of itself; the name of its host follows.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct HelloBody {
    pub build: [u8; 32],
    pub clock_ns: u64,
    pub level: u32,
    pub chips: u32,
    pub functions: u32,
    pub process: u32,
    pub host_bytes: u32,
    pub reserved: u32,
}

/// A call; then its configuration, its argument blob, its buffers and the bytes of those that arrive by value.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct CallBody {
    pub digest: [u8; 32],
    pub argument_bytes: u32,
    pub buffers: u32,
    pub member: u32,
    pub members: u32,
}

/// An answer; then an error's three texts, the buffers, and the bytes of those that come back by value.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct AnswerBody {
    pub accepted_ns: u64,
    pub run_ns: u64,
    pub end_ns: u64,
    /// The run on a chip that the call made; all zero if it made none.
    pub chip_start_ns: u64,
    pub chip_ticks: u64,
    pub chip_freq_hz: u64,
    pub recorded: u64,
    pub status: u32,
    pub buffers: u32,
    pub texts: Texts,
}

/// Lengths of an error's name, detail and hint, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct Texts {
    pub name_bytes: u32,
    pub detail_bytes: u32,
    pub hint_bytes: u32,
    pub reserved: u32,
}

/// One buffer of a call or of an answer.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct BufferRecord {
    pub handle: WireHandle,
    pub bytes: u64,
    pub arrives: u8,
    pub leaves: u8,
    pub reserved: [u8; 6],
}

/// A [`BufferHandle`] as it travels.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct WireHandle {
    pub id: u32,
    pub generation: u32,
}

/// What the runs of a worker are asked for follows.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct SetUpBody {
    pub bytes: u64,
}

/// Two moments of a ping and its echo; the second is zero in a ping.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct Moments {
    pub sent_ns: u64,
    pub echoed_ns: u64,
}

/// Handles that may be forgotten follow.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct ForgetBody {
    pub count: u32,
    pub reserved: u32,
}

/// A worker's captured output; an error's three texts follow.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct GoodbyeBody {
    pub calls: u64,
    pub status: u32,
    pub reserved: u32,
    pub texts: Texts,
}

const _: () = {
    assert!(size_of::<Head>() == 32 && size_of::<HelloBody>() == 64);
    assert!(size_of::<CallBody>() == 48 && size_of::<AnswerBody>() == 80);
    assert!(size_of::<BufferRecord>() == 24 && size_of::<WireHandle>() == 8);
    assert!(size_of::<Moments>() == 16 && size_of::<ForgetBody>() == 8 && size_of::<GoodbyeBody>() == 32);
    assert!(size_of::<SetUpBody>() == 8);
};

impl From<BufferHandle> for WireHandle {
    fn from(handle: BufferHandle) -> Self {
        WireHandle { id: handle.id, generation: handle.generation }
    }
}

impl From<WireHandle> for BufferHandle {
    fn from(handle: WireHandle) -> Self {
        BufferHandle { id: handle.id, generation: handle.generation }
    }
}
