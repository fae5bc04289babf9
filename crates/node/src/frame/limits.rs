//! Every limit of a frame: its unit, its reason, and what happens when it is reached.

use ringlane_task::{CallConfig, MAX_BLOB_BYTES, MAX_TENSORS};

/// Bytes of the largest frame. A longer one is refused by its writer, and by its reader before memory is taken for it.
///
/// MPI counts in 31 bits; a gibibyte stays well below, and is more than one call should move.
pub const MAX_FRAME_BYTES: u64 = 1 << 30;

/// Bytes of the smallest frame: its head.
pub const MIN_FRAME_BYTES: u64 = 32;

/// Bytes of all buffers of a call together, by value or not. More is refused on both sides.
///
/// A buffer that does not travel costs the sender nothing, so that the size of the frame does not bound it.
pub const CALL_BUFFERS_BYTES: u64 = 1 << 36;

/// Bytes of a host's name, as POSIX has it. A longer one is cut at a character by its writer.
pub const HOST_BYTES: usize = 255;

/// Handles that one frame forgets. More are refused on both sides; send another frame.
pub const FORGET_HANDLES: usize = 4096;

/// The highest level a worker can be of. A higher one is refused on both sides.
pub const MAX_LEVEL: u32 = 7;

// The largest call without values leaves nearly all of the frame to them.
const _: () = assert!(
    (size_of::<CallConfig>() + MAX_BLOB_BYTES + MAX_TENSORS * 24 + 128) as u64 * 1000 < MAX_FRAME_BYTES
);
const _: () = assert!(MAX_FRAME_BYTES < i32::MAX as u64 && MAX_FRAME_BYTES.is_multiple_of(8));
