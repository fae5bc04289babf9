//! A case whose process ended without a result.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::Duration;

use ringlane_node::Exit;
use ringlane_task::Explain;

use crate::plugins;

/// What `kill -9` sends, and the kernel when memory runs out.
const SIGKILL: i32 = 9;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum CaseEnd {
    /// The process crashed or was killed.
    Died {
        /// The scene.
        scene: String,
        /// The case of it.
        case: String,
        /// How.
        exit: Exit,
        /// The directory of the run, unless it died before it had one.
        dir: Option<PathBuf>,
    },
    /// The user interrupted it, and it did not end in time.
    Killed {
        /// The scene.
        scene: String,
        /// The case of it.
        case: String,
        /// How long it had.
        after: Duration,
        /// How it ended.
        exit: Exit,
    },
}

ringlane_task::display_explained!(CaseEnd);

impl Explain for CaseEnd {
    fn name(&self) -> &'static str {
        match self {
            CaseEnd::Died { .. } => "CaseDied",
            CaseEnd::Killed { .. } => "Interrupted",
        }
    }

    fn summary(&self) -> String {
        match self {
            CaseEnd::Died { .. } => "the process of a case died",
            CaseEnd::Killed { .. } => "a case did not end after Ctrl-C and was killed",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            CaseEnd::Died { scene, case, exit, dir: None } => format!("{scene} {case}: {exit}"),
            CaseEnd::Died { scene, case, exit, dir: Some(dir) } => {
                format!("{scene} {case}: {exit}; there is no run.json in {}", dir.display())
            }
            CaseEnd::Killed { scene, case, after, exit: Exit { pid, .. } } => {
                format!(
                    "{scene} {case}: process {pid} was still in a task {after:?} after Ctrl-C; it left no run.json"
                )
            }
        }
    }

    fn hint(&self) -> String {
        match self {
            CaseEnd::Died { exit, .. } if exit.status.signal() == Some(SIGKILL) => {
                "did the machine run out of memory? A smaller --jobs needs less".to_string()
            }
            CaseEnd::Died { scene, case, .. } => {
                let plugins = plugins::option_text();
                format!(
                    "run it alone, if necessary in a debugger: `ringlane run{plugins} {scene} --case {case}`"
                )
            }
            CaseEnd::Killed { .. } => {
                "with --jobs 1 the command waits until the task ends, and keeps what was recorded".to_string()
            }
        }
    }
}
