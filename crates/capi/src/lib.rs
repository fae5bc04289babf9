//! The C ABI of Ringlane: what `libringlane` exports and `include/ringlane.h` declares.
//!
//! ```text
//! C, C++ ──▶ rl_… (checked here) ──▶ ringlane::dynamic, ringlane::Runtime
//! ```
//! The header is generated from this crate (`tests/c/header`), and the layouts of its structs are asserted on both sides. All
//! functions catch panics, check pointers and sizes, and return a status; the last error of a thread has a name, a detail and a
//! hint. `docs/from-c.md` shows how to use it.
//!
//! Every struct that crosses begins with its size; fields are only ever appended. [`rl_tensor`](abi::rl_tensor) and
//! [`rl_task`](abi::rl_task) are handles without one: their contents are the library's.
#![allow(non_camel_case_types)]
// What a pointer must be is said once, in the header's introduction.
#![allow(clippy::missing_safety_doc)]

pub mod abi;
pub mod call;
mod dtype;
pub mod error;
pub mod graph;
mod hints;
pub mod kernel;
pub mod orch;
pub mod plugin;
mod read;
pub mod runtime;
pub mod submit;
pub mod view;

/// The version of the ABI that this library has; the header's is `RL_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn rl_abi_version() -> u32 {
    abi::RL_ABI_VERSION
}
