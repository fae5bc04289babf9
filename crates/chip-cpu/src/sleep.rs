//! Idle threads: who searches, who sleeps, and who wakes them, without a lost wake-up.
//!
//! ```text
//!          found a task                 polled in vain for a while
//!  busy ◀──────────────── searching ──────────────────────────────▶ asleep
//!   └──── nothing to do ─────▲  ▲──────────── woken ───────────────────┘
//! ```
//! One rule makes sure that every task in a queue is found: **while a thread sleeps, another one searches, or
//! the next push wakes one.** So a push checks one flag that hardly ever changes, and waking is the threads' own work:
//!
//! - The last searcher that finds a task wakes a sleeper, which searches in its place; where plenty is left it wakes
//!   two, so that the number of busy threads doubles until there is nothing left to find.
//! - The last searcher that goes to sleep sets `wanted`, fences (heavily) and polls once more before it parks. A thread
//!   that makes a task ready pushes it, fences (lightly) and checks `wanted`. So either the sleeper sees the task or the
//!   pusher sees the flag.
//! - Searchers that go to sleep while others search need neither: the transitions of `counts` have one order, so the
//!   last one knows that it is the last.
//!
//! `wanted` is cleared only by the thread that then tries to wake a sleeper. It is set and cleared by exchanges, AcqRel, so
//! that the clearing one acquires from every thread that has set the flag since it was last cleared, and not from the latest
//! alone: each of them was asleep by then, and is found unless it was woken by another thread or went on by itself; in both
//! cases it searches. A flag that is still set although some thread searches costs one needless wake-up.
//!
//! The submitter is no searcher, because it may go back to submitting at any time. It sleeps until a *completion*, or until
//! it is woken as the last sleeper of all. It announces itself, fences heavily and then lets its caller check the condition
//! once more before it parks; a core that completes a task during the announcement wakes it.

use ringlane_engine::planted::{Bug, planted};
use ringlane_engine::sync::Padded;

use crate::fence;
use crate::sync::{AtomicBool, AtomicU8, AtomicU32, Mutex, Ordering, Thread, spin_loop, thread};

const AWAKE: u8 = 0;
const ASLEEP: u8 = 1;
/// Another thread wakes it, and has not counted that yet.
const WAKING: u8 = 2;

/// The submitter.
const SUBMITTER: usize = 0;
/// One thread asleep, in `counts`.
const SLEEPER: u32 = 1;
/// One thread that searches, in `counts`.
const SEARCHER: u32 = 1 << 16;
/// With this many searchers nobody wakes another.
const SEARCHERS_MAX: u32 = 4;

/// The idle threads of one runtime.
#[derive(Debug)]
pub(crate) struct Sleep {
    /// Whether the next push wakes a sleeper. Read by every push, written only around sleeps.
    wanted: Padded<AtomicBool>,
    /// Whether the submitter waits for a completion. Read by every completion.
    submitter_waits: Padded<AtomicBool>,
    /// `SEARCHER` × the threads that search (never the submitter) + `SLEEPER` × those that sleep. Changed by idle threads
    /// and by those that wake them, with AcqRel: the changes have one order, and what was done before one is visible after it.
    counts: Padded<AtomicU32>,
    /// `ASLEEP` is stored by the thread itself before it is counted as a sleeper, and exchanged by the thread that ends its
    /// sleep, once. That thread counts it as a searcher before it stores `AWAKE`, so a thread never uncounts what is not
    /// counted yet.
    states: Vec<Padded<AtomicU8>>,
    /// Each thread's handle; locked only to wake it.
    handles: Vec<Mutex<Option<Thread>>>,
}

/// What finds new tasks while a thread sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announced {
    /// Another thread searches.
    Watched,
    /// Nobody: from now on a push wakes a sleeper, and what was pushed before has to be taken now.
    Last,
}

/// What a thread that searches counts.
fn searcher(core: usize) -> u32 {
    if core == SUBMITTER { 0 } else { SEARCHER }
}

fn searchers(counts: u32) -> u32 {
    counts / SEARCHER
}

fn sleepers(counts: u32) -> u32 {
    counts % SEARCHER
}

impl Sleep {
    pub(crate) fn new(threads: usize) -> Self {
        Sleep {
            wanted: Padded(AtomicBool::new(false)),
            submitter_waits: Padded(AtomicBool::new(false)),
            counts: Padded(AtomicU32::new(0)),
            states: (0..threads).map(|_| Padded(AtomicU8::new(AWAKE))).collect(),
            handles: (0..threads).map(|_| Mutex::new(None)).collect(),
        }
    }

    /// The calling thread is the one of this core from now on.
    pub(crate) fn register(&self, core: usize) {
        *self.handles[core].lock().expect("no thread panics while it holds the lock") =
            Some(thread::current());
    }

