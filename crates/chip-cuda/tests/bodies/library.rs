//! Compiles the bodies of all kernels for this machine, and runs blocks of them.
//!
//! A block has one thread, as on the chip `cuda-host`, or 256 as on a GPU, which take turns (`block.cpp`).
#![allow(unsafe_code)]

use std::io::Write as _;
use std::process::{Command, Stdio};

use ringlane_chip_cuda::source::{Bounds, Entries, Machine, program};
use ringlane_engine::api::kernel::{Kernel, registered_kernels};
use ringlane_scenes as _;

/// The threads of a block, and the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// One.
    One,
    /// 256, each up to its next barrier before the thread with the next number. Copies take place when a thread asks for them.
    Forwards,
    /// 256, from the last one to the first. Copies take place when a thread waits for them.
    Backwards,
}

/// The source for this machine's threads with these kernels; the number of a kernel is its place among them.
pub fn host_source(kernels: &[&Kernel], bounds: Bounds) -> String {
    program(kernels, Machine::HostThreads, bounds, Entries::ListsAndNodes)
}

/// The C++ compiler, if there is one.
pub fn compiler() -> Option<String> {
    let name = std::env::var("CXX").unwrap_or_else(|_| "c++".to_string());
    let quiet = || Command::new(&name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet().ok().filter(std::process::ExitStatus::success).map(|_| name)
}

/// Compiles a source to a shared library at a path.
pub fn compile(compiler: &str, source: &str, to: &std::path::Path) -> Result<(), String> {
    let mut child = Command::new(compiler)
        .args(["-std=c++17", "-O1", "-Wall", "-shared", "-fPIC", "-x", "c++", "-", "-o"])
        .arg(to)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let input = child.stdin.take();
    input.ok_or("no input")?.write_all(source.as_bytes()).map_err(|error| error.to_string())?;
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() && text.is_empty() { Ok(()) } else { Err(text) }
}

/// As `rl_test_block` in `block.cpp`.
type RunBlock =
    unsafe extern "C" fn(u32, *const u64, u32, *const u64, u32, u32, bool, *mut core::ffi::c_char) -> u32;

/// Asynchronous copies of a body, and what takes their place: `block.cpp` delays them as long as possible, or not at all.
const COPIES: [(&str, &str); 3] = [
    (
        "memcpy(to, from, there * sizeof *from);",
        "void rl_test_stream(rl_eight *, const rl_bf16 *, u32);\n    rl_test_stream(to, from, there);",
    ),
    (
        "RL_DEVICE void rl_stream_end() {}",
        "void rl_test_stream_end();\nRL_DEVICE void rl_stream_end() { rl_test_stream_end(); }",
    ),
    (
        "template <int N> RL_DEVICE void rl_streamed() {}",
        "void rl_test_streamed(u32);\ntemplate <int N> RL_DEVICE void rl_streamed() { rl_test_streamed(N); }",
    ),
];

/// A compiled library with the bodies of some kernels.
pub struct Library {
    kernels: Vec<&'static Kernel>,
    run: RunBlock,
    _library: libloading::Library,
    _folder: tempfile::TempDir,
}

impl Library {
    /// Compiles all bodies, with checked indices, for blocks of one thread or of 256.
    pub fn new(compiler: &str, threads: Threads) -> Self {
        Self::of(compiler, threads, registered_kernels(), |source| source)
    }

    /// The same with one body, and with a mistake: a text of the device code, which is there once, is replaced by another.
    pub fn with_mistake(compiler: &str, kernel: &str, (from, to): (&str, &str)) -> Self {
        let one = registered_kernels().into_iter().filter(|one| one.name() == kernel).collect();
        Self::of(compiler, Threads::Forwards, one, |source| replaced(&source, from, to))
    }

    fn of(
        compiler: &str,
        threads: Threads,
        kernels: Vec<&'static Kernel>,
        change: impl FnOnce(String) -> String,
    ) -> Self {
        let mut source = change(host_source(&kernels, Bounds::Checked));
        if threads != Threads::One {
            source = replaced(&source, "blockDim = {1};", "blockDim = {256};");
            let sync = "void rl_test_sync();\nRL_DEVICE void rl_sync() { rl_test_sync(); }";
            source = replaced(&source, "RL_DEVICE void rl_sync() {}", sync);
            for (own, test) in COPIES {
                source = replaced(&source, own, test);
            }
        }
        source.push_str(include_str!("block.cpp"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bodies.so");
        compile(compiler, &source, &path).unwrap();
        // SAFETY: the library has no code that runs when it is loaded but constructors of its own variables.
        let library = unsafe { libloading::Library::new(&path) }.unwrap();
        // SAFETY: `block.cpp` defines the function with this signature, and the library is kept as long as the address.
        let run = unsafe { *library.get::<RunBlock>(b"rl_test_block").unwrap() };
        Library { kernels, run, _library: library, _folder: folder }
    }

    /// Runs all blocks of a task on tensors at their own addresses; the text with which a block failed, if one did.
    pub fn run(
        &self,
        kernel: &str,
        words: &[u64],
        tensors: &mut [Vec<u64>],
        blocks: u32,
        threads: Threads,
    ) -> Result<(), String> {
        let number = self.kernels.iter().position(|one| one.name() == kernel).unwrap();
        let spaces: Vec<u64> = tensors.iter_mut().map(|tensor| tensor.as_mut_ptr() as u64).collect();
        for block in 0..blocks {
            let mut text = [0u8; 256];
            // SAFETY: the words describe views that are inside of the tensors, which are borrowed for the call; the kernel
            // takes arguments of these types (the caller ran it on this machine with the same ones); `text` is longer than
            // any text. One thread uses the library: its coroutines are global.
            let failed = unsafe {
                (self.run)(
                    number as u32,
                    words.as_ptr(),
                    words.len() as u32,
                    spaces.as_ptr(),
                    block,
                    blocks,
                    threads == Threads::Backwards,
                    text.as_mut_ptr().cast(),
                )
            };
            let text = String::from_utf8_lossy(&text).trim_end_matches('\0').to_string();
            match failed {
                0 => {}
                3 => return Err("some threads returned, others wait at a barrier".to_string()),
                _ => return Err(text),
            }
        }
        Ok(())
    }
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "the device code has no `{from}`, or several");
    text.replace(from, to)
}
