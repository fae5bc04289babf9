//! What people write for a change: `0.5x`, `3us`, `NAME=0.5x`, `aic=36,aiv=72`.

use super::change::{Cores, KernelTime};
use super::limits::{CORES_MAX, THREADS_MAX};

/// A factor: `0.5x`, `0x`, `2x`.
///
/// ```
/// use ringlane_graph::what_if::parse::factor;
/// assert_eq!((factor("0.5x"), factor("0x"), factor("2"), factor("-1x")), (Some(0.5), Some(0.0), None, None));
/// ```
pub fn factor(text: &str) -> Option<f64> {
    let number: f64 = text.strip_suffix('x')?.parse().ok()?;
    (number.is_finite() && (0.0..=1e6).contains(&number)).then_some(number)
}

/// The multiple of a rate: `2x`, `0.5x`. Nothing moves at 0x.
///
/// ```
/// use ringlane_graph::what_if::parse::rate;
/// assert_eq!((rate("2x"), rate("0.5x"), rate("0x"), rate("2")), (Some(2.0), Some(0.5), None, None));
/// ```
pub fn rate(text: &str) -> Option<f64> {
    factor(text).filter(|factor| *factor >= 1e-6)
}

/// A time with its unit, in picoseconds: `3us`, `120ns`, `1.5ms`.
///
/// ```
/// use ringlane_graph::what_if::parse::picoseconds;
/// assert_eq!((picoseconds("3us"), picoseconds("1.5 ns"), picoseconds("3")), (Some(3_000_000), Some(1_500), None));
/// ```
pub fn picoseconds(text: &str) -> Option<u64> {
    let units = [("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("µs", 1e6), ("ms", 1e9), ("s", 1e12)];
    let (number, scale) =
        units.into_iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)))?;
    let number: f64 = number.trim_end().parse().ok()?;
    // A second is the longest that a block can take on a modelled chip.
    (number.is_finite() && (0.0..=1e12).contains(&(number * scale))).then(|| (number * scale).round() as u64)
}

/// `NAME=0.5x` or `NAME=3us`.
///
/// ```
/// use ringlane_graph::what_if::KernelTime;
/// use ringlane_graph::what_if::parse::kernel;
/// assert_eq!(kernel("PV=0.5x"), Some(("PV".to_string(), KernelTime::Factor(0.5))));
/// assert_eq!(kernel("PV"), None);
/// ```
pub fn kernel(text: &str) -> Option<(String, KernelTime)> {
    let (name, time) = text.rsplit_once('=')?;
    let time =
        factor(time).map(KernelTime::Factor).or_else(|| picoseconds(time).map(KernelTime::Picoseconds))?;
    (!name.is_empty()).then(|| (name.to_string(), time))
}

/// `aic=36,aiv=72`, or one of them; `threads=16`; `sms=264`.
///
/// ```
/// use ringlane_graph::what_if::Cores;
/// use ringlane_graph::what_if::parse::cores;
/// assert_eq!(cores("aic=36,aiv=72"), Ok(Cores::Of { aic: Some(36), aiv: Some(72) }));
/// assert_eq!(cores("threads=16"), Ok(Cores::Threads(16)));
/// assert_eq!(cores("sms=264"), Ok(Cores::Processors(264)));
/// assert_eq!(cores("gpu=1"), Err("gpu=1".to_string()));
/// ```
pub fn cores(text: &str) -> Result<Cores, String> {
    let (mut aic, mut aiv) = (None, None);
    if let Some(count) = text.strip_prefix("threads=") {
        let count = count.parse().ok().filter(|count| (1..=THREADS_MAX).contains(count)).ok_or(text)?;
        return Ok(Cores::Threads(count));
    }
    if let Some(count) = text.strip_prefix("sms=") {
        let count = count.parse().ok().filter(|count| (1..=CORES_MAX).contains(count)).ok_or(text)?;
        return Ok(Cores::Processors(count));
    }
    for part in text.split(',') {
        let (kind, count) = part.split_once('=').ok_or(part)?;
        let count = count.parse().ok().filter(|count| (1..=CORES_MAX).contains(count)).ok_or(part)?;
        let place = match kind {
            "aic" => &mut aic,
            "aiv" => &mut aiv,
            _ => return Err(part.to_string()),
        };
        if place.replace(count).is_some() {
            return Err(part.to_string());
        }
    }
    Ok(Cores::Of { aic, aiv })
}

/// `A->B`, or a cause.
///
/// ```
/// use ringlane_graph::what_if::parse::edge;
/// assert_eq!(edge("QK->PV"), Some(("QK".to_string(), "PV".to_string())));
/// assert_eq!(edge("war"), None);
/// ```
pub fn edge(text: &str) -> Option<(String, String)> {
    text.split_once("->").map(|(before, after)| (before.trim().to_string(), after.trim().to_string()))
}
