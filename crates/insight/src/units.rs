//! Numbers as people read them.

/// Ticks of a counter as microseconds; a clock that is not known is taken to tick once a second.
///
/// ```
/// assert_eq!(ringlane_insight::units::microseconds(75.0, 50_000_000), 1.5);
/// ```
pub fn microseconds(ticks: f64, clock_freq_hz: u64) -> f64 {
    ticks * 1e6 / clock_freq_hz.max(1) as f64
}

/// A time in the unit that fits it.
///
/// ```
/// use ringlane_insight::units::time_text;
/// assert_eq!([0.0, 0.0421, 81.0, 2_500.0, 3.2e6].map(time_text), ["0 ns", "42.1 ns", "81.0 µs", "2.5 ms", "3.20 s"]);
/// ```
pub fn time_text(us: f64) -> String {
    match us {
        0.0 => "0 ns".to_string(),
        us if us < 0.0 => format!("-{}", time_text(-us)),
        us if us < 1.0 => format!("{:.1} ns", us * 1e3),
        us if us < 1e3 => format!("{us:.1} µs"),
        us if us < 1e6 => format!("{:.1} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

/// Bytes in the unit that fits them.
///
/// ```
/// use ringlane_insight::units::bytes_text;
/// assert_eq!([512, 6_144, 9_437_184, 3 << 29].map(bytes_text), ["512 B", "6.0 KiB", "9.0 MiB", "1.50 GiB"]);
/// ```
pub fn bytes_text(bytes: u64) -> String {
    match bytes {
        b if b < 1 << 10 => format!("{b} B"),
        b if b < 1 << 20 => format!("{:.1} KiB", b as f64 / 1024.0),
        b if b < 1 << 30 => format!("{:.1} MiB", b as f64 / (1 << 20) as f64),
        b => format!("{:.2} GiB", b as f64 / (1 << 30) as f64),
    }
}

/// A share as a percentage with one digit after the point; nothing is negative that is shown as zero.
///
/// ```
/// use ringlane_insight::units::percent_text;
/// assert_eq!([0.4567, -0.012, -0.0001].map(percent_text), ["45.7 %", "-1.2 %", "0.0 %"]);
/// ```
pub fn percent_text(share: f64) -> String {
    let text = format!("{:.1} %", share * 100.0);
    if text == "-0.0 %" { "0.0 %".to_string() } else { text }
}

/// A count with its noun, in the plural where that is due.
///
/// ```
/// use ringlane_insight::units::counted;
/// assert_eq!((counted(1, "block"), counted(12_345, "block")), ("1 block".into(), "12,345 blocks".into()));
/// ```
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// The word that goes with a count: the first with one, the second with any other.
///
/// ```
/// use ringlane_insight::units::agreeing;
/// assert_eq!([0, 1, 2].map(|count| agreeing(count, "is", "are")), ["are", "is", "are"]);
/// ```
pub const fn agreeing(count: u64, one: &'static str, other: &'static str) -> &'static str {
    if count == 1 { one } else { other }
}

/// A count with a comma after each three digits.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
