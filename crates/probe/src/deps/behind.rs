//! A file that is written by a thread of its own. What the operating system does with the bytes of a long file takes as long
//! as making them: the next ones are made meanwhile.

use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

/// Pieces that are on their way, or on their way back to be filled again.
const PIECES: usize = 4;

/// Hands every piece to the thread that writes it. At most [`PIECES`] of them wait; then the next one waits, too.
pub(crate) struct Behind<'s> {
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: ScopedJoinHandle<'s, io::Result<()>>,
}

impl<'s> Behind<'s> {
    /// Starts the thread; `None` if there is none to be had.
    pub(crate) fn start<'e>(scope: &'s Scope<'s, 'e>, mut out: impl Write + Send + 's) -> Option<Self> {
        let (full, to_write) = sync_channel::<Vec<u8>>(PIECES);
        let (written, empty) = sync_channel(PIECES);
        (0..PIECES).try_for_each(|_| written.send(Vec::new())).ok()?;
        let write = move || {
            for piece in to_write {
                out.write_all(&piece)?;
                // Nobody waits for the last ones.
                let _ = written.send(piece);
            }
            out.flush()
        };
        let thread = thread::Builder::new().name("deps-file".to_string()).spawn_scoped(scope, write).ok()?;
        Some(Behind { full, empty, thread })
    }

    /// Waits until all is written. `outcome` is that of those who made the bytes; where writing them failed, that is the
    /// error.
    pub(crate) fn finish<T>(self, outcome: io::Result<T>) -> io::Result<T> {
        let Behind { full, thread, .. } = self;
        drop(full);
        match thread.join() {
            Ok(written) => written.and(outcome),
            Err(_) => Err(io::Error::other("the thread that writes it panicked")),
        }
    }
}

impl Write for Behind<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The thread has ended: [`Behind::finish`] tells why.
        let ended = || io::Error::from(ErrorKind::BrokenPipe);
        let mut piece = self.empty.recv().map_err(|_| ended())?;
        piece.clear();
        piece.extend_from_slice(bytes);
        self.full.send(piece).map_err(|_| ended())?;
        Ok(bytes.len())
    }

    /// Nothing: [`Behind::finish`] waits.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn pieces_arrive_in_order_and_all_of_them() {
        let mut file = Vec::new();
        let written = thread::scope(|scope| {
            let mut behind = Behind::start(scope, &mut file).unwrap();
            let outcome = (0..1000u32).try_for_each(|number| write!(behind, "{number},"));
            behind.finish(outcome)
        });
        let want: String = (0..1000).map(|number| format!("{number},")).collect();
        assert!(written.is_ok());
        assert_eq!(String::from_utf8(file).unwrap(), want);
    }

    #[test]
    fn the_error_of_the_file_is_told_and_not_the_end_of_the_thread() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(1).ok_or(ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = thread::scope(|scope| {
            let mut behind = Behind::start(scope, Full(3)).unwrap();
            let outcome = (0..1000).try_for_each(|_| behind.write_all(b"row"));
            assert!(outcome.is_err());
            behind.finish(outcome).unwrap_err()
        });
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
}
