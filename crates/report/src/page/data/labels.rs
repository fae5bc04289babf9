//! When the tasks of labelled scopes ran, for bands above the cores: a layer, a token, a step.
//!
//! A scope is open while its tasks are submitted, which can be long before they run. Its band lasts from the start of the first
//! task in it to the end of the last, those of the scopes inside it included.

use std::cmp::Reverse;
use std::collections::HashMap;

use ringlane_insight::Instrument;
use ringlane_insight::timeline::Timeline;
use ringlane_task::{ScopeId, Ticks};
use ringlane_trace::deps::DepsTask;
use ringlane_trace::scopes::{ScopeRow, Scopes};

use super::{NoteKind, Page, grouped, tick};
use crate::page::columns::Coding::{Delta, Plain};
use crate::page::columns::Column;
use crate::page::limits::{ABREAST_MAX, SCOPES_MAX};

/// When the tasks of each scope ran.
type Times = HashMap<ScopeId, (Ticks, Ticks)>;

/// A labelled scope in which something ran.
#[derive(Debug, PartialEq, Eq)]
struct Band<'a> {
    label: &'a str,
    /// How many labelled scopes are around it.
    level: u32,
    start: Ticks,
    end: Ticks,
}

impl Page {
    /// Adds the bands of labelled scopes; of too many the longest.
    pub(super) fn add_labels(&mut self, timeline: &Timeline, tasks: &[DepsTask<'_>], scopes: &Scopes) {
        let mut times = Times::new();
        for task in tasks {
            for block in timeline.find(task.task_id).into_iter().flat_map(|at| timeline.blocks_of(at)) {
                extend(&mut times, task.scope, (block.start, block.end));
            }
        }
        let mut bands = bands(times, &scopes.scopes);
        if bands.len() > SCOPES_MAX {
            let (all, shown) = (grouped(bands.len()), grouped(SCOPES_MAX));
            let text = format!("Of {all} labelled scopes, the swimlane shows the {shown} longest.");
            self.note(Instrument::Scopes, NoteKind::LeftOut, text);
            bands.sort_by_key(|band| Reverse(band.end.0 - band.start.0));
            bands.truncate(SCOPES_MAX);
        }
        bands.sort_by_key(|band| (band.level, band.start));
        let mut placed: Vec<_> = lanes(&bands).into_iter().zip(&bands).collect();
        placed.sort_by_key(|(lane, band)| (*lane, band.start));
        if placed.is_empty() {
            return;
        }
        let of = |name, coding, of: fn(&(usize, &Band<'_>)) -> i64| {
            Column::of(name, coding, placed.iter().map(of))
        };
        self.columns.extend([
            of("labels.lane", Delta, |(lane, _)| *lane as i64),
            of("labels.start", Delta, |(_, band)| tick(band.start)),
            of("labels.took", Plain, |(_, band)| tick(band.end) - tick(band.start)),
        ]);
        self.run.names.bands = placed.iter().map(|(_, band)| band.label.to_string()).collect();
    }
}

fn extend(times: &mut Times, scope: ScopeId, (start, end): (Ticks, Ticks)) {
    let time = times.entry(scope).or_insert((start, end));
    *time = (time.0.min(start), time.1.max(end));
}

/// The bands, given when the tasks ran that were submitted directly in each scope.
fn bands<'a>(mut times: Times, scopes: &'a [ScopeRow<'_>]) -> Vec<Band<'a>> {
    let mut outer_first: Vec<&ScopeRow<'_>> = scopes.iter().collect();
    outer_first.sort_by_key(|row| row.depth);
    for row in outer_first.iter().rev() {
        if let (Some(parent), Some(&time)) = (row.parent, times.get(&row.scope)) {
            extend(&mut times, parent, time);
        }
    }
    // Of what is inside of each scope.
    let mut levels: HashMap<ScopeId, u32> = HashMap::new();
    let mut bands = Vec::new();
    for row in outer_first {
        let level = row.parent.and_then(|parent| levels.get(&parent).copied()).unwrap_or(0);
        levels.insert(row.scope, level + u32::from(row.label.is_some()));
        if let (Some(label), Some(&(start, end))) = (&row.label, times.get(&row.scope)) {
            bands.push(Band { label, level, start, end });
        }
    }
    bands
}

/// A lane for each of these bands, which are in the order of levels and of time: bands of one level that run at the same time
/// are abreast, on a few lanes at most.
fn lanes(bands: &[Band<'_>]) -> Vec<usize> {
    let (mut level, mut first) = (0, 0);
    // When the last band of each lane of this level ends.
    let mut ends: Vec<Ticks> = Vec::new();
    let lane_of = |band: &Band<'_>| {
        if band.level != level {
            (level, first) = (band.level, first + ends.len());
            ends.clear();
        }
        let free = ends.iter().position(|&end| end <= band.start);
        let lane = free.unwrap_or_else(|| {
            if ends.len() < ABREAST_MAX {
                ends.push(Ticks(0));
                return ends.len() - 1;
            }
            (0..ends.len()).min_by_key(|&lane| ends[lane]).unwrap_or(0)
        });
        ends[lane] = ends[lane].max(band.end);
        first + lane
    };
    bands.iter().map(lane_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(scope: u32, parent: Option<u32>, depth: u32, label: Option<&'static str>) -> ScopeRow<'static> {
        let (scope, parent, label) = (ScopeId(scope), parent.map(ScopeId), label.map(Into::into));
        ScopeRow { scope, parent, depth, label, ..ScopeRow::default() }
    }

    fn band(label: &str, level: u32, start: u64, end: u64) -> Band<'_> {
        Band { label, level, start: Ticks(start), end: Ticks(end) }
    }

    #[test]
    fn a_band_is_as_long_as_what_ran_in_its_scope_and_in_those_inside() {
        let scopes = [
            scope(3, Some(2), 3, Some("layer 0")),
            scope(2, Some(1), 2, None),
            scope(4, Some(1), 2, Some("layer 1")),
            scope(5, Some(1), 2, Some("nothing ran")),
            scope(1, Some(0), 1, Some("token 0")),
            scope(0, None, 0, None),
        ];
        let times = [(1, (5, 6)), (2, (8, 20)), (3, (10, 18)), (4, (16, 30))];
        let times = times.map(|(scope, (start, end))| (ScopeId(scope), (Ticks(start), Ticks(end))));
        let mut found = bands(times.into(), &scopes);
        found.sort_by_key(|band| (band.level, band.start));
        let layers = [band("layer 0", 1, 10, 18), band("layer 1", 1, 16, 30)];
        let [first, second] = layers;
        assert_eq!(found, [band("token 0", 0, 5, 30), first, second]);
        assert_eq!(lanes(&found), [0, 1, 2]);
    }

    #[test]
    fn bands_that_follow_each_other_share_a_lane_and_too_many_at_once_share_the_last_ones() {
        let bands = [band("a", 0, 0, 4), band("b", 0, 4, 9), band("c", 0, 8, 12), band("d", 2, 0, 1)];
        assert_eq!(lanes(&bands), [0, 0, 1, 2]);
        let at_once: Vec<_> = (0..9).map(|i| band("x", 0, i, 100 + i)).collect();
        assert_eq!(lanes(&at_once).into_iter().max(), Some(ABREAST_MAX - 1));
    }
}
