//! `ringlane chips`: what is listed, what is printed, what is refused.

mod common;

use common::Sandbox;
use ringlane_chip_sim::spec;

#[test]
fn the_list_has_both_chips_with_their_cores_threads_counter_and_memory() {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&["chips"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    let row = |name: &str| {
        let line = answer.stdout.lines().find(|line| line.starts_with(name)).expect("it is listed");
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(
        row("name"),
        ["name", "models", "clusters", "cores", "control threads", "counter", "host memory"]
    );
    assert_eq!(
        row("a2a3sim"),
        ["a2a3sim", "Ascend A2/A3, one die", "24", "24 AIC, 48 AIV", "4", "50 MHz", "mapped"]
    );
    assert_eq!(
        row("a5sim"),
        ["a5sim", "Ascend A5, one device (2 dies)", "36", "36 AIC, 72 AIV", "4 of 6", "1 GHz", "copied"]
    );
    assert!(answer.stdout.contains("\n  a2a3-free  "), "{}", answer.stdout);
    assert!(sandbox.files().is_empty());
    let page = include_str!("../../../docs/chips.md");
    assert!(
        page.contains(&format!("$ ringlane chips\n{}```", answer.stdout)),
        "docs/chips.md has another table"
    );
}

#[test]
fn the_list_as_json_has_the_same_numbers() {
    let list = Sandbox::new().ringlane(&["chips", "--json"]).json();
    let names: Vec<_> = list["chips"].as_array().unwrap().iter().map(|chip| &chip["name"]).collect();
    assert_eq!(names, spec::NAMES);
    let expected = serde_json::json!({
        "name": "a5sim", "about": "Ascend A5, one device (2 dies)", "clusters": 36, "cores": 108, "aic": 36, "aiv": 72,
        "control_threads": 4, "control_threads_max": 6, "counter_hz": 1_000_000_000, "pmu_counters": 10,
        "host_memory": "copied",
    });
    assert_eq!(list["chips"][1], expected);
    assert_eq!(list["examples"][0]["name"], "a2a3-free");
}

#[test]
fn a_shown_chip_is_a_file_that_can_be_read_back() {
    let sandbox = Sandbox::new();
    for name in spec::NAMES.into_iter().chain(spec::EXAMPLES) {
        let answer = sandbox.ringlane(&["chips", "show", name]);
        assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
        let path = sandbox.path().join("mine.toml");
        std::fs::write(&path, &answer.stdout).unwrap();
        assert_eq!(spec::load(&path).unwrap(), spec::builtin(name).unwrap());
    }
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    for (arguments, error, detail, hint) in [
        (
            &["chips", "show", "a6sim"][..],
            "BadValue",
            "\"a6sim\"; allowed: a2a3sim, a5sim, a2a3-free",
            "a5sim",
        ),
        (&["chips", "show"], "MissingArgument", "NAME", "ringlane chips show "),
        (&["chips", "shwo", "a5sim"], "UnknownCommand", "shwo; known commands: show", "show"),
        (&["chips", "show", "a5sim", "a2a3sim"], "BadUsage", "a2a3sim", "ringlane chips show "),
        (&["chips", "--jsn"], "UnknownOption", "--jsn", "--json"),
    ] {
        let answer = Sandbox::new().ringlane(arguments);
        assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{}", answer.stderr);
        assert!(answer.stderr.starts_with(&format!("error: {error}: ")), "{}", answer.stderr);
        assert!(answer.line("detail: ").contains(detail), "{}", answer.stderr);
        assert!(answer.line("hint: ").contains(hint), "{}", answer.stderr);
        assert_eq!(answer.stderr.lines().count(), 3, "{}", answer.stderr);
    }
}

#[test]
fn shells_complete_the_names_of_chips() {
    for shell in ["bash", "zsh"] {
        let answer = Sandbox::new().ringlane(&["completions", shell]);
        assert_eq!(answer.status, 0);
        for word in ["chips", "a2a3sim", "a5sim", "a2a3-free"] {
            assert!(answer.stdout.contains(word), "{shell} does not know {word}");
        }
    }
}
