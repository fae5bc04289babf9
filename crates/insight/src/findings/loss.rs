//! What went wrong: a run that failed, values that are not right, rows that are missing, rings that were too small.

use ringlane_task::Ticks;
use ringlane_trace::RunStatus;
use ringlane_trace::scopes::{ScopeStall, Scopes};

use super::{Finding, Known, Severity, Target};
use crate::scopes::own_waits;
use crate::units::{agreeing, counted, grouped, microseconds, percent_text, time_text};

/// The share of the makespan above which waits for rings are reported.
const STALL_SHARE: f64 = 0.01;

pub(super) fn find(known: &Known<'_>, findings: &mut Vec<Finding>) {
    let manifest = known.manifest;
    let problem = |text: String, target| Finding { severity: Severity::Problem, weight: 1.0, text, target };
    if let (Some(error), true) = (&manifest.error, manifest.status != RunStatus::Ok) {
        let skipped = match manifest.skipped {
            0 => String::new(),
            skipped => format!("; {} skipped", counted(skipped, "task")),
        };
        findings.push(problem(
            format!("The run ended with {}: {}{skipped}.", error.name, error.detail),
            Target::Header,
        ));
    }
    if let Some(golden) = manifest.golden.as_ref().filter(|golden| golden.failed > 0) {
        let (failed, checked) = (grouped(golden.failed), counted(golden.checked, "value"));
        findings
            .push(problem(format!("{failed} of {checked} differ from the golden result."), Target::Header));
    }
    for entry in &manifest.files {
        let dropped = entry.dropped.unwrap_or(0);
        let why = entry.incomplete.as_deref().map_or(String::new(), |why| format!(" ({why})"));
        if dropped > 0 || !why.is_empty() {
            let (rows, are) = (counted(dropped, "row"), agreeing(dropped, "is", "are"));
            let text = format!("{rows} of {} {are} missing{why}.", entry.path);
            findings.push(problem(text, Target::Header));
        }
    }
    if let Some(scopes) = known.scopes {
        rings(known, scopes, findings);
    }
    // Every writer may wait: their time is as many times the makespan.
    let waited = Ticks(manifest.dfx_cost.writer_wait_ticks);
    let share = share_of(known, waited) / f64::from(manifest.threads.max(1));
    if share > STALL_SHARE {
        let text = format!(
            "Recording took {} of the threads' time: they waited {} for empty buffers.",
            percent_text(share),
            clock_text(known, waited)
        );
        findings.push(Finding { severity: Severity::Costly, weight: share, text, target: Target::Header });
    }
}

/// Which resource was exhausted, and which scope waited for it.
fn rings(known: &Known<'_>, scopes: &Scopes, findings: &mut Vec<Finding>) {
    if let Some(fatal) = &scopes.head.fatal {
        let on = fatal.ring.map_or(String::new(), |ring| format!(" of ring {ring}"));
        let text = format!(
            "The scope at {} exhausted the {}{on}: {} of {} in use, {} needed.",
            fatal.site,
            fatal.resource,
            grouped(fatal.used),
            grouped(fatal.capacity),
            grouped(fatal.need)
        );
        let target = Target::Scope(fatal.site.to_string());
        findings.push(Finding { severity: Severity::Problem, weight: 2.0, text, target });
    }
    // A row also counts the waits of the scopes inside it.
    let waits = own_waits(&scopes.scopes);
    let stalled =
        |stalls: &[ScopeStall]| stalls.iter().fold(0u64, |sum, stall| sum.saturating_add(stall.ticks.0));
    let all = waits.iter().map(|stalls| stalled(stalls)).fold(0, u64::saturating_add);
    let share = share_of(known, Ticks(all));
    let worst = scopes.scopes.iter().zip(&waits).max_by_key(|(_, stalls)| stalled(stalls));
    if let Some((worst, stalls)) = worst.filter(|_| share > STALL_SHARE) {
        let longest = stalls.iter().max_by_key(|stall| stall.ticks);
        let what = longest.map_or(String::new(), |stall| {
            let on = stall.ring.map_or(String::new(), |ring| format!(" of ring {ring}"));
            format!(", most of all for the {}{on} in the scope at {}", stall.resource, worst.site)
        });
        let text = format!(
            "Submits waited {} ({}) for full rings{what}.",
            clock_text(known, Ticks(all)),
            percent_text(share)
        );
        let target = Target::Scope(worst.site.to_string());
        findings.push(Finding { severity: Severity::Costly, weight: share, text, target });
    }
}

/// A time as a part of the makespan.
fn share_of(known: &Known<'_>, ticks: Ticks) -> f64 {
    match known.manifest.makespan_ticks {
        0 => 0.0,
        makespan => ticks.0 as f64 / makespan as f64,
    }
}

fn clock_text(known: &Known<'_>, ticks: Ticks) -> String {
    time_text(microseconds(ticks.0 as f64, known.manifest.clock_freq_hz))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use ringlane_task::{Resource, RingIndex, ScopeId};
    use ringlane_trace::scopes::ScopeRow;
    use ringlane_trace::{Manifest, UtcTime};

    use super::*;

    #[test]
    fn a_wait_inside_nested_scopes_is_reported_once_for_the_inner_one() {
        let ring = Some(RingIndex(1));
        let stall = ScopeStall { ring, resource: Resource::Heap, count: 3, ticks: Ticks(400) };
        let scope = |number: u32, parent: Option<u32>, site: &'static str| ScopeRow {
            scope: ScopeId(number),
            parent: parent.map(ScopeId),
            site: Cow::Borrowed(site),
            stalls: Cow::Owned(vec![stall]),
            ..ScopeRow::default()
        };
        let rows = vec![scope(0, None, "outer.rs:1"), scope(1, Some(0), "inner.rs:2")];
        let scopes = Scopes { scopes: rows, ..Scopes::default() };
        let mut manifest = Manifest::new("s", "c", "cpu", UtcTime::now());
        (manifest.makespan_ticks, manifest.clock_freq_hz) = (1000, 1_000_000);
        let known = Known { scopes: Some(&scopes), ..Known::of(&manifest) };
        let mut findings = Vec::new();
        rings(&known, &scopes, &mut findings);
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].weight, &findings[0].target), (0.4, &Target::Scope("inner.rs:2".into())));
        assert!(findings[0].text.starts_with("Submits waited 400.0 µs (40.0 %)"), "{}", findings[0].text);
    }
}
