//! The run directory of an imported graph, as other commands read it.

use ringlane_graph::import::{ImportOptions, write_run};
use ringlane_insight::Run;
use ringlane_insight::deps::TaskGraph;
use ringlane_task::{Explain, TaskId, Ticks};
use ringlane_trace::deps::{Deps, EdgeSource};
use ringlane_trace::{Manifest, RunDir, RunStatus, UtcTime, check_run};

use super::generate::Dag;
use super::import;

#[test]
fn it_has_every_task_with_its_duration_and_is_consistent() {
    let dag = Dag::layered(300);
    for file in dag.files() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("run");
        let dir = RunDir::create_exact(&path).unwrap();
        let graph = import(&file).unwrap();
        let written = write_run(&graph, &ImportOptions::default(), &dir, UtcTime::now()).unwrap();
        drop(dir);
        let manifest = Manifest::read(&path).unwrap();
        assert_eq!(manifest, written);
        assert_eq!((manifest.status, manifest.platform.as_str()), (RunStatus::Imported, "imported"));
        assert_eq!((manifest.tasks, manifest.blocks, manifest.clock_freq_hz), (300, 300, 1_000_000_000));
        assert_eq!((manifest.case.as_str(), &manifest.params["scale"][..]), (file.format.as_str(), "1s=1s"));
        let report = check_run(&path).unwrap();
        assert!(report.is_whole(), "{}: {report:?}", file.what);
        let deps = Deps::read(&path).unwrap();
        assert_eq!((deps.tasks.len(), deps.edges.len()), (300, dag.edges.len()));
        for (task, at) in deps.tasks.iter().zip(0..) {
            assert_eq!((task.task_id, task.seq.0, task.block_num), (TaskId(at), at, 1));
            assert_eq!(task.duration, Some(Ticks(dag.tasks[at as usize].micros * 1000)), "{}", file.what);
            assert_eq!(task.label.as_deref(), Some(dag.tasks[at as usize].name.as_str()));
            let kernel = &task.kernels[0].kernel;
            assert_eq!(
                (kernel.name.as_str(), kernel.core_type.as_str()),
                (dag.tasks[at as usize].kind, "any")
            );
        }
        assert!(deps.edges.iter().all(|edge| edge.source == EdgeSource::Explicit));
        let graph = TaskGraph::new(Run::open(&path).unwrap().dependencies().unwrap()).unwrap();
        assert_eq!(graph.edges.len(), dag.edges.len());
    }
}

#[test]
fn a_directory_with_a_run_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("run.json"), "{}").unwrap();
    assert_eq!(RunDir::create_exact(root.path()).unwrap_err().name(), "RunExists");
}
