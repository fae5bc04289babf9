//! The dependency graph: submits are stored on the hot path, and who follows whom is derived after the run.

pub(crate) mod behind;
pub(crate) mod derive;
pub(crate) mod record;
mod sequence;
mod wholes;
