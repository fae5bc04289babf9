//! The trace as protobuf: messages, each after its length as a varint. The first is the metadata, all others are nodes.
//!
//! The messages here have only the fields that are read; others are skipped.

use prost::Message;

use super::{Node, add_node, type_name};
use crate::import::builder::GraphBuilder;
use crate::import::input::Input;
use crate::import::limits::MESSAGE_BYTES_MAX;
use crate::import::{Format, ImportError, ImportedGraph};

/// `GlobalMetadata`. Text is read as bytes, so that what is not UTF-8 is refused here, by name.
#[derive(Clone, PartialEq, Message)]
struct Metadata {
    #[prost(bytes = "vec", tag = "1")]
    version: Vec<u8>,
}

/// `Node`.
#[derive(Clone, PartialEq, Message)]
struct NodeMessage {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(bytes = "vec", tag = "2")]
    name: Vec<u8>,
    #[prost(int32, tag = "3")]
    kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    duration_micros: u64,
}

/// The tags that metadata may begin with: a version, or an attribute.
const METADATA_TAGS: [u8; 2] = [0x0a, 0x12];

/// Whether bytes begin with the metadata of a trace.
pub(in crate::import) fn is_protobuf(start: &[u8]) -> bool {
    let mut rest = start;
    let Ok(length) = prost::decode_length_delimiter(&mut rest) else { return false };
    match rest.first() {
        // Metadata without anything, and then nodes.
        Some(_) if length == 0 => rest.len() > 1 && rest[1] == 0x08,
        Some(tag) if METADATA_TAGS.contains(tag) => {
            rest.get(..length).is_none_or(|message| Metadata::decode(message).is_ok())
        }
        _ => false,
    }
}

/// Reads a trace.
pub(super) fn read(input: &mut Input<'_>, graph: GraphBuilder<'_>) -> Result<ImportedGraph, ImportError> {
    let mut reader = MessageReader { input, bytes: Vec::new() };
    if let Some(message) = reader.next()? {
        let metadata = Metadata::decode(message);
        metadata.map_err(|error| bad_message(&graph, format!("the metadata: {error}")))?;
    }
    let (mut graph, mut node, mut id) = (graph, Node::default(), String::new());
    while let Some(message) = reader.next()? {
        let decoded = NodeMessage::decode(message);
        let decoded = decoded.map_err(|error| bad_message(&graph, format!("a node: {error}")))?;
        let NodeMessage { id: number, name, kind, ctrl_deps, data_deps, duration_micros } = decoded;
        let place = graph.cursor.place();
        node.name = String::from_utf8(name).map_err(|_| ImportError::NotUtf8 { place })?;
        node.kind = type_name(u64::from(kind.unsigned_abs()));
        (node.id, node.micros, node.line) = (number, Some(duration_micros as f64), graph.cursor.line());
        node.preds = ctrl_deps;
        node.preds.extend(data_deps);
        add_node(&mut graph, &node, &mut id)?;
    }
    graph.finish()
}

fn bad_message(graph: &GraphBuilder<'_>, what: String) -> ImportError {
    // The error of the library says which message it was of, in its own words.
    let what = what.replace("failed to decode Protobuf message: ", "");
    ImportError::BadSyntax { place: graph.cursor.place(), format: Format::Chakra, what }
}

/// Messages, one after the other. The place is the number of the message.
struct MessageReader<'i, 'w> {
    input: &'i mut Input<'w>,
    bytes: Vec<u8>,
}

impl MessageReader<'_, '_> {
    /// The bytes of the next message; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<&[u8]>, ImportError> {
        let is_first = self.bytes.capacity() == 0;
        if self.input.peek()?.is_none() {
            return Ok(None);
        }
        if !is_first {
            self.input.cursor().next_line();
        }
        let length = self.length()?;
        if length > MESSAGE_BYTES_MAX {
            let place = self.input.cursor().line_place(self.input.cursor().line());
            return Err(ImportError::MessageTooLarge { place, bytes: length });
        }
        let length = length as usize;
        self.bytes.clear();
        self.bytes.reserve(1);
        let mut piece = [0; 1 << 14];
        // The memory grows with the bytes that are there, not with the length that the file claims.
        while self.bytes.len() < length {
            let wanted = piece.len().min(length - self.bytes.len());
            let read = self.input.read_bytes(&mut piece[..wanted])?;
            if read == 0 {
                return Err(self.cut_off(format!("{} of {length} bytes of a message", self.bytes.len())));
            }
            self.bytes.extend_from_slice(&piece[..read]);
        }
        Ok(Some(&self.bytes))
    }

    /// A varint.
    fn length(&mut self) -> Result<u64, ImportError> {
        let mut length = 0u64;
        for shift in (0..).step_by(7) {
            let mut byte = [0];
            if self.input.read_bytes(&mut byte)? == 0 {
                return Err(self.cut_off("within the length of a message".to_string()));
            }
            let bits = u64::from(byte[0] & 0x7f);
            if shift > 63 || (shift == 63 && bits > 1) {
                let what = "the length of a message has more than 64 bits".to_string();
                let place = self.input.cursor().place();
                return Err(ImportError::BadSyntax { place, format: Format::Chakra, what });
            }
            length |= bits << shift;
            if byte[0] < 0x80 {
                break;
            }
        }
        Ok(length)
    }

    fn cut_off(&self, what: String) -> ImportError {
        ImportError::CutOff { place: self.input.cursor().place(), what }
    }
}
