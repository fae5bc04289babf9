//! The memory of the machine and of this process, from `/proc`.

use std::fs;

use ringlane_task::{CallConfig, Capacities, RINGS, Resource, RingIndex};

use crate::setup_error::SetupError;

/// Refuses capacities set by the caller that exceed the machine's memory. The defaults are always accepted: their
/// memory is reserved, and allocated only on use.
pub fn check_capacities(config: &CallConfig) -> Result<(), SetupError> {
    total_bytes().map_or(Ok(()), |memory_bytes| check_against(config, memory_bytes))
}

fn check_against(config: &CallConfig, memory_bytes: u64) -> Result<(), SetupError> {
    let reserved_bytes = Capacities::of(config).bytes_reserved();
    let Some(resource) = largest_chosen(config).filter(|_| reserved_bytes > memory_bytes) else {
        return Ok(());
    };
    let value = chosen(config, resource).into_iter().max().unwrap_or(0);
    let mut fits = value;
    while fits > resource.range().min && reserved_with(config, resource, fits) > memory_bytes {
        fits /= 2;
    }
    Err(SetupError::CapacityTooLarge { resource, value, reserved_bytes, memory_bytes, fits })
}

/// The capacities of one resource that the caller set; 0 for a default.
fn chosen(config: &CallConfig, resource: Resource) -> [u64; RINGS] {
    match resource {
        Resource::TaskWindow => config.ring_task_window.map(u64::from),
        Resource::Heap => config.ring_heap,
        Resource::DepPool => config.ring_dep_pool.map(u64::from),
        Resource::Args => config.ring_args.map(u64::from),
        Resource::TensorMap => [config.tensormap.into(), 0, 0, 0],
    }
}

/// The largest resource among those that the caller set.
fn largest_chosen(config: &CallConfig) -> Option<Resource> {
    let capacities = Capacities::of(config);
    let bytes = |resource: Resource| -> u64 {
        let least = reserved_with(config, resource, resource.range().min);
        capacities.bytes_reserved().saturating_sub(least)
    };
    let is_chosen = |resource: &Resource| chosen(config, *resource).iter().any(|&value| value != 0);
    Resource::ALL.into_iter().filter(is_chosen).max_by_key(|&resource| bytes(resource))
}

/// The bytes to reserve if no ring had more than `limit` of a resource.
fn reserved_with(config: &CallConfig, resource: Resource, limit: u64) -> u64 {
    let mut capacities = Capacities::of(config);
    for ring in 0..RINGS {
        let value = capacities.get(resource, RingIndex(ring as u8)).min(limit);
        match resource {
            Resource::TaskWindow => capacities.task_window[ring] = value as u32,
            Resource::Heap => capacities.heap[ring] = value,
            Resource::DepPool => capacities.dep_pool[ring] = value as u32,
            Resource::Args => capacities.args[ring] = value as u32,
            Resource::TensorMap => capacities.tensormap = value as u32,
        }
    }
    capacities.bytes_reserved()
}

/// Bytes of the machine's memory.
fn total_bytes() -> Option<u64> {
    field_bytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")
}

/// The peak memory of this process since it started, or since [`reset_peak`]; 0 if the system does not report it.
pub fn peak_rss_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    field_bytes(&status, "VmHWM:").unwrap_or(0)
}

/// The current memory of this process, exactly; 0 if the system does not report it.
pub fn resident_bytes() -> u64 {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    field_bytes(&rollup, "Rss:").unwrap_or(0)
}

/// Resets the peak, so that each case of a command has its own. Does nothing if the kernel does not support it.
pub fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// A field like `VmHWM:     1234 kB`.
fn field_bytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::Explain;

    #[test]
    fn the_defaults_are_never_refused() {
        assert!(check_against(&CallConfig::default(), 1).is_ok());
    }

    #[test]
    fn a_capacity_beyond_memory_is_refused_with_the_largest_that_fits() {
        let config = CallConfig::default().with_ring_heap([1 << 40; RINGS]).with_ring_args([4096; RINGS]);
        let memory_bytes = 8u64 << 30;
        let error = check_against(&config, memory_bytes).unwrap_err();
        assert_eq!(error.name(), "CapacityTooLarge");
        assert!(error.detail().contains("1099511627776"), "{}", error.detail());
        assert_eq!(error.hint(), "`CallConfig::default().with_ring_heap([1073741824; 4])`");
        let hinted = config.with_ring_heap([1 << 30; RINGS]);
        assert!(check_against(&hinted, memory_bytes).is_ok());
    }

    #[test]
    fn the_tensor_map_can_be_the_resource_that_is_too_large() {
        let error = check_against(&CallConfig::default().with_tensormap(1 << 26), 4 << 30).unwrap_err();
        assert!(error.hint().contains("with_tensormap("), "{}", error.hint());
    }

    #[test]
    fn linux_reports_the_peak_of_this_process() {
        assert!(peak_rss_bytes() > 100_000);
        assert_eq!(field_bytes("VmPeak:\t 8 kB\nVmHWM:\t     12 kB\n", "VmHWM:"), Some(12_288));
        assert_eq!(field_bytes("VmHWM:\t many\n", "VmHWM:"), None);
    }
}
