//! Messages in flight, with the C functions of MPI.
//!
//! The safe interface of `mpi` keeps a buffer until its message has arrived, and aborts the process otherwise. Here,
//! a message to or from a dead rank is abandoned: its buffer is leaked, because the library may still write to it.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;

use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::SimpleCommunicator;
use ringlane_node::frame::limits::MAX_FRAME_BYTES;
use ringlane_node::remote::{Rank, TransportError};

/// All frames have one tag.
const TAG: c_int = 6;

/// Makes MPI return errors instead of ending all ranks.
pub(crate) fn return_errors(world: &SimpleCommunicator) -> Result<(), TransportError> {
    // SAFETY: MPI is initialized, the communicator is live, and the handler is predefined by MPI.
    let code = unsafe { ffi::MPI_Comm_set_errhandler(world.as_raw(), ffi::RSMPI_ERRORS_RETURN) };
    check("setting the error handler", code)
}

/// A message in flight, with its bytes.
pub(crate) struct PendingMessage {
    request: ffi::MPI_Request,
    bytes: Vec<u8>,
    doing: &'static str,
    arrived: bool,
}

impl PendingMessage {
    /// Starts to send a frame.
    pub fn send(world: &SimpleCommunicator, to: Rank, bytes: Vec<u8>) -> Result<Self, TransportError> {
        let count = c_int::try_from(bytes.len())
            .map_err(|_| TransportError::TooLarge { from: to, bytes: bytes.len() as u64 })?;
        let (doing, to) = ("sending a frame", to.0 as c_int);
        let mut request = MaybeUninit::uninit();
        // SAFETY: the buffer has `count` bytes, and does not move until the request is complete, or forever: the
        // message owns it, and leaks it otherwise. MPI only reads it.
        let code = unsafe {
            let (buffer, kind) = (bytes.as_ptr().cast(), ffi::RSMPI_UINT8_T);
            ffi::MPI_Isend(buffer, count, kind, to, TAG, world.as_raw(), request.as_mut_ptr())
        };
        check(doing, code)?;
        // SAFETY: the call succeeded, and so has written the request.
        Ok(PendingMessage { request: unsafe { request.assume_init() }, bytes, doing, arrived: false })
    }

    /// Starts to receive the next frame of any rank, if one has arrived. Its length is checked before memory is
    /// allocated.
    pub fn receive(world: &SimpleCommunicator) -> Result<Option<(Rank, Self)>, TransportError> {
        let doing = "receiving a frame";
        let (mut found, mut count) = (0, 0);
        let mut message = MaybeUninit::uninit();
        let mut status = MaybeUninit::uninit();
        // SAFETY: MPI is initialized, the communicator is live, and the pointers refer to memory for the results.
        let code = unsafe {
            let (any, world) = (ffi::RSMPI_ANY_SOURCE, world.as_raw());
            ffi::MPI_Improbe(any, TAG, world, &raw mut found, message.as_mut_ptr(), status.as_mut_ptr())
        };
        check(doing, code)?;
        if found == 0 {
            return Ok(None);
        }
        // SAFETY: a message was found, so both were written.
        let (mut message, status): (ffi::MPI_Message, ffi::MPI_Status) =
            unsafe { (message.assume_init(), status.assume_init()) };
        // SAFETY: the status was written by MPI.
        let code = unsafe { ffi::MPI_Get_count(&raw const status, ffi::RSMPI_UINT8_T, &raw mut count) };
        check(doing, code)?;
        let from = Rank(u32::try_from(status.MPI_SOURCE).unwrap_or(u32::MAX));
        // A count that does not fit is negative.
        let bytes = u64::try_from(count).unwrap_or(u64::MAX);
        if bytes > MAX_FRAME_BYTES {
            return Err(TransportError::TooLarge { from, bytes });
        }
        let mut bytes = vec![0; count as usize];
        let mut request = MaybeUninit::uninit();
        // SAFETY: the buffer has `count` bytes, the length of the message; the message owns it, as above, and nothing
        // reads it before the request is complete. The message is the one that was just found.
        let code = unsafe {
            let (buffer, kind) = (bytes.as_mut_ptr().cast(), ffi::RSMPI_UINT8_T);
            ffi::MPI_Imrecv(buffer, count, kind, &raw mut message, request.as_mut_ptr())
        };
        check(doing, code)?;
        // SAFETY: the call succeeded, and so has written the request.
        let request = unsafe { request.assume_init() };
        Ok(Some((from, PendingMessage { request, bytes, doing, arrived: false })))
    }

    /// Whether the message has arrived; the call also lets MPI make progress.
    pub fn has_arrived(&mut self) -> Result<bool, TransportError> {
        if !self.arrived {
            let mut flag = 0;
            // SAFETY: the request is live: it completes once, and is not tested again after that.
            let code =
                unsafe { ffi::MPI_Test(&raw mut self.request, &raw mut flag, ffi::RSMPI_STATUS_IGNORE) };
            check(self.doing, code)?;
            self.arrived = flag != 0;
        }
        Ok(self.arrived)
    }

    /// The bytes of a message that has arrived.
    pub fn into_bytes(mut self) -> Option<Vec<u8>> {
        self.arrived.then(|| std::mem::take(&mut self.bytes))
    }
}

impl Drop for PendingMessage {
    fn drop(&mut self) {
        if !self.arrived {
            std::mem::forget(std::mem::take(&mut self.bytes));
        }
    }
}

fn check(doing: &'static str, code: c_int) -> Result<(), TransportError> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    let mut text = [0 as c_char; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer is as large as MPI requires, plus one zero.
    let status = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr(), &raw mut length) };
    // SAFETY: the text ends with a zero: MPI writes one, and the last byte is always zero.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy();
    let has_text = status == ffi::MPI_SUCCESS as c_int;
    let error = if has_text { text.into_owned() } else { format!("MPI error {code}") };
    Err(TransportError::Failed { doing, error })
}
