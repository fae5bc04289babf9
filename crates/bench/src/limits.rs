//! All limits and defaults of the benchmarks: unit, reason, and what happens at the limit.

use std::time::Duration;

/// Tasks of one scope. A longer workload continues in the next scope, so that the rings of the first can be
/// reclaimed; a quarter of the default task window.
pub const SCOPE_TASKS: usize = 4096;

/// Time for the repetitions of one measurement, unless `--seconds` gives another.
pub const MEASUREMENT_TIME: Duration = Duration::from_millis(300);

/// The largest value of `--seconds`: a day. More is refused as a bad value.
pub const SECONDS_MAX: f64 = 86_400.0;

/// The minimum number of repetitions of one measurement, regardless of time: fewer have no quartiles.
pub const REPETITIONS_MIN: usize = 5;

/// The minimum number of repetitions of a measurement with long repetitions, regardless of time.
pub const REPETITIONS_MIN_LONG: usize = 3;

/// A repetition that takes this long is a long one.
pub const LONG_REPETITION: Duration = Duration::from_millis(200);

/// How long a short variant is repeated in one round, if a longer one is measured with it: enough for a mean, and
/// little compared with the longest runs.
pub const VARIANT_TIME: Duration = Duration::from_millis(50);

/// The maximum number of repetitions of one measurement, regardless of time; each takes 8 bytes.
pub const REPETITIONS_MAX: usize = 10_000;

/// The maximum number of recordings of one program whose predictions are checked, regardless of time.
pub const PREDICTED_ROUNDS_MAX: usize = 100;

/// Time that threads, added up, may be without a core in a repetition, as a share of its duration. A repetition with
/// more is disturbed, and does not count if there are enough others.
pub const DISTURBED_SHARE: f64 = 0.1;

const _: () = assert!(REPETITIONS_MIN_LONG <= REPETITIONS_MIN && REPETITIONS_MIN < REPETITIONS_MAX);
const _: () = assert!(SCOPE_TASKS as u64 * 4 <= ringlane_task::Resource::TaskWindow.range().default);
