//! The command `ringlane`, with the scenes that come with it.

/// So that `ringlane bench alloc` can count.
#[global_allocator]
static ALLOCATOR: ringlane::CountingAllocator = ringlane::CountingAllocator;

fn main() -> std::process::ExitCode {
    ringlane::main()
}
