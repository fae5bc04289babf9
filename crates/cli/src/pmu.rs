//! `--pmu[=GROUP]`: a group of hardware counters, by number or by name.

use ringlane_probe::pmu::Group;
use ringlane_task::Explain;

use crate::errors::CliError;

/// What a bare `--pmu` asks for.
pub const DEFAULT: &str = "basic";

/// The number of a group.
pub fn group(text: &str) -> Result<i32, CliError> {
    let group = Group::parse(text).map_err(|error| {
        let allowed = error.hint().trim_start_matches("use ").to_string();
        CliError::bad_value("--pmu", text, allowed, "--pmu=cache")
    })?;
    Ok(group.number().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_a_number_and_a_name() {
        for known in Group::ALL {
            let number = i32::from(known.number());
            assert_eq!((group(known.name()).unwrap(), group(&number.to_string()).unwrap()), (number, number));
        }
        assert_eq!(group(DEFAULT).unwrap(), i32::from(Group::default().number()));
        for bad in ["99", "-1", "", "02", "Cache"] {
            assert!(group(bad).is_err(), "{bad}");
        }
    }
}
