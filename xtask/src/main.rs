//! The command `cargo xtask`; see the library.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    xtask::main()
}
