//! Durations: a number of a file, in the unit of its format, as ticks of a clock of 1 GHz.

use std::fmt;
use std::str::FromStr;

use super::ImportError;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
    Minutes,
    Hours,
}

impl Unit {
    const NAMES: [(&'static str, Unit); 7] = [
        ("ns", Unit::Nanoseconds),
        ("us", Unit::Microseconds),
        ("µs", Unit::Microseconds),
        ("ms", Unit::Milliseconds),
        ("s", Unit::Seconds),
        ("min", Unit::Minutes),
        ("h", Unit::Hours),
    ];

    pub(super) const fn nanoseconds(self) -> f64 {
        match self {
            Unit::Nanoseconds => 1.0,
            Unit::Microseconds => 1e3,
            Unit::Milliseconds => 1e6,
            Unit::Seconds => 1e9,
            Unit::Minutes => 60e9,
            Unit::Hours => 3600e9,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Unit::NAMES.iter().find(|(known, _)| *known == name).map(|&(_, unit)| unit)
    }
}

/// A number with a unit, in nanoseconds. Without a unit it has the `default` one, if there is one.
pub(super) fn parse_nanoseconds(text: &str, default: Option<Unit>) -> Option<f64> {
    let text = text.trim();
    let letters = text.len() - text.trim_end_matches(|c: char| c.is_alphabetic() || c == 'µ').len();
    // `nan`, `inf` and the `e` of an exponent are parts of numbers.
    if let (Ok(number), Some(unit)) = (text.parse::<f64>(), default) {
        return Some(number * unit.nanoseconds());
    }
    let (number, unit) = text.split_at(text.len() - letters);
    let number: f64 = number.trim_end().parse().ok()?;
    Some(number * Unit::from_name(unit)?.nanoseconds())
}

/// How much time of the result a time of the file is: `1s=1us`.
///
/// ```
/// use ringlane_graph::import::Scale;
/// let scale: Scale = "1s=1us".parse()?;
/// assert_eq!(scale.to_string(), "1s=1us");
/// assert!("1s=0us".parse::<Scale>().is_err());
/// # Ok::<(), ringlane_graph::import::ImportError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    text: String,
    /// Nanoseconds of the result for `from` nanoseconds of the file: a fraction, so that powers of ten stay exact.
    to: f64,
    from: f64,
}

impl Default for Scale {
    fn default() -> Self {
        Scale { text: "1s=1s".to_string(), to: 1.0, from: 1.0 }
    }
}

impl FromStr for Scale {
    type Err = ImportError;

    fn from_str(text: &str) -> Result<Self, ImportError> {
        let bad = |what: &str| ImportError::BadScale { text: text.to_string(), what: what.to_string() };
        let (from, to) = text.split_once('=').ok_or_else(|| bad("there is no `=`"))?;
        let side = |side: &str| match parse_nanoseconds(side, None) {
            None => Err(bad(&format!("{side:?} is not a number with a unit"))),
            Some(time) if time.is_finite() && time > 0.0 => Ok(time),
            Some(_) => Err(bad(&format!("{side:?} is not a time above 0"))),
        };
        let (from, to) = (side(from)?, side(to)?);
        Ok(Scale { text: text.to_string(), to, from })
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Scale {
    /// Ticks of 1 ns for nanoseconds of the file, rounded; it may be more than any limit, and is not if it is no number.
    pub(super) fn ticks(&self, nanoseconds: f64) -> f64 {
        if self.to == self.from {
            return nanoseconds.round();
        }
        self.of(nanoseconds).round()
    }

    /// What a time becomes, in its own unit.
    pub(crate) fn of(&self, time: f64) -> f64 {
        time * self.to / self.from
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::Explain;

    #[test]
    fn a_scale_keeps_powers_of_ten_exact() {
        let scale: Scale = "1s=1us".parse().unwrap();
        for seconds in [0.0, 1.0, 3.0, 7.25, 123_456.789] {
            assert_eq!(scale.ticks(seconds * 1e9), (seconds * 1e3).round(), "{seconds}");
        }
        assert_eq!(Scale::default().ticks(0.1 * 1e9), 1e8);
        assert_eq!("2 ms = 1h".parse::<Scale>().unwrap().ticks(2e6), 3600e9);
        assert_eq!("1µs=10ns".parse::<Scale>().unwrap().ticks(1e3), 10.0);
    }

    #[test]
    fn what_is_no_scale_is_refused_by_name() {
        for text in [
            "",
            "=",
            "1s",
            "1s=",
            "1=1",
            "1s=1parsec",
            "0s=1s",
            "1s=-1s",
            "1s=nan",
            "infs=1s",
            "s=s",
            "1s=1s=1s",
        ] {
            assert_eq!(text.parse::<Scale>().unwrap_err().name(), "BadScale", "{text}");
        }
    }

    #[test]
    fn a_number_may_have_a_unit() {
        let us = |text| parse_nanoseconds(text, Some(Unit::Microseconds));
        assert_eq!(us("2"), Some(2e3));
        assert_eq!(us(" 1e3 "), Some(1e6));
        assert_eq!(us("1.5ms"), Some(1.5e6));
        assert_eq!(us("2 s"), Some(2e9));
        assert!(us("nan").unwrap().is_nan());
        assert_eq!(us("-1"), Some(-1e3));
        for text in ["", "x", "1 2", "ms", "1xs", "1.5.ms"] {
            assert_eq!(us(text), None, "{text}");
        }
    }
}
