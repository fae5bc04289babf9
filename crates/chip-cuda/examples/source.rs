//! Prints the program of all kernels of the scenes, as it is compiled: `-- gpu` or `-- host`, then `checked` for checked
//! indices, and `nodes` for what `--policy cuda-graph` needs besides.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::ExitCode;

use ringlane_chip_cuda::source::{Bounds, Entries, Machine, program};
use ringlane_engine::api::kernel::registered_kernels;
use ringlane_scenes as _;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| args[1.min(args.len())..].iter().any(|arg| arg == word);
    let known = args.iter().skip(1).all(|arg| arg == "checked" || arg == "nodes");
    let machine = match args.first().map(String::as_str) {
        Some("gpu") if known => Machine::Gpu,
        Some("host") if known => Machine::HostThreads,
        _ => {
            let _ = writeln!(std::io::stderr(), "usage: source gpu|host [checked] [nodes]");
            return ExitCode::from(2);
        }
    };
    let bounds = if has("checked") { Bounds::Checked } else { Bounds::Unchecked };
    let entries = if has("nodes") { Entries::ListsAndNodes } else { Entries::Lists };
    let text = program(&registered_kernels(), machine, bounds, entries);
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
