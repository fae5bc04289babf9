//! The command `ringlane`, with the scenes that come with it.

fn main() -> std::process::ExitCode {
    ringlane::main()
}
