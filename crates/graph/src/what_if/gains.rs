//! The default table of a run, for the commands and the page that begin with it.

use ringlane_insight::Run;
use ringlane_insight::gains::{Gains, NoGains};
use ringlane_insight::units::grouped;
use ringlane_task::{Explain, Reader};
use ringlane_trace::Manifest;

use super::limits::GAINS_ROWS_MAX;
use super::{Subject, on_node, what_if};
use crate::error::ReplayError;

/// What would help a run: the experiments of the default table, or why there are none.
///
/// ```no_run
/// let run = ringlane_insight::Run::open("outputs/cholesky")?;
/// if let Some(answer) = ringlane_graph::what_if::gains(&run).known() {
///     println!("{}", answer.sentence);
/// }
/// # Ok::<(), ringlane_insight::InsightError>(())
/// ```
pub fn gains(run: &Run) -> Gains {
    let rows = rows_of(run);
    if rows > GAINS_ROWS_MAX {
        return unknown(&ReplayError::TooManyToTry { dir: run.dir.clone(), rows });
    }
    let answer = Subject::read(&run.dir).and_then(|subject| {
        let laboratory = subject.laboratory()?;
        what_if(&*laboratory, &subject.experiments(), |_| {})
    });
    match answer {
        Ok(answer) => Gains::Known(answer),
        Err(error) => unknown(&error),
    }
}

/// Tasks and blocks of a run, or of all runs of a node.
fn rows_of(run: &Run) -> u64 {
    let own = |manifest: &Manifest| manifest.tasks.saturating_add(manifest.blocks);
    if run.manifest.children.is_empty() {
        return own(&run.manifest);
    }
    let runs = on_node::runs(run).unwrap_or_default();
    runs.iter().map(|(_, run)| own(&run.manifest)).fold(0, u64::saturating_add)
}

fn unknown(error: &ReplayError) -> Gains {
    Gains::Unknown(NoGains { name: error.name().to_string(), reason: error.detail(), hint: error.hint() })
}

/// The rows of a run that is too large, and what to do.
pub(crate) fn too_many(rows: u64) -> (String, String) {
    let (rows, most) = (grouped(rows), grouped(GAINS_ROWS_MAX));
    let hint = Reader::choose("`what_if` makes them", "ringlane what-if makes them");
    (format!("{rows} tasks and blocks, more than {most}"), hint.to_string())
}
