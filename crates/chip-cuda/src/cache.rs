//! Compiled programs on disk, by what they were made of: `$XDG_CACHE_HOME/ringlane` or `~/.cache/ringlane`.
//!
//! A directory that cannot be written, or a damaged file, costs a compilation and nothing else: a file holds its own checksum.

#![forbid(unsafe_code)]

use core::cell::Cell;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes before the program: its checksum.
const HEADER: usize = 8;
/// Two processes, or two threads, may write the same program.
static WRITTEN: AtomicU32 = AtomicU32::new(0);

std::thread_local! {
    static IS_BYPASSED: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function for which nothing is in the cache, and nothing is kept.
pub(crate) fn bypassed<R>(f: impl FnOnce() -> R) -> R {
    IS_BYPASSED.set(true);
    let result = f();
    IS_BYPASSED.set(false);
    result
}

/// Where a program is kept.
pub(crate) struct Cached {
    file: Option<PathBuf>,
}

impl Cached {
    /// The place of a program that is made of these texts.
    pub(crate) fn of(parts: &[&str], extension: &str) -> Self {
        if IS_BYPASSED.get() {
            return Cached { file: None };
        }
        let mut hasher = DefaultHasher::new();
        parts.hash(&mut hasher);
        let name = format!("{:016x}.{extension}", hasher.finish());
        Cached { file: directory().map(|directory| directory.join(name)) }
    }

    /// The program, if it is there and undamaged.
    pub(crate) fn read(&self) -> Option<Vec<u8>> {
        let mut bytes = fs::read(self.file.as_ref()?).ok()?;
        let header: [u8; HEADER] = bytes.get(..HEADER)?.try_into().ok()?;
        bytes.drain(..HEADER);
        (u64::from_le_bytes(header) == checksum(&bytes)).then_some(bytes)
    }

    /// Keeps a program.
    pub(crate) fn write(&self, bytes: &[u8]) {
        let Some(file) = &self.file else { return };
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let temporary = file.with_extension(format!("{}-{number}", std::process::id()));
        let whole = [&checksum(bytes).to_le_bytes()[..], bytes].concat();
        // Renamed, so that nobody reads half a file.
        if fs::write(&temporary, whole).and_then(|()| fs::rename(&temporary, file)).is_err() {
            let _ = fs::remove_file(&temporary);
        }
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

fn directory() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base = base.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let directory = base.join("ringlane");
    fs::create_dir_all(&directory).ok()?;
    Some(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_program_is_none_and_an_intact_one_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let cached = Cached { file: Some(dir.path().join("p.cubin")) };
        assert_eq!(cached.read(), None);
        cached.write(b"a program");
        assert_eq!(cached.read().as_deref(), Some(&b"a program"[..]));
        for damage in [&b"short"[..], &b"12345678another program"[..], b""] {
            fs::write(cached.file.as_ref().unwrap(), damage).unwrap();
            assert_eq!(cached.read(), None);
        }
        Cached { file: Some(dir.path().join("no/such/dir/p")) }.write(b"nobody keeps it");
        assert!(bypassed(|| Cached::of(&["a program"], "cubin")).file.is_none());
    }
}
