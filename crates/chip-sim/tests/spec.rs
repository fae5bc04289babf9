//! Chip files: the built-in ones match the design, and invalid ones are refused at the right line.

use ringlane_chip_sim::spec::{self, SpecError};
use ringlane_task::{ChipSpec, ControlCosts, Explain, HostMemory, LinkSpec, Rates, RecordMemory};

fn a2a3() -> &'static str {
    spec::builtin_text("a2a3sim").expect("a built-in chip")
}

/// The file of a2a3sim with one text replaced, which must occur once.
#[track_caller]
fn changed(from: &str, to: &str) -> String {
    assert_eq!(a2a3().matches(from).count(), 1, "{from}");
    a2a3().replacen(from, to, 1)
}

#[track_caller]
fn refused(text: &str, name: &str) -> SpecError {
    let error = spec::parse(text, "mine.toml").expect_err("it is refused");
    assert_eq!(error.name(), name, "{}", error.detail());
    for line in [error.to_string(), error.detail(), error.hint()] {
        assert!(!line.is_empty() && !line.contains('\n'), "{line:?}");
    }
    error
}

/// Asserts that a changed file is refused for a value, with the field, the value and the allowed values.
#[track_caller]
fn bad(from: &str, to: &str, field: &str, allowed: &str) {
    let text = changed(from, to);
    let line = 1 + text[..text.find(to).expect("it was put there")].matches('\n').count();
    let detail = refused(&text, "BadChipValue").detail();
    assert!(detail.starts_with(&format!("mine.toml:{line}: {field}: ")), "line {line}: {detail}");
    assert!(detail.contains(allowed), "{detail}");
}

#[test]
fn a2a3sim_matches_the_design() {
    let (ns, us) = (1_000, 1_000_000);
    let expected = ChipSpec {
        name: "a2a3sim".into(),
        about: "Ascend A2/A3, one die".into(),
        clusters: 24,
        aiv_per_cluster: 2,
        schedulers: 3,
        schedulers_max: 3,
        counter_hz: 50_000_000,
        pmu_counters: 8,
        host_memory: HostMemory::Mapped,
        dispatch_ahead: 1,
        costs: ControlCosts {
            dispatch_store: 10 * ns,
            poll: 100 * ns,
            dispatch_seen: 140 * ns,
            turn_around: 800 * ns,
            done_seen: 180 * ns,
            admit: 60 * ns,
            look_up: 40 * ns,
            insert: 30 * ns,
            wire: 40 * ns,
            resolve: 40 * ns,
            reclaim: 20 * ns,
            round: 20 * ns,
        },
        link: LinkSpec { latency: 5 * us, bytes_per_second: 25_000_000_000 },
        rates: Rates { aic_flops: 13e12, aiv_flops: 0.2e12, memory_bytes: 1.6e12 },
        default_block: 2 * us,
        silent_after: 10_000 * us,
        records: RecordMemory { buffers: 4, buffer_bytes: 64 << 10 },
        mailbox: [43_300_000, 8_080_000],
    };
    assert_eq!(spec::builtin("a2a3sim"), Some(expected));
}

#[test]
fn a5sim_differs_from_a2a3sim_as_designed() {
    let a2a3 = spec::builtin("a2a3sim").unwrap();
    let a5 = ChipSpec {
        name: "a5sim".into(),
        about: "Ascend A5, one device (2 dies)".into(),
        clusters: 36,
        schedulers_max: 5,
        counter_hz: 1_000_000_000,
        pmu_counters: 10,
        host_memory: HostMemory::Copied,
        rates: Rates { aic_flops: 26e12, aiv_flops: 0.4e12, memory_bytes: 3.2e12 },
        ..a2a3
    };
    assert_eq!(spec::builtin("a5sim"), Some(a5));
}

