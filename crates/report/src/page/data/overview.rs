//! Three small charts over the whole run: how busy cores were by kind, how many tasks were ready, how many each ring held.
//!
//! Time is cut into equal bins; a value is the average over its bin, exact whatever the width of a bin.

use ringlane_insight::CoreKind;
use ringlane_insight::timeline::Timeline;
use ringlane_task::{RINGS, Ticks};
use serde::Serialize;

use crate::page::limits::OVERVIEW_BINS;

/// The charts.
#[derive(Serialize)]
pub struct Overview {
    /// Share of the cores of each kind that was busy.
    busy: Vec<Series>,
    /// Tasks that could run and did not yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    ready: Option<Vec<f32>>,
    /// Tasks that each ring held.
    rings: Vec<Series>,
}

/// A line of a chart.
#[derive(Serialize)]
struct Series {
    name: String,
    /// How many of it there are: cores of a kind.
    of: u64,
    values: Vec<f32>,
}

/// The charts of a timeline; `None` if no time passed.
pub fn of(timeline: &Timeline) -> Option<Overview> {
    if timeline.makespan.0 == 0 {
        return None;
    }
    Some(Overview { busy: busy(timeline), ready: ready(timeline), rings: rings(timeline) })
}

fn busy(timeline: &Timeline) -> Vec<Series> {
    let counts = timeline.core_counts();
    let mut bins: Vec<(CoreKind, Bins)> = counts.kinds().map(|kind| (kind, Bins::new(timeline))).collect();
    for block in &timeline.blocks {
        let kind = timeline.kind_of(block);
        if let Some((_, bins)) = bins.iter_mut().find(|(of, _)| *of == kind) {
            bins.add(block.start, block.end);
        }
    }
    let series = |(kind, bins): (CoreKind, Bins)| {
        let of = u64::from(counts.of(kind));
        Series { name: kind.as_str().to_string(), of, values: bins.averages(1.0 / of as f64) }
    };
    bins.into_iter().map(series).collect()
}

fn ready(timeline: &Timeline) -> Option<Vec<f32>> {
    let mut bins = Bins::new(timeline);
    let mut known = false;
    for task in timeline.indices() {
        let (Some(ready), first) =
            (timeline.task(task).ready, timeline.blocks_of(task).iter().map(|block| block.start).min())
        else {
            continue;
        };
        known = true;
        bins.add(ready, first.unwrap_or(ready));
    }
    known.then(|| bins.averages(1.0))
}

fn rings(timeline: &Timeline) -> Vec<Series> {
    let mut rings: [Option<Bins>; RINGS] = Default::default();
    for task in &timeline.tasks {
        let (Some(submit), Some(ring)) = (task.submit, rings.get_mut((task.task_id.0 >> 32) as usize)) else {
            continue;
        };
        let bins = ring.get_or_insert_with(|| Bins::new(timeline));
        bins.add(submit.start, task.reclaim.unwrap_or(timeline.makespan));
    }
    let series = |(ring, bins): (usize, Bins)| Series {
        name: format!("ring {ring}"),
        of: 0,
        values: bins.averages(1.0),
    };
    rings.into_iter().enumerate().filter_map(|(ring, bins)| Some((ring, bins?))).map(series).collect()
}

/// How much of each bin intervals cover, all together.
struct Bins {
    width: f64,
    /// What bins get of intervals that end or begin within them.
    parts: Vec<f64>,
    /// By how many more intervals cover this bin whole than the one before.
    steps: Vec<f64>,
}

impl Bins {
    fn new(timeline: &Timeline) -> Self {
        let width = timeline.makespan.0 as f64 / OVERVIEW_BINS as f64;
        Bins { width, parts: vec![0.0; OVERVIEW_BINS + 1], steps: vec![0.0; OVERVIEW_BINS + 2] }
    }

    fn add(&mut self, start: Ticks, end: Ticks) {
        let place = |ticks: Ticks| (ticks.0 as f64 / self.width).min(OVERVIEW_BINS as f64);
        let (start, end) = (place(start), place(end));
        if end <= start {
            return;
        }
        let (first, last) = (start as usize, end as usize);
        if first == last {
            self.parts[first] += end - start;
            return;
        }
        self.parts[first] += (first + 1) as f64 - start;
        self.parts[last] += end - last as f64;
        self.steps[first + 1] += 1.0;
        self.steps[last] -= 1.0;
    }

    fn averages(self, scale: f64) -> Vec<f32> {
        let mut whole = 0.0;
        let bins = self.parts.iter().zip(&self.steps).take(OVERVIEW_BINS);
        bins.map(|(part, step)| {
            whole += step;
            // Four digits are more than a chart shows.
            (((part + whole) * scale * 1e4).round() / 1e4) as f32
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_share_bins_by_their_time() {
        let mut bins =
            Bins { width: 10.0, parts: vec![0.0; OVERVIEW_BINS + 1], steps: vec![0.0; OVERVIEW_BINS + 2] };
        bins.add(Ticks(5), Ticks(32));
        bins.add(Ticks(12), Ticks(14));
        bins.add(Ticks(20), Ticks(20));
        bins.add(Ticks(OVERVIEW_BINS as u64 * 10 - 5), Ticks(u64::MAX));
        let averages = bins.averages(1.0);
        assert_eq!(averages[..5], [0.5, 1.2, 1.0, 0.2, 0.0]);
        assert_eq!(averages[OVERVIEW_BINS - 1], 0.5);
    }
}
