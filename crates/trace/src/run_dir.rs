//! The directory of one run: made before the run starts, by one run only.
//!
//! Every problem with the path is found before anything is left there: a refused path has no new
//! directories, and a file that could not be written whole is not there at all.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringlane_task::DfxFlags;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::artifact_file::{ArtifactFile, place_of};
use crate::error::TraceError;
use crate::manifest;
use crate::reserve::{ARTIFACT_BYTES, MANIFEST_BYTES, Reserve, Reserves};
use crate::rows::FILES_OF_FLAGS;
use crate::temp_file::TempFile;
use crate::time::UtcTime;

/// Bytes of a scene's, case's or file's name: two of them with a date fit into the 255 of a file system.
const NAME_BYTES_MAX: usize = 100;

/// A directory that belongs to one run.
#[derive(Clone, Debug)]
pub struct RunDir {
    path: PathBuf,
    /// Room for files, once it is reserved; taken by the writers of those files. Copies of a `RunDir` share it.
    reserves: Arc<Reserves>,
    /// The directories that were made for it, outermost first.
    made: Vec<PathBuf>,
    /// Held open, and with it the lock that keeps other runs out, by this `RunDir` and its copies.
    _claim: Arc<File>,
}

impl PartialEq for RunDir {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for RunDir {}

impl RunDir {
    /// Makes exactly this directory, and its parents. It may exist already, unless it holds a run or another run is about
    /// to write into it.
    ///
    /// ```
    /// use ringlane_task::Explain;
    /// use ringlane_trace::RunDir;
    /// let path = std::env::temp_dir().join(format!("ringlane-exact-{}", std::process::id()));
    /// let dir = RunDir::create_exact(&path).unwrap();
    /// dir.write_atomic("run.json", b"{}").unwrap();
    /// assert_eq!(RunDir::create_exact(&path).unwrap_err().name(), "RunExists");
    /// # std::fs::remove_dir_all(&path).unwrap();
    /// ```
    pub fn create_exact(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        let path = path.as_ref();
        if path.as_os_str().is_empty() {
            let source = ErrorKind::InvalidInput.into();
            return Err(TraceError::CannotCreate { path: path.to_path_buf(), source });
        }
        check_vacant(path)?;
        let made = MadeDirs::make(path)?;
        let claim = match claim(path) {
            Err(error @ TraceError::DirectoryInUse { .. }) => {
                // They are the other's now.
                made.keep();
                return Err(error);
            }
            claim => claim?,
        };
        // Once more: the run that had the directory may have finished in between.
        check_vacant(path)?;
        check_writable(path)?;
        Ok(RunDir { path: path.to_path_buf(), reserves: Arc::default(), made: made.keep(), _claim: claim })
    }

    /// Makes `<parent>/<scene>_<case>_<time>`, or the first of `…_2`, `…_3`, … that does not exist yet.
    ///
    /// Creation is atomic: runs that start in the same second never share a directory.
    pub fn create_unique(
        parent: impl AsRef<Path>,
        scene: &str,
        case: &str,
        started_at: UtcTime,
    ) -> Result<Self, TraceError> {
        check_name("scene", scene)?;
        check_name("case", case)?;
        let made = MadeDirs::make(parent.as_ref())?;
        let path = make_numbered(parent.as_ref(), &format!("{scene}_{case}_{}", started_at.compact()))?;
        let claim = claim(&path)?;
        let mut made = made.keep();
        made.push(path.clone());
        Ok(RunDir { path, reserves: Arc::default(), made, _claim: claim })
    }

