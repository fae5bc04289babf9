//! Makes a failing program smaller while it still fails, and shows what is left.
#![forbid(unsafe_code)]

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::check::check;
use super::program::{Op, Program};

/// Time for shrinking; what is left then is shown.
const TIME: Duration = Duration::from_secs(8);
/// Runs of one candidate before it counts as one that passes: races do not show every time.
const TRIES: usize = 12;

/// The smallest program found that still fails.
pub(crate) fn shrink(program: &Program) -> Program {
    let end = Instant::now() + TIME;
    let fails = |candidate: &Program| (0..TRIES).any(|_| Instant::now() < end && check(candidate).is_err());
    let mut best = Program { interrupt_at: None, ..program.clone() };
    if !fails(&best) {
        best = program.clone();
    }
    let mut at = 0;
    while at < count(&best.body) && Instant::now() < end {
        let mut candidate = best.clone();
        drop_op(&mut candidate.body, &mut at.clone());
        if fails(&candidate) {
            best = candidate;
        } else {
            at += 1;
        }
    }
    best
}

fn bodies(op: &Op) -> Vec<&Vec<Op>> {
    match op {
        Op::Scope { body } | Op::Manual { body, .. } | Op::Repeat { body, .. } => vec![body],
        Op::Branch { then, otherwise, .. } => vec![then, otherwise],
        _ => Vec::new(),
    }
}

fn bodies_mut(op: &mut Op) -> Vec<&mut Vec<Op>> {
    match op {
        Op::Scope { body } | Op::Manual { body, .. } | Op::Repeat { body, .. } => vec![body],
        Op::Branch { then, otherwise, .. } => vec![then, otherwise],
        _ => Vec::new(),
    }
}

/// Operations in all.
fn count(ops: &[Op]) -> usize {
    ops.iter().map(|op| 1 + bodies(op).into_iter().map(|body| count(body)).sum::<usize>()).sum()
}

/// Drops the operation at place `at`, counted from the front, outer ones before inner ones.
fn drop_op(ops: &mut Vec<Op>, at: &mut usize) -> bool {
    for i in 0..ops.len() {
        if *at == 0 {
            ops.remove(i);
            return true;
        }
        *at -= 1;
        if bodies_mut(&mut ops[i]).into_iter().any(|body| drop_op(body, at)) {
            return true;
        }
    }
    false
}

/// One line for each operation, indented by depth.
pub(crate) fn describe(program: &Program) -> String {
    let mut text = String::new();
    let Program { rings, threads, tolerant, interrupt_at, recorded, modelled, .. } = program;
    let _ =
        writeln!(text, "{threads} threads, rings {rings:?}, tolerant {tolerant}, interrupt {interrupt_at:?}");
    let _ = writeln!(text, "recorded {recorded:?}\nmodelled {modelled:?}");
    for (name, buffer) in program.buffers.iter().enumerate() {
        let _ = writeln!(text, "buffer {name}: {} {:?}", buffer.dtype, buffer.shape);
    }
    lines(&program.body, 0, &mut text);
    text
}

fn lines(ops: &[Op], depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for op in ops {
        let head = match op {
            Op::Scope { .. } => "scope".to_string(),
            Op::Manual { fence, .. } => format!("manual scope, fence {fence:?}"),
            Op::Repeat { times, .. } => format!("{times} times"),
            Op::Branch { from, strict, .. } => format!("read {from:?}, strict {strict}, then / otherwise"),
            other => format!("{other:?}"),
        };
        let _ = writeln!(text, "{indent}{head}");
        for body in bodies(op) {
            lines(body, depth + 1, text);
            let _ = writeln!(text, "{indent}.");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_can_be_dropped_whatever_its_depth() {
        let program = super::super::draw::program(11, 40);
        let all = count(&program.body);
        for at in 0..all {
            let mut body = program.body.clone();
            assert!(drop_op(&mut body, &mut at.clone()));
            assert!(count(&body) < all);
        }
        assert!(!drop_op(&mut program.body.clone(), &mut all.clone()));
    }
}
