//! Tasks as people name them: `ring:number`, which is shorter than the id of artifacts and says which ring the task is on.

use ringlane_task::{Explain, RingIndex, TaskId};

/// The text is not the name of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NotATask;

ringlane_task::display_explained!(NotATask);

impl Explain for NotATask {
    fn name(&self) -> &'static str {
        "NotATask"
    }

    fn summary(&self) -> String {
        "a text is not the name of a task".to_string()
    }

    fn detail(&self) -> String {
        "neither a task id nor ring:number".to_string()
    }

    fn hint(&self) -> String {
        "name a task as 1:7, or by its id in deps.json".to_string()
    }
}

/// A task by its id, or by its ring and its number there.
///
/// ```
/// use ringlane_insight::parse_task;
/// assert_eq!(parse_task("4294967303"), parse_task("1:7"));
/// assert!(parse_task("1:").is_err());
/// ```
pub fn parse_task(text: &str) -> Result<TaskId, NotATask> {
    match text.split_once(':') {
        None => text.parse().map(TaskId).map_err(|_| NotATask),
        Some((ring, local)) => {
            let ring = ring.parse().map_err(|_| NotATask)?;
            local.parse().map(|local| TaskId::new(RingIndex(ring), local)).map_err(|_| NotATask)
        }
    }
}

/// A task's name, `ring:number`, as its `Display` has it.
///
/// ```
/// use ringlane_insight::{parse_task, task_name};
/// assert_eq!(parse_task("4294967303").map(task_name), Ok("1:7".to_string()));
/// ```
pub fn task_name(task: TaskId) -> String {
    task.to_string()
}
