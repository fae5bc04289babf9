//! Processes that a command has started: who they are, whether they live, and signals for them.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// Long enough for anything that ends.
pub const LONG: Duration = Duration::from_secs(30);

/// Waits until something is so.
#[track_caller]
pub fn within(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "{what} does not come true");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a process a signal.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &pid.to_string()]).status().expect("kill exists");
    assert!(sent.success());
}

/// The processes that a process has started and that have not ended.
pub fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let of = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let lists: Vec<String> = threads.flatten().map(of).collect();
    lists.iter().flat_map(|list| list.split_whitespace()).map(|pid| pid.parse().unwrap()).collect()
}

/// Those, and those that they have started.
pub fn descendants(pid: u32) -> Vec<u32> {
    children(pid).into_iter().flat_map(|child| [vec![child], descendants(child)].concat()).collect()
}

/// Whether it exists and is no zombie, which its new parent has yet to reap.
pub fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
