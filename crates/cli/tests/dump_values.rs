//! `ringlane dump` on values of every type: exported and read by NumPy, cut short, damaged, and with names that bite.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::Sandbox;
use ringlane::prelude::*;
use ringlane_task::{F8E4M3, F8E5M2, bf16, f16};
use ringlane_trace::dump::Checksum;

macro_rules! touch {
    ($($name:ident: $ty:ty;)*) => {
        $(kernel! { static $name = any fn(x: &[$ty], s: $ty) { let _ = (x, s); } })*
    };
}

touch! {
    T_BOOL: bool; T_INT8: i8; T_UINT8: u8; T_INT16: i16; T_UINT16: u16; T_INT32: i32; T_UINT32: u32; T_INT64: i64;
    T_UINT64: u64; T_FLOAT16: f16; T_BFLOAT16: bf16; T_FLOAT32: f32; T_FLOAT64: f64; T_E4M3: F8E4M3; T_E5M2: F8E5M2;
}

const PARAMS: &[ParamSpec] = &[<&mut [f32]>::SPEC];
static EVIL: Kernel = Kernel::new("../E\x1b[31m<b>\n'/", CoreType::Any, PARAMS, |args| {
    args.take::<&mut [f32]>()?[0] = f32::INFINITY;
    Ok(())
});
kernel! { static HALVE = any fn(x: &[f32], y: &mut [f32]) { y.iter_mut().zip(x).for_each(|(y, x)| *y = x / 2.0); } }

/// Runs an orchestration with a dump into `run`.
fn recorded(
    sandbox: &Sandbox,
    data: &mut Buffers<'_>,
    f: impl for<'r, 'e> FnOnce(&mut Orch<'r, 'e>) -> Result<()>,
) {
    let mut config = CallConfig::default().with_threads(2).with_dfx_flags(DfxFlags::DUMP);
    config.set_output_prefix(sandbox.path().join("run").to_str().unwrap()).unwrap();
    Runtime::on(Platform::Cpu).with(&config).unwrap().run(data, f).result.unwrap();
}

/// Six values of every type as a tensor of 2 × 3, and the fifth of them as a scalar.
fn every_type(sandbox: &Sandbox) {
    let mut data = Buffers::new();
    macro_rules! buffers {
        ($($kernel:ident, $values:expr;)*) => {{
            let ids = [$((&$kernel, data.add(&[2, 3], &$values).unwrap(), scalar($values[4])),)*];
            recorded(sandbox, &mut data, |o| {
                ids.iter().try_for_each(|(kernel, id, fifth)| {
                    let x = o.external(*id)?;
                    o.submit(*kernel, [x.read(), *fifth]).map(drop)
                })
            });
        }};
    }
    let floats = [0.5f32, -1.5, 2.0, 0.0, -0.25, f32::NAN];
    buffers! {
        T_BOOL, [true, false, true, true, false, false];
        T_INT8, [1i8, -2, 3, i8::MIN, i8::MAX, 0];
        T_UINT8, [1u8, 2, 3, 4, u8::MAX, 0];
        T_INT16, [1i16, -2, 3, i16::MIN, i16::MAX, 0];
        T_UINT16, [1u16, 2, 3, 4, u16::MAX, 0];
        T_INT32, [1i32, -2, 3, i32::MIN, i32::MAX, 0];
        T_UINT32, [1u32, 2, 3, 4, u32::MAX, 0];
        T_INT64, [1i64, -2, 3, i64::MIN, i64::MAX, 0];
        T_UINT64, [1u64, 2, 3, 4, u64::MAX, 0];
        T_FLOAT16, floats.map(f16::from_f32);
        T_BFLOAT16, floats.map(bf16::from_f32);
        T_FLOAT32, floats;
        T_FLOAT64, floats.map(f64::from);
        T_E4M3, floats.map(F8E4M3::from_f32);
        T_E5M2, floats.map(F8E5M2::from_f32);
    }
}

