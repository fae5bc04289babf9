//! The probe of a recorded run: hands each event to the instruments that are on.
//!
//! Every core's state and the submitter's are touched by their own threads only; what crosses threads (which arguments of a
//! task are captured) is stored in a table by slot, written before the task is published and read by the core that holds it.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use ringlane_engine::observe::{ObservedTask, Submission};
use ringlane_engine::seams::Clock;
use ringlane_engine::slot::{FLOOR_MAX, SlotIndex};
use ringlane_engine::sync::Padded;
use ringlane_task::{CoreId, DfxFlags, Explain, Ticks};
use ringlane_trace::deps::TensorIndex;
use ringlane_trace::{ArtifactFile, RunDir, TraceError};

use crate::core_pmu::{CorePmu, Refusal};
use crate::cores::CoreState;
use crate::dump::{Capture, TensorNumbers, Wanted};
use crate::error::ProbeError;
use crate::kind::KindSpec;
use crate::kinds;
use crate::model::ModelState;
use crate::recording::{Recording, Writers};
use crate::scopes::Scopes;
use crate::selection::{ArgMask, MASK_WORDS};
use crate::settings::{Cores, Settings};
use crate::submits::{Reclaims, Selected, Submits, SubmitterState};
use crate::watching::On;

/// Records a run. What it has [`watch`](Recorder::watch) is the run's probe; afterwards [`Recorder::export`](crate::Recorder::export) writes the files.
pub struct Recorder<C> {
    pub(crate) clock: RunClock<C>,
    pub(crate) settings: Settings,
    pub(crate) dir: RunDir,
    pub(crate) cores: Box<[Padded<UnsafeCell<CoreState>>]>,
    pub(crate) submitter: UnsafeCell<SubmitterState>,
    /// What a chip that keeps its own time reports; its submitter reports it.
    pub(crate) model: UnsafeCell<ModelState>,
    /// By slot: which arguments are captured. Stored before the task is published, loaded by cores that hold it.
    pub(crate) masks: Box<[[AtomicU64; MASK_WORDS]]>,
    /// By slot, as `masks`: the numbers of its tensors.
    pub(crate) tensor_numbers: Box<[TensorNumbers]>,
    /// Where the next captured bytes go in their file.
    pub(crate) payload_end: AtomicU64,
    pub(crate) payload: Option<ArtifactFile>,
    pub(crate) refusal: Refusal,
    pub(crate) recording: Option<Recording>,
    pub(crate) on: On,
    /// Steps that were recorded among the submits; known once the run is over.
    pub(crate) steps: u64,
}

// SAFETY: each `CoreState` is touched only by the thread that is that core, the `SubmitterState` and the `ModelState` only by the
// submitter (the seam promises it), and by the owner of the recorder once the run is over.
unsafe impl<C: Sync> Sync for Recorder<C> {}

/// Why a recording cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The directory does not take files.
    Trace(#[from] TraceError),
    /// There is no memory or no thread for it.
    Probe(#[from] ProbeError),
}

ringlane_task::display_explained!(StartError);

impl Explain for StartError {
    fn name(&self) -> &'static str {
        match self {
            StartError::Trace(error) => error.name(),
            StartError::Probe(error) => error.name(),
        }
    }

    fn summary(&self) -> String {
        match self {
            StartError::Trace(error) => error.summary(),
            StartError::Probe(error) => error.summary(),
        }
    }

    fn detail(&self) -> String {
        match self {
            StartError::Trace(error) => error.detail(),
            StartError::Probe(error) => error.detail(),
        }
    }

    fn hint(&self) -> String {
        match self {
            StartError::Trace(error) => error.hint(),
            StartError::Probe(error) => error.hint(),
        }
    }
}

/// The clock of a run. A thread that is alone does not have to wait for what others did before it reads it.
pub(crate) struct RunClock<C> {
    clock: C,
    alone: bool,
    /// Since when the engine's floors count.
    epoch: u64,
}

