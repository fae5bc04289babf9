//! WfFormat: the workflow instances of WfCommons, versions 1.5 and 1.6.
//!
//! ```text
//! workflow.specification.tasks[]   id, name, parents, children     a task and its edges
//! workflow.execution.tasks[]       id, runtimeInSeconds            its duration
//! ```
//!
//! An edge may be listed at its parent, at its child or at both. Either part may come first.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::builder::{GraphBuilder, TaskText};
use super::input::Input;
use super::json::{Fields, Items, Json, List, Number, Object, Reader, Text, TextOrNumber, explain};
use super::scale::Unit;
use super::{ImportError, ImportedGraph};

const VERSIONS: [&str; 2] = ["1.5", "1.6"];

/// Reads an instance.
pub(super) fn read(input: &mut Input<'_>, graph: GraphBuilder<'_>) -> Result<ImportedGraph, ImportError> {
    let mut document = Document { reader: Reader::new(graph), has_tasks: false };
    let mut json = Json::new(input);
    let read = json.read(Object(&mut document)).and_then(|()| json.end());
    if let Err(error) = read {
        return Err(explain(error, input, &mut document.reader));
    }
    if !document.has_tasks {
        let what = "there is no workflow.specification.tasks".to_string();
        return Err(ImportError::MissingField { place: document.reader.place(), what });
    }
    document.reader.graph.finish()
}

struct Document<'o> {
    reader: Reader<'o>,
    has_tasks: bool,
}

impl Fields for Document<'_> {
    const WHAT: &'static str = "a workflow instance";
    const KEYS: &'static [&'static str] = &["schemaVersion", "workflow"];

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &'static str, map: &mut A) -> Result<(), A::Error> {
        if key == "workflow" {
            return map.next_value_seed(Object(&mut Workflow(self)));
        }
        let mut version = String::new();
        map.next_value_seed(TextOrNumber(&mut version))?;
        if VERSIONS.contains(&version.as_str()) {
            return Ok(());
        }
        let place = self.reader.place();
        self.reader.keep(Err(ImportError::UnknownFormatVersion { place, version, known: "1.5, 1.6" }))
    }
}

struct Workflow<'d, 'o>(&'d mut Document<'o>);

impl Fields for Workflow<'_, '_> {
    const WHAT: &'static str = "a workflow";
    const KEYS: &'static [&'static str] = &["specification", "execution"];

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &'static str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "specification" => map.next_value_seed(Object(&mut Specification(self.0))),
            _ => map.next_value_seed(Object(&mut Execution(&mut self.0.reader))),
        }
    }
}

struct Specification<'d, 'o>(&'d mut Document<'o>);

impl Fields for Specification<'_, '_> {
    const WHAT: &'static str = "a specification";
    const KEYS: &'static [&'static str] = &["tasks"];

    fn field<'de, A: MapAccess<'de>>(&mut self, _: &'static str, map: &mut A) -> Result<(), A::Error> {
        self.0.has_tasks = true;
        let reader = &mut self.0.reader;
        map.next_value_seed(List(&mut Tasks { reader, task: SpecifiedTask::default() }))
    }
}

/// The tasks of the specification; the memory of one is used for the next.
struct Tasks<'d, 'o> {
    reader: &'d mut Reader<'o>,
    task: SpecifiedTask,
}

#[derive(Default)]
struct SpecifiedTask {
    id: String,
    name: String,
    category: String,
    line: u64,
    parents: Vec<u32>,
    children: Vec<u32>,
}

impl Items for Tasks<'_, '_> {
    const WHAT: &'static str = "tasks";

    fn item<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        let task = &mut self.task;
        [&mut task.id, &mut task.name, &mut task.category].into_iter().for_each(String::clear);
        task.parents.clear();
        task.children.clear();
        task.line = 0;
        if list.next_element_seed(Object(&mut OneTask { reader: self.reader, task }))?.is_none() {
            return Ok(false);
        }
        let added = add_task(&mut self.reader.graph, &self.task);
        self.reader.keep(added).map(|()| true)
    }
}

fn add_task(graph: &mut GraphBuilder<'_>, task: &SpecifiedTask) -> Result<(), ImportError> {
    if task.line == 0 {
        let what = "a task has no id".to_string();
        return Err(ImportError::MissingField { place: graph.cursor.place(), what });
    }
    let number = graph.mention(&task.id)?;
    // The schema has no kind: instances name all tasks of one program alike. Older files have a category.
    let text = TaskText { label: None, name: Some(&task.name), kind: Some(&task.category) };
    graph.define(number, task.line, text)?;
    task.parents.iter().try_for_each(|&parent| graph.add_edge(parent, number))?;
    task.children.iter().try_for_each(|&child| graph.add_edge(number, child))
}

