//! Rings that a replay fits in.

use ringlane_engine::limits::LABEL_BYTES_MAX;
use ringlane_task::{Capacities, Resource};

use super::PortableRun;
use crate::error::ReplayError;

/// Bytes of arguments that a task without any takes at most beside its label: its annotations, rounded up to a cache line.
const ANNOTATION_BYTES: u64 = 64;

impl PortableRun {
    /// The capacities of the recorded run; those of an imported graph are large enough for it. An imported graph is one scope,
    /// whose tasks are all in the first ring until it ends.
    pub fn rings(&self) -> Result<Capacities, ReplayError> {
        let default = Capacities::default();
        if !self.is_imported() {
            return Ok(self.manifest.rings.unwrap_or(default));
        }
        let tasks = &self.program.tasks;
        let label = |label: &str| label.len().min(LABEL_BYTES_MAX) as u64;
        let bytes = tasks.iter().map(|task| ANNOTATION_BYTES + task.label.as_deref().map_or(0, label)).sum();
        let enough = |resource: Resource, need: u64, default: u32| {
            let capacity = (need + 1).next_power_of_two().max(default.into());
            let most = resource.range().max;
            let fits = u32::try_from(capacity).ok().filter(|&capacity| u64::from(capacity) <= most);
            fits.ok_or_else(|| ReplayError::TooLarge { dir: self.dir.clone(), resource, need, most })
        };
        let mut rings = default;
        rings.task_window[0] = enough(Resource::TaskWindow, tasks.len() as u64, default.task_window[0])?;
        let edges = self.program.edges.len() as u64;
        rings.dep_pool[0] = enough(Resource::DepPool, edges, default.dep_pool[0])?;
        rings.args[0] = enough(Resource::Args, bytes, default.args[0])?;
        Ok(rings)
    }
}