impl<C: Clock> RunClock<C> {
    fn new(clock: C, alone: bool) -> Self {
        let epoch = clock.epoch().0;
        RunClock { clock, alone, epoch }
    }

    /// A time as the engine keeps it.
    #[inline(always)]
    pub(crate) fn floor(&self, time: u64) -> Ticks {
        Ticks(time.saturating_sub(self.epoch).min(FLOOR_MAX))
    }

    /// A time that the engine has kept.
    #[inline(always)]
    pub(crate) fn time(&self, floor: Ticks) -> u64 {
        self.epoch + floor.0
    }
}

impl<C: Clock> Clock for RunClock<C> {
    #[inline]
    fn now(&self) -> Ticks {
        self.clock.now()
    }

    #[inline]
    fn now_ordered(&self) -> Ticks {
        if self.alone { self.clock.now() } else { self.clock.now_ordered() }
    }
}

struct LaneClock<C>(C);

impl<C: Clock + Send> crate::clock::Clock for LaneClock<C> {
    fn now(&self) -> u64 {
        self.0.now().0
    }
}

impl<C: Clock + Clone + Send + 'static> Recorder<C> {
    /// Reserves the memory of what is on, and starts the collector.
    ///
    /// # Safety
    /// The recorder is used as the probe of a run, by a chip that keeps the seam's promise: hooks that name a core are called
    /// by the thread that is this core, all others by the submitter, and of a modelled chip all are called by one thread. A
    /// core's state is touched without a lock.
    pub unsafe fn start(clock: C, dir: &RunDir, settings: Settings) -> Result<Self, StartError> {
        settings.validate()?;
        let flags = settings.flags;
        let level = flags.swimlane_level();
        let mut payload = None;
        if flags.contains(DfxFlags::DUMP) {
            payload = Some(dir.create_file(kinds::PAYLOAD_FILE)?);
        }
        let specs = specs(dir, flags, &settings.cores, payload.as_ref())?;
        let lane_clock = Arc::new(LaneClock(clock.clone()));
        let (recording, mut writers) =
            Recording::start_in(&settings.pool, settings.lane_overflow(), lane_clock, specs)?;
        // First: what it takes, cores and submitter do not find.
        let model = if settings.cores.are_modelled() {
            ModelState::new(&mut writers, level)
        } else {
            ModelState::default()
        };
        let dumped_slots = if flags.contains(DfxFlags::DUMP) { settings.slots } else { 0 };
        let recorder = Recorder {
            clock: RunClock::new(clock, settings.cores.recording_cores() == 1),
            dir: dir.clone(),
            cores: core_states(&mut writers, &settings),
            submitter: UnsafeCell::new(submitter_state(&mut writers, &settings)),
            model: UnsafeCell::new(model),
            // SAFETY: zero bits are atomics 0.
            masks: unsafe { zeroed(dumped_slots) },
            // SAFETY: as above.
            tensor_numbers: unsafe { zeroed(dumped_slots) },
            payload_end: AtomicU64::new(0),
            payload,
            refusal: Refusal::default(),
            recording: Some(recording),
            on: On::new(flags),
            steps: 0,
            settings,
        };
        Ok(recorder)
    }
}

