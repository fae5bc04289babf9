//! Dependencies and captured arguments that are not true.

use ringlane_trace::swimlane::SwimlaneLevel;

use super::{BIN, Case, DEPS, DUMP, Edit, PERF, RUN, edit};

pub fn deps_edges() -> Vec<Case> {
    let one = |name, from, to, what| edit(name, DEPS, from, to, what);
    vec![
        one(
            "a task that appears twice",
            r#""task_id":4294967297"#,
            r#""task_id":4294967296"#,
            "a task id appears twice",
        ),
        one(
            "an edge of an unknown task",
            r#"{"pred":4294967297,"#,
            r#"{"pred":4294967299,"#,
            "edge 1:3->1:2 names an unknown task",
        ),
        one(
            "an edge that points backwards",
            r#""pred":4294967296,"succ":4294967297"#,
            r#""pred":4294967297,"succ":4294967296"#,
            "edge 1:1->1:0 points backwards",
        ),
        one(
            "an unknown source",
            r#""creator""#,
            r#""guess""#,
            "edges record 0: source: unknown variant `guess`",
        ),
        one("an edge without a hazard", r#""hazard":"raw","#, "", "edges record 0: missing field `hazard`"),
        one("an unknown hazard", r#""raw""#, r#""rar""#, "unknown variant `rar`"),
        one(
            "an edge of an unknown tensor",
            r#""arg":0,"tensor":1"#,
            r#""arg":0,"tensor":8"#,
            "edge names unknown tensor 8",
        ),
        one(
            "an unknown access",
            r#""access":"inout""#,
            r#""access":"peek""#,
            "tasks record 1: args: access: unknown access \"peek\"",
        ),
        one(
            "a view of another rank",
            r#""strides":[4,1]"#,
            r#""strides":[1]"#,
            "tasks record 0: args: 2 lengths and 1 strides",
        ),
    ]
}

pub fn deps_and_blocks() -> Vec<Case> {
    let one = |name, from, to, what| edit(name, DEPS, from, to, what);
    vec![
        edit(
            "a start before a producer's end",
            PERF,
            ",130,200,120,210]",
            ",99,200,120,210]",
            "1:0 started at 99 before its producer 0:0 ended at 100",
        )
        .blames(DEPS),
        one(
            "blocks that did not run",
            r#""block_num":2"#,
            r#""block_num":3"#,
            "task 1:2 should run 3 blocks, ran 2",
        ),
        one("another order of submission", r#""seq":2"#, r#""seq":3"#, "not in submission order"),
        edit(
            "a task that is not there",
            PERF,
            "[0,0,0,0,0,30",
            "[0,9,0,0,0,30",
            "task 0:9 ran but is not in deps.json",
        )
        .blames(DEPS),
        edit(
            "other task rows",
            PERF,
            "[4294967297,2,235,510]",
            "[4294967299,2,235,510]",
            "4 task rows of the swimlane do not match the 4 tasks",
        )
        .blames(DEPS),
        edit(
            "an edge that the engine made up",
            PERF,
            "[0,4294967296]",
            "[0,4294967298]",
            "the engine wired 0:0->1:2",
        )
        .blames(DEPS),
        edit("another number of tasks", RUN, r#""tasks":4"#, r#""tasks":5"#, "4 tasks, run.json says 5")
            .blames(DEPS),
        edit(
            "ready before a producer's end",
            PERF,
            "[4294967296,1,112,500]",
            "[4294967296,1,99,500]",
            "1:0 ready at 99 before its producer 0:0 ended at 100",
        )
        .blames(DEPS),
        edit(
            "tasks that share bytes at once",
            PERF,
            ",260,300,250,310]",
            ",215,225,250,310]",
            "1:0 and 1:2 share bytes of tensor 1 and ran at once",
        )
        .blames(DEPS),
    ]
}

pub fn dump_counts() -> Vec<Case> {
    let one = |name, from, to, what| edit(name, DUMP, from, to, what);
    vec![
        one("counts of records", r#""total":8"#, r#""total":9"#, "8 collected and 0 dropped are not 9"),
        one(
            "collected records",
            r#""total":8,"collected":8,"dropped":0"#,
            r#""total":9,"collected":9,"dropped":0"#,
            "collected says 9, there are 8",
        ),
        one("the number of tensors", r#""tensors":6"#, r#""tensors":7"#, "tensors says 7, there are 6"),
        one("the number of scalars", r#""scalars":2"#, r#""scalars":3"#, "scalars says 3, there are 2"),
        one(
            "the number of truncated",
            r#""truncated":0"#,
            r#""truncated":1"#,
            "truncated says 1, there are 0",
        ),
        one(
            "the number before",
            r#""before_dispatch":5"#,
            r#""before_dispatch":4"#,
            "before_dispatch says 4, there are 5",
        ),
        one(
            "the number after",
            r#""after_completion":3"#,
            r#""after_completion":4"#,
            "after_completion says 4, there are 3",
        ),
        one(
            "a scalar with a payload",
            r#""bin_offset":0,"bin_size":0"#,
            r#""bin_offset":0,"bin_size":4"#,
            "records record 1: a scalar has a payload or a shape",
        ),
        one("a scalar with a shape", r#""shape":[]"#, r#""shape":[1]"#, "a scalar has a payload or a shape"),
        one(
            "a scalar after completion",
            r#""scalar","role":"input","stage":"before_dispatch""#,
            r#""scalar","role":"input","stage":"after_completion""#,
            "scalar record 1 at after_completion",
        )
        .and(
            DUMP,
            r#""before_dispatch":5,"after_completion":3"#,
            r#""before_dispatch":4,"after_completion":4"#,
        ),
        one("a scalar of few digits", "0x000000003f800000", "0x3f800000", "is not 0x and 16 digits"),
    ]
}

pub fn dump_bytes() -> Vec<Case> {
    let one = |name, from, to, what| edit(name, DUMP, from, to, what);
    vec![
        one(
            "an unknown dtype",
            r#""dtype":"float32""#,
            r#""dtype":"float31""#,
            "records record 0: dtype: unknown dtype \"float31\"",
        ),
        one(
            "a payload of another size",
            r#""bin_offset":0,"bin_size":64"#,
            r#""bin_offset":0,"bin_size":60"#,
            "record 0 has 60 bytes, its shape needs 64",
        ),
        one(
            "a payload past the end",
            r#""bin_offset":320"#,
            r#""bin_offset":324"#,
            "record 7 ends past the file's 352 bytes",
        ),
        one(
            "an output before dispatch",
            r#""role":"output","stage":"after_completion""#,
            r#""role":"output","stage":"before_dispatch""#,
            "output record 2 captured before_dispatch",
        )
        .and(
            DUMP,
            r#""before_dispatch":5,"after_completion":3"#,
            r#""before_dispatch":6,"after_completion":2"#,
        ),
        one(
            "payloads that share bytes",
            r#""bin_offset":64"#,
            r#""bin_offset":63"#,
            "records 0 and 2 share bytes",
        ),
        edit(
            "bytes that nobody wrote",
            BIN,
            "\u{1}\u{1}\u{2}",
            "\u{1}\u{3}\u{2}",
            "task 1:0 arg 0 read other bytes",
        )
        .blames(DUMP),
        one(
            "bytes with another checksum",
            r#""bin_offset":0,"bin_size":64"#,
            r#""bin_offset":0,"bin_size":64,"crc32":1"#,
            "64 bytes at 0 have the checksum 0x758d6336, 0x00000001 was written",
        ),
        one(
            "an argument that is not captured",
            r#""task_id":4294967298,"arg_index":1"#,
            r#""task_id":4294967298,"arg_index":5"#,
            "arg 1 (output_existing) was not captured after_completion",
        ),
        Case {
            name: "no file of bytes",
            level: SwimlaneLevel::Phases,
            edits: vec![Edit::Remove(BIN)],
            file: DUMP,
            what: "tensor_dump.bin cannot be read",
        },
    ]
}

pub fn dump_tensors() -> Vec<Case> {
    let one = |name, from, to, what| edit(name, DUMP, from, to, what);
    vec![
        one(
            "a record of another tensor",
            r#""tensor":2"#,
            r#""tensor":1"#,
            "record 7 is of tensor 1, deps.json says 2",
        ),
        one(
            "a record of bytes that its view does not have",
            r#""byte_range":[0,64]"#,
            r#""byte_range":[0,60]"#,
            "records record 0: byte_range [0,60] is not that of the view",
        ),
    ]
}
