//! Random bytes as Chrome trace events: refused with a name, or a graph whose edges lead forwards.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ringlane_graph::import::{Format, ImportOptions, read};

mod import_common;

fuzz_target!(|data: &[u8]| {
    let options = ImportOptions { lane_order: data.len() % 2 == 1, ..ImportOptions::default() };
    import_common::check(read(Format::Trace, "input", data, &options));
});
