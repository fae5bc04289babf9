//! Draws a modelled chip, how it is run and what is recorded: chips as they are, with free or odd costs, with few cores.
#![forbid(unsafe_code)]

use ringlane::{Platform, PolicyName};
use ringlane_chip_sim::pmu::Group;
use ringlane_chip_sim::spec::NAMES;
use ringlane_task::{ChipSpec, ControlCosts, RecordMemory};

use super::draw::Draw;
use super::program::{Diagnostics, Modelled};
use super::rng::Rng;

/// How many modelled runs in a hundred go wrong on purpose.
const CHAOS: u32 = 25;

/// The platforms that are models.
pub(crate) const MODELS: [Platform; NAMES.len()] = [Platform::A2a3sim, Platform::A5sim];

/// The chip that a platform models.
pub(crate) fn own_chip(platform: Platform) -> ChipSpec {
    platform.modelled().expect("the platform is a model")
}

impl Draw {
    /// A chip and how it is run.
    pub(crate) fn modelled(&mut self) -> Modelled {
        let platform = *self.rng.pick(&MODELS);
        let diagnostics = self.diagnostics();
        let rng = &mut self.rng;
        let mut chip = own_chip(platform);
        match rng.below(100) {
            0..=49 => {}
            50..=64 => chip.costs = ControlCosts::default(),
            _ => vary(rng, &mut chip),
        }
        // Few clusters are where tasks wait for each other's cores.
        let clusters = match rng.below(100) {
            0..=19 => 0,
            20..=69 => rng.within(1, 3) as i32,
            _ => rng.within(1, chip.clusters) as i32,
        };
        // A scheduler without a cluster is refused.
        let used = if clusters == 0 { chip.clusters } else { clusters as u32 };
        let schedulers = rng.within(0, chip.schedulers_max.min(used)) as i32;
        let group = rng.pick(&Group::ALL).number();
        let pmu_group = if rng.percent(50) { 0 } else { group.into() };
        Modelled {
            platform,
            policy: *rng.pick(&PolicyName::ALL),
            clusters,
            schedulers,
            diagnostics: Diagnostics { pmu_group, ..diagnostics },
            chaos: rng.percent(CHAOS).then(|| rng.next()),
            chip,
        }
    }
}

/// Other costs, other clusters, and memory for records that soon runs full.
fn vary(rng: &mut Rng, chip: &mut ChipSpec) {
    let ControlCosts {
        dispatch_store,
        poll,
        dispatch_seen,
        turn_around,
        done_seen,
        admit,
        look_up,
        insert,
        wire,
        resolve,
        reclaim,
        round,
    } = &mut chip.costs;
    let submit = [admit, look_up, insert, wire];
    let schedule = [dispatch_store, poll, dispatch_seen, turn_around, done_seen, resolve, reclaim, round];
    for cost in submit.into_iter().chain(schedule) {
        *cost = match rng.below(4) {
            0 => 0,
            1 => rng.below(1_000).into(),
            2 => u64::from(rng.below(1_000)) * 1_000,
            _ => *cost,
        };
    }
    chip.dispatch_ahead = rng.below(2);
    chip.default_block = *rng.pick(&[0, 1, 999, 2_000_000, 50_000_000]);
    chip.aiv_per_cluster = *rng.pick(&[1, 1, 2, 2, 3, 8]);
    chip.records = RecordMemory { buffers: rng.within(1, 4), buffer_bytes: rng.power(10, 14).into() };
}