/// What NumPy has to find: the type and the values of each tensor, and its fifth as an array without dimensions.
const CHECK: &str = r#"
import sys, glob, numpy as np
floats = [0.5, -1.5, 2.0, 0.0, -0.25, float("nan")]
def whole(dtype):
    info = np.iinfo(dtype)
    return [1, -2, 3, info.min, info.max, 0] if info.min < 0 else [1, 2, 3, 4, info.max, 0]
kinds = {"BOOL": ("bool", [1, 0, 1, 1, 0, 0])}
for name in ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]:
    kinds[name.upper()] = (name, whole(name))
for name, dtype in [("FLOAT16", "float16"), ("BFLOAT16", "float32"), ("FLOAT32", "float32"), ("FLOAT64", "float64"),
                    ("E4M3", "float32"), ("E5M2", "float32")]:
    kinds[name] = (dtype, floats)
seen = 0
for path in sorted(glob.glob(sys.argv[1] + "/*.npy")):
    kernel = path.split("_T_")[1].split("_")[0]
    dtype, values = kinds[kernel]
    array = np.load(path)
    want = np.array(values, dtype=dtype)
    assert array.dtype == np.dtype(dtype), (path, array.dtype)
    if "_arg0_" in path:
        assert array.shape == (2, 3), (path, array.shape)
        assert np.array_equal(array.ravel(), want, equal_nan=dtype[0] == "f"), (path, array)
        text = np.loadtxt(path.replace(sys.argv[1], sys.argv[2]).replace(".npy", ".txt"))
        assert np.array_equal(text, want.reshape(2, 3).astype(float), equal_nan=True), (path, text)
    else:
        assert array.shape == () and array == want[4], (path, array)
    seen += 1
print(seen)
"#;

#[test]
fn numpy_reads_every_type() {
    let sandbox = Sandbox::new();
    every_type(&sandbox);
    for format in ["npy", "txt"] {
        let answer = sandbox.ringlane(&["dump", "run", "--export", format, "-o", format]);
        assert_eq!((answer.status, answer.stdout.lines().count()), (0, 30), "{}", answer.stderr);
    }
    let python = Command::new("python3").args(["-c", "import numpy"]).output();
    if !python.is_ok_and(|found| found.status.success()) {
        println!("skipped: there is no Python with NumPy");
        return;
    }
    let output = Command::new("python3")
        .args(["-c", CHECK, "npy", "txt"])
        .current_dir(sandbox.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "30");
}

#[test]
fn nothing_is_overwritten_and_an_export_needs_a_directory() {
    let sandbox = Sandbox::new();
    every_type(&sandbox);
    let export = ["dump", "run", "--index", "0", "--export", "npy", "-o", "d"];
    assert_eq!(sandbox.ringlane(&export).status, 0);
    let before = fs::read(sandbox.path().join("d/000000_seq0_T_BOOL_arg0_before.npy")).unwrap();
    let answer = sandbox.ringlane(&export);
    assert_eq!(answer.status, 1);
    assert_eq!(answer.line("hint: "), "files are never overwritten: name another directory with -o");
    assert_eq!(fs::read(sandbox.path().join("d/000000_seq0_T_BOOL_arg0_before.npy")).unwrap(), before);
    assert_eq!(sandbox.ringlane(&["dump", "run", "--export", "npy"]).status, 2);
    assert_eq!(sandbox.ringlane(&["dump", "run", "-o", "e"]).status, 2);
    fs::write(sandbox.path().join("file"), "").unwrap();
    for unwritable in ["file", "/proc/x"] {
        assert_eq!(sandbox.ringlane(&["dump", "run", "--export", "txt", "-o", unwritable]).status, 1);
    }
    assert_eq!(sandbox.ringlane(&["dump", "run", "--export", "txt", "-o", ""]).status, 2);
}

