//! Random bytes as a Chakra trace, protobuf or JSON: refused with a name, or a graph whose edges lead forwards.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ringlane_graph::import::{Format, ImportOptions, read};

mod import_common;

fuzz_target!(|data: &[u8]| {
    import_common::check(read(Format::Chakra, "input", data, &ImportOptions::default()));
});
