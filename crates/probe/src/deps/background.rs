//! A background writer: a thread of its own writes a file. Passing the bytes of a long file to the operating system takes as
//! long as producing them, so the next ones are produced meanwhile.

use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

/// Pieces in flight: waiting to be written, or on their way back to be filled again.
const PIECES: usize = 4;

/// Hands every piece to the thread that writes it. At most [`PIECES`] of them wait; then the next one waits, too.
pub(crate) struct BackgroundWriter<'s> {
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: ScopedJoinHandle<'s, io::Result<()>>,
}

impl<'s> BackgroundWriter<'s> {
    /// Starts the thread; `None` if the system refuses one.
    pub(crate) fn start<'e>(scope: &'s Scope<'s, 'e>, mut out: impl Write + Send + 's) -> Option<Self> {
        let (full, to_write) = sync_channel::<Vec<u8>>(PIECES);
        let (written, empty) = sync_channel(PIECES);
        (0..PIECES).try_for_each(|_| written.send(Vec::new())).ok()?;
        let write = move || {
            for piece in to_write {
                out.write_all(&piece)?;
                // The receiver may be gone: the last pieces are not filled again.
                let _ = written.send(piece);
            }
            out.flush()
        };
        let thread = thread::Builder::new().name("deps-file".to_string()).spawn_scoped(scope, write).ok()?;
        Some(BackgroundWriter { full, empty, thread })
    }

    /// Waits until all is written. `outcome` is that of the code that produced the bytes; an error of the file takes
    /// precedence.
    pub(crate) fn finish<T>(self, outcome: io::Result<T>) -> io::Result<T> {
        let BackgroundWriter { full, thread, .. } = self;
        drop(full);
        match thread.join() {
            Ok(written) => written.and(outcome),
            Err(_) => Err(io::Error::other("the thread that writes it panicked")),
        }
    }
}

impl Write for BackgroundWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The thread has ended: [`BackgroundWriter::finish`] says why.
        let ended = || io::Error::from(ErrorKind::BrokenPipe);
        let mut piece = self.empty.recv().map_err(|_| ended())?;
        piece.clear();
        piece.extend_from_slice(bytes);
        self.full.send(piece).map_err(|_| ended())?;
        Ok(bytes.len())
    }

    /// Nothing: [`BackgroundWriter::finish`] waits.
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
            let mut writer = BackgroundWriter::start(scope, &mut file).unwrap();
            let outcome = (0..1000u32).try_for_each(|number| write!(writer, "{number},"));
            writer.finish(outcome)
        });
        let want: String = (0..1000).map(|number| format!("{number},")).collect();
        assert!(written.is_ok());
        assert_eq!(String::from_utf8(file).unwrap(), want);
    }

    #[test]
    fn the_error_of_the_file_is_reported_and_not_the_end_of_the_thread() {
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
            let mut writer = BackgroundWriter::start(scope, Full(3)).unwrap();
            let outcome = (0..1000).try_for_each(|_| writer.write_all(b"row"));
            assert!(outcome.is_err());
            writer.finish(outcome).unwrap_err()
        });
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
}
