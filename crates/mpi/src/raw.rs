//! Messages that are under way, by MPI's own functions.
//!
//! The safe interface of `mpi` holds a buffer until its message has arrived, and ends the process if that is given up. Here a
//! message to or from a rank that died is given up: its buffer is leaked, because the library may still write to it.

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

/// Lets errors come back instead of ending all ranks on the spot.
pub(crate) fn return_errors(world: &SimpleCommunicator) -> Result<(), TransportError> {
    // SAFETY: MPI is initialized, the communicator is live, and the handler is one of MPI's own.
    let code = unsafe { ffi::MPI_Comm_set_errhandler(world.as_raw(), ffi::RSMPI_ERRORS_RETURN) };
    check("setting the error handler", code)
}

/// A message under way, with its bytes.
pub(crate) struct Flight {
    request: ffi::MPI_Request,
    bytes: Vec<u8>,
    doing: &'static str,
    arrived: bool,
}

impl Flight {
    /// Starts to send a frame.
    pub fn send(world: &SimpleCommunicator, to: Rank, bytes: Vec<u8>) -> Result<Self, TransportError> {
        let count = c_int::try_from(bytes.len())
            .map_err(|_| TransportError::TooLarge { from: to, bytes: bytes.len() as u64 })?;
        let (doing, to) = ("sending a frame", to.0 as c_int);
        let mut request = MaybeUninit::uninit();
        // SAFETY: the buffer has `count` bytes, and stays where it is until the request is complete or for ever: it is
        // owned by the flight, which leaks it otherwise. MPI only reads it.
        let code = unsafe {
            let (buffer, kind) = (bytes.as_ptr().cast(), ffi::RSMPI_UINT8_T);
            ffi::MPI_Isend(buffer, count, kind, to, TAG, world.as_raw(), request.as_mut_ptr())
        };
        check(doing, code)?;
        // SAFETY: the call was a success, and so has written the request.
        Ok(Flight { request: unsafe { request.assume_init() }, bytes, doing, arrived: false })
    }

    /// Starts to receive the next frame of any rank, if one has been announced. Its length is known and checked before
    /// memory is taken for it.
    pub fn receive(world: &SimpleCommunicator) -> Result<Option<(Rank, Self)>, TransportError> {
        let doing = "receiving a frame";
        let (mut found, mut count) = (0, 0);
        let mut message = MaybeUninit::uninit();
        let mut status = MaybeUninit::uninit();
        // SAFETY: MPI is initialized, the communicator is live, and the pointers are to room for what is written.
        let code = unsafe {
            let (any, world) = (ffi::RSMPI_ANY_SOURCE, world.as_raw());
            ffi::MPI_Improbe(any, TAG, world, &raw mut found, message.as_mut_ptr(), status.as_mut_ptr())
        };
        check(doing, code)?;
        if found == 0 {
            return Ok(None);
        }
        // SAFETY: a message was found, so that both were written.
        let (mut message, status): (ffi::MPI_Message, ffi::MPI_Status) =
            unsafe { (message.assume_init(), status.assume_init()) };
        // SAFETY: the status is one of MPI's own.
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
        // SAFETY: the buffer has `count` bytes, which is what the message has; it is owned by the flight, as above, and
        // nobody looks at it before the request is complete. The message is the one that was just found.
        let code = unsafe {
            let (buffer, kind) = (bytes.as_mut_ptr().cast(), ffi::RSMPI_UINT8_T);
            ffi::MPI_Imrecv(buffer, count, kind, &raw mut message, request.as_mut_ptr())
        };
        check(doing, code)?;
        // SAFETY: the call was a success, and so has written the request.
        let request = unsafe { request.assume_init() };
        Ok(Some((from, Flight { request, bytes, doing, arrived: false })))
    }

    /// Whether the message has arrived; asking is also what lets MPI get on with it.
    pub fn has_arrived(&mut self) -> Result<bool, TransportError> {
        if !self.arrived {
            let mut flag = 0;
            // SAFETY: the request is live: it is complete only once, and then is not asked about again.
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

impl Drop for Flight {
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
    // SAFETY: the room is as large as MPI asks for, and one zero longer.
    let told = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr(), &raw mut length) };
    // SAFETY: the text ends with a zero: MPI writes one, and the last byte is one in any case.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy();
    let is_told = told == ffi::MPI_SUCCESS as c_int;
    let error = if is_told { text.into_owned() } else { format!("MPI's error {code}") };
    Err(TransportError::Failed { doing, error })
}
