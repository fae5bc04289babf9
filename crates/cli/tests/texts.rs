//! What the commands about time print, word for word: on a modelled chip every run is the same. `RINGLANE_BLESS=1` writes
//! the expected texts anew.

mod common;

use common::Sandbox;
use common::expected::expect;

fn record(sandbox: &Sandbox, out: &str, options: &[&str]) {
    let arguments = ["run", "cholesky", "--case", "small", "-p", "a2a3sim", "-o", out];
    let answer = sandbox.ringlane(&[&arguments[..], options].concat());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
}

fn text(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let answer = sandbox.ringlane(arguments);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    answer.stdout
}

#[test]
fn overhead_and_critical_path_say_this_of_cholesky() {
    let sandbox = Sandbox::new();
    record(&sandbox, "run", &["--chip-swimlane", "--dep-gen"]);
    expect("overhead_cholesky", &text(&sandbox, &["overhead", "run"]));
    expect("critical_path_cholesky", &text(&sandbox, &["critical-path", "run"]));
    expect("critical_path_segments_cholesky", &text(&sandbox, &["critical-path", "run", "--segments"]));
}

#[test]
fn compare_says_this_of_larger_tiles_but_for_the_time_on_the_wall() {
    let sandbox = Sandbox::new();
    record(&sandbox, "before", &["--chip-swimlane", "--dep-gen"]);
    record(&sandbox, "after", &["--chip-swimlane", "--dep-gen", "--param", "tile=64"]);
    let text = text(&sandbox, &["compare", "before", "after"]);
    // The widths of the first table follow from the time on the wall: from the second on, all is the same every time.
    let from = text.find("Critical path").expect("the second table");
    expect("compare_cholesky", &text[from..]);
}

#[test]
fn check_says_how_much_held() {
    let sandbox = Sandbox::new();
    record(&sandbox, "run", &["--dfx"]);
    expect("check_cholesky", &text(&sandbox, &["check", "run"]));
}
