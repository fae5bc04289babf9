//! Where in a run a stop signal arrived: while its files were written, or before all its rounds were done.

use ringlane_probe::Exported;
use ringlane_task::Explain;

/// A run whose tasks were all done when the user interrupted the writing of its files.
#[derive(Debug, thiserror::Error)]
pub struct ExportInterrupted {
    tasks: u64,
    files: Vec<String>,
}

ringlane_task::display_explained!(ExportInterrupted);

impl Explain for ExportInterrupted {
    fn name(&self) -> &'static str {
        "Interrupted"
    }
    fn summary(&self) -> String {
        "the run was interrupted while its files were written".to_string()
    }
    fn detail(&self) -> String {
        format!("all {} tasks were done; files without rows: {}", self.tasks, self.files.join(", "))
    }
    fn hint(&self) -> String {
        "run it again; its values were not compared with the golden result".to_string()
    }
}

impl ExportInterrupted {
    /// The error of a run of `tasks` tasks, if the writing of its files was interrupted.
    pub fn of(tasks: u64, recording: &Exported) -> Option<Self> {
        let unwritten = recording.files.iter().filter(|file| file.incomplete.is_some());
        let files = unwritten.map(|file| file.path.clone()).collect();
        recording.interrupted.then_some(ExportInterrupted { tasks, files })
    }
}

/// A run of several rounds that the user interrupted before the last one was done.
#[derive(Debug, thiserror::Error)]
pub struct RoundsInterrupted {
    /// Rounds that were done.
    pub done: u32,
    /// The requested number of rounds.
    pub rounds: u32,
    /// The error of the round after these, if it had begun.
    pub within: Option<Box<dyn Explain>>,
}

ringlane_task::display_explained!(RoundsInterrupted);

impl Explain for RoundsInterrupted {
    fn name(&self) -> &'static str {
        "Interrupted"
    }
    fn summary(&self) -> String {
        self.within.as_ref().map_or("the run was interrupted".to_string(), |error| error.summary())
    }
    fn detail(&self) -> String {
        let done = format!("{} of {} rounds were done", self.done, self.rounds);
        match &self.within {
            Some(error) => format!("{done}; the next: {}", error.detail()),
            None => done,
        }
    }
    fn hint(&self) -> String {
        let kept = "what was recorded so far is kept".to_string();
        self.within.as_ref().map_or(kept, |error| error.hint())
    }
}
