//! What the values of options may be. Each parser refuses with the option, the value and what is allowed.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ringlane::{GraphRuntime, Platform};
use ringlane_engine::slowdown::Slowdown;
use ringlane_graph::what_if::parse;
use ringlane_insight::parse_task;
use ringlane_task::{RINGS, Resource, RingIndex, TaskId};

use crate::errors::CliError;
use crate::limits::{CALL_TIMEOUT_MAX, JOBS_MAX, ROUNDS_MAX, THREADS_MAX};

/// `--runtime NAME`.
pub fn graph_runtime() -> impl TypedValueParser<Value = GraphRuntime> {
    let help = |runtime| match runtime {
        GraphRuntime::TensormapAndRingbuffer => "while tasks run, in memory bounded by the rings",
        GraphRuntime::HostBuildGraph => "first, as a whole; then it is replayed, once for each round",
    };
    let known = GraphRuntime::ALL.map(|runtime| PossibleValue::new(runtime.as_str()).help(help(runtime)));
    PossibleValuesParser::new(known).map(|name| GraphRuntime::from_name(&name).expect("it is one of these"))
}

/// `--graph-memory BYTES`.
pub fn graph_memory(text: &str) -> Result<u64, CliError> {
    bytes(text).filter(|&bytes| bytes > 0).ok_or_else(|| {
        let allowed = "a number of bytes; K, M, G and T stand for powers of 1024";
        CliError::bad_value("--graph-memory", text, allowed, "--graph-memory 64M")
    })
}

/// A capacity of each ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerRing(pub [u64; RINGS]);

impl PerRing {
    /// As 32-bit numbers; every capacity but the heap's is one, by its range.
    pub fn narrow(self) -> [u32; RINGS] {
        self.0.map(|value| u32::try_from(value).expect("the range of a capacity of 32 bits was checked"))
    }
}

/// A parameter of a scene, as in `--param NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The parameter's name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// `--platform NAME`.
pub fn platform() -> impl TypedValueParser<Value = Platform> {
    let value = |platform: Platform| {
        let capabilities = platform.capabilities();
        PossibleValue::new(platform.as_str()).help(capabilities.about).hide(!capabilities.listed)
    };
    let known = Platform::with_unlisted().into_iter().map(value);
    PossibleValuesParser::new(known).map(|name| Platform::named(&name).expect("it is one of these"))
}

/// `--threads N`.
pub fn threads(text: &str) -> Result<i32, CliError> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    count("--threads", text, THREADS_MAX, cores).map(|threads| threads as i32)
}

/// `--rounds N`.
pub fn rounds(text: &str) -> Result<u32, CliError> {
    count("--rounds", text, ROUNDS_MAX, ROUNDS_MAX)
}

/// `--times N`.
pub fn times(text: &str) -> Result<u32, CliError> {
    count("--times", text, ROUNDS_MAX, ROUNDS_MAX)
}

/// `--call-timeout SECONDS`.
pub fn call_timeout(text: &str) -> Result<Duration, CliError> {
    count("--call-timeout", text, CALL_TIMEOUT_MAX, CALL_TIMEOUT_MAX)
        .map(|seconds| Duration::from_secs(seconds.into()))
}

/// A number of something from 1 to `max`. A number that is too large gets the hint that is nearest to it and makes sense:
/// no more than `sensible`.
fn count(option: &str, text: &str, max: u32, sensible: u32) -> Result<u32, CliError> {
    let value = text.parse().ok().filter(|value| (1..=max).contains(value));
    value.ok_or_else(|| {
        let is_large =
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse() != Ok(0);
        let hint = if is_large { sensible.min(max) } else { 1 };
        CliError::bad_value(
            option,
            text,
            format!("a whole number from 1 to {max}"),
            format!("{option} {hint}"),
        )
    })
}

/// `--jobs N`.
pub fn jobs(text: &str) -> Result<u32, CliError> {
    count("--jobs", text, JOBS_MAX, JOBS_MAX)
}

