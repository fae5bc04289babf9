//! Experiments on a recorded run, and comparisons of two.

use pyo3::prelude::*;
use ringlane::PolicyName;
use ringlane::insight::Run;
use ringlane::insight::dump::{DumpComparison, Extent, Side, TaskDiff, Tolerance, diff};
use ringlane::replays::recorded::GraphBuild;
use ringlane::replays::what_if::{Change, Experiment, Subject, parse, what_if_one};

use crate::error::{OrRaise, raise};

/// What changes of a run, made together, would gain; each is the option of `ringlane what-if` and its value.
#[pyfunction]
pub fn what_if(py: Python<'_>, dir: &str, changes: Vec<(String, String)>) -> PyResult<String> {
    let changes =
        changes.iter().map(|(option, value)| change_of(option, value)).collect::<PyResult<Vec<_>>>()?;
    py.detach(|| {
        let subject = Subject::read(dir).or_raise()?;
        let laboratory = subject.laboratory().or_raise()?;
        let answer = what_if_one(&*laboratory, &Experiment { changes }).or_raise()?;
        Ok(serde_json::to_string(&answer).expect("an answer has only names as keys"))
    })
}

fn change_of(option: &str, value: &str) -> PyResult<Change> {
    let count = || value.parse().ok().filter(|count| (1..=1024).contains(count));
    let change = match option {
        "kernel" => parse::kernel(value).map(|(name, time)| Change::Kernel(name, time)),
        "submit" => parse::factor(value).map(Change::Submit),
        "copies" => parse::factor(value).map(Change::Copies),
        "scheduler" => parse::factor(value).map(Change::Scheduler),
        "memory" => parse::rate(value).map(Change::Memory),
        "schedulers" => count().map(Change::Schedulers),
        "cores" => parse::cores(value).ok().map(Change::Cores),
        "policy" => PolicyName::from_name(value).map(Change::Policy),
        "runtime" => match value {
            "tensormap_and_ringbuffer" => Some(Change::Build(GraphBuild::Streamed)),
            "host_build_graph" => Some(Change::Build(GraphBuild::Captured { memory_limit: None })),
            _ => None,
        },
        _ => Some(match parse::edge(value) {
            Some((before, after)) => Change::DropBetween(before, after),
            None => Change::DropCause(value.to_string()),
        }),
    };
    change.ok_or_else(|| {
        let hint = "docs/commands/what-if.md lists the changes and their values";
        raise("BadValue", "an option has a value that is not allowed", &format!("{option}: {value:?}"), hint)
    })
}

/// The first task that computed another value than in a run of the same program, in words; `None` if there is none.
#[pyfunction]
pub fn first_difference(py: Python<'_>, dir: &str, reference: &str) -> PyResult<Option<String>> {
    py.detach(|| {
        let side = |dir: &str| Side::open(&Run::open(dir)?);
        let (reference, own) = (side(reference).or_raise()?, side(dir).or_raise()?);
        let exact = Tolerance::new(0.0).expect("0 is a tolerance");
        Ok(match diff(&reference, &own, exact, Extent::First).or_raise()? {
            DumpComparison::NotComparable(_) => Some("the two runs are of different programs".to_string()),
            DumpComparison::Compared(found) => {
                let outside = found.outside.as_ref().map(|task| text("was given other inputs", task));
                found.culprits.first().map(|task| text("computed other outputs", task)).or(outside)
            }
        })
    })
}

fn text(what: &str, task: &TaskDiff) -> String {
    format!("task {} ({}, submit {}) {what}", task.task, task.kernel, task.seq)
}
