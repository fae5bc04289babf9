//! The dependency graph: submits are stored on the hot path, and which task follows which is derived after the run.

pub(crate) mod background;
pub(crate) mod derive;
pub(crate) mod record;
mod sequence;
pub(crate) mod steps;
mod whole_tensors;
