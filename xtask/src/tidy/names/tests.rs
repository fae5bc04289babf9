//! What the rule finds on a page, and what it leaves alone, against one small tree.

use std::collections::BTreeSet;

use super::*;

const CODE: &str = r#"
/// Only a comment names Ghost and `gone_word`.
pub struct Chip { clusters: u32 }
impl Chip { pub fn work(&self) { println!("busy_cycles run.json"); } }
pub struct Other;
impl Other { fn rest() {} }
#[derive(clap::Args)]
struct RunArgs {
    #[arg(long, alias = "enable-dep-gen")]
    dep_gen: bool,
    #[arg(long = "case")]
    cases: Vec<String>,
    #[arg(value_name = "SCENE")]
    scene: String,
}
#[derive(Subcommand)]
enum Command { #[command(hide = true)] Run(RunArgs), CriticalPath { run: String } }
enum Bug { LostWakeUp }
"#;

const MANIFEST: &str = "[package]\nname = \"ringlane-chip\"\n\n[features]\nmpi = []\n";

/// What the rule finds on a page of the small tree.
fn found(page: &str) -> Vec<String> {
    let paths = ["crates", "crates/chip", "crates/chip/src/lib.rs", "crates/chip/tests/loom.rs", "README.md"];
    let paths: BTreeSet<_> = paths.into_iter().map(String::from).collect();
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    let files = [
        file("crates/chip/src/lib.rs", CODE),
        file("crates/chip/Cargo.toml", MANIFEST),
        file("docs/page.md", page),
        file("CHANGELOG.md", "`Ghost` is gone.\n"),
    ];
    missing(&files, paths).iter().map(|f| format!("{}: {}", f.line, f.wrong)).collect()
}

fn is_clean(page: &str) {
    assert_eq!(found(page), [""; 0], "{page}");
}

#[test]
fn a_path_that_nothing_ends_with_is_found() {
    assert_eq!(
        found("`crates/chip/src/old.rs`\n"),
        ["1: there is no file or folder `crates/chip/src/old.rs`"]
    );
    assert_eq!(found("In `old.rs` and `crates/old/`.\n").len(), 2);
    is_clean(
        "`crates/chip/src/lib.rs`, `src/lib.rs`, `lib.rs`, `crates/chip/`, `crates/*/tests/*.rs`, `README.md`\n",
    );
    // Not in the tree by nature: what a run leaves, places of a system, placeholders.
    is_clean("`run.json`, `/dev/shm`, `<run>/rank1/`\n");
    assert_eq!(found("`walk.json`\n"), ["1: no code names the file `walk.json`"]);
}

#[test]
fn a_member_that_no_file_of_its_type_has_is_found() {
    is_clean("`Chip::work`, `Chip::work()`, `Other::rest`, `chip.clusters`\n");
    assert_eq!(found("`Chip::play`\n"), ["1: there is no `Chip::play`"]);
    // In a string of the file, but nowhere as a name: good enough for a column, not for a call.
    is_clean("`busy_cycles`\n");
    assert_eq!(found("`chip.busy_cycles()`\n"), ["1: there is no function `busy_cycles`"]);
    is_clean("`std::panic::take_hook`\n");
}

#[test]
fn a_word_that_only_comments_have_is_found() {
    assert_eq!(
        found("# A\n\n`Ghost`, `gone_word`\n"),
        ["3: no code has the name `Ghost`", "3: no code has the name `gone_word`"]
    );
    is_clean("`lost-wake-up`, `x`, `RunArgs`, `a + b`, `8.08 µs`\n");
    assert_eq!(found("`SEED=N`\n"), ["1: no code has the name `SEED`"]);
    is_clean("`SCENE=N`\n");
}

#[test]
fn a_name_that_a_sample_defines_is_known() {
    is_clean("```rust\n# static AXPY: u8 = 0;\n```\n`AXPY`\n");
    assert_eq!(found("```text\nstatic AXPY\n```\n`AXPY`\n"), ["4: no code has the name `AXPY`"]);
}

#[test]
fn options_and_commands_that_no_parser_has_are_found() {
    is_clean("`--dep-gen`, `--case=NAME`, `--enable-dep-gen[=N]`, `ringlane critical-path RUN --help`\n");
    assert_eq!(
        found("`--cases`, `ringlane walk`\n"),
        ["1: there is no option `--cases`", "1: there is no command `walk`"]
    );
    assert_eq!(found("`--scene`\n"), ["1: there is no option `--scene`"]);
}

#[test]
fn command_lines_in_fences_are_read_to_their_ends() {
    is_clean(
        "```sh\nRUSTFLAGS=\"--cfg loom\" cargo test -p ringlane-chip \\\n  --test loom --features mpi\n```\n",
    );
    is_clean("```text\n$ ringlane run x --case y | grep --color z\n--gone: output\n```\n");
    is_clean(
        "```sh\nmpirun -n 2 --bind-to core ringlane run x\ncargo run --release -- run x --dep-gen\n```\n",
    );
    let page = "```sh\ncargo test -p ringlane-chop --test lume\ncargo run -- walk\n```\n```text\n$ ringlane run --gone\n```\n";
    assert_eq!(
        found(page),
        [
            "2: there is no package `ringlane-chop`",
            "2: there is no test `lume`",
            "3: there is no command `walk`",
            "6: there is no option `--gone`"
        ]
    );
}

#[test]
fn a_span_may_go_on_in_the_next_line_of_its_paragraph() {
    is_clean("Use `ringlane run\n--dep-gen` and then Ghost; `x` is one.\n");
    is_clean("A lonely ` mark.\n\nGhost and `RunArgs`.\n");
    assert_eq!(
        found("Use `ringlane run\n--gone` and\n`Ghost`.\n"),
        ["1: there is no option `--gone`", "3: no code has the name `Ghost`"]
    );
    assert_eq!(found("| a ` b |\n| `Ghost` |\n"), ["2: no code has the name `Ghost`"]);
}
