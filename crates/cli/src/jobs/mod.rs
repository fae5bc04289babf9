//! Runs the cases of a command: one after another in this process, or side by side, each in a process of its own.
//!
//! ```text
//! --jobs 1   case ─▶ case ─▶ case                                  in_turn
//! --jobs 2   worker 1: case ─▶ case     each case a new process:   side_by_side
//!            worker 2: case ─▶ …          `ringlane worker --job-fd N`
//!                        │                run_for_parent: exactly what `in_turn` does with one case
//!                        └─▶ a job message: what it runs; then how far it is, where its files are, its answer
//! ```
//! Both ways give the same: what each case reported, in the order of the cases. A case that takes its process down is a case
//! that failed.

mod death;
mod message;
mod pool;
mod screen;

use std::rc::Rc;

use serde::{Deserialize, Serialize};

pub use message::JobMessage;
pub use pool::side_by_side;
pub use screen::{Printed, Screen};

use crate::case_report::{Answer, CaseReport, Note, Refusal, Voice};
use crate::cmd::write_pages;
use crate::errors::{CliError, Exit};
use crate::execute::{Audience, Setup, execute};
use crate::monitor::Monitor;
use crate::select::SelectedCase;
use crate::signals::{StopSignal, stop_signal};

/// A case, and how it is run.
pub struct Plan {
    /// The case.
    pub job: SelectedCase,
    /// How; one for all cases of a scene.
    pub setup: Rc<Setup>,
}

/// Whether a page is written of each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pages {
    /// It is.
    Written,
    /// It is not.
    None,
}

/// How the cases of a command ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// The reports of those that began, in the order of the cases.
    pub case_report: Vec<CaseReport>,
    /// Why not all cases were run, if that is no wish of a person.
    pub refusal: Option<Refusal>,
    /// The signal that asked to stop, if one did.
    pub interrupted: Option<StopSignal>,
}

/// Runs cases one after another in this process.
pub fn in_turn(plans: Vec<Plan>) -> Result<Ended, CliError> {
    let monitor = Monitor::start(&Audience::People)?;
    let (mut voice, mut ended) = (Voice::default(), Ended::default());
    for plan in plans {
        let answer = run(plan, &monitor, &mut |note| voice.say(note));
        ended.case_report.extend(answer.case_report);
        ended.refusal = answer.refusal;
        ended.interrupted = stop_signal();
        if ended.refusal.is_some() || ended.interrupted.is_some() {
            break;
        }
    }
    Ok(ended)
}

/// Runs the case that a parent wants of this process, and hands it the answer. The descriptor is that of its message.
pub fn run_for_parent(descriptor: i32) -> Result<Exit, CliError> {
    let (message, plan) = JobMessage::of_this_process(descriptor)?;
    if plan.setup.request.platform.capabilities().host_threads {
        // Before there is a second thread, the one that waits for signals.
        ringlane_chip_cpu::prepare_process();
    }
    let monitor = Monitor::start(&plan.setup.audience)?;
    let mut notes = Vec::new();
    let answer = run(plan, &monitor, &mut |note| notes.push(note));
    message.hand_over(&Answer { notes, ..answer }).map_err(CliError::CannotPrint)?;
    Ok(Exit::Ok)
}

/// Runs a case and passes its messages to `report` as they arise.
fn run(plan: Plan, monitor: &Monitor, report: &mut dyn FnMut(Note)) -> Answer {
    let refused = |error| Some(Refusal::of(&error));
    let outcome = match execute(plan.job, &plan.setup, monitor) {
        Ok(outcome) => outcome,
        Err(error) => return Answer { refusal: refused(error), ..Answer::default() },
    };
    Note::of(&outcome).into_iter().for_each(&mut *report);
    let pages = match plan.setup.pages {
        Pages::Written => write_pages(&outcome.dir, &mut |line| report(Note::Say(line))),
        Pages::None => Ok(()),
    };
    Answer {
        case_report: Some(CaseReport::from(&outcome)),
        refusal: pages.err().and_then(refused),
        ..Answer::default()
    }
}
