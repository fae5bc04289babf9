//! What the commands about time print, word for word: on a modelled chip every run is the same. `RINGLANE_BLESS=1` writes
//! the expected texts anew.

mod common;

use common::Desk;
use common::expected::expect;

fn record(desk: &Desk, out: &str, options: &[&str]) {
    let arguments = ["run", "cholesky", "--case", "small", "-p", "a2a3sim", "-o", out];
    let answer = desk.ringlane(&[&arguments[..], options].concat());
    assert_eq!(answer.status, 0, "{}", answer.stderr);
}

fn text(desk: &Desk, arguments: &[&str]) -> String {
    let answer = desk.ringlane(arguments);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    answer.stdout
}

#[test]
fn overhead_and_critical_path_say_this_of_cholesky() {
    let desk = Desk::new();
    record(&desk, "run", &["--chip-swimlane", "--dep-gen"]);
    expect("overhead_cholesky", &text(&desk, &["overhead", "run"]));
    expect("critical_path_cholesky", &text(&desk, &["critical-path", "run"]));
    expect("critical_path_segments_cholesky", &text(&desk, &["critical-path", "run", "--segments"]));
}

#[test]
fn compare_says_this_of_larger_tiles_but_for_the_time_on_the_wall() {
    let desk = Desk::new();
    record(&desk, "before", &["--chip-swimlane", "--dep-gen"]);
    record(&desk, "after", &["--chip-swimlane", "--dep-gen", "--param", "tile=64"]);
    let text = text(&desk, &["compare", "before", "after"]);
    // The widths of the first table follow from the time on the wall: from the second on, all is the same every time.
    let from = text.find("Critical path").expect("the second table");
    expect("compare_cholesky", &text[from..]);
}

#[test]
fn check_says_how_much_held() {
    let desk = Desk::new();
    record(&desk, "run", &["--dfx"]);
    expect("check_cholesky", &text(&desk, &["check", "run"]));
}
