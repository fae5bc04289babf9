//! Exports of records that come back from the disk other than they went there.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use ringlane_task::{CallConfig, Capacities, DfxFlags, Explain, Overflow};
use ringlane_trace::RunDir;
use ringlane_trace::deps::Deps;
use zerocopy::{Immutable, IntoBytes};

use super::{Export, Exported, RunFacts};
use crate::deps::record::SubmitHead;
use crate::kind::{KindSpec, Sink, Storage};
use crate::recording::Recording;
use crate::recording::tests_support::Still;
use crate::selection::DumpSelection;
use crate::settings::{Cores, Settings};
use crate::{Pool, kinds};

/// Enough that the dependencies get a thread of their own beside other files.
const SUBMITS: u64 = 5000;

/// A submit with one argument, as it is stored.
#[derive(IntoBytes, Immutable)]
#[repr(C)]
struct OneArgument {
    head: SubmitHead,
    argument: [u64; 3],
}

/// The offset of the number of argument words in a chunk's first submit.
const WORDS_AT: usize = core::mem::offset_of!(SubmitHead, words);
/// The offset of its argument's rank: the lowest byte of the first word.
const RANK_AT: usize = core::mem::offset_of!(OneArgument, argument);

/// A file of which a byte of every chunk reads as 255, if one is named.
struct Corrupting {
    file: File,
    byte: Option<usize>,
}

impl Storage for Corrupting {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        Storage::write_at(&self.file, bytes, offset)
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = Storage::read_at(&self.file, bytes, offset)?;
        // A chunk's header is shorter than a submit.
        if let Some(byte) = self.byte.filter(|_| read >= size_of::<OneArgument>()) {
            bytes[byte] = 255;
        }
        Ok(read)
    }

    fn clear(&self) -> io::Result<()> {
        Storage::clear(&self.file)
    }
}

/// A directory that goes when the test ends.
struct Scratch(RunDir);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ringlane-export-{}-{number}", std::process::id());
        Scratch(RunDir::create_exact(std::env::temp_dir().join(name)).unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.path());
    }
}

/// Records submits through buffers so few that most go to the disk, then exports what comes back from it.
fn export(dir: &RunDir, flags: DfxFlags, corrupt_byte: Option<usize>) -> Exported {
    export_until(None, dir, flags, corrupt_byte)
}

/// The same until a person wants it to end.
fn export_until(
    stop_asked: Option<fn() -> bool>,
    dir: &RunDir,
    flags: DfxFlags,
    corrupt_byte: Option<usize>,
) -> Exported {
    let spool = dir.clone();
    let sink = Sink::spool(move || Ok(Corrupting { file: kinds::spool(&spool)?, byte: corrupt_byte }));
    let (kind, name, path) = (kinds::DEPS, "submits", dir.path().join(kinds::DEPS_FILE));
    let spec =
        KindSpec { kind, name, path, sink, buffers: 4, buffer_bytes: 4096, ready_bytes: 0, writers: 1 };
    let scopes = kinds::spooled(dir, kinds::SCOPES, "scopes", kinds::SCOPES_FILE, 1);
    let started = Recording::start(Overflow::Block, Arc::new(Still), vec![spec, scopes]);
    let (recording, mut writers) = started.unwrap();
    let mut writer = writers.take(kind).remove(0);
    for seq in 0..SUBMITS {
        let head = SubmitHead { task_id: seq, seq, words: 3, ..SubmitHead::default() };
        writer.push(&OneArgument { head, argument: [0; 3] });
    }
    let recorded = recording.stop([writer]).unwrap();
    assert!(recorded.kind(kind).unwrap().counts().written_bytes > 0);
    let mut exported = Exported::default();
    let (facts, settings) = (facts(), settings(flags));
    let counted = AtomicBool::new(false);
    let recorded = &recorded;
    let export = Export {
        recorded,
        facts: &facts,
        settings: &settings,
        steps: 0,
        dir,
        counted,
        payload: None,
        stop_asked,
    };
    export.run(&mut exported, None);
    exported
}

