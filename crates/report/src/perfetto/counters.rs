//! Counters: how many of something there were at each moment.
//!
//! A counter rises and falls by one. A counter that changes more often than a screen can show, or a browser can hold, is
//! written for equal stretches of time instead: the mean of each, in thousandths, or the maximum of each where that matters.

use ringlane_insight::CoreKind;
use ringlane_insight::timeline::Timeline;
use ringlane_task::{RINGS, RingIndex, Ticks};
use ringlane_trace::swimlane::SwimlaneLevel;

use super::sink::Value;

/// Changes of one counter that are written one by one. A value is about 70 bytes of JSON, and a trace has up to eight counters.
pub const EXACT_MAX: usize = 200_000;

/// Stretches into which the time of a counter with more changes is divided.
const STRETCHES: u64 = 20_000;

/// What is written for a stretch in which a counter changes too often to write every change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinned {
    Mean,
    Most,
}

/// A number that rises and falls by one.
#[derive(Debug)]
pub(super) struct Counter {
    pub(super) name: String,
    rises: Vec<u64>,
    falls: Vec<u64>,
    thinned: Thinned,
}

impl Counter {
    /// A counter of things that each begin and end. Nothing ends before it begins.
    fn new(name: String, thinned: Thinned, spans: impl Iterator<Item = (Ticks, Ticks)>) -> Self {
        let (mut rises, mut falls): (Vec<u64>, Vec<u64>) =
            spans.filter(|(from, to)| from < to).map(|(from, to)| (from.0, to.0)).unzip();
        rises.sort_unstable();
        falls.sort_unstable();
        Counter { name, rises, falls, thinned }
    }

    /// Whether changes are too many to be written one by one.
    pub(super) fn is_thinned(&self) -> bool {
        self.rises.len() + self.falls.len() > EXACT_MAX
    }

    /// Gives every value from when to when it held; the first begins at 0, the last is 0.
    fn steps(&self, mut each: impl FnMut(u64, u64, u64)) {
        let (mut rises, mut falls) = (self.rises.iter().peekable(), self.falls.iter().peekable());
        let (mut now, mut value) = (0, 0u64);
        // Nothing ends before it begins, so when the last has ended all have begun.
        while let Some(&&fall) = falls.peek() {
            let next = rises.peek().map_or(fall, |&&rise| rise.min(fall));
            if next > now {
                each(now, next, value);
                now = next;
            }
            while rises.next_if(|&&rise| rise == next).is_some() {
                value += 1;
            }
            while falls.next_if(|&&fall| fall == next).is_some() {
                value -= 1;
            }
        }
        each(now, now, value);
    }

    /// Every value with the time from which on it holds, as it is written.
    pub(super) fn values(&self, mut each: impl FnMut(Ticks, Value)) {
        if !self.is_thinned() {
            return self.steps(|from, _, value| each(Ticks(from), Value::Whole(value)));
        }
        let end = self.falls.last().copied().unwrap_or_default();
        let length = end.div_ceil(STRETCHES).max(1);
        let mut stretch = Stretch { index: 0, area: 0, most: 0, length, written: None };
        let thinned = self.thinned;
        self.steps(|from, to, value| stretch.add(from, to, value, &mut |at, value| each(at, value), thinned));
        stretch.write(&mut each, thinned);
        each(Ticks(end), Value::Whole(0));
    }
}

/// A stretch of time that is being summed up.
struct Stretch {
    index: u64,
    /// Sum of values times ticks.
    area: u128,
    most: u64,
    length: u64,
    written: Option<Value>,
}

impl Stretch {
    fn add(
        &mut self,
        mut from: u64,
        to: u64,
        value: u64,
        each: &mut impl FnMut(Ticks, Value),
        thinned: Thinned,
    ) {
        while from < to {
            let end = (self.index + 1).saturating_mul(self.length);
            if from >= end {
                self.write(each, thinned);
                // Stretches in which nothing changes need not be written: the value goes on.
                *self = Stretch { index: from / self.length, area: 0, most: 0, ..*self };
                continue;
            }
            let until = to.min(end);
            self.area += u128::from(value) * u128::from(until - from);
            self.most = self.most.max(value);
            from = until;
        }
    }

