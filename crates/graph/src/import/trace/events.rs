//! Events, one after the other, as slices and the ends of arrows.

use std::collections::HashMap;

use serde::de::MapAccess;

use super::arrows::{ArrowEnd, Bind, Role};
use super::lanes::{Lanes, Slice};
use crate::import::ImportError;
use crate::import::builder::{GraphBuilder, TaskText};
use crate::import::json::{Fields, Number, Text, TextOrNumber};
use crate::import::limits::{EDGES_MAX, NAME_BYTES_MAX};
use crate::import::names::Interner;
use crate::import::place::Cursor;

/// Times of events are in µs; more than this, or less than minus this, is no time. 285 years.
const MICROS_MAX: f64 = 9e15;

/// One event, as the file has it.
#[derive(Debug)]
pub(super) struct Event {
    cursor: Cursor,
    /// The line of its first field; 0 before that.
    line: u64,
    phase: String,
    name: String,
    category: String,
    pid: String,
    tid: String,
    id: String,
    bind: String,
    time: Option<f64>,
    duration: Option<f64>,
}

impl Event {
    pub(super) fn new(cursor: &Cursor) -> Self {
        let text = String::new;
        Event {
            cursor: cursor.clone(),
            line: 0,
            phase: text(),
            name: text(),
            category: text(),
            pid: text(),
            tid: text(),
            id: text(),
            bind: text(),
            time: None,
            duration: None,
        }
    }

    pub(super) fn clear(&mut self) {
        let Event { phase, name, category, pid, tid, id, bind, .. } = self;
        [phase, name, category, pid, tid, id, bind].into_iter().for_each(String::clear);
        (self.line, self.time, self.duration) = (0, None, None);
    }
}

impl Fields for Event {
    const WHAT: &'static str = "an event";
    const KEYS: &'static [&'static str] = &["ph", "name", "cat", "pid", "tid", "id", "bp", "ts", "dur"];

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &'static str, map: &mut A) -> Result<(), A::Error> {
        if self.line == 0 {
            self.line = self.cursor.line();
        }
        match key {
            "ph" => map.next_value_seed(Text(&mut self.phase)),
            "name" => map.next_value_seed(TextOrNumber(&mut self.name)),
            "cat" => map.next_value_seed(Text(&mut self.category)),
            "pid" => map.next_value_seed(TextOrNumber(&mut self.pid)),
            "tid" => map.next_value_seed(TextOrNumber(&mut self.tid)),
            "id" => map.next_value_seed(TextOrNumber(&mut self.id)),
            "bp" => map.next_value_seed(Text(&mut self.bind)),
            "ts" => map.next_value_seed(Number(&mut self.time)),
            _ => map.next_value_seed(Number(&mut self.duration)),
        }
    }
}

/// All events so far.
#[derive(Default)]
pub(super) struct Events {
    /// By the number of the task.
    slices: Vec<Slice>,
    ends: Vec<ArrowEnd>,
    lanes: Interner,
    arrows: Interner,
    /// Slices of each lane that have begun and not ended, the last one last.
    open: HashMap<u32, Vec<u32>>,
    /// Room for a name that is made of several.
    text: String,
}

impl Events {
    pub(super) fn add(&mut self, graph: &mut GraphBuilder<'_>, event: &Event) -> Result<(), ImportError> {
        match event.phase.as_str() {
            "X" => {
                let start = time_of(graph, event)?;
                let task = self.begin(graph, event, start)?;
                let Some(micros) = event.duration else {
                    let (place, format) = (graph.cursor.place_in(event.line), graph.format);
                    let task = graph.name_of(task);
                    return Err(ImportError::MissingDuration { place, task, format });
                };
                let duration = nanoseconds(micros);
                if duration.is_none_or(|duration| duration < 0) {
                    // It is refused by name: negative, or too long to be a time.
                    graph.set_duration(task, event.line, micros * 1e3, || format!("{micros} us"))?;
                }
                self.slices[task as usize].end = start.saturating_add(duration.unwrap_or(0));
                Ok(())
            }
            "B" => {
                let start = time_of(graph, event)?;
                let task = self.begin(graph, event, start)?;
                let lane = self.slices[task as usize].lane;
                self.open.entry(lane).or_default().push(task);
                Ok(())
            }
            "E" => self.end(graph, event),
            "s" => self.arrow(graph, event, Role::Start, Bind::Around),
            "t" => self.arrow(graph, event, Role::Step, Bind::Around),
            "f" if event.bind == "e" => self.arrow(graph, event, Role::End, Bind::Around),
            "f" => self.arrow(graph, event, Role::End, Bind::Next),
            "" => {
                let place = graph.cursor.place_in(event.line);
                Err(ImportError::MissingField { place, what: "an event has no `ph`".to_string() })
            }
            _ => {
                graph.skipped.events += 1;
                Ok(())
            }
        }
    }

