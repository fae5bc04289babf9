//! Diagnostics asked for wrongly: refused by name at every entry point, before anything is made.

mod common;

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use common::{Answer, Sandbox, checked};
use ringlane::prelude::*;
use ringlane::probe::{DumpSelection, SelectedKernel};
use ringlane_task::{ConfigError, Explain};
use ringlane_trace::dump::Dump;
use zerocopy::FromBytes;

kernel! { static BUMP = any fn(x: &mut [u32]) { x[0] += 1; } }

#[track_caller]
fn refused(options: &[&str], parts: &[&str]) {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&[&["run", "vector", "--case", "one"], options].concat());
    assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{options:?}: {}", answer.stderr);
    for part in parts {
        assert!(answer.stderr.contains(part), "{options:?}: no {part} in {}", answer.stderr);
    }
    assert!(sandbox.files().is_empty(), "{options:?}: {:?}", sandbox.files());
}

#[test]
fn levels_groups_policies_rounds_and_kernels_that_do_not_exist_are_refused() {
    for level in ["4", "-1", "x", ""] {
        refused(&[&format!("--chip-swimlane={level}")], &["--chip-swimlane", "0, 1, 2, 3"]);
    }
    for group in ["99", "nope", "-1"] {
        refused(&[&format!("--pmu={group}")], &["--pmu", group, "basic"]);
    }
    refused(&["--dfx", "--overflow", "lose"], &["--overflow", "block", "drop"]);
    refused(&["--dfx", "--dfx-rounds", "some"], &["--dfx-rounds", "first"]);
    refused(&["--dump-tensor=GEMM"], &["UnknownKernel", "GEMM", "VECTOR_ADD"]);
    refused(&["--dump-tensor=VECTOR_ADD,GEMM:1"], &["UnknownKernel", "GEMM"]);
    refused(&["--dump-tensor=VECTOR_ADD:3"], &["BadValue", "VECTOR_ADD:3", "0 to 2"]);
    refused(&["--dump-tensor="], &["--dump-tensor"]);
}

#[test]
fn a_directory_that_is_not_utf_8_or_empty_is_refused() {
    let sandbox = Sandbox::new();
    let mut command =
        sandbox.command(Path::new(env!("CARGO_BIN_EXE_ringlane")), &["run", "vector", "--dfx", "-o"]);
    let answer = Answer::of(command.arg(OsString::from_vec(b"bad\xff".to_vec())).output().unwrap());
    assert_eq!((answer.status, answer.stdout.as_str()), (2, ""), "{}", answer.stderr);
    assert!(answer.stderr.starts_with("error: "), "{}", answer.stderr);
    assert!(sandbox.files().is_empty());
    refused(&["--dfx", "-o", ""], &["-o"]);
}

fn config_in(path: &str) -> CallConfig {
    let mut config = CallConfig::default().with_threads(1).with_dfx_flags(DfxFlags::DEPS);
    config.set_output_prefix(path).unwrap();
    config
}

/// Runs one task.
fn bump(runtime: &mut Runtime) -> Run<()> {
    let mut data = Buffers::new();
    let x = data.add(&[1], &[0u32]).unwrap();
    runtime.run(&mut data, |o| {
        let x = o.external(x)?;
        o.submit(&BUMP, [x.inout()]).map(drop)
    })
}

#[test]
fn a_diagnostic_without_a_directory_is_rejected_by_with_and_by_observe() {
    let mut plain = Runtime::on(Platform::Cpu).with(&CallConfig::default().with_threads(1)).unwrap();
    for bit in 0..DfxFlags::USED_BITS {
        let config = CallConfig::default().with_dfx_flags(DfxFlags::from_bits(1 << bit).unwrap());
        assert_eq!(Runtime::on(Platform::Cpu).with(&config).unwrap_err().name(), "MissingOutputPrefix");
        assert_eq!(plain.observe(&config).unwrap_err().name(), "MissingOutputPrefix");
    }
    // A refusal changes nothing: the runtime still records nothing.
    bump(&mut plain).result.unwrap();
}

#[test]
fn reserved_bits_are_refused_by_number_at_every_entry_point() {
    let mut plain = Runtime::on(Platform::Cpu).with(&CallConfig::default().with_threads(1)).unwrap();
    for bit in DfxFlags::USED_BITS..64 {
        assert_eq!(DfxFlags::from_bits(1 << bit).unwrap_err(), ConfigError::ReservedBit { bit });
        let sandbox = Sandbox::new();
        let prefix = sandbox.path().join("run");
        let mut config = config_in(prefix.to_str().unwrap());
        config.dfx_flags = raw_flags(1 << bit | 1);
        let refusals = [
            Runtime::on(Platform::Cpu).with(&config).map(drop).unwrap_err(),
            plain.observe(&config).unwrap_err(),
        ];
        for error in refusals {
            assert_eq!(error.name(), "ReservedBit");
            assert!(error.detail().contains(&format!("bit {bit} ")), "{}", error.detail());
        }
        assert!(sandbox.files().is_empty());
    }
}