struct OneTask<'d, 'o> {
    reader: &'d mut Reader<'o>,
    task: &'d mut SpecifiedTask,
}

impl Fields for OneTask<'_, '_> {
    const WHAT: &'static str = "a task";
    const KEYS: &'static [&'static str] = &["id", "name", "category", "parents", "children"];

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &'static str, map: &mut A) -> Result<(), A::Error> {
        let (reader, task) = (&mut *self.reader, &mut *self.task);
        match key {
            "id" => {
                map.next_value_seed(TextOrNumber(&mut task.id))?;
                task.line = reader.line();
                Ok(())
            }
            "name" => map.next_value_seed(Text(&mut task.name)),
            "category" => map.next_value_seed(Text(&mut task.category)),
            "parents" => map.next_value_seed(List(&mut Ids { reader, to: &mut task.parents })),
            _ => map.next_value_seed(List(&mut Ids { reader, to: &mut task.children })),
        }
    }
}

/// Ids of tasks, as their numbers.
struct Ids<'d, 'o> {
    reader: &'d mut Reader<'o>,
    to: &'d mut Vec<u32>,
}

impl Items for Ids<'_, '_> {
    const WHAT: &'static str = "ids of tasks";

    fn item<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        let id = Id { reader: self.reader, to: self.to };
        Ok(list.next_element_seed(id)?.is_some())
    }
}

struct Id<'d, 'o> {
    reader: &'d mut Reader<'o>,
    to: &'d mut Vec<u32>,
}

impl<'de> DeserializeSeed<'de> for Id<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Id<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the id of a task")
    }

    fn visit_str<E: Error>(self, id: &str) -> Result<(), E> {
        let number = self.reader.graph.mention(id);
        self.to.push(self.reader.keep(number)?);
        Ok(())
    }
}

struct Execution<'d, 'o>(&'d mut Reader<'o>);

impl Fields for Execution<'_, '_> {
    const WHAT: &'static str = "an execution";
    const KEYS: &'static [&'static str] = &["tasks"];

    fn field<'de, A: MapAccess<'de>>(&mut self, _: &'static str, map: &mut A) -> Result<(), A::Error> {
        map.next_value_seed(List(&mut Runtimes { reader: self.0, id: String::new() }))
    }
}

/// The tasks of the execution.
struct Runtimes<'d, 'o> {
    reader: &'d mut Reader<'o>,
    id: String,
}

impl Items for Runtimes<'_, '_> {
    const WHAT: &'static str = "executed tasks";

    fn item<'de, A: SeqAccess<'de>>(&mut self, list: &mut A) -> Result<bool, A::Error> {
        let mut runtime = Runtime { id: &mut self.id, has_id: false, seconds: None };
        if list.next_element_seed(Object(&mut runtime))?.is_none() {
            return Ok(false);
        }
        let Runtime { has_id, seconds, .. } = runtime;
        let set = set_runtime(&mut self.reader.graph, has_id.then_some(&self.id), seconds);
        self.reader.keep(set).map(|()| true)
    }
}

fn set_runtime(
    graph: &mut GraphBuilder<'_>,
    id: Option<&String>,
    seconds: Option<f64>,
) -> Result<(), ImportError> {
    let place = graph.cursor.place();
    let Some(id) = id else {
        return Err(ImportError::MissingField { place, what: "an executed task has no id".to_string() });
    };
    let Some(seconds) = seconds else {
        return Err(ImportError::MissingDuration { place, task: id.clone(), format: graph.format });
    };
    let task = graph.mention(id)?;
    if graph.has_duration(task) {
        return Err(ImportError::RepeatedTask { place, id: id.clone(), first_line: 0 });
    }
    graph.set_duration(task, graph.cursor.line(), seconds * Unit::Seconds.nanoseconds(), || {
        format!("{seconds} s")
    })
}

struct Runtime<'d> {
    id: &'d mut String,
    has_id: bool,
    seconds: Option<f64>,
}

impl Fields for Runtime<'_> {
    const WHAT: &'static str = "an executed task";
    const KEYS: &'static [&'static str] = &["id", "runtimeInSeconds"];

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &'static str, map: &mut A) -> Result<(), A::Error> {
        if key == "runtimeInSeconds" {
            return map.next_value_seed(Number(&mut self.seconds));
        }
        self.has_id = true;
        map.next_value_seed(TextOrNumber(self.id))
    }
}
