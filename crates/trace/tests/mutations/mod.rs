//! The ways in which a run is made untrue, one for each check.

mod data;
mod swimlane;

use data::{deps_and_blocks, deps_edges, dump_bytes, dump_counts, dump_tensors};
use ringlane_trace::swimlane::SwimlaneLevel;
use swimlane::{blocks, phases, swimlane_head, swimlane_levels};

const RUN: &str = "run.json";
const PERF: &str = "l2_perf_records.json";
const DUMP: &str = "tensor_dump/tensor_dump.json";
const BIN: &str = "tensor_dump/tensor_dump.bin";
const PMU: &str = "pmu.csv";
const DEPS: &str = "deps.json";
const SCOPES: &str = "scope_stats.json";

/// What is done to a run.
pub enum Edit {
    /// In this file, the first of these pieces of text becomes the second.
    Replace(&'static str, &'static str, &'static str),
    /// This file goes.
    Remove(&'static str),
    /// This file comes, empty.
    Add(&'static str),
}

/// One broken invariant.
pub struct Case {
    /// What is broken.
    pub name: &'static str,
    /// The level of the run.
    pub level: SwimlaneLevel,
    /// How.
    pub edits: Vec<Edit>,
    /// The file it is to be found in.
    pub file: &'static str,
    /// Part of what is said of it.
    pub what: &'static str,
}

/// A case of one replacement in the file that is blamed.
fn edit(
    name: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
    what: &'static str,
) -> Case {
    Case { name, level: SwimlaneLevel::Phases, edits: vec![Edit::Replace(file, from, to)], file, what }
}

impl Case {
    /// The file that is blamed is another than the one changed.
    fn blames(self, file: &'static str) -> Self {
        Case { file, ..self }
    }

    fn and(mut self, file: &'static str, from: &'static str, to: &'static str) -> Self {
        self.edits.push(Edit::Replace(file, from, to));
        self
    }

    fn at_level_1(self) -> Self {
        Case { level: SwimlaneLevel::Blocks, ..self }
    }
}

/// Cases that the project's script lets pass: it does not check them, or reads past them.
pub const ONLY_HERE: [&str; 5] = [
    "an unknown access",
    "bytes with another checksum",
    "a record of another tensor",
    "a record of bytes that its view does not have",
    "a row that is too short",
];

/// Every case.
pub fn cases() -> Vec<Case> {
    [
        manifest(),
        swimlane_head(),
        blocks(),
        phases(),
        swimlane_levels(),
        deps_edges(),
        deps_and_blocks(),
        dump_counts(),
        dump_bytes(),
        dump_tensors(),
        pmu(),
        scopes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn manifest() -> Vec<Case> {
    let file = |name, edits, what| Case { name, level: SwimlaneLevel::Phases, edits, file: RUN, what };
    vec![
        file("no manifest", vec![Edit::Remove(RUN)], "the run did not finish"),
        file("a listed file is missing", vec![Edit::Remove(PMU)], "it lists pmu.csv, which does not exist"),
        file("a temporary file", vec![Edit::Add(".deps.json.1.0.tmp")], "temporary files remain"),
        edit("another version", RUN, r#""version":1"#, r#""version":2"#, "has version 2, known versions: 1"),
        edit("another status", RUN, r#""status":"ok""#, r#""status":"great""#, "unknown variant `great`"),
        edit("a failure without an error", RUN, r#""status":"ok""#, r#""status":"failed""#, "do not agree"),
        edit(
            "an interruption without an error",
            RUN,
            r#""ok""#,
            r#""interrupted""#,
            "status and error disagree",
        ),
        edit(
            "an error without a hint",
            RUN,
            r#""status":"ok","error":null"#,
            r#""status":"failed","error":{"name":"TaskFailed","detail":"so","hint":""}"#,
            "the error has no hint",
        ),
        edit(
            "another size",
            RUN,
            r#""tensor_dump/tensor_dump.bin","bytes":352"#,
            r#""tensor_dump/tensor_dump.bin","bytes":351"#,
            "has 352 bytes, not 351",
        ),
        edit("counts of an entry", RUN, r#""total":8,"#, r#""total":9,"#, "are not 9 in total"),
        edit(
            "a loss under the policy block",
            RUN,
            r#""total":8,"collected":8,"dropped":0"#,
            r#""total":9,"collected":8,"dropped":1"#,
            "dropped 1 under the policy 'block'",
        ),
        edit("a file of an instrument that is off", RUN, "0x7f", "0x6f", "the file pmu.csv disagree"),
        edit(
            "a file that is not listed",
            RUN,
            r#""path":"deps.json""#,
            r#""path":"pmu.csv""#,
            "the entry deps.json disagree",
        ),
    ]
}

fn pmu() -> Vec<Case> {
    let one = |name, from, to, what| edit(name, PMU, from, to, what);
    vec![
        one("a missing pmu column", "core_id,", "core,", "there is no column \"core_id\""),
        one("columns in another order", "thread_id,core_id", "core_id,thread_id", "columns [\"core_id\""),
        one("rows of other blocks", "\n0,0,0,0,", "\n0,1,0,0,", "rows are not those of the blocks"),
        one("negative cycles", ",aic,70,", ",aic,-70,", "row 1: pmu_total_cycles \"-70\" is not a number"),
        one("a row that is too short", ",12,34,2\n", ",12,2\n", "row 1: 8 fields for 9 columns"),
        one("no counter columns", ",instructions,\"cache,misses\"", "", "no counter columns")
            .and(PMU, ",12,34,", ",")
            .and(PMU, ",12,34,", ",")
            .and(PMU, ",12,34,", ",")
            .and(PMU, ",12,34,", ",")
            .and(PMU, ",12,34,", ","),
        one("no cycles", ",aic,70,", ",aic,0,", "every row counts 0 cycles")
            .and(PMU, ",aic,70,", ",aic,0,")
            .and(PMU, ",aiv,85,", ",aiv,0,")
            .and(PMU, ",aiv,40,", ",aiv,0,")
            .and(PMU, ",aiv,60,", ",aiv,0,"),
    ]
}

fn scopes() -> Vec<Case> {
    let one = |name, from, to, what| edit(name, SCOPES, from, to, what);
    vec![
        one("counts of scopes", r#""total":2"#, r#""total":3"#, "2 collected and 0 dropped are not 3"),
        one(
            "collected scopes",
            r#""total":2,"collected":2"#,
            r#""total":3,"collected":3"#,
            "scopes has 2 rows, collected says 3",
        ),
        one("a scope that appears twice", r#"{"scope":1"#, r#"{"scope":0"#, "a scope id appears twice"),
        one("a site without a line", "src/run.rs:9", "src/run.rs", "site src/run.rs is not file:line"),
        one("a ring of another depth", r#""depth":1,"ring":1"#, r#""depth":1,"ring":2"#, "depth 1 on ring 2"),
        one("a peak of the task window", "3/16384", "16385/16384", "task_window peak 16385/16384"),
        one("a peak of the heap", "64/268435456", "268435457/268435456", "heap peak 268435457/268435456"),
        one("a peak of the dependency pool", "2/65536", "65537/65536", "dep_pool peak 65537/65536"),
        one("a peak of the arguments", "512/8388608", "8388609/8388608", "args peak 8388609/8388608"),
        one("a peak of the tensor map", "3/65535", "65536/65535", "tensormap peak 65536/65535"),
        one("a peak of the fan-in", "2/1024", "1025/1024", "fanin peak 1025/1024"),
        one(
            "a peak that is no number",
            "2/1024",
            "-1/1024",
            "scopes record 0: fanin: \"-1/1024\" is not peak/capacity",
        ),
        one(
            "a need below the tasks",
            r#""need":{"task_window":3"#,
            r#""need":{"task_window":2"#,
            "src/run.rs:9 needs 2 slots for 3 tasks",
        ),
        one(
            "an exit before the entry",
            r#""enter":25"#,
            r#""enter":125"#,
            "src/run.rs:9 left before it was entered",
        ),
        one("a root with a parent", r#""parent":null"#, r#""parent":1"#, "depth 0, parent 1"),
        one("a child without a parent", r#""parent":0"#, r#""parent":null"#, "depth 1, no parent"),
        one("tasks without a slot", "3/16384", "0/16384", "ran 3 tasks with no slot used"),
        edit("another number of scopes", RUN, r#""scopes":2"#, r#""scopes":3"#, "2 scopes, run.json says 3")
            .blames(SCOPES),
        one(
            "a fatal stop of a run that ended well",
            r#""fatal":null"#,
            r#""fatal":{"scope":1,"site":"src/run.rs:9","ring":1,"resource":"heap","used":1,"capacity":1,"need":2}"#,
            "fatal disagrees with run.json",
        ),
    ]
}
