//! The processors of this machine that the process may use, and where its threads go.
//!
//! Threads are left to the system's scheduler unless `RINGLANE_PIN=1` is set. It moves them away from processors that
//! others keep busy, which a pinned thread has to wait for; two runtimes of one machine, or of one process, would pin theirs
//! to the same processors; and where nothing else runs it leaves them where they are anyway.
#![forbid(unsafe_code)]

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::topology;

/// Number of processors that this process can keep busy: those of its affinity mask, or fewer if its container has a CPU
/// quota, which is rounded up. At least 1. A [`CpuRuntime`](crate::CpuRuntime) has that many threads unless it is given
/// another number.
///
/// ```
/// assert!(ringlane_chip_cpu::usable_cpus() >= 1);
/// ```
pub fn usable_cpus() -> usize {
    // Without a mask (more processors than it has bits for, another system) what the standard library knows.
    let allowed = match allowed_cpus().len() {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        cpus => cpus,
    };
    topology::quota_cpus(&read).map_or(allowed, |quota| quota.min(allowed))
}

/// The processor of each helper thread of a runtime with `threads` threads, in order, if they are to be pinned: that was
/// asked for, and there is one for each. One is left to the submitter, whose thread is the caller's own.
pub(crate) fn pins(threads: usize) -> Vec<usize> {
    let cpus = allowed_cpus();
    let asked_for = std::env::var_os("RINGLANE_PIN").is_some_and(|value| value == "1");
    if !asked_for || threads > cpus.len() {
        return Vec::new();
    }
    topology::spread(&topology::cpus(&read, &cpus)).into_iter().skip(1).collect()
}

/// Keeps the calling thread on one processor. Where the system refuses, it stays where it is.
pub(crate) fn pin_to(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu);
    // Pinning changes how fast tasks run, nothing else.
    let _ = sched_setaffinity(None, &set);
}

fn allowed_cpus() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}
