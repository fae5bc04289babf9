//! `ringlane bench overlap`: what a lookup and an insert in the tensor map cost among 10 to 10^5 live accesses.
//!
//! For each pattern the map is filled with writes of live views. Then reads are looked up that meet few of them, the same
//! number however many are live; and accesses are inserted and released again. Beside it, the same views are compared
//! with all live ones, one by one: what a lookup without an index would cost.

mod patterns;

use std::hint::black_box;
use std::time::{Duration, Instant};

use ringlane_engine::overlap::{Region, Relation, relation};
use ringlane_engine::slot::SlotIndex;
use ringlane_engine::tensor_map::{Hazard, Met, NewAccess, Owned, Regions, TensorMap};
use ringlane_task::{TensorView, ViewError};

use crate::error::BenchError;
use crate::measure::Samples;
use crate::rows::{Row, Target};
use crate::{Bench, Session};
use patterns::Pattern;

/// The numbers of live accesses.
const LIVE: [u32; 5] = [10, 100, 1_000, 10_000, 100_000];
/// Views that are looked up in turn.
const PROBES: u32 = 1 << 10;
/// Comparisons of one repetition of a scan, about.
const COMPARISONS: u32 = 1 << 16;
/// A lookup among the most accesses may cost at most this multiple of one among the fewest.
const RATIO_MAX: f64 = 3.0;
/// Where the index cannot help, a lookup may cost at most this multiple of a scan.
const SCAN_RATIO_MAX: f64 = 2.0;
/// The most live accesses where every lookup meets all of them.
const IRREGULAR_LIVE_MAX: u32 = 1_000;

/// A map with its live accesses, and the views to look up.
struct Filled {
    map: TensorMap,
    root: u32,
    /// The live ones, then the probes: a record's place is its index.
    views: Views,
    live: u32,
}

struct Views(Vec<TensorView>);

impl Regions for Views {
    fn region(&self, _task: SlotIndex, at: u32) -> Region<'_> {
        Region::of(&self.0[at as usize])
    }
}

impl Views {
    fn access(&self, root: u32, at: u32, hazard: Hazard) -> NewAccess<'_> {
        let view = &self.0[at as usize];
        NewAccess { root, region: Region::of(view), whole: view.is_whole(), hazard }
    }
}

impl Filled {
    fn new(pattern: Pattern, live: u32) -> Result<Self, ViewError> {
        let views = (0..live).map(|index| pattern.live(index, live));
        let probes = (0..PROBES).map(|number| pattern.probe(number, live));
        let views = Views(views.chain(probes).collect::<Result<_, _>>()?);
        let mut map = TensorMap::unforgetting();
        let root = map.new_root();
        for at in 0..live {
            let new = views.access(root, at, Hazard::Write);
            let bounds = map.locate(&new, &views);
            let owned = &mut Owned::NOTHING.clone();
            map.insert(&new, bounds.as_ref(), &views, owned, (SlotIndex(at), at));
        }
        Ok(Filled { map, root, views, live })
    }

    /// The places of the probes.
    fn probes(&self) -> std::ops::Range<u32> {
        self.live..self.live + PROBES
    }

    fn look_up(&mut self) -> Duration {
        let (start, mut met) = (Instant::now(), 0u64);
        for at in self.probes() {
            let new = self.views.access(self.root, at, Hazard::Read);
            let bounds = self.map.locate(&new, &self.views);
            self.map.look_up(&new, bounds.as_ref(), &self.views, |found| {
                met += u64::from(matches!(found, Met::Alive(_)));
            });
        }
        black_box(met);
        start.elapsed()
    }

    fn insert(&mut self) -> Duration {
        let start = Instant::now();
        for at in self.probes() {
            let new = self.views.access(self.root, at, Hazard::Read);
            let bounds = self.map.locate(&new, &self.views);
            let mut owned = Owned::NOTHING;
            self.map.insert(&new, bounds.as_ref(), &self.views, &mut owned, (SlotIndex(at), at));
            self.map.release(owned, 0);
        }
        start.elapsed()
    }

    /// As `look_up`, by comparing with each live view, for the first of the probes.
    fn scan(&self, probes: u32) -> Duration {
        let (start, mut met) = (Instant::now(), 0u64);
        for at in self.probes().take(probes as usize) {
            let probe = Region::of(&self.views.0[at as usize]);
            let live = self.views.0[..self.live as usize].iter();
            met +=
                live.filter(|view| relation(&probe, &Region::of(view)) != Relation::Disjoint).count() as u64;
        }
        black_box(met);
        start.elapsed()
    }
}

/// Measures every pattern among few and many live accesses.
pub fn measure(bench: &Bench, session: &mut Session<'_>) -> Result<(), BenchError> {
    let time = bench.time_of_each(3 * LIVE.len() * Pattern::ALL.len());
    for pattern in Pattern::ALL {
        let most = if pattern == Pattern::Irregular { IRREGULAR_LIVE_MAX } else { u32::MAX };
        let (mut rows, mut scans) = (Vec::new(), Vec::new());
        for live in LIVE.into_iter().filter(|&live| live <= most) {
            let mut filled = Filled::new(pattern, live).map_err(ringlane_engine::Error::from)?;
            let mut row = |what: &str, tasks: u32, once: &mut dyn FnMut() -> Duration| {
                let name = format!("{what}/{}/{live}", pattern.name());
                session.begin(&name, 1);
                let samples = Samples::take(time, || Ok(once()))?;
                let row = Row::new(name, 1, 0, tasks.into(), &samples);
                session.done(row.clone());
                Ok::<_, BenchError>(row)
            };
            rows.push(row("lookup", PROBES, &mut || filled.look_up())?);
            row("insert", PROBES, &mut || filled.insert())?;
            let probes = (COMPARISONS / live).clamp(1, PROBES);
            scans.push(row("scan", probes, &mut || filled.scan(probes))?);
        }
        session.results.bars.push(target(pattern, &rows, &scans));
    }
    Ok(())
}

fn target(pattern: Pattern, rows: &[Row], scans: &[Row]) -> Target {
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    let ratio = |a: &Row, b: &Row| a.ns_per_task_median / b.ns_per_task_median.max(0.1);
    let target = match pattern {
        Pattern::Irregular => {
            let what = "irregular: a lookup against a scan";
            Target::at_most(what, ratio(last, &scans[scans.len() - 1]), SCAN_RATIO_MAX)
        }
        _ => {
            let (most, fewest) = (LIVE[LIVE.len() - 1], LIVE[0]);
            let what = format!("{}: a lookup among {most} against {fewest}", pattern.name());
            Target::at_most(what, ratio(last, first), RATIO_MAX)
        }
    };
    target.judged_by([first, last])
}
