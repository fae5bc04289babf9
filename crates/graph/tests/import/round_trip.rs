//! The graph in is the graph out, in every format.

use proptest::prelude::*;
use proptest::sample::Index;

use super::generate::{Dag, File, KINDS, Task, dag_of};
use super::import;

/// The same graph, by names: another order of tasks is no other graph.
fn by_name(dag: &Dag) -> (Vec<Task>, Vec<(String, String)>) {
    let mut tasks = dag.tasks.clone();
    tasks.sort_by(|a, b| a.name.cmp(&b.name));
    let name = |at: usize| dag.tasks[at].name.clone();
    let mut edges: Vec<_> = dag.edges.iter().map(|&(pred, succ)| (name(pred), name(succ))).collect();
    edges.sort();
    edges.dedup();
    (tasks, edges)
}

fn check(dag: &Dag, file: &File) {
    let graph = import(file).unwrap_or_else(|error| panic!("{}: {error}", file.what));
    let found = dag_of(&graph);
    assert!(found.edges.iter().all(|(pred, succ)| pred < succ), "{}", file.what);
    assert_eq!(by_name(&found), by_name(dag), "{}", file.what);
    assert_eq!(graph.work_ticks(), dag.tasks.iter().map(|task| task.micros * 1000).sum::<u64>());
}

#[test]
fn a_graph_in_order_stays_in_order() {
    let dag = Dag::layered(200);
    let mut edges = dag.edges.clone();
    edges.sort_by_key(|&(pred, succ)| (succ, pred));
    for file in dag.files() {
        let found = dag_of(&import(&file).unwrap());
        assert_eq!(found.tasks, dag.tasks, "{}", file.what);
        assert_eq!(found.edges, edges, "{}", file.what);
    }
}

#[test]
fn a_hundred_thousand_tasks_are_imported_in_every_format() {
    let dag = Dag::layered(100_000);
    for file in dag.files() {
        let graph = import(&file).unwrap();
        assert_eq!(graph.tasks().len(), 100_000, "{}", file.what);
        assert_eq!(graph.edges().len(), dag.edges.len(), "{}", file.what);
        assert_eq!(graph.kernels().len(), KINDS.len(), "{}", file.what);
    }
}

/// Names that formats have to quote or escape; each is made unlike the others by its number.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z_ ]{0,8}",
        1 => Just("a\"b\\c\nd\r\te,;{}[]<>".to_string()),
        1 => Just("größe \u{1F980}\u{0}\u{7f}".to_string()),
        1 => any::<String>(),
    ]
}

/// A graph whose tasks come in any order: edges lead from any task to one with a higher rank.
fn dag() -> impl Strategy<Value = Dag> {
    let task = (name(), 0..KINDS.len(), prop_oneof![Just(0), 0..1_000_000_000u64]);
    let tasks = prop::collection::vec((task, any::<u64>()), 1..30);
    let edges = prop::collection::vec((any::<Index>(), any::<Index>()), 0..60);
    (tasks, edges).prop_map(|(tasks, edges)| {
        let ranks: Vec<(u64, usize)> = tasks.iter().zip(0..).map(|((_, rank), at)| (*rank, at)).collect();
        let edges = edges.iter().map(|(a, b)| (a.index(tasks.len()), b.index(tasks.len())));
        let edges =
            edges.filter(|(a, b)| a != b).map(|(a, b)| if ranks[a] < ranks[b] { (a, b) } else { (b, a) });
        let edges = edges.collect();
        let task = |(at, ((name, kind, micros), _)): (usize, ((String, usize, u64), u64))| Task {
            name: format!("{name}#{at}"),
            kind: KINDS[kind],
            micros,
        };
        Dag { tasks: tasks.into_iter().enumerate().map(task).collect(), edges }
    })
}

proptest! {
    #[test]
    fn any_graph_comes_out_as_it_went_in(dag in dag()) {
        dag.files().iter().for_each(|file| check(&dag, file));
    }
}
