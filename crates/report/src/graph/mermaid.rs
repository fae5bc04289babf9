//! The graph as a Mermaid flowchart, which GitHub and many editors draw.

use std::io::{self, Write};

use ringlane_insight::text::printable;

use super::picture::{NodeKind, Picture, Shown};

/// Nodes beyond which a flowchart is no help; a graph with more is collapsed by kernel.
pub const MERMAID_NODES_MAX: usize = 300;

/// Edges that Mermaid draws if nobody raises its `maxEdges`.
pub const MERMAID_EDGES_MAX: usize = 500;

/// Writes a picture as a flowchart.
pub fn write_mermaid(picture: &Picture, title: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "flowchart TD")?;
    writeln!(out, "  %% {}", printable(title))?;
    if picture.shown == Shown::Kernels {
        writeln!(
            out,
            "  %% one node for all tasks of a kernel, and on each arrow how many edges it stands for"
        )?;
    }
    for (place, node) in picture.nodes.iter().enumerate() {
        let text = format!("{}<br/>{}", escaped(&node.label), escaped(&node.detail));
        match node.kind {
            NodeKind::Nothing => writeln!(out, "  n{place}([\"{text}\"])")?,
            kind => writeln!(out, "  n{place}[\"{text}\"]:::{}", kind.as_str())?,
        }
    }
    for link in &picture.links {
        writeln!(out, "  n{} -->|\"{}\"| n{}", link.from, escaped(&link.label), link.to)?;
    }
    writeln!(out, "  classDef aic fill:#cfe2ff,stroke:#3b6fb6,color:#000")?;
    writeln!(out, "  classDef aiv fill:#d9f2d9,stroke:#3c8c3c,color:#000")?;
    writeln!(out, "  classDef mixed fill:#ffe8cc,stroke:#b6793b,color:#000")?;
    writeln!(out, "  classDef any fill:#eeeeee,stroke:#777777,color:#000")
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
