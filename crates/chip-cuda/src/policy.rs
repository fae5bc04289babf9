//! How a captured graph is run: by lists, or in one of the ways that lists are compared with.

#![forbid(unsafe_code)]

use crate::source::Entries;

/// The policies by name; the first is the default.
pub(crate) const NAMES: &[&str] = &["lists", "cuda-graph", "launches"];

/// How a captured graph is run. Streamed tasks always go on lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Policy {
    /// One launch for the graph: each block of the grid works off a list.
    #[default]
    Lists,
    /// A CUDA graph with a node for each task. A task that fails ends the run.
    CudaGraph,
    /// A launch for each task, in submission order. A task that fails ends the run.
    Launches,
}

impl Policy {
    /// The policy of this name; the default without one.
    pub(crate) fn named(name: Option<&str>) -> Self {
        match name {
            Some("cuda-graph") => Policy::CudaGraph,
            Some("launches") => Policy::Launches,
            _ => Policy::Lists,
        }
    }

    /// What it launches. Also with a launch for each task, lists are used to compare clocks, and where tasks run one at a time.
    pub(crate) fn entries(self) -> Entries {
        match self {
            Policy::Lists => Entries::Lists,
            Policy::CudaGraph | Policy::Launches => Entries::ListsAndNodes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_a_policy_of_its_own() {
        let policies: Vec<Policy> = NAMES.iter().map(|name| Policy::named(Some(name))).collect();
        assert_eq!(policies, [Policy::Lists, Policy::CudaGraph, Policy::Launches]);
        assert_eq!(Policy::named(None), Policy::Lists);
    }
}
