//! The command `ringlane`, with the scenes that come with it.

/// So that `ringlane bench alloc` can count.
#[global_allocator]
static ALLOCATOR: ringlane_cli::CountingAllocator = ringlane_cli::CountingAllocator;

fn main() -> std::process::ExitCode {
    ringlane_cli::main()
}
