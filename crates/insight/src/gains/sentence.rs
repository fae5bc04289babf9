//! What limits a run and what each remedy would gain, in one line.

use super::{GAIN_MIN, Remedy};
use crate::units::percent_text;
use crate::verdict::Limit;

/// At most this number of remedies is in the line.
const REMEDIES_MAX: usize = 6;

/// At most this number of them is faster kernels, so that other remedies are in it too.
const KERNELS_MAX: usize = 2;

/// The line. `most` is the gain that no order of these blocks can exceed.
pub(super) fn of(limit: Option<Limit>, remedies: &[(&Remedy, f64)], most: f64) -> String {
    let most = percent_text(most.max(0.0));
    let bound = format!("no order of these blocks on these cores gains more than {most}");
    let Some(limit) = limit else {
        let best = remedies.first().map_or(String::new(), |(remedy, gain)| {
            format!(" (the best, {}: {})", remedy.words, percent_text(*gain))
        });
        return format!("No single change would gain {}{best}; {bound}.", percent_text(GAIN_MIN));
    };
    let mut kernels = 0;
    let is_shown = |(remedy, gain): &&(&Remedy, f64)| {
        kernels += usize::from(remedy.lifts == Limit::Dependencies);
        // What more cores gain where memory is the limit is the bandwidth that they bring.
        let is_memory = limit == Limit::Memory && remedy.lifts == Limit::Cores;
        *gain >= GAIN_MIN && !is_memory && (remedy.lifts != Limit::Dependencies || kernels <= KERNELS_MAX)
    };
    let shown = remedies.iter().filter(is_shown).take(REMEDIES_MAX);
    let text = |(at, (remedy, gain)): (usize, &(&Remedy, f64))| match at {
        0 => format!("{} would make the run {} shorter", remedy.words, percent_text(*gain)),
        _ => format!("{} {}", remedy.words, percent_text(*gain)),
    };
    let parts: Vec<String> = shown.enumerate().map(text).collect();
    format!("{}: {}; {bound}.", limit.label(), parts.join(", "))
}
