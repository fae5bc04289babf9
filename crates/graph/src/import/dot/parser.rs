//! The statements of the dot language.

use super::attributes::{Attributes, label_text};
use super::lexer::{Lexer, Word};
use crate::import::builder::{GraphBuilder, TaskText};
use crate::import::limits::{DEPTH_MAX, TEXT_BYTES_MAX};
use crate::import::scale::{Unit, parse_nanoseconds};
use crate::import::{ImportError, ImportedGraph};

pub(super) struct Parser<'i, 'w, 'o> {
    words: Lexer<'i, 'w>,
    word: Word,
    graph: GraphBuilder<'o>,
    /// The nodes of the open subgraphs and of the statement that is being read, the innermost last.
    nodes: Vec<u32>,
    depth: usize,
    /// Room for an id.
    id: String,
}

/// The nodes at one end of an edge: `nodes[from..to]`.
type Ends = (usize, usize);

impl<'i, 'w, 'o> Parser<'i, 'w, 'o> {
    pub(super) const fn new(words: Lexer<'i, 'w>, graph: GraphBuilder<'o>) -> Self {
        Parser { words, word: Word::End, graph, nodes: Vec::new(), depth: 0, id: String::new() }
    }

    pub(super) fn finish(self) -> Result<ImportedGraph, ImportError> {
        self.graph.finish()
    }

    fn advance(&mut self) -> Result<(), ImportError> {
        self.word = self.words.next()?;
        Ok(())
    }

    /// Whether the word is this keyword.
    fn is(&self, keyword: &str) -> bool {
        self.word == Word::Plain && self.words.text().is_ok_and(|text| text.eq_ignore_ascii_case(keyword))
    }

    fn is_id(&self) -> bool {
        matches!(self.word, Word::Plain | Word::Quoted)
    }

    fn expected(&self, what: &str) -> ImportError {
        match self.word {
            Word::End => self.words.cut_off(&format!("expected {what}")),
            _ => self.words.syntax(format!("expected {what}")),
        }
    }

    /// The whole file: `[strict] digraph [id] { … }`, and nothing after it.
    pub(super) fn graph(&mut self) -> Result<(), ImportError> {
        self.advance()?;
        if self.word == Word::End {
            return Err(ImportError::EmptyGraph { file: self.words.place().file });
        }
        if self.is("strict") {
            self.advance()?;
        }
        if self.is("graph") {
            return Err(ImportError::UndirectedGraph { place: self.words.place() });
        }
        if !self.is("digraph") {
            return Err(self.expected("`digraph`"));
        }
        self.advance()?;
        if self.is_id() {
            self.take_id()?;
        }
        self.body(&mut Attributes::default())?;
        match self.word {
            Word::End => Ok(()),
            _ => Err(self.words.syntax("expected the end of the file: one graph in a file")),
        }
    }