/// `--seed N`.
pub fn seed(text: &str) -> Result<u64, CliError> {
    let allowed = format!("a whole number from 0 to {}", u64::MAX);
    text.parse().map_err(|_| CliError::bad_value("--seed", text, allowed, "--seed 0"))
}

/// `--chaos SEED`.
pub fn chaos(text: &str) -> Result<u64, CliError> {
    let allowed = format!("a whole number from 0 to {}", u64::MAX);
    text.parse().map_err(|_| CliError::bad_value("--chaos", text, allowed, "--chaos 1"))
}

/// `--param NAME=VALUE`.
pub fn assignment(text: &str) -> Result<Assignment, CliError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => {
            Ok(Assignment { name: name.to_string(), value: value.to_string() })
        }
        _ => Err(CliError::bad_value("--param", text, "NAME=VALUE", "--param NAME=VALUE")),
    }
}

/// `--slow KERNEL=2x`.
pub fn slow(text: &str) -> Result<Slowdown, CliError> {
    let given = text.rsplit_once('=').and_then(|(kernel, factor)| Some((kernel, parse::factor(factor)?)));
    match given.filter(|(kernel, factor)| !kernel.is_empty() && *factor >= 1.0) {
        Some((kernel, factor)) => Ok(Slowdown { kernel: kernel.to_string(), factor }),
        None => {
            let allowed = "a kernel and a factor of at least 1: KERNEL=2x";
            Err(CliError::bad_value("--slow", text, allowed, "--slow KERNEL=2x"))
        }
    }
}

/// `-o DIR`: a path that fits into a configuration and into JSON.
pub fn directory(text: &str) -> Result<PathBuf, CliError> {
    let mut config = ringlane_task::CallConfig::default();
    let fits = !text.is_empty() && config.set_output_prefix(text).is_ok();
    let allowed = "a path of 1 to 1023 bytes";
    let shown: String = text.chars().take(80).collect();
    if fits { Ok(text.into()) } else { Err(CliError::bad_value("-o", &shown, allowed, "-o outputs/mine")) }
}

/// `--task ID`: a task's id as artifacts have it, or `ring:number`.
pub fn task(text: &str) -> Result<TaskId, CliError> {
    let hint = "as in --task 1:3, or its id in the artifacts: --task 4294967299";
    parse_task(text).map_err(|_| CliError::bad_value("--task", text, "a task id, or ring:number", hint))
}

/// `--ring-heap N|N,N,N,N` and its siblings: one capacity for all rings, or one for each.
pub fn per_ring(resource: Resource) -> impl Fn(&str) -> Result<PerRing, CliError> + Clone + Send + Sync {
    move |text| {
        let values = text.split(',').map(|part| capacity_of(resource, part)).collect::<Option<Vec<u64>>>();
        let values = match values.as_deref() {
            Some(&[all]) => [all; RINGS],
            Some(&[a, b, c, d]) => [a, b, c, d],
            _ => return Err(not_a_capacity(resource, text, "one power of two, or four with commas between")),
        };
        let one_for_all = values.iter().all(|&value| value == values[0]);
        for (ring, &value) in values.iter().enumerate() {
            let ring = (!one_for_all).then_some(RingIndex(ring as u8));
            check(resource, ring, value, text)?;
        }
        Ok(PerRing(values))
    }
}

/// `--tensormap N`.
pub fn tensormap(text: &str) -> Result<u32, CliError> {
    let resource = Resource::TensorMap;
    let value = capacity_of(resource, text);
    let value = value.ok_or_else(|| not_a_capacity(resource, text, "a power of two"))?;
    check(resource, None, value, text)?;
    Ok(value as u32)
}

fn check(resource: Resource, ring: Option<RingIndex>, value: u64, text: &str) -> Result<(), CliError> {
    let option = resource.option();
    resource.check(ring, value).map_err(|error| CliError::BadCapacity {
        option,
        value: text.to_string(),
        error,
    })
}