/// Only what is on is ever there.
fn specs(
    dir: &RunDir,
    flags: DfxFlags,
    cores: &Cores,
    payload: Option<&ArtifactFile>,
) -> Result<Vec<KindSpec>, StartError> {
    let (swimlane, level) = (kinds::SWIMLANE_FILE, flags.swimlane_level());
    let mut specs = Vec::new();
    // The submitter's own phases are not among those of threads that are cores.
    let phases = cores.recording_cores() + u32::from(!cores.are_modelled());
    let cores = cores.recording_cores();
    let mut spool = |on: bool, kind, name, file, writers| {
        if on {
            specs.push(kinds::spooled(dir, kind, name, file, writers));
        }
    };
    spool(level >= 1, kinds::BLOCKS, "blocks", swimlane, cores);
    spool(level >= 2, kinds::TASKS, "tasks", swimlane, cores);
    spool(level >= 2, kinds::RECLAIMS, "reclaimed tasks", swimlane, 1);
    spool(level >= 2, kinds::EDGES, "edges", swimlane, 1);
    spool(level >= 3, kinds::PHASES, "phases", swimlane, phases);
    spool(level >= 3, kinds::SUBMITS, "submits", swimlane, 1);
    spool(flags.contains(DfxFlags::DUMP), kinds::DUMP, "captured arguments", kinds::DUMP_FILE, cores);
    spool(flags.contains(DfxFlags::DUMP), kinds::DUMP_TASKS, "captured tasks", kinds::DUMP_FILE, cores);
    spool(flags.contains(DfxFlags::PMU), kinds::PMU, "counters", kinds::PMU_FILE, cores);
    spool(flags.contains(DfxFlags::DEPS), kinds::DEPS, "submits", kinds::DEPS_FILE, 1);
    spool(flags.contains(DfxFlags::SCOPES), kinds::SCOPES, "scopes", kinds::SCOPES_FILE, 1);
    if let Some(file) = payload {
        let handle = file.file().try_clone().map_err(|source| file.error(source))?;
        specs.push(kinds::placed(file.path(), handle, cores));
    }
    Ok(specs)
}

fn core_states(writers: &mut Writers, settings: &Settings) -> Box<[Padded<UnsafeCell<CoreState>>]> {
    let mut blocks = writers.take(kinds::BLOCKS).into_iter();
    // The last one stays for the submitter.
    let mut phases: Vec<_> = writers.take(kinds::PHASES);
    let submitters = phases.pop();
    let mut phases = phases.into_iter();
    let mut tasks = writers.take(kinds::TASKS).into_iter();
    let mut captured_tasks = writers.take(kinds::DUMP_TASKS).into_iter();
    let mut captured = writers.take(kinds::DUMP).into_iter().zip(writers.take(kinds::PAYLOAD));
    let mut counters = writers.take(kinds::PMU).into_iter();
    writers.put(kinds::PHASES, submitters);
    let group = settings.cores.processor_group();
    let one = |core| {
        let mut state = CoreState::default();
        if let Some(blocks) = blocks.next() {
            state.timeline(CoreId(core), blocks, phases.next());
        }
        state.tasks = tasks.next();
        let captures = captured_tasks.next().zip(captured.next());
        state.capture = captures.map(|(tasks, (records, payload))| Capture::new(tasks, records, payload));
        state.pmu = counters.next().map(|writer| CorePmu::new(writer, group));
        Padded(UnsafeCell::new(state))
    };
    (0..settings.cores.count()).map(one).collect()
}

fn submitter_state(writers: &mut Writers, settings: &Settings) -> SubmitterState {
    let phases = writers.take(kinds::PHASES).pop();
    let reclaims = writers.take(kinds::RECLAIMS).pop();
    SubmitterState {
        reclaims: reclaims.map(|writer| Reclaims::new(writer, phases)),
        edges: writers.take(kinds::EDGES).pop(),
        submits: writers.take(kinds::SUBMITS).pop().map(Submits::new),
        deps: writers.take(kinds::DEPS).pop(),
        scopes: writers.take(kinds::SCOPES).pop().map(Scopes::new),
        dump: settings.flags.contains(DfxFlags::DUMP).then(|| Selected::new(settings.dump.clone())),
        stalled: 0,
        steps: 0,
    }
}

/// A table of zeros that costs nothing until it is touched.
///
/// # Safety
/// Zero bits are a value of the type.
unsafe fn zeroed<T>(count: usize) -> Box<[T]> {
    // SAFETY: the caller's promise.
    unsafe { Box::new_zeroed_slice(count).assume_init() }
}

