//! Large and odd graphs, up to the limits.

use std::fmt::Write;
use std::io::{self, Read};
use std::ops::ControlFlow;

use ringlane_graph::import::limits::{EDGES_MAX, KERNELS_MAX, TEXT_BYTES_MAX};
use ringlane_graph::import::{Format, ImportOptions, KernelBy, import, read, read_tables};
use ringlane_task::Explain;

/// A head, then a text again and again, without end.
struct Endless {
    text: Vec<u8>,
    at: usize,
    again: usize,
}

impl Endless {
    fn new(head: &str, again: &str) -> Self {
        Endless { text: [head, again].concat().into_bytes(), at: 0, again: head.len() }
    }
}

impl Read for Endless {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        for byte in to.iter_mut() {
            *byte = self.text[self.at];
            self.at += 1;
            if self.at == self.text.len() {
                self.at = self.again;
            }
        }
        Ok(to.len())
    }
}

#[test]
fn a_million_lines_of_edges_to_one_task_are_imported() {
    let mut tasks = String::from("id,duration\nlast,1\n");
    let mut edges = String::from("pred,succ\n");
    for at in 0..1000 {
        writeln!(tasks, "t{at},1").unwrap();
        // Each edge a thousand times: one edge.
        (0..1000).for_each(|_| writeln!(edges, "t{at},last").unwrap());
    }
    let graph = read_tables(tasks.as_bytes(), edges.as_bytes(), &ImportOptions::default()).unwrap();
    assert_eq!((graph.edges().len(), graph.longest_path_ticks()), (1000, 2000));
}

#[test]
fn values_without_end_are_refused_before_memory_runs_out() {
    let cases = [
        (Format::WfFormat, "{\"name\":\"", "a", "TextTooLong"),
        (Format::WfFormat, "{\"name\":1", "1", "TextTooLong"),
        (Format::WfFormat, "{\"x\":", "[", "TooDeep"),
        (Format::Trace, "[{\"args\":\"", "\\\\", "TextTooLong"),
        (Format::Dot, "digraph { \"", "a", "TextTooLong"),
        (Format::Dot, "digraph { a", "a", "TextTooLong"),
        (Format::Dot, "digraph { <", "a", "TextTooLong"),
        (Format::Dot, "digraph { \"a\"", "+\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"", "TextTooLong"),
        (Format::Csv, "id,duration\n\"", "a", "TextTooLong"),
        (Format::Csv, "id,duration\n", ",", "TextTooLong"),
    ];
    for (format, head, again, name) in cases {
        let error = read(format, "f", Endless::new(head, again), &ImportOptions::default()).unwrap_err();
        assert_eq!(error.name(), name, "{format} {head} {again}: {error}");
    }
    const { assert!(TEXT_BYTES_MAX <= 1 << 26) };
}

#[test]
fn a_product_of_two_subgraphs_ends_at_the_limit_of_edges() {
    let nodes: String = (0..(EDGES_MAX as f64).sqrt() as usize + 1).fold(String::new(), |mut text, at| {
        write!(text, "a{at};").unwrap();
        text
    });
    let text = format!("digraph {{ node [weight=1] {{ {nodes} }} -> {{ {} }} }}", nodes.replace('a', "b"));
    let error = read(Format::Dot, "f", text.as_bytes(), &ImportOptions::default()).unwrap_err();
    assert_eq!(error.name(), "TooManyEdges", "{error}");
}

#[test]
fn too_many_kernels_are_refused_and_kinds_help() {
    let mut text = String::from("id,duration,kind\n");
    (0..=KERNELS_MAX).for_each(|at| writeln!(text, "n{at}x,1,k").unwrap());
    let edges = "pred,succ\n".as_bytes();
    let by_name = ImportOptions { kernel_by: KernelBy::Name, ..ImportOptions::default() };
    let error = read_tables(text.as_bytes(), edges, &by_name).unwrap_err();
    assert_eq!(error.name(), "TooManyKernels");
    assert_eq!(read_tables(text.as_bytes(), edges, &ImportOptions::default()).unwrap().kernels(), ["k"]);
}

#[test]
fn the_work_of_all_tasks_has_a_limit() {
    let mut text = String::from("id,duration_s\n");
    (0..1000).for_each(|at| writeln!(text, "t{at},9e6").unwrap());
    let error =
        read_tables(text.as_bytes(), "pred,succ\n".as_bytes(), &ImportOptions::default()).unwrap_err();
    assert_eq!(error.name(), "WorkTooLong");
    let options = ImportOptions { scale: "1s=1us".parse().unwrap(), ..ImportOptions::default() };
    assert!(read_tables(text.as_bytes(), "pred,succ\n".as_bytes(), &options).is_ok());
}

#[test]
fn files_that_are_not_there_or_of_no_format_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |name: &str, format| {
        let mut watch = |_| ControlFlow::Continue(());
        let path = dir.path().join(name);
        import(&path, format, &ImportOptions::default(), &mut watch).unwrap_err().name()
    };
    assert_eq!(refused("none.dot", None), "UnreadableInput");
    assert_eq!(refused("", None), "MissingFile");
    assert_eq!(refused("", Some(Format::Dot)), "UnreadableInput");
    std::fs::write(dir.path().join("tasks.csv"), "id,duration\na,1\n").unwrap();
    assert_eq!(refused("", None), "MissingFile");
    assert_eq!(refused("tasks.csv", None), "MissingFile");
    std::fs::write(dir.path().join("a.txt"), "hello").unwrap();
    assert_eq!(refused("a.txt", None), "UnknownFormat");
    std::fs::write(dir.path().join("a.dot"), "digraph { a [weight=1] }").unwrap();
    assert_eq!(refused("a.dot", Some(Format::Trace)), "BadSyntax");
    let mut stop = |_| ControlFlow::Break(());
    let stopped = import(&dir.path().join("a.dot"), None, &ImportOptions::default(), &mut stop);
    assert_eq!(stopped.unwrap_err().name(), "ImportInterrupted");
}
