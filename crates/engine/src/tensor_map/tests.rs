//! The map against a model that keeps every access as a set of bytes.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;
use ringlane_task::{DType, Dim, Explain, TensorView};

use super::*;
use crate::live_runs::RunNumber;

/// Views by number: access `at` is of view `at`.
struct Views(Vec<TensorView>);

impl Regions for Views {
    fn region(&self, _task: SlotIndex, at: u32) -> Region<'_> {
        Region::of(&self.0[at as usize])
    }
}

struct Modelled {
    task: u32,
    bytes: HashSet<u64>,
    writes: bool,
}

fn bytes_of(view: &TensorView) -> HashSet<u64> {
    let mut set = HashSet::new();
    view.for_each_run(|start, len| set.extend(start..start + len));
    set
}

/// The shape of the tensor that is accessed.
const SIDE: u32 = 16;

fn matrix() -> TensorView {
    TensorView::contiguous(DType::Float32, &[SIDE, SIDE]).unwrap()
}

/// A window of the matrix, cut off at its border.
fn window((r, c): (u32, u32), (h, w): (u32, u32)) -> TensorView {
    matrix().tile(&[r, c], &[h.min(SIDE - r), w.min(SIDE - c)]).unwrap()
}

/// Views of one matrix as programs take them: tiles with and without a halo, rows and columns, prefixes, the whole, windows of
/// any size and turned ones, elements in steps, and parts of the same bytes with another shape.
fn views() -> impl Strategy<Value = TensorView> {
    let any = || (0..SIDE, 0..SIDE);
    let sizes = || (1..=SIDE, 1..=SIDE);
    let aligned = (0u32..4, 0u32..4);
    prop_oneof![
        6 => aligned.clone().prop_map(|(r, c)| window((r * 4, c * 4), (4, 4))),
        2 => aligned.prop_map(|(r, c)| {
            window(((r * 4).saturating_sub(1), (c * 4).saturating_sub(1)), (6, 6))
        }),
        3 => (any(), sizes()).prop_map(|(at, size)| window(at, size)),
        1 => (any(), sizes()).prop_map(|(at, size)| window(at, size).transpose(0, 1).unwrap()),
        1 => (0..SIDE).prop_map(|row| matrix().select(0, row).unwrap()),
        1 => (0..SIDE).prop_map(|column| matrix().select(1, column).unwrap()),
        2 => (1..=SIDE).prop_map(|rows| window((0, 0), (rows, SIDE))),
        1 => (0..SIDE * SIDE, 1..=SIDE * SIDE).prop_map(|(start, len)| {
            matrix().reshape(&[SIDE * SIDE]).unwrap().slice(0, start, len.min(SIDE * SIDE - start)).unwrap()
        }),
        1 => (0u32..8, 0u32..8).prop_map(|(x, y)| {
            let cube = matrix().reshape(&[4, 8, 8]).unwrap();
            cube.tile(&[x / 2, y, x], &[1, 8 - y, 8 - x]).unwrap()
        }),
        2 => (0u64..64, 1u32..8, 2u32..24).prop_map(|(start, len, stride)| {
            let (offset, bytes) = (start * 4, u64::from(SIDE * SIDE) * 4);
            TensorView::from_parts(DType::Float32, offset, &[Dim { len, stride }], bytes).unwrap()
        }),
        1 => Just(matrix()),
    ]
}

fn new_access(view: &TensorView, writes: bool) -> NewAccess<'_> {
    let hazard = if writes { Hazard::Write } else { Hazard::Read };
    NewAccess { root: 0, region: Region::of(view), whole: view.is_whole(), hazard }
}

/// Submits accesses to a map and to a model that keeps every access as a set of bytes; after `keep` of them the oldest is
/// reclaimed with every further one.
fn compare_with_model(accesses: &[(TensorView, bool)], keep: usize) -> Result<(), TestCaseError> {
    let mut map = TensorMap::new(1024);
    map.reset(RunNumber::default(), 1024, [(0, Permission::ReadWrite)].into_iter());
    let (mut model, mut owned): (Vec<Modelled>, Vec<Owned>) = (Vec::new(), Vec::new());
    let views = Views(accesses.iter().map(|a| a.0).collect());
    for (i, (view, writes)) in accesses.iter().enumerate() {
        let bytes = bytes_of(view);
        let conflicts = |m: &&Modelled| (m.writes || *writes) && !m.bytes.is_disjoint(&bytes);
        let expected: BTreeSet<u32> = model.iter().filter(conflicts).map(|m| m.task).collect();
        let new = new_access(view, *writes);
        let (mut found, mut covered) = (BTreeSet::new(), BTreeSet::new());
        let bounds = map.locate(&new, &views);
        map.look_up(&new, bounds.as_ref(), &views, |met| {
            if let Met::Alive(MetAccess { task, how, .. }) = met {
                found.insert(task.0);
                if how == Relation::Covered {
                    covered.insert(task.0);
                }
            }
        });
        prop_assert_eq!(&found, &expected, "access {} {:?}", i, view);
        if *writes {
            prop_assert!(model.iter().all(|m| !covered.contains(&m.task) || m.bytes.is_subset(&bytes)));
            model.retain(|m| !covered.contains(&m.task));
        }
        let mut mine = Owned::NOTHING;
        map.insert(&new, bounds.as_ref(), &views, &mut mine, (SlotIndex(i as u32), i as u32));
        map.hold(1);
        owned.push(mine);
        model.push(Modelled { task: i as u32, bytes, writes: *writes });
        if i >= keep {
            map.release(owned[i - keep], 1);
            model.retain(|m| m.task != (i - keep) as u32);
        }
        prop_assert_eq!(map.used(), (i + 1).min(keep) as u64);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_lookup_finds_exactly_the_accesses_that_share_bytes_and_are_not_superseded(
        accesses in prop::collection::vec((views(), any::<bool>()), 1..60), keep in 1usize..40,
    ) {
        compare_with_model(&accesses, keep)?;
    }

    #[test]
    fn the_same_holds_where_nearly_all_accesses_read_and_stay(
        accesses in prop::collection::vec((views(), prop::bool::weighted(0.05)), 1..200), keep in 1usize..200,
    ) {
        compare_with_model(&accesses, keep)?;
    }
}

#[test]
fn a_stale_handle_is_an_error_and_never_another_tensor() {
    let mut map = TensorMap::new(16);
    map.reset(RunNumber::default(), 16, std::iter::empty());
    let mut owned = Owned::NOTHING;
    let first = map.make_root(&mut owned, 0, 0, None);
    map.release(owned, 0);
    let second = map.make_root(&mut Owned::NOTHING.clone(), 0, 64, None);
    assert_eq!(first.id, second.id);
    assert_eq!(map.root(first).unwrap_err().name(), "StaleHandle");
    assert_eq!(map.root(second).unwrap().base(), 64);
    assert!(map.root(TensorRef { id: 7, ..TensorRef::default() }).is_err());
}
