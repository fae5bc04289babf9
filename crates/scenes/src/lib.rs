//! Programs with known answers.
#![forbid(unsafe_code)]

mod scene;

pub use scene::{Case, Golden, Param, Program, Scene, Settings};
