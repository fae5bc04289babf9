//! The formats, and how one is recognised.

use std::fmt;
use std::path::Path;

/// A format of task graphs.
///
/// ```
/// use ringlane_graph::import::Format;
/// assert_eq!(Format::from_name("dot"), Some(Format::Dot));
/// assert_eq!(Format::Trace.to_string(), "trace");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A WfCommons workflow instance, WfFormat 1.5 or 1.6.
    WfFormat,
    /// A Chakra execution trace, protobuf or JSON.
    Chakra,
    /// A Graphviz digraph with weights.
    Dot,
    /// `tasks.csv` with `edges.csv` beside it.
    Csv,
    /// Chrome trace events with flow arrows.
    Trace,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] = [Format::WfFormat, Format::Chakra, Format::Dot, Format::Csv, Format::Trace];

    /// The name, as `--format` takes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::WfFormat => "wfformat",
            Format::Chakra => "chakra",
            Format::Dot => "dot",
            Format::Csv => "csv",
            Format::Trace => "trace",
        }
    }

    /// What it is, in words.
    pub const fn about(self) -> &'static str {
        match self {
            Format::WfFormat => "a WfCommons workflow instance",
            Format::Chakra => "a Chakra execution trace",
            Format::Dot => "a DOT graph",
            Format::Csv => "CSV tables",
            Format::Trace => "Chrome trace events",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Format::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// The format of a file, by the end of its name and its first bytes.
    pub(super) fn detect(path: &Path, start: &[u8]) -> Option<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_lowercase);
        match extension.as_deref() {
            Some("dot" | "gv") => return Some(Format::Dot),
            Some("csv") => return Some(Format::Csv),
            Some("et") => return Some(Format::Chakra),
            _ => {}
        }
        let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
        match text.first()? {
            b'{' | b'[' => Some(detect_json(text)),
            _ if is_dot(text) => Some(Format::Dot),
            _ if text.starts_with(b"id,") || text.starts_with(b"\"id\",") => Some(Format::Csv),
            _ if super::chakra::is_protobuf(start) => Some(Format::Chakra),
            _ => None,
        }
    }
}

/// Which of the formats in JSON this is, by the first key that only one of them has; a list is one of events.
fn detect_json(text: &[u8]) -> Format {
    const KEYS: [(&str, Format); 12] = [
        ("\"traceEvents\"", Format::Trace),
        ("\"ph\"", Format::Trace),
        ("\"schemaVersion\"", Format::WfFormat),
        ("\"workflow\"", Format::WfFormat),
        ("\"workload_graph\"", Format::Chakra),
        ("\"data_deps\"", Format::Chakra),
        ("\"dataDeps\"", Format::Chakra),
        ("\"ctrl_deps\"", Format::Chakra),
        ("\"ctrlDeps\"", Format::Chakra),
        ("\"duration_micros\"", Format::Chakra),
        ("\"durationMicros\"", Format::Chakra),
        ("_NODE\"", Format::Chakra),
    ];
    let find = |key: &str| text.windows(key.len()).position(|part| part == key.as_bytes());
    let first =
        KEYS.iter().filter_map(|&(key, format)| Some((find(key)?, format))).min_by_key(|found| found.0);
    match first {
        Some((_, format)) => format,
        None if text.starts_with(b"[") => Format::Trace,
        None => Format::WfFormat,
    }
}

/// Whether a text starts as a graph in the dot language does, after comments.
fn is_dot(mut text: &[u8]) -> bool {
    loop {
        text = text.trim_ascii_start();
        let end: &[u8] = match text {
            [b'/', b'*', ..] => b"*/",
            [b'/', b'/', ..] | [b'#', ..] => b"\n",
            _ => break,
        };
        match text.windows(end.len()).position(|part| part == end) {
            Some(at) => text = &text[at + end.len()..],
            None => return false,
        }
    }
    let word = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    [&b"digraph"[..], b"graph", b"strict"].iter().any(|known| text[..word].eq_ignore_ascii_case(known))
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_or_the_first_bytes_decide() {
        let of = |name: &str, start: &str| Format::detect(Path::new(name), start.as_bytes());
        assert_eq!(of("a.gv", ""), Some(Format::Dot));
        assert_eq!(of("a.CSV", "x"), Some(Format::Csv));
        assert_eq!(of("a.0.et", "{"), Some(Format::Chakra));
        assert_eq!(of("a", "// by hand\n/* x */ strict digraph {"), Some(Format::Dot));
        assert_eq!(of("a.txt", "\u{feff}id,name\n"), Some(Format::Csv));
        assert_eq!(of("a.json", "[{\"ph\":\"X\"}]"), Some(Format::Trace));
        assert_eq!(of("a.json", "[]"), Some(Format::Trace));
        assert_eq!(of("a.json", "{\"otherData\": {}, \"traceEvents\": ["), Some(Format::Trace));
        assert_eq!(of("a.json", "{\"name\": \"m\", \"schemaVersion\": \"1.5\""), Some(Format::WfFormat));
        assert_eq!(of("a.json", "{}{\"name\":\"x\",\"type\":\"COMP_NODE\"}"), Some(Format::Chakra));
        assert_eq!(of("a.json", "{\"nodes\":[{\"id\":1,\"ctrl_deps\":[]}]}"), Some(Format::Chakra));
        for (name, start) in [("a.txt", ""), ("a.txt", "hello"), ("a.png", "\u{1}PNG"), ("a", "/* digraph")] {
            assert_eq!(of(name, start), None, "{name} {start}");
        }
    }
}
