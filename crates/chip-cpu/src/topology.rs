//! What the system's files say about processors: how many this process may keep busy, and which share what.
//!
//! Nothing here touches the machine: the caller gives the files. A file that is missing or does not make sense is an
//! ordinary case (another kernel, a container, a sandbox) and counts as one that says nothing.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

/// Reads a file of the system, if it is there.
pub(crate) type Files<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The most processors in one list: what a kernel can be built for.
const CPUS_MAX: usize = 8192;

/// A processor of the system's list, and what it shares with others. Equal numbers mean that it is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cpu {
    pub(crate) number: usize,
    /// The physical core, of which several processors may be threads.
    core: usize,
    /// The last-level cache.
    cache: usize,
    /// The NUMA node.
    node: usize,
}

/// The processors that quotas of control groups leave this process, rounded up: half a processor is one thread's. The
/// lowest quota counts, of the process's own group and of all around it. `None` where there is no quota.
pub(crate) fn quota_cpus(files: Files<'_>) -> Option<usize> {
    let groups = files("/proc/self/cgroup")?;
    groups.lines().filter_map(|line| quota_of_group(files, line)).min()
}

/// The quota of a line of `/proc/self/cgroup`: `HIERARCHY:CONTROLLERS:PATH`, for the second version `0::PATH`.
fn quota_of_group(files: Files<'_>, line: &str) -> Option<usize> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    let quota = |directory: String| match controllers {
        "" => quota_v2(&files(&format!("/sys/fs/cgroup{directory}/cpu.max"))?),
        _ => {
            let of = |name: &str| files(&format!("/sys/fs/cgroup/cpu{directory}/cpu.cfs_{name}_us"));
            quota_v1(&of("quota")?, &of("period")?)
        }
    };
    let has_quotas = controllers.is_empty() || controllers.split(',').any(|controller| controller == "cpu");
    has_quotas.then(|| ancestors(path).filter_map(quota).min()).flatten()
}

/// A group's directory and those around it, the root as the empty string. Where a container shows its own group as the root,
/// the path may name directories that are not there.
fn ancestors(path: &str) -> impl Iterator<Item = String> {
    let path = path.trim_end_matches('/').to_string();
    core::iter::successors(Some(path), |path| path.rfind('/').map(|end| path[..end].to_string()))
}

/// `cpu.max`: `MAX PERIOD`, where the first may be `max`.
fn quota_v2(text: &str) -> Option<usize> {
    let mut words = text.split_whitespace();
    rounded_up(words.next()?.parse().ok()?, words.next()?.parse().ok()?)
}

/// `cpu.cfs_quota_us`, which is -1 without one, and `cpu.cfs_period_us`.
fn quota_v1(quota: &str, period: &str) -> Option<usize> {
    rounded_up(quota.trim().parse().ok()?, period.trim().parse().ok()?)
}

fn rounded_up(quota_us: u64, period_us: u64) -> Option<usize> {
    (period_us > 0).then(|| quota_us.div_ceil(period_us).max(1) as usize)
}

/// A list such as `0-3,8`. `None` if it is no list.
fn cpu_list(text: &str) -> Option<Vec<usize>> {
    let mut list = Vec::new();
    for range in text.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last >= CPUS_MAX {
            return None;
        }
        list.extend(first..=last);
    }
    Some(list)
}

/// The processors with these numbers. Where files are missing, each has a core of its own and all share the rest.
pub(crate) fn cpus(files: Files<'_>, numbers: &[usize]) -> Vec<Cpu> {
    let nodes = nodes(files);
    let first_of = |path: String| cpu_list(&files(&path)?)?.into_iter().min();
    let of = |number: usize| {
        let directory = format!("/sys/devices/system/cpu/cpu{number}");
        let siblings = first_of(format!("{directory}/topology/thread_siblings_list"));
        let cache =
            (0..=3).rev().find_map(|i| first_of(format!("{directory}/cache/index{i}/shared_cpu_list")));
        let node = nodes.get(&number).copied().unwrap_or(0);
        Cpu { number, core: siblings.unwrap_or(number), cache: cache.unwrap_or(node), node }
    };
    numbers.iter().copied().map(of).collect()
}

/// The NUMA node of each processor.
fn nodes(files: Files<'_>) -> BTreeMap<usize, usize> {
    let online = files("/sys/devices/system/node/online").and_then(|text| cpu_list(&text));
    let mut nodes = BTreeMap::new();
    for node in online.unwrap_or_default() {
        let list = files(&format!("/sys/devices/system/node/node{node}/cpulist"));
        let list = list.and_then(|text| cpu_list(&text)).unwrap_or_default();
        nodes.extend(list.into_iter().map(|cpu| (cpu, node)));
    }
    nodes
}

