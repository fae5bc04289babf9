//! An experiment: some changes, applied to a recorded run.

use std::collections::HashSet;
use std::sync::Arc;

use ringlane_chip_sim::cost::BlockCosts;
use ringlane_chip_sim::spec::{RATE, SCHEDULERS_MAX};
use ringlane_engine::observe::BlockWork;
use ringlane_task::limits::{ARGS, DEP_POOL, TASK_WINDOW};
use ringlane_task::{Capacities, ChipSpec, HostMemory, RINGS};

use super::change::{Change, Cores, KernelTime};
use crate::error::ReplayError;
use crate::recorded::{GraphBuild, Program, ProgramEdge, Recorded, Setup};

/// Clusters of a chip whose cores are more than there is work for. A chip has at most 1,024; the model gets slower with each.
const CLUSTERS_UNLIMITED: u32 = 512;

/// Slots, edges, and entries of the tensor map, that rings without a limit have at least. Rings hold all tasks and edges of the run.
const RINGS_UNLIMITED: u32 = 1 << 18;

/// Bytes of rings that are more than any run fills: as large as a ring can be that this machine can reserve four of.
const HEAP_UNLIMITED: u64 = 1 << 34;

/// Some changes, made together.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// What is changed.
    pub changes: Vec<Change>,
}

impl From<Change> for Experiment {
    fn from(change: Change) -> Self {
        Experiment { changes: vec![change] }
    }
}