fn facts() -> RunFacts {
    RunFacts {
        platform: "cpu".to_string(),
        clock_freq_hz: 1,
        started_ticks: 0,
        makespan_ticks: 0,
        core_types: Vec::new(),
        threads: 1,
        core_to_thread: Vec::new(),
        copies: None,
        launches: None,
        kernels: Vec::new(),
        sites: vec!["here.rs:1".to_string()],
        capacities: Capacities::of(&CallConfig::default()),
        has_cost_model: true,
        external_bytes: Vec::new(),
        fatal: None,
    }
}

fn settings(flags: DfxFlags) -> Settings {
    Settings {
        flags,
        overflow: Overflow::Block,
        dump: DumpSelection::Everything,
        cores: Cores::Threads { count: 1, counters: Default::default() },
        slots: 0,
        pool: Pool::default(),
        stop_asked: None,
    }
}

/// Alone, and beside another file.
const FLAGS: [DfxFlags; 2] = [DfxFlags::DEPS, DfxFlags::DEPS.with(DfxFlags::SCOPES)];

/// What must hold when the submits come back damaged: their file says so and has no rows, and the others are whole.
#[track_caller]
fn assert_reported_as_damaged(corrupt_byte: usize, why: &str) {
    for flags in FLAGS {
        let dir = Scratch::new();
        let exported = export(&dir.0, flags, Some(corrupt_byte));
        let (deps, others) = exported.files.split_first().unwrap();
        assert_eq!((deps.path.as_str(), deps.collected, deps.dropped), ("deps.json", Some(0), Some(SUBMITS)));
        let incomplete = deps.incomplete.as_deref().unwrap();
        assert!(incomplete.starts_with("the records are damaged: "), "{incomplete}");
        assert!(incomplete.contains(why), "{incomplete}");
        assert!(others.iter().all(|file| file.incomplete.is_none()), "{others:?}");
        let [problem] = &exported.problems[..] else { panic!("{:?}", exported.problems) };
        assert_eq!(problem.name(), "RecordingIncomplete");
        assert!(problem.detail().contains(incomplete), "{}", problem.detail());
        assert_eq!(Deps::read(dir.0.path()).unwrap(), Deps { dropped: SUBMITS, ..Deps::default() });
    }
}

#[test]
fn records_that_went_through_a_sound_disk_are_all_in_the_file() {
    for flags in FLAGS {
        let dir = Scratch::new();
        let exported = export(&dir.0, flags, None);
        assert!(exported.problems.is_empty(), "{:?}", exported.problems);
        assert_eq!(exported.files[0].collected, Some(SUBMITS));
        assert_eq!(Deps::read(dir.0.path()).unwrap().tasks.len() as u64, SUBMITS);
    }
}

#[test]
fn an_argument_that_cannot_be_decoded_is_reported_as_damage_and_not_as_a_panic() {
    assert_reported_as_damaged(RANK_AT, "out of range");
}

#[test]
fn a_submit_that_says_it_is_longer_than_its_chunk_is_reported_as_missing_rows() {
    // The higher byte of the two: more words than a chunk holds.
    assert_reported_as_damaged(WORDS_AT + 1, "could be read back");
}

#[test]
fn an_export_that_is_stopped_leaves_files_without_rows_that_say_so_and_nothing_half_written() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    // In the middle of the submits, whatever asks.
    let stop_asked = || CALLS.fetch_add(1, Ordering::Relaxed) > 3;
    for flags in FLAGS {
        CALLS.store(0, Ordering::Relaxed);
        let dir = Scratch::new();
        let exported = export_until(Some(stop_asked), &dir.0, flags, None);
        assert!(exported.interrupted);
        let deps = &exported.files[0];
        assert_eq!((deps.total, deps.dropped), (Some(SUBMITS), Some(SUBMITS)));
        assert_eq!(deps.incomplete.as_deref(), Some("interrupted"));
        assert_eq!(exported.problems[0].name(), "RecordingInterrupted");
        assert_eq!(Deps::read(dir.0.path()).unwrap(), Deps { dropped: SUBMITS, ..Deps::default() });
        let names = std::fs::read_dir(dir.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.into_iter().all(|name| !name.to_string_lossy().ends_with(".tmp")));
    }
}
