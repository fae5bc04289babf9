//! The graph as a Mermaid flowchart, which GitHub and many editors draw.

use std::collections::BTreeMap;
use std::io::{self, Write};

use ringlane_insight::text::printable;

use super::picture::{NodeKind, Picture, Shown};

/// Nodes beyond which a flowchart is no help; a graph with more is collapsed by kernel.
pub const MERMAID_NODES_MAX: usize = 300;

/// Edges that Mermaid draws with its default `maxEdges`.
pub const MERMAID_EDGES_MAX: usize = 500;

/// Writes a picture as a flowchart.
pub fn write_mermaid(picture: &Picture, title: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "flowchart TD")?;
    writeln!(out, "  %% {}", printable(title))?;
    if picture.shown == Shown::Kernels {
        writeln!(
            out,
            "  %% one node for all tasks of a kernel; each arrow shows the number of edges it represents"
        )?;
    }
    for (place, node) in picture.nodes.iter().enumerate() {
        let text = format!("{}<br/>{}", escaped(&node.label), escaped(&node.detail));
        match node.kind {
            NodeKind::Nothing => writeln!(out, "  n{place}([\"{text}\"])")?,
            kind => writeln!(out, "  n{place}[\"{text}\"]:::{}", kind.style().class)?,
        }
    }
    for link in &picture.links {
        match link.label.as_str() {
            "" => writeln!(out, "  n{} --> n{}", link.from, link.to)?,
            label => writeln!(out, "  n{} -->|\"{}\"| n{}", link.from, escaped(label), link.to)?,
        }
    }
    write_classes(picture, out)
}

/// The colours of the kinds that occur.
fn write_classes(picture: &Picture, out: &mut impl Write) -> io::Result<()> {
    let kinds = picture.nodes.iter().map(|node| node.kind).filter(|&kind| kind != NodeKind::Nothing);
    let styles: BTreeMap<_, _> = kinds.map(|kind| (kind.style().class, kind.style())).collect();
    styles.iter().try_for_each(|(class, style)| {
        writeln!(out, "  classDef {class} fill:{},stroke:{},color:#000", style.fill, style.stroke)
    })
}

/// Text in quotes: everything that Mermaid, Markdown or HTML would take for something else is written as its number.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            c if c.is_alphanumeric()
                || matches!(c, ' ' | '.' | ',' | '+' | '-' | '/' | ':' | '×' | '(' | ')') =>
            {
                escaped.push(c);
            }
            '_' => escaped.push('_'),
            c => escaped.push_str(&format!("#{};", u32::from(c))),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_close_its_box() {
        assert_eq!(escaped("\"><script>"), "#34;#62;#60;script#62;");
        assert_eq!(escaped("QK_2 #3"), "QK_2 #35;3");
    }
}
