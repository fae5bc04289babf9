//! `--chip-swimlane 2`: a number after an option whose value may be left out belongs to the option.
//!
//! The parser takes such a value after `=` only, because the next word may be a scene. A number is none, unless a scene has
//! that name.

use std::ffi::OsString;

use ringlane_scenes::Scene;

use super::dfx::takes_optional_number;

/// The words of a command line, with such numbers joined to their options.
pub fn joined(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words.into_iter().peekable();
    let mut joined = Vec::new();
    while let Some(mut word) = words.next() {
        if word == "--" {
            joined.push(word);
            break;
        }
        let takes_number =
            word.to_str().and_then(|word| word.strip_prefix("--")).is_some_and(takes_optional_number);
        if let Some(number) = words.next_if(|next| takes_number && next.to_str().is_some_and(is_number)) {
            word.push("=");
            word.push(number);
        }
        joined.push(word);
    }
    joined.extend(words);
    joined
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()) && Scene::find(word).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(line: &str) -> String {
        let words = super::joined(line.split(' ').map(OsString::from));
        words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_number_after_a_swimlane_or_counters_is_their_level_or_group() {
        assert_eq!(joined("run vector --chip-swimlane 2"), "run vector --chip-swimlane=2");
        assert_eq!(joined("run --enable-profiling 1 vector"), "run --enable-profiling=1 vector");
        assert_eq!(joined("run vector --pmu 4 --enable-pmu 2"), "run vector --pmu=4 --enable-pmu=2");
    }

    #[test]
    fn other_words_stay_words() {
        for line in [
            "run --chip-swimlane vector",
            "run --chip-swimlane=1 2",
            "run vector --seed 2 --dump-tensor 3",
            "run vector --pmu --chip-swimlane",
            "worker --workers 2 -- run vector --chip-swimlane 2",
        ] {
            assert_eq!(joined(line), line);
        }
    }
}