    /// `{ statements }`; the nodes in it are those from the returned place on.
    fn body(&mut self, defaults: &mut Attributes) -> Result<(), ImportError> {
        if self.word != Word::Sign(b'{') {
            return Err(self.expected("`{`"));
        }
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(ImportError::TooDeep { place: self.words.place() });
        }
        self.advance()?;
        let start = self.nodes.len();
        let mut compacted = start;
        while self.word != Word::Sign(b'}') {
            if self.word == Word::Sign(b';') || self.word == Word::Sign(b',') {
                self.advance()?;
                continue;
            }
            self.statement(defaults)?;
            match self.depth {
                // Nothing asks for the nodes of the whole graph.
                1 => self.nodes.truncate(start),
                _ if self.nodes.len() > 2 * compacted + 1024 => compacted = self.compact(start),
                _ => {}
            }
        }
        self.depth -= 1;
        self.advance()
    }

    /// Leaves out nodes of a subgraph that are mentioned again, so that memory grows with nodes and not with mentions.
    fn compact(&mut self, start: usize) -> usize {
        self.nodes[start..].sort_unstable();
        let mut kept = start;
        for at in start..self.nodes.len() {
            if at == start || self.nodes[at] != self.nodes[kept - 1] {
                self.nodes[kept] = self.nodes[at];
                kept += 1;
            }
        }
        self.nodes.truncate(kept);
        kept
    }

    fn statement(&mut self, defaults: &mut Attributes) -> Result<(), ImportError> {
        if self.is("node") {
            self.advance()?;
            return self.attributes(defaults);
        }
        if self.is("edge") || self.is("graph") {
            self.advance()?;
            return self.attributes(&mut Attributes::default());
        }
        if self.word == Word::Sign(b'{') || self.is("subgraph") {
            let ends = self.subgraph(defaults)?;
            return self.edges(ends, defaults);
        }
        if !self.is_id() {
            return Err(self.expected("a node, an edge or `}`"));
        }
        let line = self.words.line();
        self.take_id()?;
        if self.word == Word::Sign(b'=') {
            // An attribute of the graph.
            self.advance()?;
            return if self.is_id() { self.take_id() } else { Err(self.expected("a value")) };
        }
        let node = self.node(line, defaults)?;
        let ends = (self.nodes.len() - 1, self.nodes.len());
        if self.word != Word::Sign(b'[') {
            return self.edges(ends, defaults);
        }
        let mut attributes = Attributes::default();
        self.attributes(&mut attributes)?;
        self.describe(node, line, &attributes)
    }

    /// Takes an id, joined from several by `+`, into `self.id`.
    fn take_id(&mut self) -> Result<(), ImportError> {
        self.id.clear();
        self.id.push_str(self.words.text()?);
        let is_quoted = self.word == Word::Quoted;
        self.advance()?;
        while is_quoted && self.word == Word::Sign(b'+') {
            self.advance()?;
            if self.word != Word::Quoted {
                return Err(self.expected("a string after `+`"));
            }
            self.id.push_str(self.words.text()?);
            if self.id.len() > TEXT_BYTES_MAX {
                return Err(ImportError::TextTooLong { place: self.words.place() });
            }
            self.advance()?;
        }
        Ok(())
    }

    /// The node whose id was taken; its port is skipped.
    fn node(&mut self, line: u64, defaults: &Attributes) -> Result<u32, ImportError> {
        let node = self.graph.mention(&self.id)?;
        if !self.graph.is_defined(node) {
            self.graph.define(node, line, TaskText::default())?;
            self.describe(node, line, defaults)?;
        }
        self.nodes.push(node);
        while self.word == Word::Sign(b':') {
            self.advance()?;
            if !self.is_id() {
                return Err(self.expected("a port"));
            }
            self.advance()?;
        }
        Ok(node)
    }

    /// `[subgraph [id]] { … }`.
    fn subgraph(&mut self, defaults: &Attributes) -> Result<Ends, ImportError> {
        if self.is("subgraph") {
            self.advance()?;
            if self.is_id() {
                self.take_id()?;
            }
        }
        let start = self.nodes.len();
        self.body(&mut defaults.clone())?;
        Ok((start, self.nodes.len()))
    }

    /// The rest of a chain of edges that begins with these nodes.
    fn edges(&mut self, first: Ends, defaults: &Attributes) -> Result<(), ImportError> {
        let mut from = first;
        loop {
            match self.word {
                Word::Arrow => self.advance()?,
                Word::Line => return Err(ImportError::UndirectedGraph { place: self.words.place() }),
                Word::Sign(b'[') => return self.attributes(&mut Attributes::default()),
                _ => return Ok(()),
            }
            let to = if self.word == Word::Sign(b'{') || self.is("subgraph") {
                self.subgraph(defaults)?
            } else if self.is_id() {
                let line = self.words.line();
                self.take_id()?;
                self.node(line, defaults)?;
                (self.nodes.len() - 1, self.nodes.len())
            } else {
                return Err(self.expected("a node after `->`"));
            };
            self.graph.check_room((from.1 - from.0).saturating_mul(to.1 - to.0))?;
            for pred in from.0..from.1 {
                for succ in to.0..to.1 {
                    self.graph.add_edge(self.nodes[pred], self.nodes[succ])?;
                }
            }
            from = to;
        }
    }

    /// Attribute lists, `[a=b, c=d] [e]`: those that say something about a task.
    fn attributes(&mut self, to: &mut Attributes) -> Result<(), ImportError> {
        let mut has_duration = false;
        while self.word == Word::Sign(b'[') {
            self.advance()?;
            while self.word != Word::Sign(b']') {
                if self.word == Word::Sign(b',') || self.word == Word::Sign(b';') {
                    self.advance()?;
                    continue;
                }
                if !self.is_id() {
                    return Err(self.expected("an attribute or `]`"));
                }
                self.take_id()?;
                let name = std::mem::take(&mut self.id);
                if self.word == Word::Sign(b'=') {
                    self.advance()?;
                    if !self.is_id() {
                        return Err(self.expected("the value of an attribute"));
                    }
                    self.take_id()?;
                    to.set(&name, &self.id, &mut has_duration);
                }
                self.id = name;
            }
            self.advance()?;
        }
        Ok(())
    }

    /// Gives a node what its attributes say.
    fn describe(&mut self, node: u32, line: u64, attributes: &Attributes) -> Result<(), ImportError> {
        let Attributes { label, kind, duration } = attributes;
        if label.is_some() || kind.is_some() {
            let label = label.as_ref().map(|label| label_text(label, &self.graph.name_of(node)));
            self.graph
                .set_text(node, TaskText { label: label.as_deref(), name: None, kind: kind.as_deref() })?;
        }
        let Some(duration) = duration else { return Ok(()) };
        let Some(nanoseconds) = parse_nanoseconds(duration, Some(Unit::Microseconds)) else {
            let (place, task) = (self.graph.cursor.place_in(line), self.graph.name_of(node));
            let value = format!("{duration:?} is not a time");
            return Err(ImportError::BadDuration { place, task, value });
        };
        self.graph.set_duration(node, line, nanoseconds, || duration.clone())
    }
}
