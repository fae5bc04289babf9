//! The configuration of a runtime, from what a program passes by name.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use ringlane::task::{CallConfig, Overflow, RINGS};
use ringlane::{Platform, PolicyName, Runtime};

use crate::attach::without_lock;
use crate::error::{OrRaise, raise};

/// The configuration with these fields; the package knows their names.
pub fn configuration(fields: &Bound<'_, PyDict>) -> PyResult<CallConfig> {
    let mut config = CallConfig::default();
    for (name, value) in fields.iter() {
        let name: String = name.extract()?;
        let rings = || -> PyResult<[u32; RINGS]> {
            value.extract().map(|one: u32| [one; RINGS]).or_else(|_| value.extract())
        };
        match name.as_str() {
            "threads" => config.threads = value.extract()?,
            "seed" => config.seed = value.extract()?,
            "block_dim" => config.block_dim = value.extract()?,
            "scheduler_threads" => config.scheduler_threads = value.extract()?,
            "tensormap" => config.tensormap = value.extract()?,
            "ring_task_window" => config.ring_task_window = rings()?,
            "ring_dep_pool" => config.ring_dep_pool = rings()?,
            "ring_args" => config.ring_args = rings()?,
            "ring_heap" => {
                config.ring_heap =
                    value.extract().map(|one: u64| [one; RINGS]).or_else(|_| value.extract())?;
            }
            "overflow" => {
                let overflow = match value.extract::<String>()?.as_str() {
                    "block" => Overflow::Block,
                    "drop" => Overflow::Drop,
                    other => return Err(bad_value("overflow", other, "block or drop")),
                };
                config = config.with_overflow(overflow);
            }
            _ => return Err(bad_value("option", &name, "the options of rl.Runtime")),
        }
    }
    config.validate().or_raise()?;
    Ok(config)
}

fn bad_value(what: &str, value: &str, allowed: &str) -> PyErr {
    raise("BadValue", "an option has a value that is not allowed", &format!("{what}: {value:?}"), allowed)
}

/// The runtime on a platform, with the options of its chip.
pub fn make(
    py: Python<'_>,
    platform: &str,
    config: &CallConfig,
    options: &Bound<'_, PyDict>,
) -> PyResult<Runtime> {
    let known = || Platform::all().iter().map(|platform| platform.as_str()).collect::<Vec<_>>().join(", ");
    let platform = Platform::named(platform).ok_or_else(|| bad_value("platform", platform, &known()))?;
    let mut on = Runtime::on(platform);
    let text = |name: &str| options.get_item(name)?.map(|value| value.extract::<String>()).transpose();
    if let Some(path) = text("chip_file")? {
        on = on.chip_file(path).or_raise()?;
    }
    let mut chip = on.chip_options().clone();
    if let Some(name) = text("policy")? {
        let known = PolicyName::ALL.map(PolicyName::as_str).join(", ");
        let policy = PolicyName::from_name(&name).ok_or_else(|| bad_value("policy", &name, &known))?;
        chip.policy = Some(policy.as_str());
    }
    if let Some(seed) = options.get_item("chaos")? {
        chip.chaos = Some(seed.extract()?);
    }
    let on = on.options(chip);
    without_lock(py, || on.with(config)).or_raise()
}
