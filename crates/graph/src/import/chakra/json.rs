//! The trace as JSON. Three forms are in use:
//!
//! ```text
//! {metadata}{node}{node}…                 what the jsonizer of Chakra makes of protobuf: dataDeps, "durationMicros": "12"
//! {"workload_graph": [node, …]}, nodes    what its feeder reads: Id, Name, NodeType, data_deps, runtime
//! [node, node, …]                         a list of nodes
//! ```

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{Node, add_node, type_name};
use crate::import::builder::GraphBuilder;
use crate::import::input::Input;
use crate::import::json::{
    Fields, Items, Json, List, Number, Object, Reader, Skip, Text, TextOrNumber, Whole, explain,
};
use crate::import::{ImportError, ImportedGraph};

/// Reads a trace.
pub(super) fn read(input: &mut Input<'_>, graph: GraphBuilder<'_>) -> Result<ImportedGraph, ImportError> {
    let mut trace = Trace {
        reader: Reader::new(graph),
        node: Node::default(),
        id: String::new(),
        is_node: false,
        has_nodes: false,
        is_in_list: false,
        is_first: true,
    };
    let mut json = Json::new(input);
    while !json.is_at_end() {
        if let Err(error) = json.read(&mut trace) {
            return Err(explain(error, input, &mut trace.reader));
        }
    }
    // An input that cannot be read is also at its end.
    if let Some(failure) = input.take_failure() {
        return Err(failure);
    }
    trace.reader.graph.finish()
}

struct Trace<'o> {
    reader: Reader<'o>,
    node: Node,
    /// Room for the text of an id.
    id: String,
    /// Whether the object that is being read has a field that nodes have.
    is_node: bool,
    /// Whether it has a list of nodes, and is none itself.
    has_nodes: bool,
    /// Whether it is in such a list.
    is_in_list: bool,
    is_first: bool,
}

/// One of the values that the file consists of.
impl<'de> DeserializeSeed<'de> for &mut Trace<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Trace<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a node, or a list of nodes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        self.read_list(|trace| List(trace).visit_seq(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.begin();
        Object(&mut *self).visit_map(map)?;
        let is_first = std::mem::take(&mut self.is_first);
        // Metadata has none of the fields; a node may have lost all of its own, which are 0, but not as the first object.
        if self.has_nodes || (is_first && !self.is_node) { Ok(()) } else { self.end() }
    }
}

impl Trace<'_> {
    fn read_list<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        self.is_in_list = true;
        let done = read(self);
        self.is_in_list = false;
        done
    }

    fn begin(&mut self) {
        let Node { name, kind, preds, id, micros, line } = &mut self.node;
        name.clear();
        kind.clear();
        preds.clear();
        (*id, *micros, *line) = (0, Some(0.0), self.reader.line());
        (self.is_node, self.has_nodes) = (false, false);
    }

    fn end<E: Error>(&mut self) -> Result<(), E> {
        if self.node.kind.is_empty() {
            self.node.kind = type_name(0);
        } else if let Ok(number) = self.node.kind.parse() {
            self.node.kind = type_name(number);
        }
        let added = add_node(&mut self.reader.graph, &self.node, &mut self.id);
        self.reader.keep(added)
    }
}

impl Items for Trace<'_> {
    const WHAT: &'static str = "nodes";

    fn item<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        self.begin();
        if list.next_element_seed(Object(&mut *self))?.is_none() {
            return Ok(false);
        }
        self.end().map(|()| true)
    }
}

impl Fields for Trace<'_> {
    const WHAT: &'static str = "a node";
    const KEYS: &'static [&'static str] = &[
        "nodes",
        "workload_graph",
        "id",
        "Id",
        "name",
        "Name",
        "type",
        "NodeType",
        "ctrl_deps",
        "ctrlDeps",
        "data_deps",
        "dataDeps",
        "duration_micros",
        "durationMicros",
        "runtime",
    ];

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &'static str, map: &mut A) -> Result<(), A::Error> {
        if matches!(key, "nodes" | "workload_graph") {
            if self.is_in_list {
                return map.next_value::<Skip>().map(drop);
            }
            self.read_list(|trace| map.next_value_seed(List(trace)))?;
            self.has_nodes = true;
            return Ok(());
        }
        if !self.is_node {
            (self.is_node, self.node.line) = (true, self.reader.line());
        }
        match key {
            "id" | "Id" => map.next_value_seed(Whole(&mut self.node.id)),
            "name" | "Name" => map.next_value_seed(Text(&mut self.node.name)),
            "type" | "NodeType" => map.next_value_seed(TextOrNumber(&mut self.node.kind)),
            "duration_micros" | "durationMicros" | "runtime" => {
                map.next_value_seed(Number(&mut self.node.micros))
            }
            _ => map.next_value_seed(List(&mut Deps(&mut self.node.preds))),
        }
    }
}

/// Ids of nodes.
struct Deps<'d>(&'d mut Vec<u64>);

impl Items for Deps<'_> {
    const WHAT: &'static str = "ids of nodes";

    fn item<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        let mut id = 0;
        let found = list.next_element_seed(Whole(&mut id))?.is_some();
        if found {
            self.0.push(id);
        }
        Ok(found)
    }
}
