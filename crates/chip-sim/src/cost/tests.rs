//! Costs of blocks, with the arguments of real kernels as on a chip.

use std::cell::RefCell;
use std::time::Duration;

use ringlane_engine::oracle;
use ringlane_engine::prelude::*;
use ringlane_task::{ChipSpec, ControlCosts, HostMemory, LinkSpec, Rates, RecordMemory};

use super::*;

/// A chip with round numbers: 8 cores that share 1.6 bytes per picosecond.
pub(crate) fn spec() -> ChipSpec {
    ChipSpec {
        name: "round".into(),
        about: "a chip with round numbers".into(),
        clusters: 2,
        aiv_per_cluster: 3,
        schedulers: 1,
        schedulers_max: 1,
        counter_hz: 50_000_000,
        pmu_counters: 8,
        host_memory: HostMemory::Mapped,
        dispatch_ahead: 1,
        costs: ControlCosts::default(),
        link: LinkSpec::default(),
        rates: Rates { aic_flops: 4e12, aiv_flops: 0.5e12, memory_bytes: 1.6e12 },
        default_block: 2_000_000,
        silent_after: u64::MAX,
        records: RecordMemory::default(),
        mailbox: [0; 2],
    }
}

type Inspect = Box<dyn FnMut(&Args<'_>)>;

thread_local! {
    static INSPECT: RefCell<Option<Inspect>> = const { RefCell::new(None) };
}

static INSPECTOR: Kernel =
    Kernel::new("INSPECTOR", CoreType::Any, &[View::<f32, 2>::SPEC, ViewMut::<f32, 2>::SPEC], |args| {
        INSPECT.with_borrow_mut(|inspect| inspect.as_mut().expect("one is set")(args));
        Ok(())
    });

/// Calls `inspect` with the arguments of each block: 5×2 floats that are read, 4×3 that are read and written, split
/// by rows.
fn with_args<T: Default + 'static>(blocks: u32, mut inspect: impl FnMut(&Args<'_>, &mut T) + 'static) -> T {
    thread_local!(static SEEN: RefCell<Option<Box<dyn std::any::Any>>> = const { RefCell::new(None) });
    SEEN.set(Some(Box::new(T::default())));
    INSPECT.set(Some(Box::new(move |args| {
        SEEN.with_borrow_mut(|seen| {
            let seen = seen.as_mut().and_then(|seen| seen.downcast_mut()).expect("what was put there");
            inspect(args, seen);
        });
    })));
    let mut data = Buffers::new();
    let x = data.add(&[5, 2], &[0f32; 10]).unwrap();
    let y = data.add(&[4, 3], &[0f32; 12]).unwrap();
    oracle::run(&mut data, |o| {
        let (x, y) = (o.external(x)?, o.external(y)?);
        o.submit(INSPECTOR.blocks(blocks), [x.read(), y.inout().split(0)]).map(drop)
    })
    .unwrap();
    *SEEN.take().unwrap().downcast::<T>().unwrap()
}

/// The cost of a kernel with the arguments of its only block.
fn cost_of(model: CostModel, kernel: &'static Kernel, core: CoreKind) -> BlockCost {
    with_args(1, move |args, seen: &mut BlockCost| {
        *seen = model.block(kernel, core, args, WhichBlock::default())
    })
}

fn plain(cost: Cost) -> &'static Kernel {
    Box::leak(Box::new(Kernel::new("PLAIN", CoreType::Any, &[], |_| Ok(())).with_cost(cost)))
}

fn roofline(flops: fn(&Args<'_>) -> f64, bytes: fn(&Args<'_>) -> f64) -> &'static Kernel {
    plain(Cost::Roofline { flops, bytes })
}

fn table(name: &str, mean_ps: u64) -> CostTable {
    let mut times = BlockTimes::default();
    times.add_block(TaskId(0), 0, 0, mean_ps);
    let mut recorder = TableRecorder::new("cpu");
    recorder.add(name, times, SECOND);
    recorder.finish()
}

static PLAIN: Kernel = Kernel::new("PLAIN", CoreType::Any, &[], |_| Ok(()));

#[test]
fn the_first_of_table_time_ticks_roofline_and_default_is_used() {
    let model = |table| CostModel::new(&spec()).with_table(table);
    let ticks = plain(Cost::Ticks(|args| args.tensors().count() as u64));
    let work = roofline(|_| 4000.0, |_| 100.0);
    let time = |model, kernel| cost_of(model, kernel, CoreKind::Aic).picoseconds;
    assert_eq!(time(model(None), &PLAIN), 2_000_000);
    assert_eq!(time(model(None), ticks), 2 * 20_000);
    assert_eq!(time(model(None), work), 1000);
    let nanoseconds = plain(Cost::Time(|args| Duration::from_nanos(args.tensors().count() as u64)));
    assert_eq!(time(model(None), nanoseconds), 2_000);
    for kernel in [ticks, work] {
        assert_eq!(time(model(Some(table("PLAIN", 77))), kernel), 77);
    }
    assert_eq!(time(model(Some(table("PLAIN", 78))), &PLAIN), 78);
    assert_eq!(time(model(Some(table("OTHER", 78))), &PLAIN), 2_000_000);
}