/// Flags with these bits, reserved ones too: as they may come from another process.
fn raw_flags(bits: u64) -> DfxFlags {
    DfxFlags::read_from_bytes(&bits.to_ne_bytes()).unwrap()
}

#[test]
fn a_prefix_that_is_no_path_is_refused_at_every_entry_point() {
    let mut plain = Runtime::on(Platform::Cpu).with(&CallConfig::default().with_threads(1)).unwrap();
    let good = config_in("/nowhere/run");
    let at = good.as_wire().windows(8).position(|bytes| bytes == b"/nowhere").unwrap();
    for (place, byte, name) in
        [(3, 0xff, "OutputPrefixNotUtf8"), (3, 0, "OutputPrefixHasNul"), (20, b'x', "OutputPrefixHasNul")]
    {
        let mut bytes = good.as_wire().to_vec();
        bytes[at + place] = byte;
        let bad = CallConfig::read_from_bytes(&bytes).unwrap();
        assert_eq!(Runtime::on(Platform::Cpu).with(&bad).unwrap_err().name(), name);
        assert_eq!(plain.observe(&bad).unwrap_err().name(), name);
    }
}

#[test]
fn a_prefix_of_1023_bytes_works_in_a_program_and_other_prefixes_are_refused() {
    let sandbox = Sandbox::new();
    let mut path = sandbox.path().to_str().unwrap().to_string();
    while path.len() < 1000 {
        path += "/0123456789";
    }
    path = format!("{path}/{}", "p".repeat(1022 - path.len()));
    assert_eq!(path.len(), 1023);
    let mut runtime = Runtime::on(Platform::Cpu).with(&config_in(&path)).unwrap();
    bump(&mut runtime).result.unwrap();
    assert_eq!(checked(Path::new(&path)).tasks, 1);

    let mut config = CallConfig::default();
    assert_eq!(config.set_output_prefix(&(path + "p")).unwrap_err().name(), "OutputPrefixTooLong");
    assert_eq!(config.set_output_prefix("a\0b").unwrap_err().name(), "OutputPrefixHasNul");
    assert_eq!(config.output_prefix(), Ok(None));
}

#[test]
fn a_taken_place_is_the_error_of_the_run_and_nothing_runs() {
    let sandbox = Sandbox::new();
    let path = sandbox.path().join("run");
    let mut runtime = Runtime::on(Platform::Cpu).with(&config_in(path.to_str().unwrap())).unwrap();
    bump(&mut runtime).result.unwrap();
    let before = fs::read(path.join("run.json")).unwrap();
    let second = bump(&mut runtime);
    assert_eq!((second.result.unwrap_err().name(), second.report.tasks), ("RunExists", 0));
    assert_eq!(fs::read(path.join("run.json")).unwrap(), before);

    fs::write(sandbox.path().join("file"), "mine").unwrap();
    runtime.observe(&config_in(sandbox.path().join("file").to_str().unwrap())).unwrap();
    assert_eq!(bump(&mut runtime).result.unwrap_err().name(), "NotADirectory");
    // The runtime can be used after that.
    runtime.observe(&CallConfig::default()).unwrap();
    bump(&mut runtime).result.unwrap();
}

#[test]
fn a_mark_on_an_argument_that_is_not_there_is_an_error_of_that_submit() {
    let sandbox = Sandbox::new();
    let path = sandbox.path().join("run");
    let mut config = config_in(path.to_str().unwrap());
    config.dfx_flags = DfxFlags::DUMP;
    let mut runtime = Runtime::on(Platform::Cpu).with(&config).unwrap();
    let mut data = Buffers::new();
    let x = data.add(&[1], &[0u32]).unwrap();
    let run = runtime.run(&mut data, |o| {
        let x = o.external(x)?;
        o.dump(&[1]).submit(&BUMP, [x.inout()]).map(drop)
    });
    let error = run.result.unwrap_err();
    assert!(error.detail().contains('1'), "{}: {}", error.name(), error.detail());
    assert_eq!(run.report.blocks, 0);
    let _ = checked(&path);
}

#[test]
fn a_selected_kernel_that_never_runs_leaves_an_empty_dump() {
    let sandbox = Sandbox::new();
    let path = sandbox.path().join("run");
    let mut config = config_in(path.to_str().unwrap());
    config.dfx_flags = DfxFlags::DUMP;
    let mut runtime = Runtime::on(Platform::Cpu).with(&config).unwrap();
    let other = SelectedKernel { name: "OTHER".to_string(), arg: None };
    runtime.select_dump(DumpSelection::Kernels(vec![other]));
    bump(&mut runtime).result.unwrap();
    checked(&path);
    let dump = Dump::read(path.join("tensor_dump/tensor_dump.json")).unwrap();
    assert_eq!((dump.records.len(), dump.head.selection.as_deref()), (0, Some("OTHER")));
}
