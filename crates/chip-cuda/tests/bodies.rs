//! The CUDA bodies of the scenes' kernels compile for this machine, and compute what the Rust bodies compute.
//!
//! A block has one thread, as on this machine's chip, or 256 that take turns at barriers, as on a GPU.
#![deny(unsafe_code)]
#![allow(clippy::print_stderr)]

#[path = "bodies/case.rs"]
mod case;
#[path = "bodies/decode.rs"]
mod decode;
#[path = "bodies/library.rs"]
mod library;
#[path = "bodies/table.rs"]
mod table;

use ringlane_chip_cuda::source::Bounds;
use ringlane_engine::api::kernel::registered_kernels;

use self::case::Case;
use self::library::{Library, Threads, compile, compiler, host_source};

/// The compiler; a test without one is skipped.
fn compiler_or_skip() -> Option<String> {
    let found = compiler();
    if found.is_none() {
        eprintln!("skipped: no C++ compiler (c++, or the one that CXX names)");
    }
    found
}

/// Fails with every difference between the CUDA bodies and the Rust bodies.
fn compare(threads: &[Threads]) {
    let Some(compiler) = compiler_or_skip() else { return };
    let library = Library::new(&compiler, threads[0]);
    let mut differences = Vec::new();
    for (number, case) in table::cases().iter().enumerate() {
        let want = case.rust();
        for &threads in threads {
            if let Some(difference) = case.difference(&want, &case.cuda(&library, threads)) {
                differences.push(format!("case {number}, {}, {threads:?}: {difference}", case.kernel));
            }
        }
    }
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

#[test]
fn all_bodies_compile_without_warnings() {
    let Some(compiler) = compiler_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    for bounds in [Bounds::Checked, Bounds::Unchecked] {
        compile(&compiler, &host_source(&registered_kernels(), bounds), &folder.path().join("bodies.so"))
            .unwrap();
    }
}

#[test]
fn a_block_of_one_thread_computes_what_the_rust_body_computes() {
    compare(&[Threads::One]);
}

#[test]
fn a_block_of_256_threads_computes_what_the_rust_body_computes_in_any_order_of_the_threads() {
    compare(&[Threads::Forwards, Threads::Backwards]);
}

/// Mistakes in device code: a kernel that uses it, the code, and what is there instead.
const MISTAKES: [(&str, &str, &str); 9] = [
    // Weights are read before they have arrived.
    ("QKV", "rl_streamed<RL_ROWS_AHEAD>();", "rl_streamed<RL_ROWS_AHEAD + 1>();"),
    // What the lanes of a warp have and address for tensor cores.
    ("MATMUL_BF16", "return lane % 16; }", "return lane % 8; }"),
    ("MATMUL_BF16", "{ return lane / 16; }", "{ return lane / 8 % 2; }"),
    ("MATMUL_BF16", "return lane / 4 + 8 * half; }", "return lane / 4 + 8 * (half ^ 1); }"),
    ("MATMUL_BF16", "return lane % 4 * 2; }", "return lane % 4 * 2 ^ 2; }"),
    // Rows are in the same bank.
    ("MATMUL_BF16", "row * wide + (chunk ^ row % 8); }", "row * wide + chunk; }"),
    // A stage is read before all threads have brought it, before it has arrived, and overwritten while it is used.
    (
        "MATMUL_BF16",
        "        rl_sync();\n        rl_each_warp(warp, own) {",
        "        rl_each_warp(warp, own) {",
    ),
    ("MATMUL_BF16", "rl_streamed<RL_STAGES - 2>();", "rl_streamed<RL_STAGES - 1>();"),
    ("MATMUL_BF16", "bring(turn == 0 ? RL_STAGES - 1 : turn - 1,", "bring(turn,"),
];

#[test]
fn a_mistake_in_device_code_is_found() {
    let Some(compiler) = compiler_or_skip() else { return };
    for (kernel, code, mistake) in MISTAKES {
        let library = Library::with_mistake(&compiler, kernel, (code, mistake));
        let differs = |case: Case| {
            let (want, mut orders) = (case.rust(), [Threads::Forwards, Threads::Backwards].into_iter());
            orders.any(|threads| case.difference(&want, &case.cuda(&library, threads)).is_some())
        };
        let mut cases = table::cases().into_iter().filter(|case| case.kernel == kernel);
        assert!(cases.any(differs), "not found: {mistake}");
    }
}

#[test]
fn every_kernel_has_a_body_and_at_least_two_cases() {
    let cases = table::cases();
    for kernel in registered_kernels() {
        assert!(kernel.cuda().is_some(), "{} has no body for GPUs", kernel.name());
        let of_kernel = cases.iter().filter(|case| case.kernel == kernel.name()).count();
        assert!(of_kernel >= 2, "{} has {of_kernel} cases", kernel.name());
    }
}

#[test]
fn a_body_fails_with_a_text() {
    let Some(compiler) = compiler_or_skip() else { return };
    let library = Library::new(&compiler, Threads::Forwards);
    let text = |case: &Case| case.cuda(&library, Threads::Forwards).unwrap_err();
    assert_eq!(text(&table::not_definite()), "the matrix is not positive definite");
    assert!(table::not_definite().rust().is_err());
    let too_large = "the kernel needs more scratch memory than a block has";
    assert_eq!(text(&table::too_many_steps()), too_large);
}
