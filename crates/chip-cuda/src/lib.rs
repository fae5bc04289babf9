//! The cuda chip: tasks on an NVIDIA GPU.

pub mod source;
