//! `--pmu[=GROUP]`: a group of hardware counters, by number or by name.
//!
//! The one place of the command that knows the groups; the instrument's own table belongs here.

use crate::errors::CliError;

/// What a bare `--pmu` asks for: the chip's default.
pub const DEFAULT: &str = "0";

/// Numbers and names. Group 0 is whichever the chip takes by default.
const GROUPS: [(i32, &str); 4] = [(0, "default"), (1, "instructions"), (2, "cache"), (3, "branches")];

/// The number of a group.
pub fn group(text: &str) -> Result<i32, CliError> {
    let known = GROUPS.into_iter().find(|(number, name)| *name == text || number.to_string() == text);
    known.map(|(number, _)| number).ok_or_else(|| {
        let allowed = GROUPS.map(|(number, name)| format!("{number} ({name})")).join(", ");
        CliError::bad_value("--pmu", text, allowed, "--pmu")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_a_number_and_a_name() {
        for (number, name) in GROUPS {
            assert_eq!((group(name).unwrap(), group(&number.to_string()).unwrap()), (number, number));
        }
        assert_eq!(group(DEFAULT).unwrap(), 0);
        for bad in ["99", "-1", "", "02", "Cache"] {
            assert!(group(bad).is_err(), "{bad}");
        }
    }
}
