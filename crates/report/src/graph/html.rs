//! The graph as one page that needs nothing else: pan, zoom, search, and a card for the task that is chosen.
//!
//! The page's script draws on a canvas what is in view. The data are stored in the page as JSON in which `<` does not occur, and
//! the script puts names into the page as text only.

use std::io::{self, Write};

use ringlane_insight::deps::TaskGraph;
use ringlane_trace::deps::Inference;
use serde::Serialize;

use super::picture::{Node, Picture, Shown};
use super::shelves::layout;
use super::text::view_text;

/// Tasks that a page shows one by one; a graph with more is collapsed by kernel.
pub const HTML_NODES_MAX: usize = 10_000;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

#[derive(Serialize)]
struct Data<'a> {
    title: &'a str,
    note: &'a str,
    nodes: Vec<NodeData<'a>>,
    /// From, to, label.
    links: Vec<(usize, usize, &'a str)>,
}

#[derive(Serialize)]
struct NodeData<'a> {
    label: &'a str,
    detail: &'a str,
    kind: &'static str,
    x: f64,
    y: f64,
    /// What the card shows: names and values.
    facts: Vec<(&'static str, String)>,
    args: Vec<String>,
}

/// Writes a picture as a page. `note` is a sentence on what the picture leaves out, or empty.
pub fn write_html(
    picture: &Picture,
    graph: &TaskGraph,
    title: &str,
    note: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let places = layout(picture.nodes.len(), &picture.links);
    let nodes = picture.nodes.iter().zip(places).map(|(node, place)| NodeData {
        label: &node.label,
        detail: &node.detail,
        kind: node.kind.style().class,
        // A hundredth of a box is finer than a pixel.
        x: (place.x * 100.0).round() / 100.0,
        y: place.y,
        facts: facts(node, graph, picture.shown),
        args: args(node, graph),
    });
    let links = picture.links.iter().map(|link| (link.from, link.to, link.label.as_str()));
    let data = Data { title, note, nodes: nodes.collect(), links: links.collect() };
    let json = serde_json::to_string(&data)?.replace('<', "\\u003c");
    let mut rest = PAGE;
    for (mark, text) in [
        ("{{title}}", escaped(title).as_str()),
        ("{{style}}", STYLE),
        ("{{data}}", &json),
        ("{{script}}", SCRIPT),
    ] {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        out.write_all(before.as_bytes())?;
        out.write_all(text.as_bytes())?;
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

fn facts(node: &Node, graph: &TaskGraph, shown: Shown) -> Vec<(&'static str, String)> {
    let Some(task) = node.task.filter(|_| shown != Shown::Kernels).map(|task| graph.task(task)) else {
        return Vec::new();
    };
    let mut facts = vec![
        ("task", task.task_id.to_string()),
        ("submitted", format!("as number {}", task.seq)),
        ("at", task.site.to_string()),
        ("scope", task.scope.to_string()),
        ("blocks", task.block_num.to_string()),
    ];
    if task.inference == Inference::Manual {
        facts.push(("edges", "explicit ones only: a manual scope".to_string()));
    }
    facts
}

fn args(node: &Node, graph: &TaskGraph) -> Vec<String> {
    let args = node.task.iter().flat_map(|&task| graph.task(task).args.iter());
    args.map(|arg| format!("arg{} {} t{} {}", arg.index, arg.access, arg.tensor.0, view_text(arg))).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
