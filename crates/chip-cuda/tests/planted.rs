//! Bugs that are planted in the protocol between processors are found by a program that is made for it.
//!
//! A missing fence shows only where tasks use words of one sector, so that a processor has read it before (no acquire), and
//! write much before they end, so that stores are still on their way (no release). On this machine's threads the two fences
//! are found under ThreadSanitizer only: x86 orders stores and loads as the fences ask.

#[path = "common/mod.rs"]
mod common;

use std::panic::Location;

use common::{in_child, is_gpu, runtime};
use ringlane_chip_cuda::planted::{Bug, plant};
use ringlane_engine::chip_runtime::ChipRuntime;
use ringlane_engine::oracle;
use ringlane_engine::prelude::*;
use ringlane_task::CallConfig;

kernel! { static MIX = any fn(a: &[u32], b: &[u32], far: &[u32], y: &mut [u32], own: &mut [u32], salt: u32) {
    let n = own.len();
    let add = a[0].wrapping_mul(b[0]).wrapping_add(salt);
    for k in 0..n {
        own[k] = own[k].wrapping_mul(3).wrapping_add(far[n - 1 - k]).wrapping_add(add);
    }
    y[0] = y[0].wrapping_mul(3).wrapping_add(a[0]).wrapping_add(b[0]).wrapping_add(salt);
} cuda "const u64 n = own.len();
    const u32 add = a[0] * b[0] + salt;
    rl_each(k, n) own[k] = own[k] * 3u + far[n - 1 - k] + add;
    rl_one y[0] = y[0] * 3u + a[0] + b[0] + salt;" }

const CELLS: u32 = 192;
const WORDS: u32 = 2048;
const STEPS: u32 = 24;

/// Every cell mixes what its neighbours hold, again and again.
fn program(o: &mut Orch<'_, '_>, cells: BufferId, words: BufferId) -> Result<()> {
    let (cells, words) = (o.external(cells)?, o.external(words)?);
    for step in 0..STEPS {
        // Cells of one kind do not wait for each other.
        for cell in (0..CELLS).filter(|cell| cell % 2 == step % 2) {
            let (left, right) = ((cell + CELLS - 1) % CELLS, (cell + 1) % CELLS);
            let word = |cell: u32| cells.tile(&[cell], &[1]);
            let own = |cell: u32| words.tile(&[cell * WORDS], &[WORDS]);
            let args = [
                word(left)?.read(),
                word(right)?.read(),
                own(left)?.read(),
                word(cell)?.inout(),
                own(cell)?.inout(),
                scalar(step * CELLS + cell),
            ];
            o.submit(&MIX, args)?;
        }
        if step % 5 == 4 {
            // A value that is read back comes from a batch that was settled.
            let first = o.read::<u32>(cells.tile(&[0], &[8])?)?;
            assert_eq!(first.len(), 8);
        }
    }
    Ok(())
}

fn buffers() -> (Buffers<'static>, BufferId, BufferId) {
    let mut data = Buffers::new();
    let cells = data.add(&[CELLS], &(0..CELLS).collect::<Vec<u32>>()).unwrap();
    let words = data.add(&[CELLS * WORDS], &(0..CELLS * WORDS).collect::<Vec<u32>>()).unwrap();
    (data, cells, words)
}

/// Runs the program until something is wrong; what that is.
fn first_difference(rounds: u32) -> Option<String> {
    // Not dropped, which would wait for blocks that a bug keeps waiting.
    let mut runtime = core::mem::ManuallyDrop::new(runtime(&CallConfig::default())?);
    let (mut data, cells, words) = buffers();
    oracle::run(&mut data, |o| program(o, cells, words)).unwrap();
    let expected = (data.get::<u32>(cells).unwrap().to_vec(), data.get::<u32>(words).unwrap().to_vec());
    (0..rounds).find_map(|round| {
        let (mut data, cells, words) = buffers();
        let run = runtime.run_at(Location::caller(), &mut data, &(), |o| program(o, cells, words));
        if let Err(error) = run.result {
            return Some(format!("round {round}: {error}"));
        }
        let got = [(cells, &expected.0), (words, &expected.1)];
        let wrong = got.iter().map(|(id, expected)| {
            data.get::<u32>(*id).unwrap().iter().zip(*expected).filter(|(a, b)| a != b).count()
        });
        let wrong: usize = wrong.sum();
        (wrong > 0).then(|| format!("round {round}: {wrong} words are wrong"))
    })
}

/// Rounds that suffice to find every bug, on a GPU in well under a minute.
const ROUNDS: u32 = 100;

/// A run that has not ended by then does not end: the watchdog of the device, which names a kernel, is broken as well.
const HANGS: std::time::Duration = std::time::Duration::from_secs(120);

fn is_found(bug: Bug) {
    if runtime(&CallConfig::default()).is_none() {
        return;
    }
    plant(Some(bug));
    let begun = std::time::Instant::now();
    std::thread::spawn(move || {
        std::thread::sleep(HANGS);
        println!("{bug:?}: the program does not end");
        std::process::exit(1);
    });
    let found = first_difference(ROUNDS);
    println!("{bug:?}: {found:?} after {:.2} s", begun.elapsed().as_secs_f64());
    assert!(found.is_some(), "{bug:?} was not found");
}

#[test]
fn without_a_bug_every_word_is_right() {
    in_child("without_a_bug_every_word_is_right", &[], || {
        let rounds = if is_gpu() { ROUNDS } else { 5 };
        assert_eq!(first_difference(rounds), None);
    });
}

/// The exit status of a process in which ThreadSanitizer found a data race, and what makes it end so.
const RACE: i32 = 66;
const SANITIZER: [(&str, &str); 1] = [("TSAN_OPTIONS", "halt_on_error=1 exitcode=66")];

/// A missing fence is found by a value on a GPU, by a data race under ThreadSanitizer, and not at all on plain threads of x86.
fn missing_fence_is_found(test: &str, bug: Bug) {
    if is_gpu() {
        in_child(test, &[], || is_found(bug));
    } else if common::has_thread_sanitizer() {
        let status = common::status_of_child(test, &SANITIZER, || {
            plant(Some(bug));
            first_difference(ROUNDS);
        });
        assert!(status.is_none_or(|status| status.code() == Some(RACE)), "{test}: {status:?}");
    }
}

#[test]
fn a_missing_release_is_found() {
    missing_fence_is_found("a_missing_release_is_found", Bug::NoRelease);
}

#[test]
fn a_missing_acquire_is_found() {
    missing_fence_is_found("a_missing_acquire_is_found", Bug::NoAcquire);
}

#[test]
fn a_flag_that_is_not_set_is_found() {
    in_child("a_flag_that_is_not_set_is_found", &[("RL_KERNEL_SECONDS", "1")], || is_found(Bug::FlagNotSet));
}

#[test]
fn stale_arguments_are_found() {
    in_child("stale_arguments_are_found", &[("RL_KERNEL_SECONDS", "1")], || is_found(Bug::StaleArguments));
}

#[test]
fn a_batch_that_is_settled_early_is_found() {
    in_child("a_batch_that_is_settled_early_is_found", &[("RL_KERNEL_SECONDS", "1")], || {
        is_found(Bug::SettledEarly);
    });
}
