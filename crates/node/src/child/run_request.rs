//! What the runs of a worker are asked for, as bytes that it inherits: a file without a name that nobody can change any more.
//!
//! This crate does not interpret them: the library writes and reads them (`RunRequest`).

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{MemfdFlags, SealFlags};

use crate::error::NodeError;
use crate::limits::RUN_REQUEST_BYTES;

/// A file with these bytes, which a child can inherit. Its file is closed by an exec.
pub(crate) fn write(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(rustix::fs::memfd_create("ringlane-request", flags)?);
    file.write_all_at(bytes, 0)?;
    rustix::fs::fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL,
    )?;
    Ok(file.into())
}

/// The bytes in a file that was inherited. Several processes may read it at once.
pub(crate) fn read(file: OwnedFd) -> Result<Vec<u8>, NodeError> {
    let file = File::from(file);
    let unreadable = |error: &io::Error| {
        NodeError::corrupt("file of the run request", error.raw_os_error().unwrap_or_default().unsigned_abs())
    };
    let length = file.metadata().map_err(|error| unreadable(&error))?.len();
    if length > RUN_REQUEST_BYTES as u64 {
        return Err(NodeError::corrupt("bytes of the run request", length));
    }
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, 0).map_err(|error| unreadable(&error))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_as_often_as_it_is_wanted_and_cannot_change() {
        let file = write(b"asked for").unwrap();
        for _ in 0..2 {
            assert_eq!(read(file.try_clone().unwrap()).unwrap(), b"asked for");
        }
        assert!(File::from(file).write_all_at(b"x", 0).is_err());
    }

    #[test]
    fn more_than_any_request_has_is_refused_before_it_is_read() {
        let long = File::from(rustix::fs::memfd_create("long", MemfdFlags::CLOEXEC).unwrap());
        long.set_len(RUN_REQUEST_BYTES as u64 + 1).unwrap();
        let error = read(long.into()).unwrap_err();
        assert!(matches!(error, NodeError::CorruptMailbox { field: "bytes of the run request", .. }));
    }
}
