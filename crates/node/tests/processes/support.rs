//! What the tests share.

use std::path::Path;
use std::time::{Duration, Instant};

use ringlane_node::{Child, ChildLaunch};

/// Long enough for anything that ends.
pub const LONG: Duration = Duration::from_secs(20);

/// A launch of this program as a worker.
pub fn launch(name: &str) -> ChildLaunch {
    ChildLaunch::new(name)
}

/// A worker that is ready.
pub fn child(name: &str) -> Child {
    Child::start(&launch(name)).unwrap_or_else(|error| panic!("{error:?}"))
}

/// The number after an option of this process's own command line.
pub fn number(option: &str) -> u64 {
    let value = std::env::args().skip_while(|word| word != option).nth(1);
    value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{option} N"))
}

/// The numbers after an option that may appear several times.
pub fn numbers(option: &str) -> Vec<u64> {
    let words: Vec<String> = std::env::args().collect();
    let values = words.windows(2).filter(|pair| pair[0] == option).map(|pair| pair[1].parse());
    values.map(|value| value.unwrap_or_else(|_| panic!("{option} N"))).collect()
}

/// Whether a process of this number is there, be it a zombie.
pub fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Whether a condition holds before time is up.
pub fn within(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

/// What this process has open, and how many mailboxes it has mapped.
pub fn holdings() -> (Vec<String>, usize) {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let mut open: Vec<_> = entries
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .map(|path| path.to_string_lossy().into_owned())
        .filter(|path| !path.starts_with("/proc/"))
        .map(|path| path.split(':').next().unwrap_or_default().to_string())
        .collect();
    open.sort();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    (open, maps.lines().filter(|line| line.contains("ringlane-mailbox")).count())
}

/// A small generator of numbers from a seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