#[test]
fn a_roofline_is_the_longer_of_computing_on_this_kind_of_core_and_moving_at_its_share() {
    let model = CostModel::new(&spec());
    let work = roofline(|_| 4000.0, |_| 300.0);
    let time = |core| cost_of(model.clone(), work, core).picoseconds;
    // 4 and 0.5 operations per picosecond; a share of 0.2 bytes.
    assert_eq!((time(CoreKind::Aic), time(CoreKind::Aiv)), (1500, 8000));
}

#[test]
fn the_work_of_a_block_is_known_even_if_a_table_gives_its_duration() {
    let work = roofline(|_| 4000.0, |_| 290.0);
    for table in [None, Some(table("PLAIN", 5))] {
        let cost = cost_of(CostModel::new(&spec()).with_table(table), work, CoreKind::Aic);
        // 40 bytes are read, 48 are read and written.
        let written = 290.0 * (48.0 / 136.0);
        assert_eq!((cost.flops, cost.bytes, cost.written), (4000.0, 290.0, written));
    }
    let unknown = cost_of(CostModel::new(&spec()), &PLAIN, CoreKind::Aic);
    assert_eq!((unknown.flops, unknown.bytes, unknown.written), (0.0, 0.0, 0.0));
}

#[test]
fn a_block_of_several_is_charged_for_its_own_part() {
    let work = roofline(
        |args| args.tensors().map(|tensor| tensor.elements() as f64).sum(),
        |args| args.tensors().map(|tensor| tensor.bytes() as f64).sum(),
    );
    let costs = |blocks| {
        let model = CostModel::new(&spec());
        with_args(blocks, move |args, seen: &mut Vec<BlockCost>| {
            seen.push(model.block(work, CoreKind::Aiv, args, WhichBlock::default()));
        })
    };
    let work_of = |blocks| costs(blocks).iter().map(|cost| (cost.flops, cost.bytes)).collect::<Vec<_>>();
    assert_eq!(work_of(1), [(22.0, 88.0)]);
    // Each block reads all ten elements; four rows of three are split into two rows, one row, and two empty parts.
    assert_eq!(work_of(2), [(16.0, 64.0); 2]);
    assert_eq!(work_of(4), [(13.0, 52.0); 4]);
    assert_eq!(work_of(6)[3..], [(13.0, 52.0), (10.0, 40.0), (10.0, 40.0)]);
    assert_eq!(costs(6)[5].written, 0.0);
}

#[test]
fn a_cost_model_that_returns_no_amount_or_panics_is_ignored() {
    let model = CostModel::new(&spec());
    let impossible: [fn(&Args<'_>) -> f64; 4] =
        [|_| f64::NAN, |_| -1.0, |_| f64::INFINITY, |args| args.views()[7].elements() as f64];
    for bad in impossible {
        for kernel in [roofline(bad, |_| 1.0), roofline(|_| 1.0, bad)] {
            let cost = cost_of(model.clone(), kernel, CoreKind::Aiv);
            assert_eq!(cost, BlockCost { picoseconds: 2_000_000, ..BlockCost::default() });
        }
    }
    let kernel = plain(Cost::Ticks(|_| panic!("a mistake")));
    assert_eq!(cost_of(model, kernel, CoreKind::Aiv).picoseconds, 2_000_000);
}

#[test]
fn a_duration_is_at_least_a_picosecond_and_at_most_a_thousand_seconds() {
    let model = CostModel::new(&spec());
    let time = |kernel| cost_of(model.clone(), kernel, CoreKind::Aiv).picoseconds;
    assert_eq!(time(roofline(|_| 0.0, |_| 0.0)), 1);
    assert_eq!(time(plain(Cost::Ticks(|_| 0))), 1);
    assert_eq!(time(roofline(|_| 1e300, |_| 0.0)), BLOCK_MAX);
    assert_eq!(time(plain(Cost::Ticks(|_| u64::MAX))), BLOCK_MAX);
    for (recorded, taken) in [(0, 1), (u64::MAX, BLOCK_MAX)] {
        let model = CostModel::new(&spec()).with_table(Some(table("PLAIN", recorded)));
        assert_eq!(cost_of(model, &PLAIN, CoreKind::Aiv).picoseconds, taken);
    }
}

#[test]
fn a_chip_without_a_rate_falls_back_to_its_default() {
    let rates = Rates { aic_flops: 0.0, aiv_flops: 0.0, memory_bytes: 0.0 };
    let model = CostModel::new(&ChipSpec { rates, ..spec() });
    for kernel in [roofline(|_| 1.0, |_| 0.0), roofline(|_| 0.0, |_| 1.0)] {
        assert_eq!(cost_of(model.clone(), kernel, CoreKind::Aic).picoseconds, 2_000_000);
    }
}

#[test]
fn a_recorded_duration_overrides_that_of_the_submit_which_overrides_the_kernel() {
    let work = roofline(|_| 4000.0, |_| 100.0);
    let time = |table, duration| {
        let model = CostModel::new(&spec()).with_table(table);
        let which = WhichBlock { duration, ..WhichBlock::default() };
        with_args(1, move |args, seen: &mut BlockCost| *seen = model.block(work, CoreKind::Aic, args, which))
    };
    assert_eq!(time(None, None).picoseconds, 1000);
    assert_eq!(time(None, Some(7)).picoseconds, 7);
    assert_eq!(time(None, Some(u64::MAX)).picoseconds, BLOCK_MAX);
    // Its work is known nevertheless.
    assert_eq!(time(None, Some(7)).flops, 4000.0);
    assert_eq!(time(Some(table("PLAIN", 5)), Some(7)).picoseconds, 5);
}
