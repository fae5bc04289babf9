//! In which rounds the diagnostics of a request are on, and where a round leaves its files.
//!
//! ```text
//! --rounds 3 --dfx-rounds last     warm-up   warm-up   outputs/x/
//!                         first    outputs/x/  …         …
//!                         all      outputs/x/round_1/  outputs/x/round_2/  outputs/x/round_3/
//! ```
//! The directory of an observed round is a whole run: its `run.json` is about that round.

use ringlane_task::{CallConfig, DfxFlags};
use ringlane_trace::{RunDir, TraceError};
use serde::{Deserialize, Serialize};

use crate::workers::node_flags;

/// The diagnostics of a run's rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Diagnostics {
    /// The configuration of an observed round: which are on, and how.
    pub config: CallConfig,
    /// Whose directory the run's is.
    pub of: RecordedBy,
    /// In which rounds they are on.
    pub rounds: DfxRounds,
}

/// Who records into the directory of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedBy {
    /// The chip that the run is on.
    #[default]
    Chip,
    /// A node: its workers record the rest, in directories below.
    Node,
}

/// In which of several rounds the diagnostics are on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
pub enum DfxRounds {
    /// Every round, each in its own directory.
    All,
    /// The first round, with cold caches.
    First,
    /// The last round, with warm caches.
    #[default]
    Last,
}

/// Where a round leaves its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoundFiles {
    /// Nowhere: it is not observed.
    Nowhere,
    /// In the directory of the run.
    Run,
    /// In this directory below it.
    Below(String),
}

impl Diagnostics {
    /// Where a round, counted from 1, leaves its files.
    pub fn place(&self, round: u32, rounds: u32) -> RoundFiles {
        match self.rounds {
            _ if self.config.dfx_flags.is_empty() => RoundFiles::Nowhere,
            DfxRounds::All => RoundFiles::Below(format!("round_{round}")),
            DfxRounds::First if round == 1 => RoundFiles::Run,
            DfxRounds::Last if round == rounds => RoundFiles::Run,
            DfxRounds::First | DfxRounds::Last => RoundFiles::Nowhere,
        }
    }

    /// Takes room in the directory of the run for what will be written there after it, so that a full disk is found
    /// before anything runs.
    pub fn reserve_for(&self, dir: &RunDir) -> Result<(), TraceError> {
        match self.rounds {
            _ if self.config.dfx_flags.is_empty() => Ok(()),
            DfxRounds::All => dir.reserve_manifest(),
            DfxRounds::First | DfxRounds::Last => dir.reserve(self.own_flags()),
        }
    }

    /// What is recorded into the directory of the run itself.
    pub fn own_flags(&self) -> DfxFlags {
        match self.of {
            RecordedBy::Chip => self.config.dfx_flags,
            RecordedBy::Node => node_flags(self.config.dfx_flags),
        }
    }

    /// What `run.json` reports of them.
    pub fn reported(&self) -> CallConfig {
        self.config.with_dfx_flags(self.own_flags())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(rounds: DfxRounds, count: u32) -> Vec<RoundFiles> {
        let config = CallConfig::default().with_dfx_flags(DfxFlags::DEPS);
        let diagnostics = Diagnostics { config, rounds, ..Diagnostics::default() };
        (1..=count).map(|round| diagnostics.place(round, count)).collect()
    }

    #[test]
    fn one_round_is_observed_in_the_directory_of_the_run_and_all_of_them_below_it() {
        use RoundFiles::{Nowhere, Run};
        assert_eq!(places(DfxRounds::Last, 3), [Nowhere, Nowhere, Run]);
        assert_eq!(places(DfxRounds::First, 3), [Run, Nowhere, Nowhere]);
        let below = ["round_1", "round_2", "round_3"].map(|name| RoundFiles::Below(name.to_string()));
        assert_eq!(places(DfxRounds::All, 3), below);
    }

    #[test]
    fn the_only_round_is_the_first_and_the_last() {
        assert_eq!(places(DfxRounds::First, 1), [RoundFiles::Run]);
        assert_eq!(places(DfxRounds::default(), 1), [RoundFiles::Run]);
    }

    #[test]
    fn without_a_diagnostic_no_round_is_observed() {
        for rounds in [DfxRounds::All, DfxRounds::First, DfxRounds::Last] {
            let diagnostics = Diagnostics { rounds, ..Diagnostics::default() };
            assert_eq!(diagnostics.place(1, 1), RoundFiles::Nowhere);
        }
    }
}
