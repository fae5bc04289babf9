//! "Did you mean …": the name that was probably meant.
//!
//! A name is suggested if it is spelt nearly so, or, for an option, if it shares words with what was given or means the same. A
//! suggestion that is neither misleads: then there is none.

/// The known name that is nearest to what was given, if one is near enough to be a typing error.
pub fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let given = given.to_lowercase();
    let by_distance = |name: &&'a str| (edits(&given, &name.to_lowercase()), name.len());
    let near = known.iter().copied().min_by_key(by_distance)?;
    let limit = (near.chars().count().max(given.chars().count()) / 3).max(1);
    let is_start = given.len() >= 2 && near.to_lowercase().starts_with(&given);
    (is_start || edits(&given, &near.to_lowercase()) <= limit).then_some(near)
}

/// An option with all its names, without dashes; the first is the one that is shown.
pub struct OptionNames(pub Vec<String>);

/// Words in the names of options that say nothing of what the option is about.
const EMPTY_WORDS: [&str; 5] = ["enable", "with", "set", "no", "use"];

/// What people from other systems call some of the options.
const MEANINGS: [(&str, &str); 12] = [
    ("backend", "platform"),
    ("debug", "log"),
    ("device", "platform"),
    ("iterations", "rounds"),
    ("profile", "chip-swimlane"),
    ("repeat", "rounds"),
    ("target", "platform"),
    ("timeline", "chip-swimlane"),
    ("trace", "chip-swimlane"),
    ("verbose", "log"),
    ("counters", "pmu"),
    ("graph", "dep-gen"),
];

/// More than this many suggestions are none.
const SUGGESTIONS_MAX: usize = 3;

/// The options that were probably meant by one that does not exist, as `--this or --that`.
pub fn options(given: &str, known: &[OptionNames]) -> Option<String> {
    let given = given.split('=').next().unwrap_or_default().trim_start_matches('-');
    let given = given.to_lowercase().replace('_', "-");
    let near = [spelt_alike(&given, known), sharing_words(&given, known), meaning_the_same(&given, known)];
    let meant = near.into_iter().find(|meant| !meant.is_empty())?;
    let shown: Vec<String> = meant.iter().map(|name| format!("--{name}")).collect();
    (shown.len() <= SUGGESTIONS_MAX).then(|| shown.join(" or "))
}

/// The options whose best name has the highest score; none where no name has one.
fn best(known: &[OptionNames], score: impl Fn(&str) -> Option<u32>) -> Vec<&str> {
    let scored = known.iter().filter_map(|OptionNames(names)| {
        let score = names.iter().filter_map(|name| score(name)).max()?;
        Some((score, names.first()?.as_str()))
    });
    let scored: Vec<_> = scored.collect();
    let highest = scored.iter().map(|(score, _)| *score).max();
    scored.into_iter().filter(|(score, _)| Some(*score) == highest).map(|(_, name)| name).collect()
}

/// A letter in four may be wrong, or the end may be missing.
fn spelt_alike<'a>(given: &str, known: &'a [OptionNames]) -> Vec<&'a str> {
    let given = content(given);
    best(known, |name| {
        let name = content(name);
        let (edits, longer) = (edits(&given, &name), given.chars().count().max(name.chars().count()));
        let is_start = given.len() >= 3 && name.starts_with(&given);
        (is_start || edits <= (longer / 4).max(1)).then(|| u32::MAX - edits as u32)
    })
}

/// At least half of all words of both are common to them.
fn sharing_words<'a>(given: &str, known: &'a [OptionNames]) -> Vec<&'a str> {
    let given = content(given);
    let words: Vec<&str> = given.split('-').collect();
    best(known, |name| {
        let name = content(name);
        let others: Vec<&str> = name.split('-').collect();
        let common = words.iter().filter(|word| others.contains(word)).count();
        let all = words.len() + others.len() - common.min(others.len());
        (common > 0 && 2 * common >= all).then(|| (1000 * common / all) as u32)
    })
}

fn meaning_the_same<'a>(given: &str, known: &'a [OptionNames]) -> Vec<&'a str> {
    let given = content(given);
    let meant = MEANINGS.iter().find(|(word, _)| *word == given).map(|(_, option)| *option);
    best(known, |name| (Some(name) == meant).then_some(1))
}

/// A name without the words that say nothing of what it is about.
fn content(name: &str) -> String {
    let words: Vec<&str> = name.split('-').filter(|word| !EMPTY_WORDS.contains(word)).collect();
    words.join("-")
}

/// Insertions, deletions, replacements and exchanges of neighbours that lead from one word to the other.
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let replaced = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                let exchanged: usize = before[j - 2];
                least = least.min(exchanged + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["vector", "matmul", "paged_attention", "stream"];

    #[test]
    fn a_typing_error_finds_its_name() {
        assert_eq!(nearest("vectro", &KNOWN), Some("vector"));
        assert_eq!(nearest("Matmul", &KNOWN), Some("matmul"));
        assert_eq!(nearest("paged_atention", &KNOWN), Some("paged_attention"));
    }

    #[test]
    fn another_word_finds_none() {
        assert_eq!(nearest("conv2d", &KNOWN), None);
        assert_eq!(nearest("x", &[]), None);
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!((edits("kitten", "sitting"), edits("", "abc"), edits("abc", "abc")), (3, 3, 0));
        assert_eq!((edits("rnu", "run"), edits("ab", "ba"), edits("abc", "")), (1, 1, 3));
    }

    fn suggested(given: &str) -> Option<String> {
        let known = [
            &["chip"][..],
            &["chip-swimlane", "enable-profiling"],
            &["dist-swimlane"],
            &["dump-tensor", "dump-args"],
            &["log"],
            &["output"],
            &["platform"],
            &["pmu", "enable-pmu"],
            &["ring-args"],
            &["ring-dep-pool"],
            &["ring-heap"],
            &["ring-task-window"],
            &["scope-stats", "enable-scope-stats"],
            &["threads"],
        ];
        let known = known.map(|names| OptionNames(names.iter().map(ToString::to_string).collect()));
        options(given, &known)
    }

    #[test]
    fn an_option_spelt_nearly_so_is_suggested() {
        for (given, expected) in [
            ("--thread", "--threads"),
            ("--treads", "--threads"),
            ("--chip_swimlane", "--chip-swimlane"),
            ("--enable-pnu=2", "--pmu"),
            ("--out", "--output"),
            ("--plaftorm", "--platform"),
        ] {
            assert_eq!(suggested(given).as_deref(), Some(expected), "{given}");
        }
    }

    #[test]
    fn an_option_with_the_same_words_or_the_same_meaning_is_suggested() {
        for (given, expected) in [
            ("--tensor-dump", "--dump-tensor"),
            ("--swimlane", "--chip-swimlane or --dist-swimlane"),
            ("--output-dir", "--output"),
            ("--log-level", "--log"),
            ("--ring-window", "--ring-task-window"),
            ("--verbose", "--log"),
            ("--enable-trace", "--chip-swimlane"),
            ("--device", "--platform"),
        ] {
            assert_eq!(suggested(given).as_deref(), Some(expected), "{given}");
        }
    }

    #[test]
    fn an_option_that_is_near_in_no_way_is_not_suggested() {
        // The names of all of these are half the same letters as some option's.
        for given in ["--enable-foo", "--enable-cache-stat", "--ring-size", "--frobnicate", "-x", "--"] {
            assert_eq!(suggested(given), None, "{given}");
        }
    }
}
