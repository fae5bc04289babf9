//! Loading any file gives a chip within its limits or an error of single lines, never a panic.

use proptest::prelude::*;
use ringlane_chip_sim::spec;
use ringlane_task::Explain;

/// Words and symbols of chip files, which get further into the parser than random text.
const PIECES: [&str; 24] = [
    "name",
    "cores",
    "clusters",
    "dispatch",
    "poll",
    "time",
    "source",
    "[",
    "]",
    "{",
    "}",
    " = ",
    "\"",
    "\n",
    ",",
    ".",
    "100 ns",
    "µs",
    "18446744073709551615",
    "-1",
    "1e308",
    "'''",
    "#",
    "\u{0}",
];

/// Checks the properties of every result.
fn check(text: &str) {
    match spec::parse(text, "any") {
        Ok(chip) => {
            assert!((1..=1024).contains(&chip.clusters) && (1..=8).contains(&chip.aiv_per_cluster));
            assert!(
                1 <= chip.schedulers && chip.schedulers <= chip.schedulers_max && chip.schedulers_max <= 64
            );
            assert_eq!(1_000_000_000_000 % chip.counter_hz, 0);
            assert!(
                chip.rates.aic_flops > 0.0 && chip.rates.aiv_flops > 0.0 && chip.rates.memory_bytes > 0.0
            );
            assert!(chip.link.bytes_per_second > 0 && chip.dispatch_ahead <= 1 && chip.silent_after > 0);
            assert!(!chip.name.is_empty() && !chip.name.contains('/'));
        }
        Err(error) => {
            for line in [error.summary(), error.detail(), error.hint()] {
                assert!(!line.is_empty() && !line.contains(char::is_control), "{line:?}");
                assert!(line.chars().count() < 1000, "{line}");
            }
        }
    }
}

/// A built-in file in which some places were overwritten with pieces.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0usize..12, prop::sample::select(&PIECES[..]));
    (prop::sample::select(&["a2a3sim", "a5sim", "a2a3-free"][..]), prop::collection::vec(edit, 1..4))
        .prop_map(|(name, edits)| {
            let mut text: Vec<char> = spec::builtin_text(name).expect("a built-in chip").chars().collect();
            for (at, length, piece) in edits {
                let start = at.index(text.len());
                let end = (start + length).min(text.len());
                text.splice(start..end, piece.chars());
            }
            text.into_iter().collect()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn random_text_never_panics(text in "\\PC{0,200}") {
        check(&text);
    }

    #[test]
    fn random_pieces_never_panic(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)) {
        check(&pieces.concat());
    }

    #[test]
    fn mutated_files_never_panic(text in mutated()) {
        check(&text);
    }

    #[test]
    fn any_value_of_a_field_never_panics(value in "\\PC{0,40}", index in any::<prop::sample::Index>()) {
        let text = spec::builtin_text("a5sim").expect("a built-in chip");
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        let fields: Vec<usize> = (0..lines.len()).filter(|&i| lines[i].contains(" = ")).collect();
        let at = fields[index.index(fields.len())];
        let (name, _) = lines[at].split_once(" = ").expect("it has one");
        lines[at] = format!("{name} = {value}");
        check(&lines.join("\n"));
    }

    #[test]
    fn random_bytes_in_a_file_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), &bytes).expect("it can be written");
        if let Err(error) = spec::load(file.path()) {
            assert!(!error.detail().contains(char::is_control), "{}", error.detail());
        }
    }
}