    /// A new slice, which ends where it starts until its end is known.
    fn begin(&mut self, graph: &mut GraphBuilder<'_>, event: &Event, start: i64) -> Result<u32, ImportError> {
        let lane = self.lane_of(graph, event)?;
        let text = TaskText { label: Some(&event.name), name: None, kind: Some(&event.category) };
        let task = graph.define_nameless(event.line, text)?;
        debug_assert_eq!(task as usize, self.slices.len());
        self.slices.push(Slice { start, end: start, lane });
        Ok(task)
    }

    fn end(&mut self, graph: &mut GraphBuilder<'_>, event: &Event) -> Result<(), ImportError> {
        let (time, lane) = (time_of(graph, event)?, self.lane_of(graph, event)?);
        let place = graph.cursor.place_in(event.line);
        let Some(task) = self.open.get_mut(&lane).and_then(Vec::pop) else {
            let what = format!("an end on pid {} tid {} without a begin", event.pid, event.tid);
            return Err(ImportError::UnmatchedEvent { place, what });
        };
        let slice = &mut self.slices[task as usize];
        if time < slice.start {
            let value = format!("it ends {} ns before it begins", slice.start.abs_diff(time));
            return Err(ImportError::BadDuration { place, task: graph.name_of(task), value });
        }
        slice.end = time;
        Ok(())
    }

    fn arrow(
        &mut self,
        graph: &mut GraphBuilder<'_>,
        event: &Event,
        role: Role,
        bind: Bind,
    ) -> Result<(), ImportError> {
        let (time, lane) = (time_of(graph, event)?, self.lane_of(graph, event)?);
        if self.ends.len() == EDGES_MAX {
            return Err(ImportError::TooManyEdges { place: graph.cursor.place_in(event.line) });
        }
        let arrow =
            number(&mut self.arrows, &mut self.text, graph, [&event.category, &event.name, &event.id])?;
        self.ends.push(ArrowEnd { arrow, time, lane, slices_before: self.slices.len() as u32, role, bind });
        Ok(())
    }

    fn lane_of(&mut self, graph: &GraphBuilder<'_>, event: &Event) -> Result<u32, ImportError> {
        number(&mut self.lanes, &mut self.text, graph, [&event.pid, &event.tid, ""])
    }

    /// Gives every slice its duration, and adds the edges.
    pub(super) fn finish(self, graph: &mut GraphBuilder<'_>) -> Result<(), ImportError> {
        let Events { slices, ends, lanes, arrows, open, text: _ } = self;
        drop((lanes, arrows));
        if let Some(&task) = open.values().flatten().min() {
            let (place, name) = (graph.place_of(task), graph.name_of(task));
            return Err(ImportError::UnmatchedEvent {
                place,
                what: format!("the begin of {name:?} without an end"),
            });
        }
        let lanes = Lanes::new(&slices);
        for (task, own) in (0..).zip(lanes.own_times(&slices)) {
            let line = graph.place_of(task).line;
            graph.set_duration(task, line, own as f64, || format!("{own} ns"))?;
        }
        if graph.options().lane_order {
            lanes.consecutive().try_for_each(|(pred, succ)| graph.add_edge(pred, succ))?;
        }
        super::arrows::add_edges(graph, ends, &slices, &lanes)
    }
}

/// The number of a name that is made of several.
fn number(
    names: &mut Interner,
    text: &mut String,
    graph: &GraphBuilder<'_>,
    parts: [&str; 3],
) -> Result<u32, ImportError> {
    text.clear();
    for part in parts {
        if part.len() > NAME_BYTES_MAX {
            return Err(ImportError::NameTooLong { place: graph.cursor.place(), bytes: part.len() });
        }
        text.push_str(part);
        text.push('\0');
    }
    names.intern(text).map_err(|_| ImportError::NamesTooLarge { place: graph.cursor.place() })
}

fn time_of(graph: &GraphBuilder<'_>, event: &Event) -> Result<i64, ImportError> {
    let place = || graph.cursor.place_in(event.line);
    let Some(micros) = event.time else {
        let what = format!("an event {:?} of ph {:?} has no `ts`", event.name, event.phase);
        return Err(ImportError::MissingField { place: place(), what });
    };
    nanoseconds(micros).ok_or_else(|| {
        let what = format!("ts {micros} is not a time");
        ImportError::UnexpectedValue { place: place(), format: graph.format, what }
    })
}

/// A time or a duration in whole ns; `None` if it is not within 285 years.
fn nanoseconds(micros: f64) -> Option<i64> {
    (micros.abs() <= MICROS_MAX).then(|| (micros * 1e3).round() as i64)
}
