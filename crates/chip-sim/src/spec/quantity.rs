//! Numbers with units, read exactly: `8.08 µs` is 8,080,000 ps, and never passes through floating point.

/// A type of quantity: its key in the file, its units, and an example.
#[derive(Debug)]
pub struct Quantity {
    /// The key in the file: `{ time = … }`.
    pub key: &'static str,
    /// The name of the quantity in errors.
    pub what: &'static str,
    /// A valid value.
    pub example: &'static str,
    /// Units from the smallest to the largest, as multiples of the smallest.
    units: &'static [(&'static str, u64)],
    /// Other spellings of units.
    aliases: &'static [(&'static str, &'static str)],
}

const KILO: u64 = 1_000;
const MEGA: u64 = 1_000_000;
const GIGA: u64 = 1_000_000_000;
const TERA: u64 = 1_000_000_000_000;
const PETA: u64 = 1_000_000_000_000_000;

/// Picoseconds.
pub const TIME: Quantity = Quantity {
    key: "time",
    what: "a time",
    example: "100 ns",
    units: &[("ps", 1), ("ns", KILO), ("µs", MEGA), ("ms", GIGA), ("s", TERA)],
    // Greek mu looks the same as the micro sign, and `us` is what most keyboards have.
    aliases: &[("us", "µs"), ("μs", "µs")],
};

/// Hertz.
pub const FREQUENCY: Quantity = Quantity {
    key: "frequency",
    what: "a frequency",
    example: "50 MHz",
    units: &[("Hz", 1), ("kHz", KILO), ("MHz", MEGA), ("GHz", GIGA)],
    aliases: &[],
};

/// Bytes per second, in powers of 1000.
pub const BANDWIDTH: Quantity = Quantity {
    key: "rate",
    what: "a rate",
    example: "25 GB/s",
    units: &[("B/s", 1), ("kB/s", KILO), ("MB/s", MEGA), ("GB/s", GIGA), ("TB/s", TERA)],
    aliases: &[("KB/s", "kB/s")],
};

/// Floating-point operations per second.
pub const FLOPS: Quantity = Quantity {
    key: "rate",
    what: "a rate",
    example: "13 TFLOP/s",
    units: &[("FLOP/s", 1), ("MFLOP/s", MEGA), ("GFLOP/s", GIGA), ("TFLOP/s", TERA), ("PFLOP/s", PETA)],
    aliases: &[],
};

/// Bytes, in powers of 1024.
pub const SIZE: Quantity = Quantity {
    key: "size",
    what: "a size",
    example: "64 KiB",
    units: &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20)],
    aliases: &[],
};

impl Quantity {
    /// Parses a number and its unit. `None` if the text is something else, if the value is not a multiple of the
    /// smallest unit, or if it does not fit into 64 bits.
    pub fn read(&self, text: &str) -> Option<u64> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit) = (&text[..end], text[end..].trim_start());
        exactly(number, self.scale(unit)?)
    }

    fn scale(&self, unit: &str) -> Option<u64> {
        let alias = self.aliases.iter().find(|(alias, _)| *alias == unit);
        let unit = alias.map_or(unit, |(_, unit)| unit);
        self.units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale)
    }

    /// Formats a value in the largest unit of which it is a multiple.
    pub fn show(&self, value: u64) -> String {
        let fits = |(_, scale): &&(&str, u64)| *scale <= value && value.is_multiple_of(*scale);
        let (unit, scale) = self.units.iter().rev().find(fits).unwrap_or(&self.units[0]);
        format!("{} {unit}", value / scale)
    }

    /// The names of the units.
    pub fn unit_names(&self) -> String {
        let names: Vec<&str> = self.units.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }
}

/// Formats a time in picoseconds as in a chip file: `2 µs`.
pub fn time_text(picoseconds: u64) -> String {
    TIME.show(picoseconds)
}

/// Formats a frequency as in a chip file: `50 MHz`.
pub fn frequency_text(hertz: u64) -> String {
    FREQUENCY.show(hertz)
}

/// Converts a decimal number to the smallest unit.
fn exactly(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(scale)?;
    // A value with more than 18 nonzero digits is finer than every unit here.
    let fraction = fraction.trim_end_matches('0');
    let places = u32::try_from(fraction.len()).ok().filter(|&places| places <= 18)?;
    let parts = 10u128.pow(places);
    let scaled = fraction.parse::<u128>().unwrap_or(0) * u128::from(scale);
    let part = scaled.is_multiple_of(parts).then(|| scaled / parts)?;
    whole.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_parsed_exactly() {
        for (kind, text, value) in [
            (&TIME, "8.08 µs", Some(8_080_000)),
            (&TIME, "43.3us", Some(43_300_000)),
            (&TIME, " 0.001  ns ", Some(1)),
            (&TIME, "1 μs", Some(MEGA)),
            (&TIME, "0.0010 ns", Some(1)),
            (&TIME, "0 s", Some(0)),
            (&FREQUENCY, "2.5 GHz", Some(2_500_000_000)),
            (&BANDWIDTH, "1.6 TB/s", Some(1_600_000_000_000)),
            (&FLOPS, "0.2 TFLOP/s", Some(200_000_000_000)),
            (&SIZE, "1.5 KiB", Some(1536)),
            (&SIZE, "18446744073709551615 B", Some(u64::MAX)),
        ] {
            assert_eq!(kind.read(text), value, "{text}");
        }
    }

    #[test]
    fn text_that_is_not_exactly_a_quantity_is_refused() {
        for text in
            ["", "100", "ns", "-1 ns", "+1 ns", "1e3 ns", ".5 ns", "5. ns", "1.2.3 ns", "1 NS", "1 n s"]
        {
            assert_eq!(TIME.read(text), None, "{text}");
        }
        // Finer than the smallest unit, or larger than 64 bits.
        for text in
            ["0.0005 ns", "0.5 ps", "18446744073709551616 ps", "18446745 s", "99999999999999999999999 ps"]
        {
            assert_eq!(TIME.read(text), None, "{text}");
        }
        let long = format!("0.{}1 s", "0".repeat(5000));
        assert_eq!(TIME.read(&long), None);
        assert_eq!(SIZE.read("64 KB"), None, "KB is 1000 to some and 1024 to others");
    }

    #[test]
    fn a_formatted_value_parses_to_the_same_value() {
        for value in [0, 1, 999, 1_000, 1_500, 2_000_000, TERA, u64::MAX] {
            assert_eq!(TIME.read(&TIME.show(value)), Some(value), "{}", TIME.show(value));
        }
        assert_eq!((time_text(2_000_000), frequency_text(50 * MEGA)), ("2 µs".into(), "50 MHz".into()));
    }
}
