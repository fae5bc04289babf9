//! The map against a model that keeps every access as a set of bytes.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;
use ringlane_task::{DType, Explain, TensorView};

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

/// Mostly aligned tiles of one size, some of other sizes, some whole tensors, some single rows and columns.
fn tiles() -> impl Strategy<Value = (TensorView, bool)> {
    let aligned = (0u32..4, 0u32..4).prop_map(|(r, c)| ([r * 4, c * 4], [4, 4]));
    let odd = (0u32..16, 0u32..16, 1u32..16, 1u32..16)
        .prop_map(|(r, c, h, w)| ([r, c], [h.min(16 - r), w.min(16 - c)]));
    let whole = Just(([0, 0], [16, 16]));
    (prop_oneof![6 => aligned, 3 => odd, 1 => whole], any::<bool>()).prop_map(|((start, len), writes)| {
        let matrix = TensorView::contiguous(DType::Float32, &[16, 16]).unwrap();
        (matrix.tile(&start, &len).unwrap(), writes)
    })
}

fn new_access(view: &TensorView, writes: bool) -> NewAccess<'_> {
    let hazard = if writes { Hazard::Write } else { Hazard::Read };
    NewAccess { root: 0, region: Region::of(view), whole: view.is_whole(), hazard }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_lookup_finds_exactly_the_accesses_that_share_bytes_and_are_not_superseded(
        accesses in prop::collection::vec(tiles(), 1..60), keep in 1usize..40,
    ) {
        let mut map = TensorMap::new(1024);
        map.reset(RunNumber::default(), 1024, [(0, Permission::ReadWrite)].into_iter());
        let (mut model, mut owned): (Vec<Modelled>, Vec<Owned>) = (Vec::new(), Vec::new());
        let views = Views(accesses.iter().map(|a| a.0).collect());
        for (i, (view, writes)) in accesses.iter().enumerate() {
            let bytes = bytes_of(view);
            let conflicts = |m: &&Modelled| (m.writes || *writes) && !m.bytes.is_disjoint(&bytes);
            let expected: BTreeSet<u32> = model.iter().filter(conflicts).map(|m| m.task).collect();
            let new = new_access(view, *writes);
            let mut found = BTreeSet::new();
            let tile = map.locate(&new);
            map.look_up(&new, tile.as_ref(), &views, |met| {
                if let Met::Alive(MetAccess { task, .. }) = met {
                    found.insert(task.0);
                }
            });
            prop_assert_eq!(&found, &expected, "access {} {:?}", i, view);
            if *writes {
                model.retain(|m| !m.bytes.is_subset(&bytes));
            }
            let mut mine = Owned::NOTHING;
            map.insert(&new, tile.as_ref(), &mut mine, SlotIndex(i as u32), i as u32);
            map.hold(1);
            owned.push(mine);
            model.push(Modelled { task: i as u32, bytes, writes: *writes });
            if i >= keep {
                // The oldest task is reclaimed.
                map.release(owned[i - keep], 1);
                model.retain(|m| m.task != (i - keep) as u32);
            }
            prop_assert_eq!(map.used(), (i + 1).min(keep) as u64);
        }
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
    assert_eq!(map.root(second).unwrap().base, 64);
    assert!(map.root(TensorRef { id: 7, ..TensorRef::default() }).is_err());
}
