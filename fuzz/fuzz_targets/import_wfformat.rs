//! Random bytes as a WfCommons instance: refused with a name, or a graph whose edges lead forwards.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ringlane_graph::import::{Format, ImportOptions, read};

mod import_common;

fuzz_target!(|data: &[u8]| {
    let options = ImportOptions::default();
    import_common::check(read(Format::WfFormat, "input", data, &options));
});