    fn write(&mut self, each: &mut impl FnMut(Ticks, Value), thinned: Thinned) {
        let value = match thinned {
            Thinned::Mean => Value::Thousandths((self.area * 1000 / u128::from(self.length)) as u64),
            Thinned::Most => Value::Whole(self.most),
        };
        if self.written != Some(value) {
            each(Ticks(self.index * self.length), value);
            self.written = Some(value);
        }
    }
}

/// All counters of a timeline, one made after the other: each takes memory while it is written.
pub(super) fn counters(timeline: &Timeline) -> impl Iterator<Item = Counter> + '_ {
    let kinds = CoreKind::ALL.into_iter().filter(|kind| timeline.cores.contains(kind));
    let busy = kinds.map(|kind| busy(timeline, kind));
    let tasks = (timeline.level > SwimlaneLevel::Blocks).then(|| ready(timeline));
    let rings = (0..RINGS as u8).map(RingIndex).filter_map(|ring| in_flight(timeline, ring));
    busy.chain(tasks).chain(rings)
}

fn busy(timeline: &Timeline, kind: CoreKind) -> Counter {
    let blocks = timeline.blocks.iter().filter(|block| timeline.kind_of(block) == kind);
    let spans = blocks.map(|block| (block.start, block.end));
    Counter::new(format!("busy {}", kind.nouns().1), Thinned::Mean, spans)
}

/// Tasks that could run and of which no block was dispatched yet.
fn ready(timeline: &Timeline) -> Counter {
    let spans = timeline.indices().filter_map(|task| {
        let dispatch = timeline.blocks_of(task).iter().map(|block| block.dispatch).min()?;
        Some((timeline.task(task).ready?, dispatch))
    });
    Counter::new("ready tasks".to_string(), Thinned::Mean, spans)
}

/// Tasks that hold a slot of a ring: from the end of the wait for it until it is given back. A ring that no task used has
/// no counter.
fn in_flight(timeline: &Timeline, ring: RingIndex) -> Option<Counter> {
    let mut tasks = timeline.tasks.iter().filter(|task| task.task_id.ring() == ring).peekable();
    tasks.peek()?;
    let spans = tasks.filter_map(|task| {
        let submit = task.submit?;
        let slot = Ticks(submit.start.0.saturating_add(submit.stall.0));
        Some((slot, task.reclaim.unwrap_or(timeline.makespan)))
    });
    let counter = Counter::new(format!("tasks in flight, ring {ring}"), Thinned::Most, spans);
    (!counter.rises.is_empty()).then_some(counter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values_of(counter: &Counter) -> Vec<(u64, Value)> {
        let mut values = Vec::new();
        counter.values(|at, value| values.push((at.0, value)));
        values
    }

    fn counter(thinned: Thinned, spans: &[(u64, u64)]) -> Counter {
        Counter::new("c".into(), thinned, spans.iter().map(|&(from, to)| (Ticks(from), Ticks(to))))
    }

    #[test]
    fn a_counter_starts_and_ends_at_0_and_changes_of_one_instant_are_one() {
        use Value::Whole;
        let spans = [(5, 10), (10, 20), (10, 12), (3, 3)];
        let expected = [(0, Whole(0)), (5, Whole(1)), (10, Whole(2)), (12, Whole(1)), (20, Whole(0))];
        assert_eq!(values_of(&counter(Thinned::Mean, &spans)), expected);
        assert_eq!(values_of(&counter(Thinned::Mean, &[])), [(0, Whole(0))]);
    }

    #[test]
    fn a_counter_with_too_many_changes_has_the_mean_or_the_most_of_each_stretch() {
        let spans: Vec<_> = (0..EXACT_MAX as u64).map(|i| (4 * i, 4 * i + 3)).collect();
        let mean = values_of(&counter(Thinned::Mean, &spans));
        let most = values_of(&counter(Thinned::Most, &spans));
        assert!(mean.len() <= STRETCHES as usize + 2 && most.len() <= STRETCHES as usize + 2);
        assert!(
            mean[..mean.len() - 2].iter().all(|(_, value)| *value == Value::Thousandths(750)),
            "{:?}",
            &mean[..3]
        );
        assert_eq!(most, [(0, Value::Whole(1)), (4 * EXACT_MAX as u64 - 1, Value::Whole(0))]);
        assert_eq!(mean.last(), most.last());
    }
}
