//! The graph as lines: one for each edge and reason, and one task with its neighbours.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use ringlane_insight::deps::{Neighbourhood, Reason, TaskGraph, Tie, by_kernel, neighbourhood};
use ringlane_insight::text::printable;
use ringlane_insight::timeline::TaskIndex;
use ringlane_insight::units::counted;
use ringlane_trace::deps::{DepsArg, Inference};

/// Writes a line for each reason of each of these edges:
/// `pred(seq,kernel) -> succ(seq,kernel) source hazard arg tensor overlap`, with `-` for what an explicit edge does not have.
/// Lines are sorted by the task that waits, then by the task it waits for: two runs of one program have equal lines.
pub fn write_text(
    graph: &TaskGraph,
    edges: &[(TaskIndex, TaskIndex)],
    out: &mut impl Write,
) -> io::Result<()> {
    let wanted: Option<HashSet<_>> =
        (edges.len() < graph.edges.len()).then(|| edges.iter().copied().collect());
    // Names are few: each is made fit for a line once.
    let labels: Vec<String> = graph.indices().map(|task| printable(&graph.title(task))).collect();
    let mut line = String::new();
    for reason in &graph.reasons {
        if wanted.as_ref().is_some_and(|wanted| !wanted.contains(&(reason.before, reason.after))) {
            continue;
        }
        line.clear();
        let end = |task: TaskIndex| (graph.task(task).task_id, graph.task(task).seq, &labels[task.at()]);
        let ((pred, pred_seq, pred_label), (succ, succ_seq, succ_label)) =
            (end(reason.before), end(reason.after));
        let _ = write!(line, "{pred}({pred_seq},{pred_label}) -> {succ}({succ_seq},{succ_label}) ");
        let _ = writeln!(line, "{}", cause_text(reason));
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// Writes a line for each pair of names with an edge among these: `pred(tasks) -> succ(tasks) edges`.
pub fn write_kernels(
    graph: &TaskGraph,
    edges: &[(TaskIndex, TaskIndex)],
    out: &mut impl Write,
) -> io::Result<()> {
    let collapsed = by_kernel(graph, edges.iter().copied());
    let name = |node: usize| {
        let node = &collapsed.nodes[node];
        format!("{}({})", printable(&node.label), counted(node.tasks, "task"))
    };
    collapsed.links.iter().try_for_each(|link| {
        writeln!(out, "{} -> {} {}", name(link.from), name(link.to), counted(link.edges, "edge"))
    })
}

/// `tensormap raw arg0 t5 covered`.
fn cause_text(reason: &Reason) -> String {
    let source = reason.edge.source.as_str();
    match reason.edge.cause {
        None => format!("{source} - - - -"),
        Some(cause) => {
            let (hazard, overlap) = (cause.hazard.as_str(), cause.overlap.as_str());
            format!("{source} {hazard} arg{} t{} {overlap}", cause.arg, cause.tensor.0)
        }
    }
}

/// One task and its neighbours, with the regions that tie them.
pub fn task_text(graph: &TaskGraph, task: TaskIndex) -> String {
    let Neighbourhood { producers, consumers, .. } = neighbourhood(graph, task);
    let row = graph.task(task);
    let mut text = format!("{}\n", name_of(graph, task));
    let manual = if row.inference == Inference::Manual { ", in a manual scope" } else { "" };
    let blocks = if row.block_num == 1 { "block" } else { "blocks" };
    let _ = writeln!(
        text,
        "  {} {blocks}, scope {}{manual}, submitted at {}",
        row.block_num,
        row.scope,
        printable(&row.site)
    );
    for arg in row.args.iter() {
        let _ = writeln!(text, "  {}", arg_text(arg));
    }
    section(&mut text, graph, "waits for", &producers, |tie| tie.reason.before);
    section(&mut text, graph, "is waited for by", &consumers, |tie| tie.reason.after);
    text
}

fn section(
    text: &mut String,
    graph: &TaskGraph,
    title: &str,
    ties: &[Tie],
    other: impl Fn(&Tie) -> TaskIndex,
) {
    let _ = match ties {
        [] => writeln!(text, "{title} nothing"),
        _ => writeln!(text, "{title}"),
    };
    for tie in ties {
        let _ = writeln!(text, "  {}  {}", name_of(graph, other(tie)), cause_text(&tie.reason));
        for arg in &tie.before {
            let _ = writeln!(text, "    before  {}", arg_text(arg));
        }
        if let Some(arg) = &tie.after {
            let _ = writeln!(text, "    after   {}", arg_text(arg));
        }
    }
}

/// `1:3 seq 3 QK`.
fn name_of(graph: &TaskGraph, task: TaskIndex) -> String {
    let row = graph.task(task);
    format!("{} seq {} {}", row.task_id, row.seq, printable(&graph.title(task)))
}

/// `arg0 input t5 float32 [16, 64] strides [64, 1] offset 0`.
fn arg_text(arg: &DepsArg) -> String {
    format!("arg{} {} t{} {}", arg.index, arg.access, arg.tensor.0, view_text(arg))
}

/// The part of its tensor that an argument is: `float32 [16, 64] strides [64, 1] offset 0`.
pub fn view_text(arg: &DepsArg) -> String {
    let list = |numbers: &mut dyn Iterator<Item = u64>| {
        numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
    };
    let (shape, strides) = (list(&mut arg.view.shape()), list(&mut arg.view.strides()));
    format!("{} [{shape}] strides [{strides}] offset {}", arg.view.dtype.as_str(), arg.view.offset)
}
