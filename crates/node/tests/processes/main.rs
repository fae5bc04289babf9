//! Real processes. The test program is its own worker, so it has a `main` of its own instead of the usual harness:
//!
//! ```text
//! cargo test -p ringlane-node --test processes                 all
//! cargo test -p ringlane-node --test processes killed          those whose names contain it
//! processes worker --mailbox-fd N --spin-us N                  what `Child::start` starts
//! ```

mod calls;
mod death;
mod faults;
mod leaks;
mod levels;
mod node;
mod roles;
mod support;

use std::process::ExitCode;

/// A test: its name, and what it does.
type Test = (&'static str, fn());

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((role, rest)) if roles::is_role(role) => roles::play(role, rest),
        _ => run(&arguments),
    }
}

/// Runs the tests whose names contain a word of the command line; options of the usual harness are ignored.
fn run(arguments: &[String]) -> ExitCode {
    let words: Vec<_> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    let all: Vec<Test> =
        [calls::TESTS, death::TESTS, faults::TESTS, leaks::TESTS, node::TESTS, levels::TESTS].concat();
    if arguments.iter().any(|word| word == "--list") {
        all.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let wanted =
        all.iter().filter(|(name, _)| words.is_empty() || words.iter().any(|word| name.contains(*word)));
    let mut failed: Vec<&str> = Vec::new();
    for (name, test) in wanted {
        let began = std::time::Instant::now();
        let passed = std::panic::catch_unwind(test).is_ok();
        println!("test {name} ... {} ({:.2?})", if passed { "ok" } else { "FAILED" }, began.elapsed());
        failed.extend((!passed).then_some(name));
    }
    println!("{} failed {failed:?}", failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
