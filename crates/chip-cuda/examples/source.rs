//! Prints the program of all kernels of the scenes, as it is compiled: `-- gpu` or `-- host`, then `checked` for checked
//! indices.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::ExitCode;

use ringlane_chip_cuda::source::{Bounds, Machine, program};
use ringlane_engine::api::kernel::registered_kernels;
use ringlane_scenes as _;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (machine, bounds) = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["gpu"] => (Machine::Gpu, Bounds::Unchecked),
        ["gpu", "checked"] => (Machine::Gpu, Bounds::Checked),
        ["host"] => (Machine::HostThreads, Bounds::Unchecked),
        ["host", "checked"] => (Machine::HostThreads, Bounds::Checked),
        _ => {
            let _ = writeln!(std::io::stderr(), "usage: source gpu|host [checked]");
            return ExitCode::from(2);
        }
    };
    let text = program(&registered_kernels(), machine, bounds);
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
