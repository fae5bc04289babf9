//! Whether a replay ends in a time that someone may mean.

use std::time::Duration;

use ringlane_chip_sim::cost::BLOCK_MAX;
use ringlane_insight::units::time_text;

use super::PortableRun;
use super::limits::{REAL_TIME_MAX, VIRTUAL_WORK_PS_MAX};
use crate::error::ReplayError;

/// What a run is replayed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// This number of threads, for real.
    Threads(u32),
    /// A modelled chip, in virtual time.
    Model,
}

/// Picoseconds as people read them.
fn text_of(picoseconds: u128) -> String {
    time_text(picoseconds as f64 / 1e6)
}

impl PortableRun {
    /// Refuses a replay that would take longer than its limits.
    pub fn check(&self, target: Target) -> Result<(), ReplayError> {
        let too_long = |what: String, most: u128, is: u128| ReplayError::TooLong {
            dir: self.dir.clone(),
            what,
            // A power of ten that leaves room.
            scale: scale_to(most, is),
        };
        match target {
            Target::Threads(threads) => {
                let threads = u128::from(threads.max(1));
                let least = self.longest_path_ps().max(self.work_ps() / threads);
                let most = REAL_TIME_MAX.as_nanos() * 1_000;
                if least > most {
                    let (least, most) = (text_of(least), text_of(most));
                    let what = format!("on {threads} threads it takes at least {least}; the limit is {most}");
                    return Err(too_long(what, Duration::from_secs(60).as_nanos() * 1_000, self.work_ps()));
                }
            }
            Target::Model => {
                let longest = u128::from(self.durations.blocks().iter().copied().max().unwrap_or(0));
                let most = u128::from(BLOCK_MAX);
                if longest > most {
                    let what = format!("a block takes {}; the limit is {}", text_of(longest), text_of(most));
                    return Err(too_long(what, most, longest));
                }
                let work = self.work_ps();
                if work > VIRTUAL_WORK_PS_MAX {
                    let most = text_of(VIRTUAL_WORK_PS_MAX);
                    let what = format!("all blocks take {} together; the limit is {most}", text_of(work));
                    return Err(too_long(what, VIRTUAL_WORK_PS_MAX, work));
                }
            }
        }
        Ok(())
    }
}

/// The `--scale` of a power of ten that makes `is` at most `most`.
fn scale_to(most: u128, is: u128) -> String {
    let steps = [("1s=1ms", 1_000), ("1s=1us", 1_000_000), ("1s=1ns", 1_000_000_000)];
    let fits = |&&(_, by): &&(&str, u128)| is <= most.saturating_mul(by);
    steps.iter().find(fits).unwrap_or(&("1h=1ns", 1)).0.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_of_a_replay_that_is_too_long_is_a_scale_that_is_enough() {
        assert_eq!(scale_to(60, 59_000), "1s=1ms");
        assert_eq!(scale_to(60, 60_000), "1s=1ms");
        assert_eq!(scale_to(60, 60_001), "1s=1us");
        assert_eq!(scale_to(60, 59_000_000), "1s=1us");
        assert_eq!(scale_to(60, 59_000_000_000), "1s=1ns");
        assert_eq!(scale_to(1, u128::MAX), "1h=1ns");
    }
}
