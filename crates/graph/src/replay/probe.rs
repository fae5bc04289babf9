//! Lets a replayed chip pay for the records that the recorded run made, and makes none.

use std::sync::atomic::{AtomicU64, Ordering};

use ringlane_engine::observe::ObservedTask;
use ringlane_engine::seams::{Probe, RecordBytes};
use ringlane_task::CoreId;

use crate::recorded::Setup;

/// The probe of a replay; `CAPTURES` if arguments of tasks were captured.
pub(super) struct ReplayProbe<'s, const CAPTURES: bool> {
    setup: &'s Setup,
    /// Bytes captured since the chip last asked. One thread runs a replay.
    captured: AtomicU64,
}

impl<'s, const CAPTURES: bool> ReplayProbe<'s, CAPTURES> {
    pub(super) fn new(setup: &'s Setup) -> Self {
        ReplayProbe { setup, captured: AtomicU64::new(0) }
    }

    fn capture(&self, task: &ObservedTask<'_>, stage: usize) {
        if let Some(bytes) = self.setup.captured.get(task.record().seq as usize) {
            self.captured.fetch_add(bytes[stage], Ordering::Relaxed);
        }
    }
}

impl<const CAPTURES: bool> Probe for ReplayProbe<'_, CAPTURES> {
    const WATCHES: bool = false;
    const WATCHES_CORES: bool = CAPTURES;

    fn sees_scopes(&self) -> bool {
        self.setup.records_scopes
    }

    fn record_bytes(&self) -> RecordBytes {
        self.setup.records
    }

    fn captured_bytes(&self, _core: CoreId) -> u64 {
        if CAPTURES { self.captured.swap(0, Ordering::Relaxed) } else { 0 }
    }

    fn dispatch(&self, _core: CoreId, task: &ObservedTask<'_>) {
        self.capture(task, 0);
    }

    fn complete(&self, _core: CoreId, task: &ObservedTask<'_>) {
        self.capture(task, 1);
    }
}
