//! One run in the figures that a comparison needs. Its page stores them, so that two pages can be compared without their runs.

use std::collections::BTreeMap;

use ringlane_trace::Manifest;
use serde::Serialize;

use crate::critical_path::{Cause, observed};
use crate::timeline::Timeline;
use crate::units::microseconds;

/// A run in a few figures, in units that do not depend on its clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSummary {
    /// The scene.
    pub scene: String,
    /// Its case.
    pub case: String,
    /// How long the run took on the chip, µs.
    pub makespan_us: f64,
    /// How long it took on the wall, µs.
    pub wall_us: f64,
    /// The critical path by cause; `None` unless the swimlane was recorded at level 2 or 3.
    #[serde(rename = "critical_path")]
    pub causes: Option<Vec<CauseSummary>>,
    /// The kernels that ran, by name; `None` unless the swimlane was recorded.
    pub kernels: Option<Vec<KernelSummary>>,
    /// How it was run: version, platform, seed, parameters, …
    pub settings: Vec<Setting>,
}

/// The part of a critical path that has one cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CauseSummary {
    /// The cause.
    pub cause: Cause,
    /// How long, µs.
    pub us: f64,
}

/// All blocks of the kernels of one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KernelSummary {
    /// The name.
    #[serde(rename = "kernel")]
    pub name: String,
    /// The number of blocks.
    pub blocks: f64,
    /// Time of all of them, µs.
    pub total_us: f64,
    /// The mean of a block, µs.
    pub mean_us: f64,
}

/// One setting of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its name: `seed`, `parameter tile`, …
    pub name: String,
    /// Its value, as text.
    pub value: String,
}

impl RunSummary {
    /// Summarizes a run; `timeline` is its swimlane, if it was recorded.
    pub fn of(manifest: &Manifest, timeline: Option<&Timeline>) -> Self {
        RunSummary {
            scene: manifest.scene.clone(),
            case: manifest.case.clone(),
            makespan_us: microseconds(manifest.makespan_ticks as f64, manifest.clock_freq_hz),
            wall_us: manifest.wall_us,
            causes: timeline.and_then(causes),
            kernels: timeline.map(kernels),
            settings: settings(manifest),
        }
    }

    /// The value of a setting, if the run has it.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|setting| setting.name == name).map(|setting| setting.value.as_str())
    }
}

fn causes(timeline: &Timeline) -> Option<Vec<CauseSummary>> {
    let path = observed(timeline).ok()?;
    let of = |cause| CauseSummary { cause, us: timeline.us(path.total(cause)) };
    Some(Cause::ALL.into_iter().map(of).collect())
}

fn kernels(timeline: &Timeline) -> Vec<KernelSummary> {
    let mut kernels = BTreeMap::<&str, KernelSummary>::new();
    for block in &timeline.blocks {
        let name = timeline.kernel_name(block.func_id);
        let kernel = kernels
            .entry(name)
            .or_insert_with(|| KernelSummary { name: name.to_string(), ..KernelSummary::default() });
        kernel.blocks += 1.0;
        kernel.total_us += timeline.us(block.duration());
    }
    let mut kernels: Vec<_> = kernels.into_values().collect();
    kernels.iter_mut().for_each(|kernel| kernel.mean_us = kernel.total_us / kernel.blocks);
    kernels
}

fn settings(manifest: &Manifest) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut add = |name: &str, value: String| settings.push(Setting { name: name.to_string(), value });
    add("ringlane", manifest.ringlane.clone());
    add("platform", manifest.platform.clone());
    add("status", manifest.status.as_str().to_string());
    add("seed", manifest.seed.to_string());
    add("threads", manifest.threads.to_string());
    add("tasks", manifest.tasks.to_string());
    add("diagnostics", manifest.dfx_flags().to_string());
    for (name, value) in &manifest.params {
        add(&format!("parameter {name}"), value.clone());
    }
    if let Some(model) = &manifest.model {
        add("chip", model.chip.clone());
        add("policy", model.policy.clone());
        let unset = || "none".to_string();
        add("chaos seed", model.chaos.map_or_else(unset, |seed| seed.to_string()));
        add("costs", model.costs.clone().unwrap_or_else(unset));
    }
    settings
}
