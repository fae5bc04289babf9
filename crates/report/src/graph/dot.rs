//! The graph for Graphviz.

use std::io::{self, Write};

use ringlane_insight::text::printable;

use super::picture::Picture;

/// Writes a picture in the dot language.
pub fn write_dot(picture: &Picture, title: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "digraph {} {{", quoted(title))?;
    writeln!(out, "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=10];")?;
    for (place, node) in picture.nodes.iter().enumerate() {
        let label = quoted_lines(&[&node.label, &node.detail]);
        let style = node.kind.style();
        writeln!(
            out,
            "  n{place} [label={label}, fillcolor=\"{}\", color=\"{}\"];",
            style.fill, style.stroke
        )?;
    }
    for link in &picture.links {
        match link.label.as_str() {
            "" => writeln!(out, "  n{} -> n{};", link.from, link.to)?,
            label => writeln!(out, "  n{} -> n{} [label={}];", link.from, link.to, quoted(label))?,
        }
    }
    writeln!(out, "}}")
}

fn quoted(text: &str) -> String {
    quoted_lines(&[text])
}

/// A quoted string: in it only quotes and backslashes mean something.
fn quoted_lines(lines: &[&str]) -> String {
    let escaped = |text: &&str| printable(text).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", lines.iter().map(escaped).collect::<Vec<_>>().join("\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_quotes() {
        assert_eq!(quoted("a\"]; b\\"), r#""a\"]; b\\""#);
        assert_eq!(quoted_lines(&["a\nb", "c"]), "\"a\\\\nb\\nc\"");
    }
}
