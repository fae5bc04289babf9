//! A graph, and its text in every format.

use std::fmt::Write;

use prost::Message;
use ringlane_graph::import::{Format, ImportedGraph};
use serde_json::{Value, json};

/// A task of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Unlike all others.
    pub name: String,
    pub kind: &'static str,
    pub micros: u64,
}

/// A graph: each edge leads from an earlier task to a later one.
#[derive(Clone, Debug, Default)]
pub struct Dag {
    pub tasks: Vec<Task>,
    pub edges: Vec<(usize, usize)>,
}

/// What a generator made. Only tables have `edges`.
pub struct File {
    pub format: Format,
    pub what: &'static str,
    pub bytes: Vec<u8>,
    pub edges: Vec<u8>,
}

/// Kinds that are also the names of types of Chakra nodes.
pub const KINDS: [&str; 4] = ["COMP_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"];

/// The number of the first of them in the schema of Chakra.
const FIRST_KIND: i32 = 4;

impl Dag {
    /// A graph of this many tasks: each waits for up to three before it.
    pub fn layered(tasks: usize) -> Self {
        let task = |at: usize| Task {
            name: format!("task_{at:07}"),
            kind: KINDS[at % KINDS.len()],
            micros: (at % 97) as u64,
        };
        let edges = (1..tasks).flat_map(|at| {
            let mut preds = vec![at - 1, at / 2, at / 3];
            preds.sort_unstable();
            preds.dedup();
            preds.into_iter().map(move |pred| (pred, at))
        });
        Dag { tasks: (0..tasks).map(task).collect(), edges: edges.collect() }
    }

    /// In every format and form.
    pub fn files(&self) -> Vec<File> {
        let file = |format, what, bytes: Vec<u8>| File { format, what, bytes, edges: Vec::new() };
        vec![
            file(Format::WfFormat, "wfformat", self.wfformat().into_bytes()),
            file(Format::Chakra, "chakra protobuf", self.chakra_protobuf()),
            file(Format::Chakra, "chakra jsonizer", self.chakra_jsonizer().into_bytes()),
            file(Format::Chakra, "chakra feeder", self.chakra_feeder().into_bytes()),
            file(Format::Dot, "dot", self.dot().into_bytes()),
            file(Format::Trace, "trace list", self.trace_list().into_bytes()),
            file(Format::Trace, "trace object", self.trace_object().into_bytes()),
            File {
                format: Format::Csv,
                what: "csv",
                bytes: self.tasks_csv().into_bytes(),
                edges: self.edges_csv().into_bytes(),
            },
        ]
    }

    fn preds(&self) -> Vec<Vec<usize>> {
        let mut preds = vec![Vec::new(); self.tasks.len()];
        self.edges.iter().for_each(|&(pred, succ)| preds[succ].push(pred));
        preds
    }

    /// As WfCommons has it: edges at both of their ends, the execution after the specification.
    pub fn wfformat(&self) -> String {
        let preds = self.preds();
        let mut succs = vec![Vec::new(); self.tasks.len()];
        self.edges.iter().for_each(|&(pred, succ)| succs[pred].push(succ));
        let names = |list: &[usize]| list.iter().map(|&at| json!(self.tasks[at].name)).collect::<Vec<_>>();
        let tasks = self.tasks.iter().enumerate().map(|(at, task)| {
            json!({"name": task.kind, "id": task.name, "parents": names(&preds[at]), "children": names(&succs[at]),
                "inputFiles": ["a.txt"], "outputFiles": []})
        });
        let executed = self.tasks.iter().map(|task| {
            json!({"id": task.name, "runtimeInSeconds": task.micros as f64 / 1e6, "coreCount": 2,
                "command": {"program": "run", "arguments": ["-x"]}, "machines": ["m1"]})
        });
        let tasks: Vec<Value> = tasks.collect();
        let executed: Vec<Value> = executed.collect();
        let document = json!({"name": "generated", "schemaVersion": "1.5", "createdAt": "2026-11-18T00:00:00Z",
            "workflow": {"specification": {"tasks": tasks, "files": [{"id": "a.txt", "sizeInBytes": 7}]},
                "execution": {"makespanInSeconds": 1.5, "executedAt": "2026-11-18T00:00:00Z", "tasks": executed,
                    "machines": [{"nodeName": "m1", "cpu": {"coreCount": 4}}]}}});
        serde_json::to_string_pretty(&document).unwrap()
    }

    pub fn chakra_protobuf(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let attribute = Attribute { name: "schema".to_string(), value: 7 };
        let metadata = Metadata { version: "0.0.4".to_string(), attr: vec![attribute.clone()] };
        metadata.encode_length_delimited(&mut bytes).unwrap();
        for ((id, task), preds) in (0..).zip(&self.tasks).zip(self.preds()) {
            // The first predecessor is one of control, the others are of data.
            let ids: Vec<u64> = preds.iter().map(|&pred| pred as u64).collect();
            let (ctrl, data) = ids.split_at(ids.len().min(1));
            let node = ChakraNode {
                id,
                name: task.name.clone(),
                kind: FIRST_KIND + KINDS.iter().position(|kind| *kind == task.kind).unwrap() as i32,
                ctrl_deps: ctrl.to_vec(),
                data_deps: data.to_vec(),
                start_time_micros: 3 * id,
                duration_micros: task.micros,
                attr: vec![attribute.clone()],
            };
            node.encode_length_delimited(&mut bytes).unwrap();
        }
        bytes
    }