/// The order in which processors are used: as far apart as possible. Nodes take turns, within each its caches, within each
/// its cores; a second thread of a core comes after all cores have one.
pub(crate) fn spread(cpus: &[Cpu]) -> Vec<usize> {
    let keys: Vec<[usize; 4]> = cpus.iter().map(|cpu| [cpu.node, cpu.cache, cpu.core, cpu.number]).collect();
    // Its rank among those that differ at one level and agree at all above.
    let rank = |key: &[usize; 4], level: usize| {
        let before = keys.iter().filter(|k| k[..level] == key[..level] && k[level] < key[level]);
        before.map(|k| k[level]).collect::<std::collections::BTreeSet<_>>().len()
    };
    let mut order: Vec<_> =
        keys.iter().map(|key| ([3, 2, 1, 0].map(|level| rank(key, level)), key[3])).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, number)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files of a machine, as `PATH: TEXT` lines.
    fn machine(text: &str) -> impl Fn(&str) -> Option<String> {
        let files = text.lines().filter_map(|line| line.trim().split_once(": "));
        let files: BTreeMap<_, _> = files.map(|(path, text)| (path.to_string(), text.to_string())).collect();
        move |path: &str| files.get(path).map(|text| format!("{text}\n"))
    }

    fn spread_of(text: &str, numbers: &[usize]) -> Vec<usize> {
        spread(&cpus(&machine(text), numbers))
    }

    #[test]
    fn quotas_are_rounded_up_and_need_a_period() {
        assert_eq!(quota_v2("150000 100000"), Some(2));
        assert_eq!(quota_v2("200000 100000\n"), Some(2));
        assert_eq!(quota_v2("1000 100000"), Some(1));
        for nothing in ["max 100000", "", "100000", "100000 0", "-1 100000", "many few", "1e5 1e5"] {
            assert_eq!(quota_v2(nothing), None, "{nothing:?}");
        }
        assert_eq!(quota_v1("250000\n", "100000\n"), Some(3));
        assert_eq!(quota_v1("-1\n", "100000\n"), None);
        assert_eq!(quota_v1("100000", "none"), None);
    }

    #[test]
    fn the_lowest_quota_around_a_group_counts() {
        let files = machine(
            "/proc/self/cgroup: 0::/pod/box
            /sys/fs/cgroup/pod/box/cpu.max: max 100000
            /sys/fs/cgroup/pod/cpu.max: 350000 100000
            /sys/fs/cgroup/cpu.max: 900000 100000",
        );
        assert_eq!(quota_cpus(&files), Some(4));
    }

    #[test]
    fn a_container_that_shows_its_group_as_the_root_has_its_quota_there() {
        let of_v1 = "/proc/self/cgroup: 4:cpu,cpuacct:/docker/3f0a
            /sys/fs/cgroup/cpu/cpu.cfs_quota_us: 50000
            /sys/fs/cgroup/cpu/cpu.cfs_period_us: 100000";
        assert_eq!(quota_cpus(&machine(of_v1)), Some(1));
        let of_v2 = "/proc/self/cgroup: 0::/\n/sys/fs/cgroup/cpu.max: 800000 100000";
        assert_eq!(quota_cpus(&machine(of_v2)), Some(8));
    }

    #[test]
    fn without_quotas_or_files_there_is_no_limit() {
        let other = "/proc/self/cgroup: 3:memory:/x\n/sys/fs/cgroup/cpu/cpu.cfs_quota_us: 50000";
        let strange = "/proc/self/cgroup: what is this";
        for text in ["", other, strange, "/proc/self/cgroup: 0::/x"] {
            assert_eq!(quota_cpus(&machine(text)), None, "{text}");
        }
    }

    #[test]
    fn lists_of_processors_are_ranges_and_numbers() {
        assert_eq!(cpu_list("0-2,5,7-7\n"), Some(vec![0, 1, 2, 5, 7]));
        assert_eq!(cpu_list("\n"), Some(vec![]));
        for no_list in ["0-", "a", "1-b", "3 4", "-1", "0-99999999", "99999999999999999999"] {
            assert_eq!(cpu_list(no_list), None, "{no_list:?}");
        }
    }

    #[test]
    fn second_threads_of_cores_come_last() {
        let files: String = (0..4)
            .map(|cpu| {
                let (a, b) = (cpu % 2, cpu % 2 + 2);
                format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list: {a},{b}\n")
            })
            .collect();
        assert_eq!(spread_of(&files, &[0, 1, 2, 3]), [0, 1, 2, 3]);
        assert_eq!(spread_of(&files, &[0, 2, 3]), [0, 3, 2]);
    }

    #[test]
    fn nodes_take_turns_and_then_caches() {
        // Two nodes of two caches of two cores.
        let mut files = "/sys/devices/system/node/online: 0-1
            /sys/devices/system/node/node0/cpulist: 0-3
            /sys/devices/system/node/node1/cpulist: 4-7\n"
            .to_string();
        for cpu in 0..8 {
            let first = cpu / 2 * 2;
            let last = first + 1;
            files +=
                &format!("/sys/devices/system/cpu/cpu{cpu}/cache/index3/shared_cpu_list: {first}-{last}\n");
        }
        assert_eq!(spread_of(&files, &[0, 1, 2, 3, 4, 5, 6, 7]), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(spread_of(&files, &[0, 1, 2, 3, 6]), [0, 6, 2, 1, 3]);
    }

    #[test]
    fn without_files_the_order_is_that_of_the_numbers() {
        assert_eq!(spread_of("", &[3, 1, 2]), [1, 2, 3]);
        let strange = "/sys/devices/system/node/online: zero\n/sys/devices/system/cpu/cpu1/cache/index3/shared_cpu_list: ?";
        assert_eq!(spread_of(strange, &[1, 2]), [1, 2]);
        assert_eq!(spread_of("", &[]), [0usize; 0]);
    }
}
