//! Every limit and default of the benchmarks: unit, reason, and what happens when it is reached.

use std::time::Duration;

/// Tasks of one scope. A longer workload goes on in the next scope, so that the rings of the first can be
/// reclaimed; a quarter of the default task window.
pub const SCOPE_TASKS: usize = 4096;

/// Time for the repetitions of one measurement, unless `--seconds` gives another.
pub const MEASUREMENT_TIME: Duration = Duration::from_millis(300);

/// The longest `--seconds` that is taken: a day. More is refused as a bad value.
pub const SECONDS_MAX: f64 = 86_400.0;

/// Repetitions of one measurement, however little time there is: fewer have no quartiles.
pub const REPETITIONS_MIN: usize = 5;

/// Repetitions of one measurement that takes long by itself, however little time there is.
pub const REPETITIONS_MIN_LONG: usize = 3;

/// From here on one repetition takes long.
pub const LONG_REPETITION: Duration = Duration::from_millis(200);

/// How long a short variant is run again and again in one round, where a longer one is measured beside it: enough for
/// a mean, and little beside the longest runs.
pub const VARIANT_TIME: Duration = Duration::from_millis(50);

/// Repetitions of one measurement, however much time there is; 8 bytes are kept of each.
pub const REPETITIONS_MAX: usize = 10_000;

/// Time that threads, added up, may be without a core in a repetition, against the time that it takes. Beyond it the
/// repetition is disturbed and does not count if there are enough others.
pub const DISTURBED_SHARE: f64 = 0.1;

const _: () = assert!(REPETITIONS_MIN_LONG <= REPETITIONS_MIN && REPETITIONS_MIN < REPETITIONS_MAX);
const _: () = assert!(SCOPE_TASKS as u64 * 4 <= ringlane_task::Resource::TaskWindow.range().default);
