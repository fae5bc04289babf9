//! A file of the run while it is written: buffered, under a temporary name, and renamed when it is whole.
//!
//! A reader of the directory sees the old state or the new one, never half a file; a writer that gives up (an
//! error, a panic, an early return) leaves nothing behind.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::TraceError;
use crate::reserve::{Reserve, Shelf};

/// Bytes gathered before they are given to the operating system: few calls, and a small part of a core's cache.
const BUFFER_BYTES: usize = 64 * 1024;

/// One file of the run, not yet under its name.
///
/// Implements [`Write`]. Dropped without [`ArtifactFile::commit`], it is removed.
#[derive(Debug)]
pub struct ArtifactFile {
    /// Before `temp`, so that what is buffered is given up before the file is removed.
    buffer: Vec<u8>,
    temp: TempFile,
    path: PathBuf,
    room: Option<Room>,
}

/// The room that a file was given, and where that goes back to if the file is given up.
#[derive(Debug)]
struct Room {
    shelf: Arc<Shelf>,
    name: String,
    bytes: u64,
    /// Bytes written so far: the file itself is longer.
    written: u64,
}

impl ArtifactFile {
    /// Starts the file `name` of the directory `root`, in the room that `shelf` has for it, if any. A directory below
    /// it is made if it is missing; `root` is not.
    pub(crate) fn create(root: &Path, name: &str, shelf: &Arc<Shelf>) -> Result<Self, TraceError> {
        let path = root.join(name);
        if let Some(reserve) = shelf.take(name) {
            let (temp, bytes) = reserve.into_temp();
            let room = Some(Room { shelf: Arc::clone(shelf), name: name.to_string(), bytes, written: 0 });
            return Ok(ArtifactFile { buffer: Vec::with_capacity(BUFFER_BYTES), temp, path, room });
        }
        let started = place_of(root, name).and_then(|(dir, name)| TempFile::create(&dir, name));
        match started {
            Ok(temp) => Ok(ArtifactFile { buffer: Vec::with_capacity(BUFFER_BYTES), temp, path, room: None }),
            Err(source) => Err(TraceError::CannotWrite { path, source }),
        }
    }

    /// Starts a file at any path, in a directory that is there. What stands there and is no plain file (a pipe, a device,
    /// a link) stays what it is and is written to directly.
    ///
    /// ```
    /// use std::io::Write;
    /// use ringlane_trace::ArtifactFile;
    /// let path = std::env::temp_dir().join(format!("ringlane-at-{}", std::process::id()));
    /// let mut file = ArtifactFile::at(&path)?;
    /// file.write_all(b"abc").map_err(|error| file.error(error))?;
    /// assert!(!path.exists());
    /// assert_eq!(file.commit()?, 3);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), ringlane_trace::TraceError>(())
    /// ```
    pub fn at(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref().to_path_buf();
        let started = match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => TempFile::nameless(&path),
            _ => {
                let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                TempFile::create(dir, &name)
            }
        };
        match started {
            Ok(temp) => Ok(ArtifactFile { buffer: Vec::with_capacity(BUFFER_BYTES), temp, path, room: None }),
            Err(source) => Err(TraceError::CannotWrite { path, source }),
        }
    }

    /// Where the file will stand.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file itself, for writes at a place (`FileExt::write_all_at`), also from another thread. They go past the
    /// buffer: a file is written either in order or by place.
    pub const fn file(&self) -> &File {
        &self.temp.file
    }

    /// The error of this file that a failed write stands for.
    pub fn error(&self, source: io::Error) -> TraceError {
        TraceError::CannotWrite { path: self.path.clone(), source }
    }

    /// Gives the file its name, and tells how long it is. If that fails, neither name is left behind.
    pub fn commit(mut self) -> Result<u64, TraceError> {
        let finish = |file: &mut Self| {
            file.flush()?;
            if let Some(room) = &file.room {
                file.temp.file.set_len(room.written)?;
            }
            let bytes = file.temp.file.metadata()?.len();
            file.temp.rename_to(&file.path)?;
            Ok(bytes)
        };
        finish(&mut self).map_err(|source| self.error(source))
    }

    fn give(&mut self, bytes: Bytes<'_>) -> io::Result<()> {
        let bytes = match bytes {
            Bytes::Buffered => &self.buffer[..],
            Bytes::Given(bytes) => bytes,
        };
        self.temp.file.write_all(bytes)?;
        if let Some(room) = &mut self.room {
            room.written += bytes.len() as u64;
        }
        Ok(())
    }
}

/// What goes to the operating system.
enum Bytes<'b> {
    Buffered,
    Given(&'b [u8]),
}

impl Drop for ArtifactFile {
    fn drop(&mut self) {
        // A file that was committed has no temporary name any more.
        let (Some(room), Some(temp)) = (self.room.take(), self.temp.take()) else { return };
        // Room that cannot be had again is gone, as a file that has none is.
        if let Ok(reserve) = Reserve::again(temp, room.bytes) {
            room.shelf.put(&room.name, reserve);
        }
    }
}

impl Write for ArtifactFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() >= BUFFER_BYTES {
            return self.give(Bytes::Given(bytes));
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        // What a failed write leaves half done is not tried again: the file is given up as a whole.
        let written = self.give(Bytes::Buffered);
        self.buffer.clear();
        written
    }
}

/// The directory that the file `name` of `root` stands in, made if it is missing, and its name there.
pub(crate) fn place_of<'n>(root: &Path, name: &'n str) -> io::Result<(PathBuf, &'n str)> {
    let Some((below, name)) = name.split_once('/') else { return Ok((root.to_path_buf(), name)) };
    let dir = root.join(below);
    make_subdirectory(&dir)?;
    Ok((dir, name))
}

/// Makes the last component of a path; the run directory above it is there.
fn make_subdirectory(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    match fs::create_dir(dir) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        made => made,
    }
}

/// A file under a temporary name; removed unless it is renamed.
#[derive(Debug)]
pub(crate) struct TempFile {
    pub(crate) file: File,
    path: Option<PathBuf>,
}

impl TempFile {
    pub(crate) fn create(dir: &Path, name: &str) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // The process and a number: writers of one name do not meet in their temporary files.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!(".{name}.{}.{number}.tmp", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        Ok(TempFile { file, path: Some(path) })
    }

    /// What stands at a path already, to be written in place: there is nothing to rename or to remove.
    fn nameless(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).truncate(true).open(path)?;
        Ok(TempFile { file, path: None })
    }

    pub(crate) fn rename_to(&mut self, path: &Path) -> io::Result<()> {
        let Some(temp) = self.path.take() else { return Ok(()) };
        fs::rename(&temp, path).inspect_err(|_| self.path = Some(temp))
    }

    /// The file, if it still has its temporary name; what is left removes nothing.
    fn take(&mut self) -> Option<Self> {
        let file = self.file.try_clone().ok()?;
        self.path.take().map(|path| TempFile { file, path: Some(path) })
    }

    /// Takes the name away and keeps the file: it lives as long as it is open.
    pub(crate) fn unlink(mut self) -> io::Result<File> {
        let file = self.file.try_clone()?;
        match self.path.take() {
            Some(path) => fs::remove_file(path).map(|()| file),
            None => Ok(file),
        }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let Some(path) = &self.path else { return };
        let _ = fs::remove_file(path);
    }
}
