//! What identifies the build of this program: of the executable and of each plugin the note that the linker left in it or, if
//! it left none, a hash of all of it.
//!
//! A child that runs the same files reads the same. The executable is read through `/proc/self/exe`, which is what runs
//! even if another build has taken its place on disk since.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use sha2::{Digest, Sha256};

use crate::error::NodeError;
use crate::limits::NOTES_BYTES;

const PT_NOTE: u32 = 4;
const NT_GNU_BUILD_ID: u32 = 3;

const EXECUTABLE: &str = "/proc/self/exe";

/// The identity of this program, once it was asked for.
static ID: OnceLock<Result<Vec<u8>, NodeError>> = OnceLock::new();
/// The identities of the plugins.
static PLUGINS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Makes a shared library that was loaded a part of what identifies this program, so that a worker that has loaded another build
/// of it is refused. Call it before the first node or worker starts: afterwards it is the error `LatePlugin`.
///
/// ```
/// let this = std::env::current_exe()?;
/// ringlane_node::note_plugin(&this)?;
/// assert_eq!(ringlane_node::note_plugin("no/such/file.so".as_ref()).unwrap_err().name(), "NoBuildId");
/// # use ringlane_task::Explain;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn note_plugin(library: &Path) -> Result<(), NodeError> {
    let id = identity_of(library)?;
    if ID.get().is_some() {
        return Err(NodeError::LatePlugin { path: library.to_path_buf() });
    }
    PLUGINS.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    Ok(())
}

/// The identity of the running executable with its plugins.
pub(crate) fn get() -> Result<&'static [u8], NodeError> {
    let id = ID.get_or_init(|| {
        let mut ids = vec![identity_of(Path::new(EXECUTABLE))?];
        ids.extend(PLUGINS.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
        let parts: Vec<&[u8]> = ids.iter().map(Vec::as_slice).collect();
        Ok(super::Digest::of(&parts).0.to_vec())
    });
    id.as_deref().map_err(Clone::clone)
}

fn identity_of(path: &Path) -> Result<Vec<u8>, NodeError> {
    let id = File::open(path).and_then(|file| identity(&file));
    id.map_err(|error| NodeError::NoBuildId { path: path.to_path_buf(), error: error.to_string() })
}

fn identity(file: &File) -> io::Result<Vec<u8>> {
    match noted(file) {
        Some(id) => Ok(id),
        None => hash(file),
    }
}

fn hash(mut file: &File) -> io::Result<Vec<u8>> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().to_vec()),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// The build id among the notes of a 64-bit little-endian ELF file; `None` for whatever is not one.
fn noted(file: &File) -> Option<Vec<u8>> {
    let head = at(file, 0, 64)?;
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size, count) = (u64_at(&head, 32)?, u16_at(&head, 54)?, u16_at(&head, 56)?);
    (0..u64::from(count)).find_map(|index| {
        let program = at(file, table.checked_add(index * u64::from(size))?, 56)?;
        if u32_at(&program, 0)? != PT_NOTE {
            return None;
        }
        let notes = at(file, u64_at(&program, 8)?, u64_at(&program, 32)?)?;
        build_id(&notes)
    })
}

/// The build id in a row of notes: lengths of name and content, kind, name and content, each to a multiple of four.
fn build_id(mut notes: &[u8]) -> Option<Vec<u8>> {
    loop {
        let (name_bytes, bytes, kind) = (u32_at(notes, 0)?, u32_at(notes, 4)?, u32_at(notes, 8)?);
        let content_at = 12 + (name_bytes as usize).checked_next_multiple_of(4)?;
        let name = notes.get(12..12usize.checked_add(name_bytes as usize)?)?;
        let content = notes.get(content_at..content_at.checked_add(bytes as usize)?)?;
        if kind == NT_GNU_BUILD_ID && name == b"GNU\0" && !content.is_empty() {
            return Some(content.to_vec());
        }
        notes = notes.get(content_at + (bytes as usize).checked_next_multiple_of(4)?..)?;
    }
}

fn at(file: &File, offset: u64, bytes: u64) -> Option<Vec<u8>> {
    let mut found = vec![0; usize::try_from(bytes).ok().filter(|_| bytes <= NOTES_BYTES)?];
    file.read_exact_at(&mut found, offset).ok().map(|()| found)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8).and_then(|word| word.try_into().ok()).map(u64::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map(u32::from_le_bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).and_then(|word| word.try_into().ok()).map(u16::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [name.len() as u32, content.len() as u32, kind] {
            bytes.extend(word.to_le_bytes());
        }
        for part in [name, content] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn the_build_id_is_found_after_other_notes() {
        let notes = [note(b"GNU\0", 1, &[9; 16]), note(b"Go\0", 3, &[8; 5]), note(b"GNU\0", 3, &[7; 20])];
        assert_eq!(build_id(&notes.concat()), Some(vec![7; 20]));
    }

    #[test]
    fn notes_that_are_cut_short_or_lie_about_their_lengths_have_none() {
        let whole = note(b"GNU\0", 3, &[7; 20]);
        assert!((0..whole.len()).all(|end| build_id(&whole[..end]).is_none()));
        let mut false_size = whole;
        false_size[0..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(build_id(&false_size), None);
    }

    #[test]
    fn a_file_that_is_no_executable_is_hashed_and_this_one_has_an_identity() {
        let text = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
        assert_eq!((noted(&text), identity(&text).unwrap().len()), (None, 32));
        assert!(get().unwrap().len() >= 8);
    }
}
