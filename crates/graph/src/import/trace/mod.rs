//! Chrome trace events: slices are tasks, flow arrows between them are edges.
//!
//! ```text
//! ph X, or B and E        a slice of the lane (pid, tid): a task. One inside another on a lane leaves the outer its own time
//! ph s, t, f              an arrow through the slices around its times, by (cat, name, id)
//! all others              skipped and counted
//! ```
//!
//! Arrows follow the rules of the viewers: `s` and `t` belong to the slice around their time; `f` to the next one that starts,
//! with `bp: "e"` to the one around it.

mod arrows;
mod events;
mod lanes;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::builder::GraphBuilder;
use super::input::Input;
use super::json::{Fields, Items, Json, List, Object, Reader, explain};
use super::{ImportError, ImportedGraph};
use events::{Event, Events};

/// Reads a list of events, or an object that has one.
pub(super) fn read(input: &mut Input<'_>, graph: GraphBuilder<'_>) -> Result<ImportedGraph, ImportError> {
    let event = Event::new(&graph.cursor);
    let mut document =
        Document { reader: Reader::new(graph), event, events: Events::default(), has_events: false };
    let mut json = Json::new(input);
    let read = json.read(&mut document).and_then(|()| json.end());
    if let Err(error) = read {
        return Err(explain(error, input, &mut document.reader));
    }
    let Document { reader: Reader { mut graph, .. }, events, has_events, .. } = document;
    if !has_events {
        let what = "there is no list `traceEvents`".to_string();
        return Err(ImportError::MissingField { place: graph.cursor.place(), what });
    }
    events.finish(&mut graph)?;
    graph.finish()
}

struct Document<'o> {
    reader: Reader<'o>,
    /// The event that is being read; its memory is used for the next.
    event: Event,
    events: Events,
    has_events: bool,
}

impl<'de> DeserializeSeed<'de> for &mut Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of events, or an object with `traceEvents`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.has_events = true;
        List(self).visit_seq(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        Object(self).visit_map(map)
    }
}

impl Fields for Document<'_> {
    const WHAT: &'static str = "an object with `traceEvents`";
    const KEYS: &'static [&'static str] = &["traceEvents"];

    fn field<'de, A: MapAccess<'de>>(&mut self, _: &'static str, map: &mut A) -> Result<(), A::Error> {
        self.has_events = true;
        map.next_value_seed(List(self))
    }
}

impl Items for Document<'_> {
    const WHAT: &'static str = "events";

    fn item<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        self.event.clear();
        if list.next_element_seed(Object(&mut self.event))?.is_none() {
            return Ok(false);
        }
        let added = self.events.add(&mut self.reader.graph, &self.event);
        self.reader.keep(added).map(|()| true)
    }
}