#[test]
fn a2a3_free_is_a2a3sim_whose_control_costs_nothing() {
    let a2a3 = spec::builtin("a2a3sim").unwrap();
    let free = spec::builtin("a2a3-free").unwrap();
    // Nor does recording: its buffers are as large as a file allows.
    let (about, records) = (free.about.clone(), RecordMemory { buffers: 64, buffer_bytes: 1 << 20 });
    let expected = ChipSpec {
        name: "a2a3-free".into(),
        about,
        dispatch_ahead: 0,
        costs: ControlCosts::default(),
        records,
        ..a2a3
    };
    assert_eq!(free, expected);
}

#[test]
fn every_built_in_name_has_a_chip_of_that_name() {
    for name in spec::NAMES.into_iter().chain(spec::EXAMPLES) {
        assert_eq!(spec::parse(spec::builtin_text(name).unwrap(), name).unwrap().name, name);
    }
    assert!(spec::builtin("a6sim").is_none() && spec::builtin("").is_none());
}

#[test]
fn a_number_outside_its_range_is_refused_with_the_range() {
    for value in ["0", "1025", "-1", "2.5", "\"24\"", "99999999999999999999999", "0x18", "true", "[24]"] {
        bad("clusters = 24 ", &format!("clusters = {value} "), "cores.clusters", "from 1 to 1024");
    }
    bad("aiv_per_cluster = 2", "aiv_per_cluster = 9", "cores.aiv_per_cluster", "from 1 to 8");
    bad("pmu_counters = 8", "pmu_counters = 0", "cores.pmu_counters", "from 1 to");
    bad("schedulers = 3", "schedulers = 4", "control.schedulers", "from 1 to 3");
    bad("schedulers = 3", "schedulers = 0", "control.schedulers", "from 1 to 3");
    bad("schedulers_max = 3", "schedulers_max = 65", "control.schedulers_max", "from 1 to 64");
    bad("dispatch_ahead = 1", "dispatch_ahead = 2", "control.dispatch_ahead", "from 0 to 1");
    bad("{ count = 4,", "{ count = 0,", "records.buffers.count", "from 1 to");
    bad("\"64 KiB\"", "\"1 B\"", "records.buffer.size", "from 1 KiB to 1 MiB");
}

#[test]
fn a_time_has_a_unit_and_is_at_most_a_second() {
    for value in
        ["100", "-100 ns", "100 sec", "1.0001 s", "0.0001 ns", "99999999999999999999 s", "", "ns", "1 GHz"]
    {
        bad(
            "\"100 ns\"",
            &format!("\"{value}\""),
            "dispatch.poll.time",
            "from 0 ps to 1 s, a number and its unit: ps",
        );
    }
    bad("\"10 ms\"", "\"0 ms\"", "control.silent_after.time", "from 1 ns to 1 s");
    // A unit is required even for 0.
    bad("time = \"100 ns\"", "time = 100", "dispatch.poll.time", "a number and its unit");
}

#[test]
fn a_rate_is_positive_and_has_a_unit_of_its_kind() {
    bad("\"13 TFLOP/s\"", "\"0 TFLOP/s\"", "rates.aic.rate", "from 1 FLOP/s");
    bad("\"0.2 TFLOP/s\"", "\"0.2 TB/s\"", "rates.aiv.rate", "TFLOP/s");
    bad("\"25 GB/s\"", "\"0 B/s\"", "link.bandwidth.rate", "from 1 B/s");
    bad("\"1.6 TB/s\"", "\"99999999 TB/s\"", "rates.memory.rate", "to 1000000 TB/s");
}

#[test]
fn a_counter_ticks_in_whole_picoseconds() {
    bad("\"50 MHz\"", "\"3 GHz\"", "control.counter", "the nearest are 2500 MHz and 3125 MHz");
    bad("\"50 MHz\"", "\"999 kHz\"", "control.counter", "from 1 MHz to 10 GHz");
    bad("\"50 MHz\"", "\"10.1 GHz\"", "control.counter", "from 1 MHz to 10 GHz");
    for (text, hertz) in [("1 MHz", 1_000_000), ("2.5 GHz", 2_500_000_000), ("10 GHz", 10_000_000_000)] {
        assert_eq!(spec::parse(&changed("50 MHz", text), "mine.toml").unwrap().counter_hz, hertz);
    }
}

