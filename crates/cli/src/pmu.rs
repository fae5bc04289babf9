//! `--pmu[=GROUP]`: a group of counters, by number or by name; which ones there are depends on the platform.

use ringlane_engine::chip_runtime::{CounterGroup, Counters};
use ringlane_probe::pmu as processor;
use ringlane_task::{Explain, UnknownPmuGroup};

use crate::errors::CliError;
use ringlane::Platform;

/// What `--pmu` without a value asks for.
pub const DEFAULT: &str = "default";

/// The number of a group on a platform; 0 is its default.
pub fn group(text: &str, platform: Platform) -> Result<i32, CliError> {
    let refused = |hint: String, example: String| {
        let allowed = format!("{DEFAULT}, {}", hint.trim_start_matches("use "));
        CliError::bad_value("--pmu", text, allowed, example)
    };
    if text == DEFAULT {
        return Ok(0);
    }
    let groups: Vec<CounterGroup> = match platform.capabilities().counters {
        Counters::None => Vec::new(),
        Counters::Processor => processor::Group::ALL.map(of_processor).to_vec(),
        Counters::Own(groups) => groups.to_vec(),
    };
    let found = groups.iter().find(|group| group.name == text || group.number.to_string() == text);
    found.map(|group| group.number.into()).ok_or_else(|| {
        let error = UnknownPmuGroup::new(text, groups.iter().map(|group| (group.number, group.name)));
        refused(error.hint(), groups.get(1).map_or_else(String::new, |group| format!("--pmu={}", group.name)))
    })
}

fn of_processor(group: processor::Group) -> CounterGroup {
    CounterGroup { number: group.number(), name: group.name() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_chip_sim::pmu as model;

    #[test]
    fn a_group_has_a_number_and_a_name_on_each_platform() {
        let processor = processor::Group::ALL.map(|group| (group.name(), i32::from(group.number())));
        let model = model::Group::ALL.map(|group| (group.name(), i32::from(group.number())));
        let all = processor.map(|group| (Platform::Cpu, group)).into_iter();
        for (platform, (name, number)) in all.chain(model.map(|group| (Platform::A5sim, group))) {
            let read = [name, &number.to_string()].map(|text| group(text, platform).unwrap());
            assert_eq!(read, [number; 2]);
        }
        for platform in Platform::all() {
            assert_eq!(group(DEFAULT, platform).unwrap(), 0);
            for bad in ["99", "-1", "", "02", "Cache"] {
                assert!(group(bad, platform).is_err(), "{bad}");
            }
        }
    }
}
