//! Summaries of scopes written by hand.

use std::borrow::Cow;

use ringlane_task::{RINGS, ScopeId};
use ringlane_trace::scopes::{Peak, RowCounts, ScopeNeed, ScopeRow, ScopeStall, ScopesHead};

use super::*;

fn row(scope: u32, parent: Option<u32>, site: &'static str, need: u64) -> ScopeRow<'static> {
    let depth = parent.map_or(0, |_| 1);
    ScopeRow {
        scope: ScopeId(scope),
        parent: parent.map(ScopeId),
        site: Cow::Borrowed(site),
        depth,
        ring: RingIndex(depth as u8),
        tasks: need,
        exit: Some(Ticks(9)),
        task_window: [Peak { peak: need, capacity: 64 }; RINGS],
        heap: [Peak { peak: 0, capacity: 1024 }; RINGS],
        dep_pool: [Peak { peak: 0, capacity: 64 }; RINGS],
        args: [Peak { peak: 0, capacity: 1024 }; RINGS],
        tensormap: Peak { peak: 30, capacity: 64 },
        need: ScopeNeed { task_window: need, dep_pool: need, ..ScopeNeed::default() },
        ..ScopeRow::default()
    }
}

fn stall(count: u64, ticks: u64) -> Cow<'static, [ScopeStall]> {
    let (ring, resource) = (Some(RingIndex(1)), Resource::TaskWindow);
    Cow::Owned(vec![ScopeStall { ring, resource, count, ticks: Ticks(ticks) }])
}

fn summary(rows: Vec<ScopeRow<'static>>, fatal: Option<ScopeFatal<'static>>) -> Summary {
    summarize(&Scopes { head: ScopesHead { fatal, counts: RowCounts::default() }, scopes: rows }, 1_000_000)
}

#[test]
fn waits_are_reported_once_by_the_scope_whose_submits_waited() {
    let mut rows =
        vec![row(1, Some(0), "a.rs:2", 5), row(2, Some(0), "a.rs:2", 7), row(0, None, "a.rs:1", 2)];
    (rows[0].stalls, rows[1].stalls, rows[2].stalls) = (stall(2, 20), stall(1, 5), stall(3, 25));
    let found = summary(rows, None);
    let sites: Vec<_> = found.sites.iter().map(|s| (&*s.site, s.scopes, s.tasks, s.waits.count)).collect();
    assert_eq!(sites, [("a.rs:1", 1, 2, 0), ("a.rs:2", 2, 12, 3)]);
    assert_eq!(found.waits, Waits { count: 3, ticks: Ticks(25), us: 25.0 });
    let first = &found.stores[0];
    assert_eq!((first.resource, first.ring, first.need), (Resource::TensorMap, None, None));
    let window = found.stores.iter().find(|s| s.waits.count > 0).unwrap();
    assert_eq!((window.need, window.peak, &*window.site), (Some(7), 7, "a.rs:2"));
}

#[test]
fn a_need_becomes_the_smallest_power_of_two_that_can_be_set() {
    let mut inner = row(1, Some(0), "a.rs:2", 9);
    (inner.need.heap, inner.need.heap_piece) = (100, 64);
    let found = summary(vec![inner, row(0, None, "a.rs:1", 1)], None);
    assert_eq!(
        found.options(None),
        "--ring-task-window 4,16,4,4 --ring-heap 64,1024,64,64 --ring-dep-pool 2,32,1,1 --ring-args 1 --tensormap 32"
    );
    for resource in Resource::ALL {
        for ring in 0..RINGS as u8 {
            resource.check(None, found.enough.get(resource, Some(RingIndex(ring)))).unwrap();
        }
    }
}

#[test]
fn after_a_full_ring_what_ran_out_is_raised_and_the_rest_is_kept() {
    let fatal = ScopeFatal {
        scope: ScopeId(1),
        label: None,
        site: "a.rs:2".into(),
        ring: Some(RingIndex(1)),
        resource: Resource::DepPool,
        used: 64,
        capacity: 64,
        need: 70,
    };
    let error = |hint: &str| RunError { name: "E".into(), detail: "d".into(), hint: hint.into() };
    let given = |pool: &str| {
        format!(
            "--ring-task-window 64 --ring-heap 1024 --ring-dep-pool {pool} --ring-args 1024 --tensormap 64"
        )
    };
    let rows = vec![row(1, Some(0), "a.rs:2", 9)];
    let stopped = summary(rows.clone(), Some(fatal));
    assert_eq!((stopped.stores[0].need, stopped.stores[0].enough), (Some(70), 140));
    let hint = error("rerun with --ring-dep-pool 256 (counted to the end of the scope)");
    assert_eq!(stopped.options(Some(&hint)), given("256"));
    for odd in ["rerun", "--ring-dep-pool ", "--ring-dep-pool 7", "--ring-dep-pool 8,"] {
        let expected = if odd.ends_with("8,") { "8" } else { "64,256,64,64" };
        assert_eq!(stopped.options(Some(&error(odd))), given(expected), "{odd}");
    }
    // Only the error reports a task that is too large for its ring.
    let refused = summary(rows, None);
    assert_eq!(
        refused.options(Some(&error("rerun with --ring-dep-pool 512,64,64,64"))),
        given("512,64,64,64")
    );
    assert_eq!(refused.options(Some(&error("mind the kernel"))), given("64"));
}

#[test]
fn numbers_past_all_limits_and_no_rows_at_all_give_options_that_can_be_set() {
    let mut large = row(0, None, "a.rs:1", u64::MAX);
    (large.need.heap, large.need.heap_piece) = (u64::MAX, u64::MAX);
    for found in [summary(vec![large], None), summary(Vec::new(), None)] {
        for (resource, ring) in found.enough.stores() {
            resource.check(ring, found.enough.get(resource, ring)).unwrap();
        }
    }
}