#[test]
fn integers_of_64_bits_and_large_tensors_are_summed_up_exactly() {
    let sandbox = Sandbox::new();
    every_type(&sandbox);
    let rows = sandbox
        .ringlane(&["dump", "run", "--kernel", "T_UINT64", "--kind", "tensor", "--print", "--json"])
        .json();
    assert_eq!(
        (&rows["records"][0]["max"], &rows["records"][0]["min"]),
        (&"18446744073709551615".into(), &"0".into())
    );
    let sandbox = Sandbox::new();
    // Larger than one piece, and not a multiple of it.
    let x: Vec<f32> = (0..200_003).map(|i| i as f32).collect();
    let mut data = Buffers::new();
    let id = data.add(&[200_003], &x).unwrap();
    recorded(&sandbox, &mut data, |o| {
        let x = o.external(id)?;
        o.submit(&HALVE, [x.read(), out(f32, [200_003])]).map(drop)
    });
    let rows = sandbox.ringlane(&["dump", "run", "--stage", "after", "--print", "--json"]).json();
    let row = &rows["records"][0];
    assert_eq!(
        (&row["elements"], &row["max"], &row["mean"]),
        (&200_003.into(), &"100001.0".into(), &50_000.5.into())
    );
}

#[test]
fn a_name_that_bites_is_shown_harmless_and_names_a_harmless_file() {
    let sandbox = Sandbox::new();
    let mut data = Buffers::new();
    let (id, bad) = (data.add(&[4], &[1.0f32; 4]).unwrap(), data.add(&[2], &[f32::NAN, 1.0]).unwrap());
    recorded(&sandbox, &mut data, |o| {
        let (x, bad) = (o.external(id)?, o.external(bad)?);
        o.submit(&HALVE, [bad.read(), out(f32, [2])])?;
        o.submit(&EVIL, [x.inout()]).map(drop)
    });
    for command in [&["dump", "run"][..], &["dump", "run", "--print"], &["dump", "bad", "run"]] {
        let text = sandbox.ringlane(command).stdout;
        assert!(text.contains("../E\\u{1b}[31m<b>\\n'/") && !text.contains('\x1b'), "{text}");
    }
    let answer =
        sandbox.ringlane(&["dump", "run", "--arg", "0", "--role", "inout", "--export", "txt", "-o", "d"]);
    let names: Vec<_> = answer.stdout.lines().collect();
    assert_eq!(names[0], "d/000002_seq1____E__31m_b_____arg0_before.txt", "{}", answer.stderr);
    // A NaN from outside is reported as such, and does not hide the task that produces one.
    let text = sandbox.ringlane(&["dump", "bad", "run"]).stdout;
    assert!(
        text.starts_with("task 0:0 (seq 0) HALVE reads NaN or infinity that no captured task produced\n")
    );
    assert!(text.contains("task 0:1 (seq 1) ../E"), "{text}");
    assert!(text.contains("1 of 4 elements, 0 NaN and 1 infinite; the first, inf, at [0]"), "{text}");
}

/// Changes the records of a run, and what run.json says of their length.
fn edit(dir: &Path, changes: &[(&str, &str)]) {
    let (file, manifest) = (dir.join("tensor_dump/tensor_dump.json"), dir.join("run.json"));
    let before = fs::read_to_string(&file).unwrap();
    let after = changes.iter().fold(before.clone(), |text, (from, to)| {
        assert!(text.contains(from), "{from} in {text}");
        text.replacen(from, to, 1)
    });
    fs::write(&file, &after).unwrap();
    let listed = |bytes: usize| format!("tensor_dump.json\",\"bytes\":{bytes},");
    let text = fs::read_to_string(&manifest).unwrap();
    assert!(text.contains(&listed(before.len())), "{text}");
    fs::write(&manifest, text.replace(&listed(before.len()), &listed(after.len()))).unwrap();
}

fn halves(sandbox: &Sandbox) {
    let mut data = Buffers::new();
    let id = data.add(&[2, 4], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).unwrap();
    recorded(sandbox, &mut data, |o| {
        let x = o.external(id)?.slice(0, 0, 2)?;
        o.submit(&COPY, [x.read(), out(f32, [8])]).map(drop)
    });
}