impl<C> Recorder<C> {
    /// The state of a core, for its own thread.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(crate) fn core(&self, core: CoreId) -> &mut CoreState {
        // SAFETY: see `Sync`; no hook calls another, so there is no second reference.
        unsafe { &mut *self.cores[core.0 as usize].get() }
    }

    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(crate) fn submitter(&self) -> &mut SubmitterState {
        // SAFETY: as above.
        unsafe { &mut *self.submitter.get() }
    }

    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(crate) fn model(&self) -> &mut ModelState {
        // SAFETY: as above.
        unsafe { &mut *self.model.get() }
    }

    /// The state through which a core's tasks and arguments are recorded: the first core's where one thread reports all cores.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(crate) fn recording_core(&self, core: CoreId) -> &mut CoreState {
        self.core(if self.settings.cores.are_modelled() { CoreId(0) } else { core })
    }

    /// Ends the writing: every writer's last buffer is handed over.
    pub(crate) fn close(&mut self) {
        let mut pmus = self.cores.iter_mut().filter_map(|core| core.0.get_mut().pmu.as_mut());
        if let Some(why) = pmus.find_map(|pmu| pmu.failure.take()) {
            self.refusal.get_mut().expect("no panic while a reason is noted").get_or_insert(why);
        }
        self.steps = self.submitter.get_mut().steps;
        self.cores = Box::default();
        self.submitter = UnsafeCell::default();
        self.model = UnsafeCell::default();
    }

    fn wanted_of(&self, slot: SlotIndex) -> Wanted<'_> {
        let words = &self.masks[slot.0 as usize];
        let mask = ArgMask(core::array::from_fn(|i| words[i].load(Ordering::Relaxed)));
        Wanted { mask, tensors: &self.tensor_numbers[slot.0 as usize] }
    }

    #[cold]
    pub(crate) fn capture_before(&self, core: CoreId, task: &ObservedTask<'_>) {
        let wanted = self.wanted_of(task.slot());
        if let Some(capture) = self.recording_core(core).capture.as_mut().filter(|_| !wanted.mask.is_empty())
        {
            capture.before(task, &wanted, &self.payload_end);
        }
    }

    #[cold]
    pub(crate) fn capture_after(&self, core: CoreId, task: &ObservedTask<'_>) {
        let wanted = self.wanted_of(task.slot());
        if let Some(capture) = self.recording_core(core).capture.as_mut().filter(|_| !wanted.mask.is_empty())
        {
            capture.after(task, &wanted, &self.payload_end);
        }
    }

    #[cold]
    pub(crate) fn captured_bytes(&self, core: CoreId) -> u64 {
        self.recording_core(core).capture.as_mut().map_or(0, Capture::take_captured_bytes)
    }

    #[cold]
    pub(crate) fn select(&self, submission: &Submission<'_>) {
        let Some(selected) = &mut self.submitter().dump else { return };
        let mask = selected.mask(submission);
        for (word, bits) in self.masks[submission.slot.0 as usize].iter().zip(mask.0) {
            word.store(bits, Ordering::Relaxed);
        }
        let mut numbers = self.tensor_numbers[submission.slot.0 as usize].iter();
        selected.tensors.numbers_of(submission, |TensorIndex(number)| {
            if let Some(place) = numbers.next() {
                place.store(number, Ordering::Relaxed);
            }
        });
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// A machine that has been up for a month, in nanoseconds.
    struct LongUp;

    impl Clock for LongUp {
        fn now(&self) -> Ticks {
            Ticks(30 * 86_400 * 1_000_000_000)
        }
    }

    #[test]
    fn floors_count_from_the_beginning_of_the_recording_whatever_the_clock_says_then() {
        let (clock, now) = (RunClock::new(LongUp, true), LongUp.now().0);
        assert!(now > FLOOR_MAX);
        assert_eq!([now, now + 7].map(|time| clock.time(clock.floor(time))), [now, now + 7]);
        assert_eq!(clock.floor(now - 1), Ticks(0), "a clock that went back is not before the beginning");
        assert_eq!(clock.floor(u64::MAX), Ticks(FLOOR_MAX));
    }
}
