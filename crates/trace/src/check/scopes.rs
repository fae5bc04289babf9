//! The scopes: no peak above its capacity, and a need that is no smaller than what was submitted.

use std::collections::HashSet;

use ringlane_task::RINGS;

use super::{Checks, Run};
use crate::manifest::RunStatus;
use crate::rows::scopes::{Peak, ScopeRow, Scopes};

pub(super) fn check(checks: &mut Checks, scopes: &Scopes, run: &Run) {
    // The reader refuses counts that do not add up or differ from the rows.
    checks.held(2);
    let ids: HashSet<_> = scopes.scopes.iter().map(|scope| scope.scope).collect();
    checks.that(ids.len() == scopes.scopes.len(), || "a scope id appears twice".to_string());
    for scope in &scopes.scopes {
        check_place(checks, scope);
        check_peaks(checks, scope);
        check_need(checks, scope);
    }
    let Some(manifest) = &run.manifest else { return };
    if run.is_ok() {
        let (total, expected) = (scopes.head.counts.total(), manifest.scopes);
        checks.that(total == expected, || format!("{total} scopes, run.json says {expected}"));
    }
    let agrees = scopes.head.fatal.is_none() || manifest.status == RunStatus::Fatal;
    checks.that(agrees, || "fatal disagrees with run.json".to_string());
}

fn check_place(checks: &mut Checks, scope: &ScopeRow<'_>) {
    let ScopeRow { site, depth, ring, parent, .. } = scope;
    checks.that(site.contains(':'), || format!("site {site} is not file:line"));
    let expected = (*depth).min(RINGS as u32 - 1);
    checks.that(u32::from(ring.0) == expected, || format!("{site}: depth {depth} on ring {ring}"));
    let root = parent.is_none() == (*depth == 0);
    checks.that(root, || {
        let parent = parent.map_or("no parent".to_string(), |scope| format!("parent {}", scope.0));
        format!("{site}: depth {depth}, {parent}")
    });
    let in_order = scope.exit.is_none_or(|exit| scope.enter <= exit);
    checks.that(in_order, || format!("{site} left before it was entered"));
}

fn check_peaks(checks: &mut Checks, scope: &ScopeRow<'_>) {
    let rings = [
        ("task_window", &scope.task_window),
        ("heap", &scope.heap),
        ("dep_pool", &scope.dep_pool),
        ("args", &scope.args),
    ];
    let shared = [("tensormap", &scope.tensormap), ("fanin", &scope.fanin)];
    let all = rings.into_iter().flat_map(|(name, peaks)| peaks.iter().map(move |peak| (name, peak)));
    for (name, Peak { peak, capacity }) in all.chain(shared) {
        checks.that(peak <= capacity, || format!("{} {name} peak {peak}/{capacity}", scope.site));
    }
}

fn check_need(checks: &mut Checks, scope: &ScopeRow<'_>) {
    let (site, tasks, need) = (&scope.site, scope.tasks, scope.need.task_window);
    checks.that(need >= tasks, || format!("{site} needs {need} slots for {tasks} tasks"));
    if tasks > 0 {
        let peak = scope.task_window.get(usize::from(scope.ring.0)).map_or(0, |window| window.peak);
        checks.that(peak >= 1, || format!("{site} ran {tasks} tasks with no slot used"));
    }
}