#[test]
fn a_cost_without_a_source_is_refused() {
    let poll = "poll = { time = \"100 ns\", source = \"published 95–105 ns\" }";
    bad(
        poll,
        "poll = { time = \"100 ns\", source = \"\" }",
        "dispatch.poll.source",
        "where the number comes from",
    );
    bad(
        poll,
        "poll = { time = \"100 ns\", source = \"  \" }",
        "dispatch.poll.source",
        "where the number comes from",
    );
    bad(poll, "poll = \"100 ns\"", "dispatch.poll", "a table with time, source");
    let error = refused(&changed(poll, "poll = { time = \"100 ns\" }"), "MissingChipField");
    assert_eq!(error.detail(), "mine.toml:35: dispatch.poll.source is missing");
    assert_eq!(error.hint(), "for example: source = \"assumed\"");
}

#[test]
fn a_name_is_valid_in_a_file_name() {
    for name in ["", " ", "a/b", "a\\nb", "a\\u0000b", &"x".repeat(65)] {
        bad(
            "name = \"a2a3sim\"",
            &format!("name = \"{name}\""),
            "name",
            "1 to 64 printable characters without '/'",
        );
    }
    bad("about = \"Ascend A2/A3, one die\"", "about = \"\"", "about", "a description");
    bad("host = \"mapped\"", "host = \"shared\"", "memory.host", "\"mapped\", \"copied\"");
}

#[test]
fn an_unknown_field_is_reported_with_the_one_that_was_meant() {
    let error = refused(&changed("\npoll = ", "\npol = "), "UnknownChipField");
    assert_eq!(
        error.detail(),
        "mine.toml:35: dispatch.pol; known fields: store, seen, turn_around, done_seen, poll"
    );
    assert_eq!(error.hint(), "did you mean poll?");
    let error = refused(&changed("[schedule]", "[shcedule]"), "UnknownChipField");
    assert_eq!(error.hint(), "did you mean schedule?");
    let error = refused(&changed("\npoll = { time", "\npoll = { tiem"), "UnknownChipField");
    assert!(error.detail().starts_with("mine.toml:35: dispatch.poll.tiem; known fields: time, source"));
    let error = refused(&format!("{}colour = 'red'\n", a2a3()), "UnknownChipField");
    assert!(error.detail().starts_with("mine.toml:68: mailbox.colour; "), "{}", error.detail());
    assert!(error.hint().starts_with("remove it"));
}