impl Experiment {
    /// Its name: its changes.
    pub fn name(&self) -> String {
        self.changes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// The chip and the costs of a run with these changes.
    pub fn apply(&self, recorded: &Recorded) -> Result<(Setup, BlockCosts), ReplayError> {
        let (mut setup, mut costs) = (recorded.setup.clone(), recorded.costs.clone());
        // Another chip and another runtime first: the other changes are of those.
        let is_first = |change: &&Change| matches!(change, Change::Chip(_) | Change::Build(_));
        for change in self.changes.iter().filter(is_first).chain(self.changes.iter().filter(|c| !is_first(c)))
        {
            apply(change, &recorded.program, &mut setup, &mut costs)?;
        }
        self.check_build(&setup)?;
        Ok((setup, costs))
    }
}

impl Experiment {
    /// Refuses changes of what a captured graph does not have.
    fn check_build(&self, setup: &Setup) -> Result<(), ReplayError> {
        if setup.build == GraphBuild::Streamed {
            return Ok(());
        }
        let is_of_streaming = |change: &&Change| {
            let is_ring = matches!(change, Change::Ring(_) | Change::UnlimitedRings);
            is_ring || matches!(change, Change::Submit(_) | Change::DropCause(_) | Change::DropBetween(..))
        };
        match self.changes.iter().find(is_of_streaming) {
            Some(change) => Err(ReplayError::Impossible {
                what: format!("{change}: a captured graph has no submits, no rings, and all its edges"),
                hint: "add --runtime tensormap_and_ringbuffer".to_string(),
            }),
            None => Ok(()),
        }
    }
}

fn apply(
    change: &Change,
    program: &Program,
    setup: &mut Setup,
    costs: &mut BlockCosts,
) -> Result<(), ReplayError> {
    let chip = &mut setup.chip;
    let times = |cost: &mut u64, factor: f64| *cost = (*cost as f64 * factor).round() as u64;
    match change {
        Change::Kernel(name, time) => return apply_kernel(program, costs, name, *time),
        Change::Submit(factor) => {
            let c = &mut chip.costs;
            let own = [&mut c.admit, &mut c.look_up, &mut c.insert, &mut c.wire];
            own.into_iter().for_each(|cost| times(cost, *factor));
        }
        Change::Copies(factor) => apply_copies(chip, *factor)?,
        Change::Scheduler(factor) => {
            let c = &mut chip.costs;
            let own = [&mut c.dispatch_store, &mut c.poll, &mut c.resolve, &mut c.reclaim, &mut c.round];
            own.into_iter().for_each(|cost| times(cost, *factor));
        }
        Change::Schedulers(count) => apply_schedulers(chip, *count)?,
        Change::Cores(cores) => apply_cores(chip, *cores)?,
        Change::Memory(factor) => chip.rates.memory_bytes *= factor,
        Change::Policy(policy) => setup.policy = *policy,
        Change::Chip(other) => *chip = (**other).clone(),
        Change::Ring(ring) => ring.apply(&mut setup.rings),
        Change::UnlimitedRings => {
            let rings = never_full(program, &setup.rings);
            setup.rings = Capacities {
                heap: [HEAP_UNLIMITED; RINGS],
                args: [ARGS.max as u32; RINGS],
                tensormap: rings.tensormap.max(RINGS_UNLIMITED),
                ..rings
            };
        }
        Change::Build(build) => {
            // Rings that suffice for streaming say nothing of a graph.
            setup.rings = match build {
                GraphBuild::Captured { .. } => never_full(program, &Capacities::default()),
                GraphBuild::Streamed => Capacities::default(),
            };
            setup.build = *build;
        }
        Change::DropCause(cause) => return drop_cause(program, &mut setup.dropped_edges, cause),
        Change::DropBetween(before, after) => {
            return drop_between(program, &mut setup.dropped_edges, before, after);
        }
    }
    Ok(())
}

/// Rings with a slot for each task and an entry for each edge.
fn never_full(program: &Program, rings: &Capacities) -> Capacities {
    let holds = |count: usize, most: u64| {
        (count as u64 + 1).next_power_of_two().clamp(RINGS_UNLIMITED.into(), most) as u32
    };
    Capacities {
        task_window: [holds(program.tasks.len(), TASK_WINDOW.max); RINGS],
        dep_pool: [holds(program.edges.len(), DEP_POOL.max); RINGS],
        ..*rings
    }
}

fn apply_kernel(
    program: &Program,
    costs: &mut BlockCosts,
    name: &str,
    time: KernelTime,
) -> Result<(), ReplayError> {
    check_kernel(program, name)?;
    let is_it = |kernel: u16| program.kernels[usize::from(kernel)].name == name;
    for (place, task) in program.tasks.iter().enumerate() {
        let lanes = task.lanes.iter().flatten();
        let blocks = costs.of_task_mut(place).chunks_mut(task.blocks.max(1) as usize);
        for (_, lane) in lanes.zip(blocks).filter(|(lane, _)| is_it(**lane)) {
            for block in lane {
                match time {
                    KernelTime::Factor(factor) => block.factor *= factor,
                    KernelTime::Picoseconds(picoseconds) => {
                        *block = BlockWork { picoseconds, flops: 0, bytes: 0 }.into();
                    }
                }
            }
        }
    }
    Ok(())
}

fn apply_copies(chip: &mut ChipSpec, factor: f64) -> Result<(), ReplayError> {
    if chip.host_memory == HostMemory::Mapped {
        return Err(ReplayError::Impossible {
            what: format!(
                "copies {factor}x: the host accesses the memory of {}, and nothing is copied",
                chip.name
            ),
            hint: "--chip FILE with `host = copied` in its section memory".to_string(),
        });
    }
    let link = &mut chip.link;
    link.latency = (link.latency as f64 * factor).round() as u64;
    // At 0x the largest rate: gigabytes take a nanosecond.
    link.bytes_per_second =
        ((link.bytes_per_second as f64 / factor) as u64).clamp(*RATE.start(), *RATE.end());
    Ok(())
}

fn apply_schedulers(chip: &mut ChipSpec, count: u32) -> Result<(), ReplayError> {
    let most = chip.clusters.min(SCHEDULERS_MAX as u32);
    if !(1..=most).contains(&count) {
        return Err(ReplayError::Impossible {
            what: format!("{count} scheduler threads for {} clusters", chip.clusters),
            hint: format!("from 1 to {most}, at most one for each cluster"),
        });
    }
    (chip.schedulers, chip.schedulers_max) = (count, chip.schedulers_max.max(count));
    Ok(())
}

fn apply_cores(chip: &mut ChipSpec, cores: Cores) -> Result<(), ReplayError> {
    let before = chip.cores();
    match cores {
        Cores::Threads(_) | Cores::Processors(_) => {
            return Err(ReplayError::Impossible {
                what: format!("{cores} of a modelled chip, whose cores are aic and aiv"),
                hint: format!("--cores aic={},aiv={}", chip.aic_cores(), chip.aiv_cores()),
            });
        }
        Cores::OneMoreCluster => chip.clusters += 1,
        Cores::Twice => chip.clusters *= 2,
        Cores::Unlimited => chip.clusters = chip.clusters.max(CLUSTERS_UNLIMITED),
        Cores::Of { aic, aiv } => {
            let clusters = aic.unwrap_or(aiv.unwrap_or(0) / chip.aiv_per_cluster.max(1));
            let vectors = aiv.unwrap_or(clusters.saturating_mul(chip.aiv_per_cluster));
            if clusters == 0 || vectors == 0 || !vectors.is_multiple_of(clusters) {
                return Err(ReplayError::Impossible {
                    what: format!("{clusters} aic and {vectors} aiv cores do not make clusters"),
                    hint: format!(
                        "a cluster is one aic core and some aiv cores, now {}: --cores aic={clusters},aiv={}",
                        chip.aiv_per_cluster,
                        clusters.saturating_mul(chip.aiv_per_cluster)
                    ),
                });
            }
            (chip.clusters, chip.aiv_per_cluster) = (clusters, vectors / clusters);
        }
    }
    chip.schedulers = chip.schedulers.min(chip.clusters);
    if cores == Cores::Unlimited {
        chip.rates.memory_bytes *= f64::from(chip.cores()) / f64::from(before.max(1));
    }
    Ok(())
}

/// Refuses a kernel that the program does not have.
pub(super) fn check_kernel(program: &Program, name: &str) -> Result<(), ReplayError> {
    if program.kernels.iter().any(|kernel| kernel.name == name) {
        return Ok(());
    }
    let known = program.kernels.iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>().join(", ");
    Err(ReplayError::Unknown { what: "kernel", name: name.to_string(), known })
}

pub(super) fn drop_cause(
    program: &Program,
    dropped: &mut DroppedEdges,
    cause: &str,
) -> Result<(), ReplayError> {
    let mut known: Vec<&str> = program.edges.iter().map(|edge| edge.cause).collect();
    known.sort_unstable();
    known.dedup();
    if !known.contains(&cause) {
        let known = known.join(", ");
        return Err(ReplayError::Unknown { what: "cause of an edge", name: cause.to_string(), known });
    }
    drop_edges(program, dropped, |edge| edge.cause == cause);
    Ok(())
}

pub(super) fn drop_between(
    program: &Program,
    dropped: &mut DroppedEdges,
    before: &str,
    after: &str,
) -> Result<(), ReplayError> {
    check_kernel(program, before)?;
    check_kernel(program, after)?;
    let runs = |task: u32, name: &str| {
        let mut kernels = program.tasks[task as usize].lanes.iter().flatten();
        kernels.any(|&kernel| program.kernels[usize::from(kernel)].name == name)
    };
    drop_edges(program, dropped, |edge| runs(edge.before, before) && runs(edge.after, after));
    Ok(())
}

/// Edges that are left out, by their places in submission order.
pub(super) type DroppedEdges = Arc<HashSet<(u64, u64)>>;

/// Leaves out the edges that are dropped for all their causes.
fn drop_edges(program: &Program, dropped: &mut DroppedEdges, is_dropped: impl Fn(&ProgramEdge) -> bool) {
    let pair = |edge: &ProgramEdge| (u64::from(edge.before), u64::from(edge.after));
    let mut now: HashSet<_> = program.edges.iter().filter(|edge| is_dropped(edge)).map(pair).collect();
    program.edges.iter().filter(|edge| !is_dropped(edge)).for_each(|edge| {
        now.remove(&pair(edge));
    });
    Arc::make_mut(dropped).extend(now);
}

#[cfg(test)]
mod tests {
    use ringlane_chip_sim::{policy::PolicyName, spec};

    use super::*;

    #[test]
    fn rings_without_a_limit_and_captured_graphs_hold_every_edge() {
        let edge = ProgramEdge { before: 0, after: 1, cause: "raw" };
        let program = Program { edges: vec![edge; 300_000], ..Program::default() };
        for change in [Change::UnlimitedRings, Change::Build(GraphBuild::Captured { memory_limit: None })] {
            let mut setup = Setup {
                build: GraphBuild::Streamed,
                chip: spec::builtin("a2a3sim").unwrap(),
                rings: Capacities::default(),
                policy: PolicyName::Fifo,
                chaos: None,
                records: Default::default(),
                records_scopes: false,
                captured: Arc::default(),
                dropped_edges: Arc::default(),
            };
            apply(&change, &program, &mut setup, &mut BlockCosts::default()).unwrap();
            assert_eq!(setup.rings.dep_pool, [524_288; RINGS], "{change}");
            assert!(setup.rings.task_window.iter().all(|&slots| slots >= RINGS_UNLIMITED), "{change}");
        }
    }
}
