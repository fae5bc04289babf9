//! A file of the run while it is written: buffered, under a temporary name, and renamed when it is whole.
//!
//! A reader of the directory sees the old state or the new one, never half a file; a writer that gives up (an
//! error, a panic, an early return) leaves no file.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::TraceError;
use crate::reserve::{Reserve, Reserves};
use crate::temp_file::TempFile;

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
    /// What the file is renamed to: `path`, or where a link there leads.
    target: PathBuf,
    /// Bytes written in order so far.
    written: u64,
    room: Option<Room>,
    give_up: Option<fn() -> bool>,
}

/// The room that a file was given, and where that goes back to if the file is given up.
#[derive(Debug)]
struct Room {
    reserves: Arc<Reserves>,
    name: String,
    /// Bytes that the file has from its beginning.
    bytes: u64,
}

impl ArtifactFile {
    /// Starts the file `name` of the directory `root`, in the room that `reserves` has for it, if any. A directory below
    /// it is made if it is missing; `root` is not.
    pub(crate) fn create(root: &Path, name: &str, reserves: &Arc<Reserves>) -> Result<Self, TraceError> {
        let path = root.join(name);
        if let Some(reserve) = reserves.take(name) {
            let (temp, bytes) = reserve.into_temp();
            let room = Room { reserves: Arc::clone(reserves), name: name.to_string(), bytes };
            return Ok(Self::new(temp, path.clone(), path, Some(room)));
        }
        let started = place_of(root, name).and_then(|(dir, name)| TempFile::create(&dir, name));
        match started {
            Ok(temp) => Ok(Self::new(temp, path.clone(), path, None)),
            Err(source) => Err(TraceError::CannotWrite { path, source }),
        }
    }

    fn new(temp: TempFile, path: PathBuf, target: PathBuf, room: Option<Room>) -> Self {
        let buffer = Vec::with_capacity(BUFFER_BYTES);
        ArtifactFile { buffer, temp, path, target, written: 0, room, give_up: None }
    }

    /// Starts a file at any path, in a directory that is there. A symbolic link stays, and the file that it leads to is
    /// replaced. A device or a pipe is opened and written as it is; opening a pipe waits for its reader.
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
        let started = match Destination::of(&path) {
            Ok(Destination::File(target)) => {
                let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let name = target.file_name().ok_or_else(|| io::Error::from(ErrorKind::IsADirectory));
                let temp = name.and_then(|name| TempFile::create(dir, &name.to_string_lossy()));
                temp.map(|temp| Self::new(temp, path.clone(), target, None))
            }
            Ok(Destination::Special) => {
                TempFile::in_place(&path).map(|temp| Self::new(temp, path.clone(), path.clone(), None))
            }
            Err(error) => Err(error),
        };
        started.map_err(|source| TraceError::CannotWrite { path, source })
    }

    /// The path that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file itself, for writes at a place (`FileExt::write_all_at`), also from another thread. They go past the
    /// buffer: a file is written either in order or by place.
    pub const fn file(&self) -> &File {
        &self.temp.file
    }

    /// Writes fail from the moment on in which a person wants no more of the file. It is asked about every 64 KiB.
    pub fn give_up_when(&mut self, is_asked: fn() -> bool) {
        self.give_up = Some(is_asked);
    }

    /// The error of this file for a failed write.
    pub fn error(&self, source: io::Error) -> TraceError {
        TraceError::CannotWrite { path: self.path.clone(), source }
    }

    /// Gives the file its name, and returns its length. If that fails, neither name is left.
    pub fn commit(mut self) -> Result<u64, TraceError> {
        let finish = |file: &mut Self| {
            file.flush()?;
            if file.room.is_some() {
                file.temp.file.set_len(file.written)?;
            }
            if file.temp.is_in_place() {
                return Ok(file.written);
            }
            let bytes = file.temp.file.metadata()?.len();
            file.temp.rename_to(&file.target)?;
            Ok(bytes)
        };
        finish(&mut self).map_err(|source| self.error(source))
    }

    fn give(&mut self, bytes: Bytes<'_>) -> io::Result<()> {
        let bytes = match bytes {
            Bytes::Buffered => &self.buffer[..],
            Bytes::Given(bytes) => bytes,
        };
        if self.give_up.is_some_and(|is_asked| is_asked()) {
            return Err(io::Error::other("interrupted"));
        }
        self.temp.file.write_all(bytes)?;
        self.written += bytes.len() as u64;
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
            room.reserves.put(&room.name, reserve);
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

/// What a path names as a place to write to.
enum Destination {
    /// A regular file, or nothing yet: replaced by renaming, whole or not at all.
    File(PathBuf),
    /// A device, a pipe, or a file that no path leads to: opened and written.
    Special,
}

impl Destination {
    fn of(path: &Path) -> io::Result<Self> {
        let there = match fs::metadata(path) {
            Ok(there) if !there.is_file() => return Ok(Destination::Special),
            Ok(there) => Some((there.dev(), there.ino())),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let target = follow_links(path)?;
        let found = fs::symlink_metadata(&target).ok().map(|found| (found.dev(), found.ino()));
        // A link in /proc may lead to a file that has no name any more.
        Ok(if there == found { Destination::File(target) } else { Destination::Special })
    }
}

/// Symbolic links that are followed, as many as Linux follows.
const LINKS_MAX: usize = 40;

/// Where a path leads if it is a symbolic link, also if there is nothing yet.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

/// The directory that the file `name` of `root` is in, made if it is missing, and its name there.
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
