//! Swimlanes that are not true.

use super::{Case, PERF, RUN, edit};

pub fn swimlane_head() -> Vec<Case> {
    let block = |name, from, to, what| edit(name, PERF, from, to, what);
    vec![
        block("a version of another level", r#""version":2"#, r#""version":1"#, "level 3 has version 1"),
        block(
            "an unknown version",
            r#""version":2"#,
            r#""version":7"#,
            "has version 7, known versions: 0, 1 and 2",
        ),
        block(
            "counts of blocks",
            r#"{"total":5,"#,
            r#"{"total":6,"#,
            "blocks: 5 collected and 0 dropped are not 6",
        ),
        block("a lost block row", "[0,0,0,0,0,30,100,20,110],", "", "blocks has 4 rows, collected says 5"),
        block("a lost task row", "[0,0,10,900],", "", "tasks has 3 rows, collected says 4"),
        block("a missing column", r#""finish"]"#, r#""done"]"#, "there is no column \"finish\""),
        block("a core without a kind", r#""num_cores":2"#, r#""num_cores":3"#, "num_cores says 3"),
        block("another platform", r#""a2a3sim""#, r#""a5sim""#, "platform or clock differs"),
        block("another clock", "50000000", "50000001", "platform or clock differs"),
        edit(
            "another level than the manifest's",
            RUN,
            r#""0x7f","swimlane_level":3"#,
            r#""0x7b","swimlane_level":2"#,
            "level 3, run.json says 2",
        )
        .blames(PERF),
        edit(
            "more blocks than the manifest's",
            RUN,
            r#""blocks":5"#,
            r#""blocks":6"#,
            "5 blocks in all, run.json says 6",
        )
        .blames(PERF),
    ]
}

pub fn blocks() -> Vec<Case> {
    let block = |name, from, to, what| edit(name, PERF, from, to, what);
    vec![
        block("a block that ran twice", "[1,4294967298,3,0,1,", "[1,4294967298,3,0,0,", "ran twice"),
        block(
            "a kernel that is not there",
            "[1,4294967298,3,0,1,",
            "[1,4294967298,9,0,1,",
            "func_id 9 has no kernel",
        ),
        block(
            "a core that is not there",
            "[1,4294967298,3,0,1,",
            "[7,4294967298,3,0,1,",
            "core 7 out of range",
        ),
        block("an end before the start", ",30,100,20,110]", ",30,29,20,110]", "times out of order"),
        block("a finish before the end", ",30,100,20,110]", ",30,100,20,90]", "times out of order"),
        block("a start before the dispatch", ",30,100,20,110]", ",30,100,31,110]", "times out of order"),
        block(
            "a kernel on a core of another kind",
            "[0,0,0,0,0,",
            "[1,0,0,0,0,",
            "aic kernel 0 on aiv core 1",
        ),
        edit(
            "a block after the run",
            RUN,
            r#""makespan_ticks":1000"#,
            r#""makespan_ticks":379"#,
            "outside the run's 379 ticks",
        )
        .blames(PERF),
        block(
            "two blocks on a core at once",
            ",320,380,312,390]",
            ",299,380,290,390]",
            "core 1 ran block 0 of task 1:2",
        ),
        block(
            "a block without a task row",
            "[4294967298,3,240,null]",
            "[4294967299,3,240,null]",
            "task 1:2 has no task row",
        ),
        block(
            "a dispatch before ready",
            "[0,0,10,900]",
            "[0,0,21,900]",
            "task 0:0 dispatched at 20 before ready 21",
        ),
        block("a reclaim before the finish", "[0,0,10,900]", "[0,0,10,109]", "before it finished at 110"),
    ]
}

pub fn phases() -> Vec<Case> {
    let block = |name, from, to, what| edit(name, PERF, from, to, what);
    vec![
        block(
            "an unknown phase",
            r#""complete",0"#,
            r#""sleep",0"#,
            "scheduler_phases record 2: phase: unknown variant `sleep`",
        ),
        block("phases that overlap", r#"[0,"idle",500,"#, r#"[0,"idle",499,"#, "thread 0 phases overlap: "),
        block(
            "a thread without phases",
            r#""num_scheduler_threads":2"#,
            r#""num_scheduler_threads":3"#,
            "for 3 scheduler threads",
        ),
        block(
            "phases that do not tile",
            r#"[0,"idle",500,1000"#,
            r#"[0,"idle",500,999"#,
            "do not sum to the makespan",
        ),
        edit("submits and tasks", RUN, r#""tasks":4"#, r#""tasks":5"#, "4 submit rows for 5 tasks")
            .blames(PERF),
        block(
            "a submit shorter than its parts",
            "[0,0,20,2,4,5,4,5,64,0,0]",
            "[0,0,19,2,4,5,4,5,64,0,0]",
            "takes 19 ticks and has parts longer than itself: stall 2, alloc 4, lookup 5, insert 4, wire 5",
        ),
    ]
}

pub fn swimlane_levels() -> Vec<Case> {
    let rows = |name, to, what| edit(name, PERF, ",\n\"counts\"", to, what).at_level_1();
    vec![
        edit(
            "a column above the level",
            PERF,
            r#""end"]"#,
            r#""end","dispatch"]"#,
            "level 1 has the column \"dispatch\"",
        )
        .at_level_1(),
        rows(
            "tasks above the level",
            ",\"task_columns\":[\"task_id\",\"seq\",\"ready\",\"reclaim\"],\"tasks\":[[0,0,0,0]],\"counts\"",
            "level 1 holds tasks",
        ),
        rows(
            "phases above the level",
            ",\"phase_columns\":[\"thread\",\"phase\",\"start\",\"end\",\"loop\",\"tasks\"],\"scheduler_phases\":[[0,\"idle\",0,1,0,0]],\"counts\"",
            "level 1 holds scheduler_phases",
        ),
        rows(
            "submits above the level",
            ",\"submit_columns\":[\"task_id\",\"start\",\"end\",\"stall\",\"alloc\",\"lookup\",\"insert\",\"wire\",\"heap_bytes\"],\"orchestrator_phases\":[[0,0,9,0,0,0,0,0,0]],\"counts\"",
            "level 1 holds orchestrator_phases",
        ),
    ]
}