    /// Objects one after the other, without what is 0, and with long numbers as strings.
    pub fn chakra_jsonizer(&self) -> String {
        let mut text = String::from("{\n  \"version\": \"0.0.4\"\n}");
        for ((at, task), preds) in self.tasks.iter().enumerate().zip(self.preds()) {
            let preds: Vec<String> = preds.iter().map(ToString::to_string).collect();
            let mut node = json!({"name": task.name, "type": task.kind, "attr": [{"name": "is_cpu_op", "boolVal": true}]});
            let mut set = |key: &str, value: Value| node[key] = value;
            if at > 0 {
                set("id", json!(at.to_string()));
            }
            if task.micros > 0 {
                set("durationMicros", json!(task.micros.to_string()));
            }
            if !preds.is_empty() {
                set("dataDeps", json!(preds));
            }
            text += &serde_json::to_string_pretty(&node).unwrap();
        }
        text
    }

    pub fn chakra_feeder(&self) -> String {
        let preds = self.preds();
        let nodes = self.tasks.iter().enumerate().map(|(at, task)| {
            let kind = FIRST_KIND + KINDS.iter().position(|kind| *kind == task.kind).unwrap() as i32;
            json!({"Id": at, "Name": task.name, "NodeType": kind, "data_deps": preds[at], "runtime": task.micros})
        });
        json!({"name": "trace", "workload_graph": nodes.collect::<Vec<_>>()}).to_string()
    }

    pub fn dot(&self) -> String {
        let mut text =
            String::from("// generated\nstrict digraph \"g\" {\n  rankdir=LR; node [shape=box];\n");
        for (at, Task { name, kind, micros }) in self.tasks.iter().enumerate() {
            let label = name.replace('\\', "\\\\").replace('"', "\\\"");
            writeln!(text, "  n{at} [label=\"{label}\", kind={kind}, weight={micros}]").unwrap();
        }
        for (pred, succ) in &self.edges {
            writeln!(text, "  n{pred} -> n{succ} [color=red];").unwrap();
        }
        text + "}\n"
    }

    /// When each task starts: after those that it waits for, in steps of 2.5 µs.
    fn starts(&self) -> Vec<f64> {
        let mut starts = vec![0.0f64; self.tasks.len()];
        let (preds, mut is_changed) = (self.preds(), true);
        while is_changed {
            is_changed = false;
            for task in 0..starts.len() {
                let after = preds[task].iter().map(|&pred| starts[pred] + 2.5).fold(0.0, f64::max);
                is_changed |= after > starts[task];
                starts[task] = after;
            }
        }
        starts
    }

    /// Each task on a lane of its own, arrows from start to start.
    fn events(&self) -> Vec<Value> {
        let starts = self.starts();
        let mut events = vec![json!({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "p"}})];
        for (at, Task { name, kind, micros }) in self.tasks.iter().enumerate() {
            let (pid, tid, ts) = (at % 3, format!("t{at}"), starts[at]);
            if at % 2 == 0 {
                events.push(json!({"ph": "X", "name": name, "cat": kind, "pid": pid, "tid": tid, "ts": ts, "dur": micros}));
            } else {
                events.push(json!({"ph": "B", "name": name, "cat": kind, "pid": pid, "tid": tid, "ts": ts}));
                events.push(json!({"ph": "E", "pid": pid, "tid": tid, "ts": ts + *micros as f64}));
            }
        }
        for (id, &(pred, succ)) in self.edges.iter().enumerate() {
            let end = |ph: &str, at: usize| {
                json!({"ph": ph, "id": id, "name": "dep", "cat": "flow", "pid": at % 3, "tid": format!("t{at}"),
                    "ts": starts[at]})
            };
            events.push(end("s", pred));
            let mut last = end("f", succ);
            if id % 2 == 0 {
                last["bp"] = json!("e");
            }
            events.push(last);
        }
        events
    }

    pub fn trace_list(&self) -> String {
        serde_json::to_string_pretty(&self.events()).unwrap()
    }

    pub fn trace_object(&self) -> String {
        json!({"displayTimeUnit": "ns", "traceEvents": self.events(), "otherData": {"x": [1, {"y": "}"}]}})
            .to_string()
    }

    pub fn tasks_csv(&self) -> String {
        let mut text = String::from("id,kind,duration_us,name,note\r\n");
        for (at, Task { name, kind, micros }) in self.tasks.iter().enumerate() {
            writeln!(text, "{at},{kind},{micros},\"{}\",x\r", name.replace('"', "\"\"")).unwrap();
        }
        text
    }

    pub fn edges_csv(&self) -> String {
        let mut text = String::from("succ,pred\n");
        self.edges.iter().for_each(|(pred, succ)| writeln!(text, "{succ},{pred}").unwrap());
        text
    }
}

/// An imported graph as a generator's. Edges come sorted by the task that waits.
pub fn dag_of(graph: &ImportedGraph) -> Dag {
    let kind_of = |name: &str| *KINDS.iter().find(|kind| **kind == name).expect("a kind of the generator");
    let task = |task: ringlane_graph::import::ImportedTask<'_>| {
        let kind = kind_of(&graph.kernels()[task.kernel as usize]);
        assert_eq!(task.ticks % 1000, 0);
        Task { name: task.label.unwrap_or(kind).to_string(), kind, micros: task.ticks / 1000 }
    };
    let edges = graph.edges().iter().map(|&(pred, succ)| (pred as usize, succ as usize));
    Dag { tasks: graph.tasks().map(task).collect(), edges: edges.collect() }
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int64, tag = "9")]
    value: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Metadata {
    #[prost(string, tag = "1")]
    version: String,
    #[prost(message, repeated, tag = "2")]
    attr: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct ChakraNode {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(int32, tag = "3")]
    kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    data_deps: Vec<u64>,
    #[prost(uint64, tag = "6")]
    start_time_micros: u64,
    #[prost(uint64, tag = "7")]
    duration_micros: u64,
    #[prost(message, repeated, tag = "10")]
    attr: Vec<Attribute>,
}