    /// After a task was pushed: wakes a sleeper if nobody searches.
    #[inline]
    pub(crate) fn pushed(&self) {
        fence::light();
        if self.wanted.load(Ordering::Relaxed) && !planted(Bug::LostWakeUp) {
            self.answer();
        }
    }

    /// After a task was completed: wakes the submitter if it waits for that.
    #[inline]
    pub(crate) fn completed(&self) {
        fence::light();
        if self.submitter_waits.load(Ordering::Relaxed) && !planted(Bug::LostWakeUp) {
            self.wake_submitter();
        }
    }

    /// The thread has nothing to do: it searches from now on.
    pub(crate) fn search(&self, core: usize) {
        self.counts.fetch_add(searcher(core), Ordering::AcqRel);
    }

    /// The thread that searched has found a task. `plenty` is whether as much is left for another.
    pub(crate) fn found(&self, core: usize, plenty: bool) {
        let counts = self.stop_searching(core);
        let (wakes, limit) = if plenty { (2, SEARCHERS_MAX) } else { (1, 1) };
        if core != SUBMITTER && sleepers(counts) > 0 && searchers(counts) < limit {
            (0..wakes).for_each(|_| self.wake_one());
        }
    }

    /// The thread no longer searches, and nobody has to in its place. What is left then.
    pub(crate) fn stop_searching(&self, core: usize) -> u32 {
        self.counts.fetch_sub(searcher(core), Ordering::AcqRel) - searcher(core)
    }

    /// Threads that search.
    pub(crate) fn searchers(&self) -> u32 {
        searchers(self.counts.load(Ordering::Relaxed))
    }

    /// Whether the thread, which searches, is the only one that does.
    pub(crate) fn is_last_searcher(&self, core: usize) -> bool {
        core != SUBMITTER && self.searchers() == 1
    }

    #[cold]
    fn answer(&self) {
        if self.wanted.swap(false, Ordering::AcqRel) {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        for core in (0..self.states.len()).rev() {
            if self.wake(core) {
                return;
            }
        }
    }

    #[cold]
    fn wake_submitter(&self) {
        if self.submitter_waits.swap(false, Ordering::AcqRel) {
            self.wake(SUBMITTER);
        }
    }

    /// Wakes all, also those that nap, so that they see a new mode.
    pub(crate) fn wake_all(&self) {
        for core in 0..self.states.len() {
            if !self.wake(core) {
                self.unpark(core);
            }
        }
    }

    fn wake(&self, core: usize) -> bool {
        let woken = self.set_awake(core);
        if woken {
            self.unpark(core);
        }
        woken
    }

    /// Ends the sleep of a thread, once: it is counted as a searcher, and then awake.
    fn set_awake(&self, core: usize) -> bool {
        let state = &self.states[core];
        let ended = state.compare_exchange(ASLEEP, WAKING, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if ended {
            self.counts.fetch_add(searcher(core).wrapping_sub(SLEEPER), Ordering::AcqRel);
            state.store(AWAKE, Ordering::Release);
        }
        ended
    }

    fn unpark(&self, core: usize) {
        if let Some(thread) = &*self.handles[core].lock().expect("no thread panics while it holds the lock") {
            thread.unpark();
        }
    }

    /// Announces that a thread, which searches, is about to sleep. It checks once more whether it has to before it
    /// [parks](Self::park): the mode, and for tasks if it is the last.
    pub(crate) fn announce(&self, core: usize) -> Announced {
        self.states[core].store(ASLEEP, Ordering::Relaxed);
        let change = SLEEPER.wrapping_sub(searcher(core));
        let counts = self.counts.fetch_add(change, Ordering::AcqRel).wrapping_add(change);
        if core == SUBMITTER {
            self.submitter_waits.store(true, Ordering::Relaxed);
        }
        let last = searchers(counts) == 0;
        if last {
            self.wanted.swap(true, Ordering::AcqRel);
        }
        if last || core == SUBMITTER {
            fence::heavy();
            Announced::Last
        } else {
            // The thread that changes the mode fences heavily.
            fence::own_side_of_heavy();
            Announced::Watched
        }
    }

    /// Takes the announcement back: there was something to do. The thread searches.
    pub(crate) fn cancel(&self, core: usize) {
        if core == SUBMITTER {
            self.submitter_waits.store(false, Ordering::Relaxed);
        }
        if !self.set_awake(core) {
            self.until_awake(core, spin_loop);
        }
    }

    /// Sleeps until woken after an announcement. The thread searches then.
    pub(crate) fn park(&self, core: usize) {
        self.until_awake(core, thread::park);
        if core == SUBMITTER {
            self.submitter_waits.store(false, Ordering::Relaxed);
        }
    }

    fn until_awake(&self, core: usize, wait: impl Fn()) {
        while self.states[core].load(Ordering::Acquire) != AWAKE {
            wait();
        }
    }
}
