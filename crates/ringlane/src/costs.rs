//! Durations of blocks in recorded runs, as the cost table of a modelled chip.

use std::collections::BTreeMap;
use std::path::Path;

use ringlane_chip_sim::cost::{BlockTimes, CostTable, Programs, TableRecorder};
use ringlane_trace::TraceError;
use ringlane_trace::swimlane::{SwimlaneRow, read_swimlane};

/// Durations of the blocks in recorded runs of one program, by kernel and by task, averaged over the runs. The runs
/// need a swimlane (`DfxFlags::SWIMLANE_CORES`).
///
/// ```
/// use ringlane::prelude::*;
/// use ringlane::recorded_costs;
/// kernel! { static INC = aiv fn(x: &mut [f32]) { x.iter_mut().for_each(|x| *x += 1.0); } }
/// # let dir = std::env::temp_dir().join(format!("ringlane-costs-{}", std::process::id()));
/// # let dir = dir.to_str().unwrap();
/// let program = |runtime: &mut Runtime| {
///     let run = runtime.run(&mut Buffers::new(), |o| o.submit(&INC, [out(f32, [64])]).map(drop));
///     run.result.map(|()| run.report)
/// };
/// let mut config = CallConfig::default().with_dfx_flags(DfxFlags::SWIMLANE_CORES);
/// config.set_output_prefix(dir).map_err(Fault::Config)?;
/// program(&mut Runtime::on(Platform::Cpu).with(&config)?)?;
/// // The same program on a modelled chip, whose blocks take as long as here.
/// let costs = recorded_costs([dir]).unwrap();
/// let taken = costs.kernel("INC").unwrap().mean_ps;
/// let report = program(&mut Runtime::on(Platform::A5sim).costs(costs).with(&CallConfig::default())?)?;
/// assert!(report.makespan_ticks * 1000 >= taken);
/// # std::fs::remove_dir_all(dir).unwrap();
/// # Ok::<(), Error>(())
/// ```
pub fn recorded_costs<P: AsRef<Path>>(runs: impl IntoIterator<Item = P>) -> Result<CostTable, TraceError> {
    recorded_costs_of(Programs::One, runs)
}

/// The same for runs of one program or of several: for several, only the durations of each kernel are kept.
pub fn recorded_costs_of<P: AsRef<Path>>(
    programs: Programs,
    runs: impl IntoIterator<Item = P>,
) -> Result<CostTable, TraceError> {
    let (mut blocks, mut platform) = (Vec::new(), String::new());
    for run in runs {
        let recorded = blocks_of(run.as_ref())?;
        platform.clone_from(&recorded.platform);
        blocks.push(recorded);
    }
    let mut recorder = TableRecorder::new(&platform).of(programs);
    blocks.into_iter().for_each(|recorded| recorded.add_to(&mut recorder));
    Ok(recorder.finish())
}

/// The blocks of one run.
struct RunBlocks {
    platform: String,
    clock_freq_hz: u64,
    /// By the kernel's name.
    kernels: Vec<(String, BlockTimes)>,
}

impl RunBlocks {
    fn add_to(self, recorder: &mut TableRecorder) {
        for (kernel, times) in self.kernels {
            recorder.add(&kernel, times, self.clock_freq_hz);
        }
    }
}

/// Reads the blocks of one run.
fn blocks_of(dir: &Path) -> Result<RunBlocks, TraceError> {
    let mut times: BTreeMap<_, BlockTimes> = BTreeMap::new();
    let head = read_swimlane(dir, |row| {
        if let SwimlaneRow::Block(block) = row {
            let ticks = block.end.0.saturating_sub(block.start.0);
            times.entry(block.func_id).or_default().add_block(
                block.task_id,
                block.lane,
                block.block.0,
                ticks,
            );
        }
    })?;
    let meta = head.meta;
    let kernels = meta.kernels.into_iter().filter_map(|kernel| {
        let times = times.remove(&kernel.func_id)?;
        Some((kernel.name, times))
    });
    Ok(RunBlocks { kernels: kernels.collect(), platform: meta.platform, clock_freq_hz: meta.clock_freq_hz })
}