/// Each field and each table is required: without it the chip is refused with exactly that one as missing.
#[test]
fn every_field_is_required() {
    let mut table = String::new();
    for (index, line) in a2a3().lines().enumerate() {
        if line.starts_with('[') {
            table = line.trim_matches(['[', ']']).to_string() + ".";
        }
        let Some((field, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) else { continue };
        let without: Vec<&str> =
            a2a3().lines().enumerate().filter(|(i, _)| *i != index).map(|(_, l)| l).collect();
        let detail = refused(&without.join("\n"), "MissingChipField").detail();
        assert!(detail.ends_with(&format!(": {table}{field} is missing")), "{detail}");
    }
    let detail = refused("", "MissingChipField").detail();
    assert_eq!(detail, "mine.toml:1: name is missing");
}

#[test]
fn a_missing_field_is_reported_at_the_line_of_its_table() {
    let error =
        refused(&changed("insert = { time = \"30 ns\", source = \"assumed\" }", ""), "MissingChipField");
    assert_eq!(error.detail(), "mine.toml:38: submit.insert is missing");
    assert_eq!(error.hint(), "for example: insert = { time = \"100 ns\", source = \"assumed\" }");
}

#[test]
fn invalid_toml_is_refused_at_its_line() {
    for (from, to, line) in [
        ("name = \"a2a3sim\"", "name = \"a2a3sim", 6),
        ("[cores]", "[cores", 9),
        ("clusters = 24 ", "clusters = 24 clusters = 25 ", 10),
        ("clusters = 24 ", "aiv_per_cluster = 2\nclusters = 24 ", 12),
    ] {
        let detail = refused(&changed(from, to), "ChipSyntax").detail();
        assert!(detail.starts_with(&format!("mine.toml:{line}: ")), "{detail}");
    }
    refused(&"[".repeat(100_000), "ChipSyntax");
    refused(&format!("a = {}", "[".repeat(100_000)), "ChipSyntax");
}

#[test]
fn a_user_file_is_loaded_or_refused_with_a_named_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.toml");
    let load = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        spec::load(&path)
    };
    assert_eq!(load(a2a3().as_bytes()).unwrap(), spec::builtin("a2a3sim").unwrap());
    assert_eq!(load(a2a3().replace('\n', "\r\n").as_bytes()).unwrap(), spec::builtin("a2a3sim").unwrap());

    let large = format!("{}{}", a2a3(), "#".repeat(1 << 20));
    for (bytes, name) in [
        (&b"name = \"\n\xff\""[..], "ChipNotText"),
        (large.as_bytes(), "ChipTooLarge"),
        (b"\0\0\0", "ChipSyntax"),
        (b"", "MissingChipField"),
    ] {
        let error = load(bytes).unwrap_err();
        assert_eq!(error.name(), name, "{}", error.detail());
        assert!(error.detail().starts_with(path.to_str().unwrap()), "{}", error.detail());
    }
    assert!(load(b"name = \"\n\xff\"").unwrap_err().detail().contains("mine.toml:2: byte 9"));
}

#[test]
fn a_missing_file_is_refused_with_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().to_path_buf(), dir.path().join("none.toml")] {
        let error = spec::load(&path).unwrap_err();
        assert_eq!(error.name(), "CannotReadChip");
        assert!(error.detail().starts_with(path.to_str().unwrap()), "{}", error.detail());
        assert!(error.hint().contains("spec::builtin_text(\"a2a3sim\")"), "{}", error.hint());
    }
    // The name of a built-in chip where a file is expected.
    let error = spec::load("a5sim".as_ref()).unwrap_err();
    assert_eq!(error.hint(), "a5sim comes with ringlane: `spec::builtin(\"a5sim\")`");
}

/// The line of a field in a chip file: `poll` in the table `[dispatch]`.
fn line_of<'a>(text: &'a str, table: &str, field: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("[{table}]\n")).expect("the table is there");
    rest.lines().find(|line| line.starts_with(&format!("{field} = "))).expect("the field is there")
}

#[test]
fn the_table_in_the_documentation_matches_the_files() {
    let page = include_str!("../../../docs/chips.md");
    let mut fields = 0;
    for row in page
        .lines()
        .filter(|row| row.contains("ns |") || row.contains("s | published") || row.contains("| assumed"))
    {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, _, names, a2a3, a5, source, _] = cells[..] else { panic!("{row}") };
        for (i, name) in names.split(" × ").enumerate() {
            let (table, field) = name.trim_matches('`').split_once('.').expect("a table and a field");
            for (chip, value) in [("a2a3sim", a2a3), ("a5sim", a5)] {
                let line = line_of(spec::builtin_text(chip).unwrap(), table, field);
                let value = value.split(" × ").nth(i).expect("one for each field");
                assert!(
                    line.contains(&format!("= \"{value}\",")) || line.contains(&format!("= {value},")),
                    "{line}: {row}"
                );
                let first = source.split([' ', ',']).next().expect("a word");
                assert!(line.contains(&format!("source = \"{first}")), "{line}: {row}");
            }
            fields += 1;
        }
    }
    // All fields with a source: 12 costs of control, 2 of the link, 3 rates, 2 of the mailbox, 2 times, 2 of the
    // records.
    assert_eq!(fields, 23);
    assert_eq!(a2a3().matches(", source = ").count(), fields);
}
