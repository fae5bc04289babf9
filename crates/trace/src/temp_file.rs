//! A file under a temporary name; removed unless it is renamed.
//!
//! The names of those that are not finished are also in a table of the process, so that a signal handler that ends the
//! process can remove them: no destructor runs then. The handler only tries the locks of the table, so that it never
//! waits for the thread that it has interrupted, and neither allocates nor frees.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Unfinished files that the table has room for. A recorded run has at most eight at once, a command that reads one has
/// one. Further files are not in the table: a process that a signal ends does not remove them.
const UNFINISHED_MAX: usize = 64;

/// The files that are not finished, in no order.
static UNFINISHED: [Mutex<Option<Unfinished>>; UNFINISHED_MAX] = [const { Mutex::new(None) }; UNFINISHED_MAX];

/// A file that is not finished.
#[derive(Debug)]
struct Unfinished {
    temp: CString,
    /// What it would have been called, as it is printed.
    wanted: String,
}

/// Removes the temporary files of this process, and reports what each would have been called. For a signal handler that
/// ends the process: it takes no lock that is held, and does not allocate. The other threads go on meanwhile.
///
/// ```
/// let mut names = 0;
/// ringlane_trace::remove_unfinished(|_| names += 1);
/// assert_eq!(names, 0);
/// ```
pub fn remove_unfinished(mut report: impl FnMut(&str)) {
    for entry in &UNFINISHED {
        let Ok(entry) = entry.try_lock() else { continue };
        let Some(Unfinished { temp, wanted }) = &*entry else { continue };
        if rustix::fs::unlink(temp.as_c_str()).is_ok() {
            report(wanted);
        }
    }
}

/// A place in the table; free again when it is dropped.
#[derive(Debug)]
struct Entry(&'static Mutex<Option<Unfinished>>);

impl Entry {
    fn take(temp: &Path, wanted: &Path) -> Option<Self> {
        let printable = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        let wanted = wanted.display().to_string().chars().map(printable).collect();
        let temp = CString::new(temp.as_os_str().as_bytes()).ok()?;
        let mut unfinished = Some(Unfinished { temp, wanted });
        UNFINISHED.iter().find_map(|place| {
            let mut entry = place.try_lock().ok().filter(|entry| entry.is_none())?;
            *entry = unfinished.take();
            Some(Entry(place))
        })
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let unfinished = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Freed when the lock is not held any more.
        drop(unfinished);
    }
}

/// A file under a temporary name; removed unless it is renamed.
#[derive(Debug)]
pub(crate) struct TempFile {
    pub(crate) file: File,
    name: Option<TempName>,
}

#[derive(Debug)]
struct TempName {
    path: PathBuf,
    /// Dropped when the file is renamed or removed.
    _entry: Option<Entry>,
}

impl TempFile {
    pub(crate) fn create(dir: &Path, name: &str) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // The process and a number: writers of one name do not meet in their temporary files.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!(".{name}.{}.{number}.tmp", std::process::id()));
        // Before the file, so that there is none that is not in the table.
        let _entry = Entry::take(&path, &dir.join(name));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        Ok(TempFile { file, name: Some(TempName { path, _entry }) })
    }

    /// What is at a path already, to be written in place: there is nothing to rename or to remove.
    pub(crate) fn in_place(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).truncate(true).open(path)?;
        Ok(TempFile { file, name: None })
    }

    pub(crate) const fn is_in_place(&self) -> bool {
        self.name.is_none()
    }

    pub(crate) fn rename_to(&mut self, path: &Path) -> io::Result<()> {
        let Some(temp) = self.name.take() else { return Ok(()) };
        fs::rename(&temp.path, path).inspect_err(|_| self.name = Some(temp))
    }

    /// The file, if it still has its temporary name; what is left removes nothing.
    pub(crate) fn take(&mut self) -> Option<Self> {
        let file = self.file.try_clone().ok()?;
        self.name.take().map(|name| TempFile { file, name: Some(name) })
    }

    /// Takes the name away and keeps the file: it lives as long as it is open.
    pub(crate) fn unlink(mut self) -> io::Result<File> {
        let file = self.file.try_clone()?;
        match self.name.take() {
            Some(name) => fs::remove_file(name.path).map(|()| file),
            None => Ok(file),
        }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let Some(name) = &self.name else { return };
        let _ = fs::remove_file(&name.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    #[test]
    fn what_is_not_finished_is_in_the_table_until_it_is_renamed_or_given_up() {
        let dir = TestDir::new();
        let names = |dir: &Path| {
            let of_this = format!("{}/", dir.display());
            let entries =
                UNFINISHED.iter().filter_map(|entry| Some(entry.lock().unwrap().as_ref()?.wanted.clone()));
            let mut names: Vec<_> =
                entries.filter_map(|name| Some(name.strip_prefix(&of_this)?.to_string())).collect();
            names.sort();
            names
        };
        let (mut a, b) =
            (TempFile::create(dir.path(), "a").unwrap(), TempFile::create(dir.path(), "b").unwrap());
        assert_eq!(names(dir.path()), ["a", "b"]);
        a.rename_to(&dir.path().join("a")).unwrap();
        assert_eq!(names(dir.path()), ["b"]);
        drop(b);
        assert!(names(dir.path()).is_empty());
        assert_eq!(TestDir::names_in(dir.path()), ["a"]);
    }
}
