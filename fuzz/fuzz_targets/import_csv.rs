//! Random bytes as tables of tasks and edges: refused with a name, or a graph whose edges lead forwards.
//!
//! ```text
//! input: [u16 length of the tasks] tasks edges
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;
use ringlane_graph::import::{ImportOptions, read_tables};

mod import_common;

fuzz_target!(|data: &[u8]| {
    let [low, high, rest @ ..] = data else { return };
    let (tasks, edges) = rest.split_at(usize::from(u16::from_le_bytes([*low, *high])).min(rest.len()));
    import_common::check(read_tables(tasks, edges, &ImportOptions::default()));
});
