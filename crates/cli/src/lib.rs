//! Ringlane: a task-graph runtime for many-core accelerators that can see itself.
