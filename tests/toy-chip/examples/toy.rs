//! The command `ringlane` with the toy chip: its crate is linked, nothing else is different.

use toy_chip as _;

fn main() -> std::process::ExitCode {
    ringlane_cli::main()
}
