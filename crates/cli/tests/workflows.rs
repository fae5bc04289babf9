//! Task graphs with the shapes of WfCommons' workflows, in every format that `ringlane import` reads: imported, checked, replayed and
//! asked what would help.

mod common;
#[allow(dead_code)]
#[path = "../../graph/tests/import/generate.rs"]
mod generate;

use std::fs;
use std::path::Path;

use common::{Answer, Sandbox, checked};
use generate::{Dag, File, KINDS, Task};
use ringlane_graph::import::Format;

/// Adds a task of a program to a workflow that waits for these.
fn add(dag: &mut Dag, program: &str, kind: usize, micros: u64, after: &[usize]) -> usize {
    let at = dag.tasks.len();
    dag.tasks.push(Task { name: format!("{program}_{at:05}"), kind: KINDS[kind], micros });
    dag.edges.extend(after.iter().map(|&pred| (pred, at)));
    at
}

/// Split, many searches, and two programs that gather their results.
fn blast(searches: usize) -> Dag {
    let mut dag = Dag::default();
    let split = add(&mut dag, "split_fasta", 0, 3, &[]);
    let found: Vec<_> =
        (0..searches).map(|at| add(&mut dag, "blastall", 1, 20 + at as u64 % 7, &[split])).collect();
    add(&mut dag, "cat_blast", 2, 5, &found);
    add(&mut dag, "cat", 3, 4, &found);
    dag
}

/// Lanes of samples, each split into chunks that pass through a pipeline, merged per lane and then over all lanes.
fn epigenomics(lanes: usize, chunks: usize) -> Dag {
    let mut dag = Dag::default();
    let mut merged = Vec::new();
    for _ in 0..lanes {
        let split = add(&mut dag, "fastqSplit", 0, 4, &[]);
        let chunk = |dag: &mut Dag| {
            let steps = ["filterContams", "sol2sanger", "fast2bfq", "map"];
            steps
                .iter()
                .enumerate()
                .fold(split, |before, (at, step)| add(dag, step, at, 6 + 2 * at as u64, &[before]))
        };
        let mapped: Vec<_> = (0..chunks).map(|_| chunk(&mut dag)).collect();
        merged.push(add(&mut dag, "mapMerge", 1, 9, &mapped));
    }
    let all = add(&mut dag, "chr21", 2, 7, &merged);
    let index = add(&mut dag, "maqIndex", 3, 8, &[all]);
    add(&mut dag, "pileup", 0, 5, &[index]);
    dag
}

/// Images that are projected, compared with their neighbours, corrected by one model of all differences, and added up.
fn montage(images: usize) -> Dag {
    let mut dag = Dag::default();
    let projected: Vec<_> = (0..images).map(|_| add(&mut dag, "mProject", 0, 14, &[])).collect();
    let differences: Vec<_> =
        projected.windows(2).map(|pair| add(&mut dag, "mDiffFit", 1, 3, pair)).collect();
    let concat = add(&mut dag, "mConcatFit", 2, 6, &differences);
    let model = add(&mut dag, "mBgModel", 3, 11, &[concat]);
    let corrected: Vec<_> =
        projected.iter().map(|&image| add(&mut dag, "mBackground", 0, 2, &[image, model])).collect();
    let table = add(&mut dag, "mImgtbl", 1, 4, &corrected);
    add(&mut dag, "mAdd", 2, 10, &[&corrected[..], &[table]].concat());
    dag
}

#[track_caller]
fn well(answer: Answer, what: &str) -> Answer {
    assert_eq!(answer.status, 0, "{what}: {}", answer.stderr);
    answer
}

/// Writes the file of a graph, or its tables, and gives what `import` is to read.
fn written(dir: &Path, file: &File) -> String {
    if file.format != Format::Csv {
        fs::write(dir.join("graph.in"), &file.bytes).unwrap();
        return "graph.in".to_string();
    }
    fs::create_dir_all(dir.join("tables")).unwrap();
    fs::write(dir.join("tables/tasks.csv"), &file.bytes).unwrap();
    fs::write(dir.join("tables/edges.csv"), &file.edges).unwrap();
    "tables".to_string()
}

#[test]
fn workflows_are_imported_checked_replayed_and_asked_what_would_help_in_every_format() {
    let shapes = [("blast", blast(40)), ("epigenomics", epigenomics(3, 8)), ("montage", montage(24))];
    for (shape, dag) in &shapes {
        for file in dag.files() {
            let what = format!("{shape} as {}", file.what);
            let sandbox = Sandbox::new();
            let name = written(sandbox.path(), &file);
            let format = file.format.as_str();
            well(sandbox.ringlane(&["import", &name, "--format", format, "-o", "graph"]), &what);
            assert!(
                well(sandbox.ringlane(&["check", "graph"]), &what).stdout.contains(" 0 broken"),
                "{what}"
            );
            well(sandbox.ringlane(&["replay", "graph", "-p", "a2a3sim", "-o", "run"]), &what);
            let manifest = checked(&sandbox.path().join("run"));
            assert!(manifest.tasks >= dag.tasks.len() as u64, "{what}: {} tasks", manifest.tasks);
            let answer = well(sandbox.ringlane(&["what-if", "run", "--json"]), &what).json();
            assert_eq!(answer["baseline"]["error"], 0.0, "{what}");
            assert!(!answer["experiments"].as_array().unwrap().is_empty(), "{what}");
        }
    }
}