kernel! { static COPY = any fn(x: View<f32, 2>, y: &mut [f32]) {
    y.iter_mut().enumerate().for_each(|(i, y)| *y = x[[i / 4, i % 4]]);
} }

#[test]
fn a_tensor_that_is_cut_short_is_marked_everywhere() {
    let sandbox = Sandbox::new();
    halves(&sandbox);
    let bin = std::fs::read(sandbox.path().join("run/tensor_dump/tensor_dump.bin")).unwrap();
    let [whole, part] = [32, 10].map(|bytes| Checksum::of(&bin[..bytes]));
    let whole = format!("\"truncated\":false,\"bin_offset\":0,\"bin_size\":32,\"crc32\":{whole}");
    let part = format!("\"truncated\":true,\"bin_offset\":0,\"bin_size\":10,\"crc32\":{part}");
    let cut = [(&*whole, &*part), ("\"truncated\":0", "\"truncated\":1")];
    edit(&sandbox.path().join("run"), &cut);
    assert!(sandbox.ringlane(&["dump", "run"]).stdout.contains("10 B, truncated"));
    let text = sandbox.ringlane(&["dump", "run", "--index", "0", "--print"]).stdout;
    assert!(text.contains(", truncated\n  2 elements, min 1.0, max 2.0"), "{text}");
    let answer = sandbox.ringlane(&["dump", "run", "--index", "0", "--export", "txt", "-o", "d"]);
    assert_eq!(answer.stdout, "d/000000_seq0_COPY_arg0_before_truncated.txt\n");
    let text = sandbox.ringlane(&["dump", "bad", "run"]).stdout;
    assert!(text.ends_with("searched 2 records, 1 of them truncated\n"), "{text}");
    let text = sandbox.ringlane(&["dump", "diff", "run", "run"]).stdout;
    assert!(text.contains("1 truncated record compared in part") && text.contains("10 elements"), "{text}");
}

#[test]
fn a_record_outside_of_the_bytes_and_other_damage_is_reported() {
    for (changes, detail) in [
        (("\"bin_offset\":0,", "\"bin_offset\":4000000000,"), "32 bytes at 4000000000 of a file of 64 bytes"),
        (("\"bin_offset\":0,", "\"bin_offset\":18446744073709551615,"), "32 bytes at 18446744073709551615"),
        (("\"bin_size\":32", "\"bin_size\":31"), "a payload of 31 bytes for float32"),
        (("[0,0,[", "[1,0,["), "has a record of task 0:0, and not the task"),
        (("\"version\":1", "\"version\":9"), "version 9"),
        (("\"records\":[", "\"records\":[7,"), "records record 0"),
    ] {
        let sandbox = Sandbox::new();
        halves(&sandbox);
        edit(&sandbox.path().join("run"), &[changes]);
        for command in
            [&["dump", "run", "--print"][..], &["dump", "bad", "run"], &["dump", "diff", "run", "run"]]
        {
            let answer = sandbox.ringlane(command);
            assert_eq!((answer.status, &*answer.stdout), (2, ""), "{changes:?}: {}", answer.stderr);
            assert!(answer.line("detail: ").contains(detail), "{changes:?}: {}", answer.stderr);
        }
    }
    let sandbox = Sandbox::new();
    halves(&sandbox);
    let bin = sandbox.path().join("run/tensor_dump/tensor_dump.bin");
    fs::write(&bin, [0; 7]).unwrap();
    let answer = sandbox.ringlane(&["dump", "run", "--print"]);
    assert!(
        answer.line("detail: ").contains("tensor_dump.bin: it is 7 bytes, and run.json says 64"),
        "{}",
        answer.stderr
    );
    fs::remove_file(&bin).unwrap();
    assert_eq!(sandbox.ringlane(&["dump", "bad", "run"]).status, 2);
    assert_eq!(sandbox.ringlane(&["dump", "run"]).status, 0, "the list needs no bytes");
}