fn not_a_capacity(resource: Resource, text: &str, form: &str) -> CliError {
    let (option, range) = (resource.option(), resource.range());
    let suffixes = if takes_suffix(resource) { "; K, M, G and T are powers of 1024" } else { "" };
    let allowed = format!("{form}, from {} to {} {}{suffixes}", range.min, range.max, resource.unit());
    CliError::bad_value(option, text, allowed, format!("{option} {}", range.default))
}

/// Whether a capacity counts bytes, which people write with suffixes.
fn takes_suffix(resource: Resource) -> bool {
    resource.unit() == "bytes"
}

fn capacity_of(resource: Resource, text: &str) -> Option<u64> {
    if takes_suffix(resource) { bytes(text) } else { number(text) }
}

/// Digits; what is beyond 64 bits is as large as can be said, and refused for that by the check.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

/// Bytes: `4096`, `4K`, `4KiB`, `1M`, `2g`; every suffix is a power of 1024.
fn bytes(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &lower[digits.len()..] {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    number(digits).map(|value| value.saturating_mul(1 << shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::Explain;

    #[test]
    fn bytes_take_suffixes_that_are_powers_of_1024() {
        for (text, value) in
            [("4096", 4096), ("4K", 4096), ("4kib", 4096), ("1MiB", 1 << 20), ("2g", 2 << 30)]
        {
            assert_eq!(bytes(text), Some(value), "{text}");
        }
        for text in ["", "K", "-1", "4X", "4 K", "1.5M", "0x10"] {
            assert_eq!(bytes(text), None, "{text}");
        }
        assert_eq!(bytes("99999999999999999999G"), Some(u64::MAX));
    }

    #[test]
    fn a_capacity_is_for_all_rings_or_one_for_each() {
        let heap = per_ring(Resource::Heap);
        assert_eq!(heap("1M").unwrap().0, [1 << 20; 4]);
        assert_eq!(heap("1M,2M,4M,8M").unwrap().0, [1 << 20, 2 << 20, 4 << 20, 8 << 20]);
        assert_eq!(heap("1M,2M").unwrap_err().name(), "BadValue");
        assert_eq!(per_ring(Resource::TaskWindow)("16K").unwrap_err().name(), "BadValue");
    }

    #[test]
    fn a_refused_capacity_names_option_value_and_what_is_allowed() {
        let error = per_ring(Resource::TaskWindow)("64,64,20,64").unwrap_err();
        assert_eq!(error.name(), "CapacityNotPowerOfTwo");
        let detail = error.detail();
        assert!(detail.contains("--ring-task-window 64,64,20,64") && detail.contains("ring 2"), "{detail}");
        assert!(detail.contains("powers of two from 4 to"), "{detail}");
        assert_eq!(error.hint(), Resource::TaskWindow.setting(32));
        for (text, name) in [("0", "CapacityTooSmall"), ("99999999999999999999", "CapacityTooLarge")] {
            assert_eq!(tensormap(text).unwrap_err().name(), name);
        }
        let detail = per_ring(Resource::Heap)("99999999999999999999").unwrap_err().detail();
        let start = "--ring-heap 99999999999999999999: heap: at least 18446744073709551615 bytes, ";
        assert!(detail.starts_with(start), "{detail}");
    }

    #[test]
    fn a_parameter_is_a_name_and_a_value_that_may_hold_an_equals_sign() {
        let given = assignment("mask=a=b").unwrap();
        assert_eq!((given.name.as_str(), given.value.as_str()), ("mask", "a=b"));
        assert!(assignment("=3").is_err() && assignment("n").is_err());
    }

    #[test]
    fn no_threads_are_no_number_of_threads() {
        for text in ["0", "-1", "two", "1025", ""] {
            let error = threads(text).unwrap_err();
            assert!(error.detail().contains("--threads"), "{}", error.detail());
            assert!(error.detail().contains("from 1 to 1024"), "{}", error.detail());
        }
        assert_eq!(threads("4").unwrap(), 4);
    }
}
