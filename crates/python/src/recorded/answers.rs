//! Insight's answers about a run directory, as the JSON that the commands print; the package makes dataclasses of them.

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ringlane::insight::critical_path::{PathAnswer, longest, observed};
use ringlane::insight::{InsightError, Run};
use ringlane::{Recording, trace};
use serde::Serialize;

use crate::error::OrRaise;

/// `run.json` of a run directory.
#[pyfunction]
pub fn manifest(py: Python<'_>, dir: &str) -> PyResult<String> {
    py.detach(|| Run::open(dir).map(|run| run.manifest.to_json())).or_raise()
}

/// One of insight's answers, by name; `null` if there is nothing to answer about.
#[pyfunction]
pub fn answer(py: Python<'_>, dir: &str, question: &str) -> PyResult<String> {
    let unknown = || PyValueError::new_err(format!("{question:?} is not a question"));
    py.detach(|| ask(dir, question)).or_raise()?.ok_or_else(unknown)
}

fn ask(dir: &str, question: &str) -> Result<Option<String>, InsightError> {
    let run = Run::open(dir)?;
    let recording = Recording::open(&run.dir)?;
    Ok(Some(match question {
        "critical_path" => {
            let timeline = run.timeline()?;
            json(&PathAnswer::of(&observed(&timeline)?, &longest(&timeline), &timeline))
        }
        "overhead" => json(&recording.overhead()?),
        "verdict" => json(&recording.verdict()?),
        "findings" => json(&recording.findings()?),
        "gains" => json(&recording.gains()?),
        _ => return Ok(None),
    }))
}

fn json(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).expect("an answer has only names as keys")
}

/// Whether the files of a run are consistent: the number of checks that held, what is broken, and what is missing, each as the
/// file and what was found.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn checked(py: Python<'_>, dir: &str) -> PyResult<(u64, Vec<(String, String)>, Vec<(String, String)>)> {
    let found = |(path, report): (std::path::PathBuf, trace::CheckReport)| {
        let list = |broken: Vec<trace::Broken>| {
            let file = |file: &str| path.join(file).display().to_string();
            broken.into_iter().map(|one| (file(one.file), one.what)).collect::<Vec<_>>()
        };
        (report.held, list(report.broken), list(report.incomplete))
    };
    let reports = py.detach(|| trace::check_tree(Path::new(dir))).or_raise()?;
    let none = (0, Vec::new(), Vec::new());
    Ok(reports.into_iter().map(found).fold(none, |mut all, (held, broken, incomplete)| {
        all.0 += held;
        all.1.extend(broken);
        all.2.extend(incomplete);
        all
    }))
}

/// Writes the page of a run and returns its path.
#[pyfunction]
pub fn write_report(py: Python<'_>, dir: &str) -> PyResult<String> {
    let written = || -> Result<_, InsightError> {
        let run = Run::open(dir)?;
        Recording::open(&run.dir)?.report()
    };
    Ok(py.detach(written).or_raise()?.display().to_string())
}
