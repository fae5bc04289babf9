//! What it takes to compile and load the kernels of each scene, and to load them from the cache.

use std::time::Duration;

use ringlane_chip_cuda::BareDevice;
use ringlane_scenes::scenes;

use crate::error::BenchError;
use crate::measure::Samples;
use crate::rows::{Row, Target};
use crate::{Bench, Session};

/// The largest time of a program that is not in the cache, and of one that is.
const COLD_S_MAX: f64 = 3.0;
const CACHED_MS_MAX: f64 = 50.0;

/// Measures every scene on a GPU; on another device, only the first one.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let bare = BareDevice::open(bench.device.as_str())?;
    let all = scenes();
    let some = if bench.device.as_str() == "cuda" { all.len() } else { 1 };
    for scene in all.into_iter().take(some) {
        let names = [format!("compile {}", scene.name), format!("load {} from the cache", scene.name)];
        session.begin(&names[0], 1);
        let mut cached = Vec::new();
        let cold = Samples::take(Duration::ZERO, || {
            let (cold, warm) = bare.load(scene.kernels)?;
            cached.push(warm);
            Ok(cold)
        })?;
        let mut cached = cached.into_iter().cycle();
        let cached = Samples::take(Duration::ZERO, || Ok(cached.next().unwrap_or_default()))?;
        let kernels = scene.kernels.len() as u64;
        let [name, cached_name] = names;
        session.done(Row::new(name, 1, 0, kernels, &cold).on(bench.device));
        session.done(Row::new(cached_name, 1, 0, kernels, &cached).on(bench.device));
        let what = |what: &str| format!("cuda: {} {what}", scene.name);
        let seconds = |samples: &Samples| samples.quantile_ns(0.5) / 1e9;
        session.judge(Target::at_most(what("compiled, s"), seconds(&cold), COLD_S_MAX), 2);
        session.judge(Target::at_most(what("cached, ms"), seconds(&cached) * 1e3, CACHED_MS_MAX), 2);
    }
    Ok(())
}
