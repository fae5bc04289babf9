//! Tasks in the order of submission: their names and the moments of their lives.

use std::collections::HashMap;

use ringlane_insight::timeline::{TaskLife, Timeline};
use ringlane_task::Ticks;
use ringlane_trace::swimlane::SwimlaneLevel;

use super::{Detail, exact, tick};
use crate::page::columns::Coding::{Delta, Maybe, Plain, Signed};
use crate::page::columns::{Column, ColumnWriter};

/// The columns of all tasks.
pub fn columns(timeline: &Timeline, detail: Detail) -> Vec<Column> {
    let tasks = &timeline.tasks;
    let mut columns = names(tasks);
    if timeline.level >= SwimlaneLevel::Tasks {
        let since_submit = |task: &TaskLife| task.submit.map_or(0, |submit| tick(submit.start));
        columns.push(maybe("tasks.ready", tasks, |task| Some(tick(task.ready?) - since_submit(task))));
        let since_ready = |task: &TaskLife| tick(task.ready.unwrap_or(Ticks(0)));
        columns.push(maybe("tasks.reclaim", tasks, |task| Some(tick(task.reclaim?) - since_ready(task))));
    }
    if timeline.level >= SwimlaneLevel::Phases {
        columns.extend(submits(tasks, detail));
    }
    columns
}

/// Names and places: the number within a ring is stored as its distance from the last one of that ring, which is nearly
/// always 1.
fn names(tasks: &[TaskLife]) -> Vec<Column> {
    let mut steps = ColumnWriter::new("tasks.step", Signed);
    let mut last: HashMap<u64, i64> = HashMap::new();
    for task in tasks {
        let (ring, local) = (task.task_id.0 >> 32, i64::from(task.task_id.local()));
        let before = last.insert(ring, local).unwrap_or(-1);
        steps.push(local - before);
    }
    let seq = |task: &TaskLife| if task.seq.0 == u64::MAX { -1 } else { exact(task.seq.0) };
    vec![
        Column::of("tasks.ring", Plain, tasks.iter().map(|task| (task.task_id.0 >> 32) as i64)),
        steps.finish(),
        Column::of("tasks.seq", Delta, tasks.iter().map(seq)),
    ]
}

/// What submitting took: when it began, how long it took, and the other columns of its row.
fn submits(tasks: &[TaskLife], detail: Detail) -> Vec<Column> {
    let mut before = 0;
    let starts = maybe("tasks.submit", tasks, |task| {
        let start = tick(task.submit?.start);
        Some(start - std::mem::replace(&mut before, start))
    });
    let took =
        |task: &TaskLife| task.submit.map_or(0, |submit| (tick(submit.end) - tick(submit.start)).max(0));
    // Everything else that the row holds, by the names of its columns.
    let wanted = |name: &str| match name {
        "task_id" | "start" | "end" => false,
        name => detail == Detail::Full || name == "stall",
    };
    let others =
        Column::of_rows("tasks.submit", Plain, tasks.iter().map(|task| task.submit.as_ref()), wanted);
    let took = Column::of("tasks.took", Plain, tasks.iter().map(took));
    [starts, took].into_iter().chain(others).collect()
}

fn maybe(name: &'static str, tasks: &[TaskLife], mut of: impl FnMut(&TaskLife) -> Option<i64>) -> Column {
    let mut column = ColumnWriter::new(name, Maybe);
    tasks.iter().for_each(|task| column.push_maybe(of(task)));
    column.finish()
}