    /// Gives the directory up before anything was written: what was made for it is taken back, unless someone has put
    /// something there.
    pub fn abandon(self) {
        self.reserves.clear();
        for name in FILES_OF_FLAGS.iter().filter_map(|(_, name)| name.split_once('/')) {
            let _ = fs::remove_dir(self.path.join(name.0));
        }
        drop(MadeDirs(self.made));
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Starts a file, to be written piece by piece. `name` is a file of this directory or of one directly below it
    /// (`tensor_dump/tensor_dump.bin`), which is made when it is missing.
    ///
    /// ```
    /// use std::io::Write;
    /// use ringlane_trace::RunDir;
    /// let path = std::env::temp_dir().join(format!("ringlane-file-{}", std::process::id()));
    /// let dir = RunDir::create_exact(&path)?;
    /// let mut file = dir.create_file("tensor_dump/tensor_dump.bin")?;
    /// file.write_all(b"abc").map_err(|error| file.error(error))?;
    /// assert!(!path.join("tensor_dump/tensor_dump.bin").exists());
    /// assert_eq!(file.commit()?, 3);
    /// assert!(path.join("tensor_dump/tensor_dump.bin").exists());
    /// # std::fs::remove_dir_all(&path).unwrap();
    /// # Ok::<(), ringlane_trace::TraceError>(())
    /// ```
    pub fn create_file(&self, name: &str) -> Result<ArtifactFile, TraceError> {
        for part in name.splitn(2, '/') {
            check_name("file", part)?;
        }
        ArtifactFile::create(&self.path, name, &self.reserves)
    }

    /// A file for reading and writing that has no name and goes when it is closed, on the disk of this directory.
    pub fn spool(&self) -> Result<File, TraceError> {
        let spool = TempFile::create(&self.path, "spool").and_then(TempFile::unlink);
        spool.map_err(|source| TraceError::CannotWrite { path: self.path.join("spool"), source })
    }

    /// Takes room on the disk for `run.json`, so that a disk that fills up during the run cannot keep it from being
    /// written. [`Manifest::write`](crate::Manifest::write) uses it up.
    pub fn reserve_manifest(&self) -> Result<(), TraceError> {
        self.reserve_file(manifest::FILE_NAME, MANIFEST_BYTES)
    }

    /// Takes room on the disk for `run.json` and for the head and the counts of each file that these diagnostics leave,
    /// so that a disk that fills up during the run can keep only rows from being written.
    ///
    /// ```
    /// use ringlane_task::DfxFlags;
    /// use ringlane_trace::RunDir;
    /// let path = std::env::temp_dir().join(format!("ringlane-reserve-{}", std::process::id()));
    /// let dir = RunDir::create_exact(&path)?;
    /// dir.reserve(DfxFlags::DEPS.with(DfxFlags::DUMP))?;
    /// dir.abandon();
    /// assert!(!path.exists());
    /// # Ok::<(), ringlane_trace::TraceError>(())
    /// ```
    pub fn reserve(&self, flags: DfxFlags) -> Result<(), TraceError> {
        self.reserve_manifest()?;
        let mut asked = FILES_OF_FLAGS.iter().filter(|(flag, _)| flags.contains(*flag));
        asked.try_for_each(|(_, name)| self.reserve_file(name, ARTIFACT_BYTES))
    }

    fn reserve_file(&self, name: &str, bytes: u64) -> Result<(), TraceError> {
        let reserve = place_of(&self.path, name).and_then(|(dir, name)| Reserve::take(&dir, name, bytes));
        let cannot = |source| TraceError::NotWritable { path: self.path.join(name), source };
        self.reserves.put(name, reserve.map_err(cannot)?);
        Ok(())
    }

    /// Writes a file whole: under a temporary name first, then renamed, so that a reader never sees half of
    /// it. If that fails, neither name is left.
    pub fn write_atomic(&self, name: &str, bytes: &[u8]) -> Result<(), TraceError> {
        check_name("file", name)?;
        let mut file = self.create_file(name)?;
        file.write_all(bytes).map_err(|source| file.error(source))?;
        file.commit().map(|_| ())
    }

    /// Writes the manifest into the room that is reserved for it, if there is some.
    pub(crate) fn write_manifest(&self, bytes: &[u8]) -> Result<(), TraceError> {
        let Some(reserve) = self.reserves.take(manifest::FILE_NAME) else {
            return self.write_atomic(manifest::FILE_NAME, bytes);
        };
        let path = self.path.join(manifest::FILE_NAME);
        reserve.write_to(&path, bytes).map_err(|source| TraceError::CannotWrite { path, source })
    }
}

fn check_vacant(path: &Path) -> Result<(), TraceError> {
    let path = path.join(manifest::FILE_NAME);
    if fs::symlink_metadata(&path).is_ok() { Err(TraceError::RunExists { path }) } else { Ok(()) }
}

/// Keeps other runs out of a directory as long as the returned file is open; the system releases the lock when the process dies.
fn claim(path: &Path) -> Result<Arc<File>, TraceError> {
    let cannot = |source| TraceError::NotWritable { path: path.to_path_buf(), source };
    let dir = File::open(path).map_err(cannot)?;
    match flock(&dir, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(TraceError::DirectoryInUse { path: path.to_path_buf() }),
        // A file system without locks is used without.
        Ok(()) | Err(_) => Ok(Arc::new(dir)),
    }
}

fn check_writable(path: &Path) -> Result<(), TraceError> {
    match TempFile::create(path, "probe") {
        Ok(_) => Ok(()),
        Err(source) => Err(TraceError::NotWritable { path: path.to_path_buf(), source }),
    }
}

fn make_numbered(parent: &Path, name: &str) -> Result<PathBuf, TraceError> {
    for number in 1u32.. {
        let path = match number {
            1 => parent.join(name),
            _ => parent.join(format!("{name}_{number}")),
        };
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(source) => return Err(TraceError::CannotCreate { path, source }),
        }
    }
    unreachable!("a directory cannot hold 2^32 runs of one second")
}

/// Refuses what is not one plain, visible component of a path on every file system.
fn check_name(what: &'static str, name: &str) -> Result<(), TraceError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let safe = !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with(['.', '-'])
        && name.bytes().all(plain);
    if safe { Ok(()) } else { Err(TraceError::UnsafeName { what, name: name.to_string() }) }
}

/// Directories made on the way to a path; taken back unless they are kept.
struct MadeDirs(Vec<PathBuf>);

impl MadeDirs {
    fn make(path: &Path) -> Result<Self, TraceError> {
        let is_missing = |p: &&Path| !p.as_os_str().is_empty() && !p.is_dir();
        let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
        let mut made = MadeDirs(Vec::new());
        for path in missing.into_iter().rev() {
            match fs::create_dir(path) {
                Ok(()) => made.0.push(path.to_path_buf()),
                // Someone else made it in the meantime.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(error) => return Err(Self::refusal(path, error)),
            }
        }
        Ok(made)
    }

    fn refusal(path: &Path, source: io::Error) -> TraceError {
        let path = path.to_path_buf();
        match source.kind() {
            ErrorKind::AlreadyExists => TraceError::NotADirectory { path },
            _ => TraceError::CannotCreate { path, source },
        }
    }

    fn keep(mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for MadeDirs {
    fn drop(&mut self) {
        for path in self.0.iter().rev() {
            // Fails, rightly, if someone has put something there.
            let _ = fs::remove_dir(path);
        }
    }
}

#[cfg(test)]
mod tests;
