//! `--workers N` and `--workers NxM`: how many workers a case is shared out to, level by level.

use std::fmt;

use ringlane_node::limits::{MEMORIES_MAX, WORKERS_MAX};
use serde::{Deserialize, Serialize};

use crate::errors::CliError;

/// How many workers each node has, outermost first; those of the last have chips.
///
/// ```text
/// 2      a node (level 3) with 2 chips
/// 2x4    a node (level 4) with 2 nodes (level 3) of 4 chips each
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape(Vec<u32>);

/// What the workers of a node are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Below {
    /// This many chips.
    Chips(u32),
    /// This many nodes, each of this shape.
    Nodes(u32, Shape),
}

/// Processes of all levels together. Each is a program with threads of its own; more is a typing error.
const PROCESSES_MAX: usize = WORKERS_MAX;

impl Shape {
    /// What an option says.
    pub fn parse(text: &str) -> Result<Self, CliError> {
        let digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        let number = |part: &str| Some(part).filter(digits)?.parse().ok().filter(|&count| count > 0);
        let counts = text.split('x').map(number);
        let shape = counts.collect::<Option<Vec<u32>>>().map(Shape);
        let fits = |shape: &Shape| shape.0.len() < MEMORIES_MAX && shape.processes() <= PROCESSES_MAX;
        shape.filter(fits).ok_or_else(|| {
            let allowed =
                format!("N chips, or NxM for N nodes of M chips; at most {PROCESSES_MAX} processes");
            CliError::bad_value("--workers", text, allowed, "--workers 2")
        })
    }

    /// This many nodes, each of this shape.
    pub fn under(&self, nodes: u32) -> Self {
        Shape([&[nodes], &self.0[..]].concat())
    }

    /// The level of the outermost node: 3 over chips.
    pub fn level(&self) -> u8 {
        2 + self.0.len() as u8
    }

    /// Levels of nodes above the chips.
    pub fn levels(&self) -> usize {
        self.0.len()
    }

    /// What the outermost node has.
    pub fn below(&self) -> Below {
        match &self.0[..] {
            [] => Below::Chips(1),
            [chips] => Below::Chips(*chips),
            [nodes, rest @ ..] => Below::Nodes(*nodes, Shape(rest.to_vec())),
        }
    }

    /// All chips.
    pub fn chips(&self) -> u32 {
        self.0.iter().fold(1, |all, count| all.saturating_mul(*count))
    }

    /// All worker processes: chips, nodes, and one for functions beside the chips of each node.
    pub fn processes(&self) -> usize {
        match self.below() {
            Below::Chips(chips) => chips as usize + 1,
            Below::Nodes(nodes, shape) => (nodes as usize).saturating_mul(1 + shape.processes()),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<_> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&counts.join("x"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_as_deep_as_it_has_numbers() {
        let shape = Shape::parse("2x4").unwrap();
        assert_eq!((shape.level(), shape.chips(), shape.processes()), (4, 8, 12));
        assert_eq!(shape.below(), Below::Nodes(2, Shape(vec![4])));
        assert_eq!((shape.to_string().as_str(), Shape(vec![3]).processes()), ("2x4", 4));
    }

    #[test]
    fn what_is_no_shape_is_refused() {
        for text in
            ["", "0", "+2", "2x", "x2", "2x0", "-1", "two", "1000", "99999999999", "2x2x2x2x2x2x2x2x2"]
        {
            assert!(Shape::parse(text).is_err(), "{text}");
        }
    }
}
