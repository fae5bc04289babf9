//! The path as it is shown, with the names of tasks and kernels.

use ringlane_task::{CoreId, TaskId, Ticks};
use serde::Serialize;

use super::{Cause, CriticalPath, LongestPath};
use crate::timeline::Timeline;

/// How much of the path has one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseTime {
    /// The cause.
    pub cause: Cause,
    /// How long.
    pub ticks: Ticks,
    /// The part of the makespan.
    pub share: f64,
    /// The number of segments.
    pub segments: usize,
}

/// A segment with the names of what it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedSegment<'a> {
    /// From when.
    pub start: Ticks,
    /// Until when.
    pub end: Ticks,
    /// Why.
    pub cause: Cause,
    /// The task it is about.
    pub task_id: Option<TaskId>,
    /// The core that computed.
    pub core: Option<CoreId>,
    /// The kernel that ran.
    pub kernel: Option<&'a str>,
    /// The name that the task's submit gave it.
    pub label: Option<&'a str>,
}

/// What `ringlane critical-path --json` shows of a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathAnswer<'a> {
    /// All of the path: the makespan.
    pub makespan_ticks: Ticks,
    /// Ticks in a second.
    pub clock_freq_hz: u64,
    /// How much of it has each cause.
    pub causes: Vec<CauseTime>,
    /// Its segments in the order of time.
    pub segments: Vec<NamedSegment<'a>>,
    /// The longest chain by duration.
    pub longest_chain: Chain,
}

/// Tasks that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chain {
    /// How long they take, one after another.
    pub ticks: Ticks,
    /// The tasks, in order.
    pub tasks: Vec<TaskId>,
}

impl<'a> PathAnswer<'a> {
    /// Names what a path and the longest chain are about.
    pub fn of(path: &CriticalPath, longest: &LongestPath, timeline: &'a Timeline) -> Self {
        let named = path.segments.iter().map(|segment| NamedSegment {
            start: segment.start,
            end: segment.end,
            cause: segment.cause,
            task_id: segment.task.map(|task| timeline.task(task).task_id),
            core: segment.core,
            kernel: segment.kernel.map(|kernel| timeline.kernel_name(kernel)),
            label: segment.task.and_then(|task| timeline.label(task)),
        });
        PathAnswer {
            makespan_ticks: path.whole(),
            clock_freq_hz: timeline.clock_freq_hz,
            causes: path.causes(),
            segments: named.collect(),
            longest_chain: Chain {
                ticks: longest.ticks,
                tasks: longest.tasks.iter().map(|&task| timeline.task(task).task_id).collect(),
            },
        }
    }
}
