//! The runs below a run: one for each call of a node's worker that left a directory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ringlane_task::TaskId;
use serde::{Deserialize, Serialize};

use crate::rows::dist::{CallStatus, stays_below};

/// A run that a worker of a node made, in a directory of its own below the node's.
///
/// ```
/// use ringlane_task::TaskId;
/// use ringlane_trace::dist::CallStatus;
/// use ringlane_trace::{ChildRun, Manifest, UtcTime};
/// let mut manifest = Manifest::new("decode", "small", "cpu", UtcTime::now());
/// assert!(!manifest.to_json().contains("children"));
/// manifest.children.push(ChildRun {
///     worker: "chip0".to_string(),
///     seq: 1,
///     dir: "chip0/1".to_string(),
///     task_id: TaskId(0),
///     status: CallStatus::Ok,
/// });
/// assert!(manifest.to_json().contains(r#""children":[{"worker":"chip0","seq":1,"dir":"chip0/1","#));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildRun {
    /// The worker.
    pub worker: String,
    /// The number of the call on this worker.
    pub seq: u64,
    /// The directory, relative to the node's.
    pub dir: String,
    /// The task of the node's graph that was called.
    pub task_id: TaskId,
    /// How the call ended.
    pub status: CallStatus,
}

impl ChildRun {
    /// Its directory, if there is one: below the node's, even through links. So a walk from run to run by this function
    /// ends.
    pub fn path_in(&self, node: &Path) -> Option<PathBuf> {
        let path = node.join(&self.dir);
        let real = path.canonicalize().ok().filter(|real| real.is_dir())?;
        let node = node.canonicalize().ok()?;
        (real != node && real.starts_with(&node)).then_some(path)
    }
}

/// What cannot be true of these runs, if something is.
pub(super) fn problem_of(children: &[ChildRun]) -> Option<String> {
    let mut dirs = HashSet::new();
    children.iter().find_map(|child| {
        let dir = &child.dir;
        if !stays_below(dir) {
            return Some(format!("child {dir:?} is not inside the run directory"));
        }
        (!dirs.insert(dir)).then(|| format!("two children have the directory {dir:?}"))
    })
}
