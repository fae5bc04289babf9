//! An unchanged replay of a recorded run takes exactly as long as the run.

use std::sync::Arc;

use ringlane::chip_sim::spec;
use ringlane::prelude::*;
use ringlane::replays::recorded::{GraphBuild, Recorded};
use ringlane::replays::replay::Replayable;
use ringlane::replays::what_if::{Change, Cores, Experiment, KernelTime};
use ringlane::scenes::scenes;
use ringlane::{Model, PolicyName, SimOptions};

/// The cases that run quickly.
fn cases(scene: &Scene) -> impl Iterator<Item = &'static Case> {
    scene.usual_cases().filter(|case| !["large", "long", "fine", "scopes"].contains(&case.name))
}

/// Records a case; the directory is removed with the returned value.
fn record(
    platform: Platform,
    scene: &Scene,
    case: &Case,
    flags: DfxFlags,
    model: Model,
) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let params: Vec<(String, String)> =
        if scene.name == "stream" { vec![("tasks".into(), "3000".into())] } else { vec![] };
    let mut program = (scene.build)(&scene.settings(case, &params, 7).unwrap()).unwrap();
    let mut buffers = program.buffers().unwrap();
    let mut config = CallConfig::default().with_dfx_flags(flags);
    config.set_output_prefix(dir.path().join("run").to_str().unwrap()).unwrap();
    let mut runtime = Runtime::on(platform).model(model).with(&config).unwrap();
    let run = runtime.run(&mut buffers, |o| program.orchestrate(o));
    run.result.unwrap_or_else(|error| panic!("{} {}: {error}", scene.name, case.name));
    dir
}

fn assert_exact(dir: &tempfile::TempDir, what: &str) {
    let recorded = Recorded::read(dir.path().join("run")).unwrap_or_else(|error| panic!("{what}: {error}"));
    let replayable = Replayable::new(&recorded.program).unwrap();
    let replayed = replayable.replay(&recorded.setup, Arc::new(recorded.costs.clone()));
    let replayed = replayed.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(replayed.makespan_ticks, recorded.manifest.makespan_ticks, "{what}");
}

/// Records a case as a captured graph.
fn record_captured(
    platform: Platform,
    scene: &Scene,
    case: &Case,
    flags: DfxFlags,
) -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().unwrap();
    let params: Vec<(String, String)> =
        if scene.name == "stream" { vec![("tasks".into(), "3000".into())] } else { vec![] };
    let mut program = (scene.build)(&scene.settings(case, &params, 7).unwrap()).unwrap();
    let mut buffers = program.buffers().unwrap();
    let mut config = CallConfig::default().with_dfx_flags(flags);
    config.set_output_prefix(dir.path().join("run").to_str().unwrap()).unwrap();
    let mut runtime = Runtime::on(platform).with(&config).unwrap();
    // A scene that reads values cannot be captured.
    let mut graph = runtime.capture(&buffers, |o| program.orchestrate(o)).ok()?;
    runtime.replay(&mut graph, &mut buffers).result.unwrap();
    Some(dir)
}

const ENOUGH: DfxFlags = DfxFlags::SWIMLANE_PHASES.with(DfxFlags::DEPS);
const ALL: DfxFlags = ENOUGH.with(DfxFlags::SCOPES).with(DfxFlags::PMU).with(DfxFlags::DUMP);

#[test]
fn an_unchanged_replay_of_every_scene_takes_as_long_as_the_run_to_the_tick() {
    for scene in scenes() {
        for case in cases(scene) {
            for platform in [Platform::A2a3sim, Platform::A5sim] {
                for flags in [ENOUGH, ALL] {
                    let dir = record(platform, scene, case, flags, Model::default());
                    assert_exact(&dir, &format!("{} {} {platform:?} {flags}", scene.name, case.name));
                }
            }
        }
    }
}

#[test]
fn a_replay_has_the_policy_and_the_faults_of_the_run() {
    for scene in scenes().into_iter().filter(|scene| ["cholesky", "moe", "wavefront"].contains(&scene.name)) {
        for policy in PolicyName::ALL {
            for chaos in [None, Some(2)] {
                let options = SimOptions { policy, chaos, ..SimOptions::default() };
                let model = Model { options, ..Model::default() };
                let dir = record(Platform::A2a3sim, scene, scene.default_case(), ENOUGH, model);
                assert_exact(&dir, &format!("{} {policy} {chaos:?}", scene.name));
            }
        }
    }
}

/// The makespan of a run, in ticks.
fn makespan(dir: &tempfile::TempDir) -> u64 {
    ringlane::trace::Manifest::read(dir.path().join("run")).unwrap().makespan_ticks
}

/// The ticks that an experiment on a recorded run predicts.
fn predict(dir: &tempfile::TempDir, changes: Vec<Change>) -> u64 {
    let recorded = Recorded::read(dir.path().join("run")).unwrap();
    let (setup, costs) = Experiment { changes }.apply(&recorded).unwrap();
    Replayable::new(&recorded.program).unwrap().replay(&setup, Arc::new(costs)).unwrap().makespan_ticks
}

/// A change, and a run with the chip or the options that it predicts.
type Validated = (Change, Model);

fn validated(platform: Platform) -> Vec<Validated> {
    let chip = spec::builtin(platform.as_str()).unwrap();
    let with = |change: fn(&mut ringlane::task::ChipSpec)| {
        let mut chip = chip.clone();
        change(&mut chip);
        Model { chip: Some(chip), ..Model::default() }
    };
    let policy =
        |policy| Model { options: SimOptions { policy, ..SimOptions::default() }, ..Model::default() };
    let mut validated = vec![
        (Change::Cores(Cores::OneMoreCluster), with(|chip| chip.clusters += 1)),
        (Change::Cores(Cores::Of { aic: Some(10), aiv: None }), with(|chip| chip.clusters = 10)),
        (
            Change::Cores(Cores::Of { aic: Some(8), aiv: Some(24) }),
            with(|chip| (chip.clusters, chip.aiv_per_cluster) = (8, 3)),
        ),
        (Change::Policy(PolicyName::CriticalPath), policy(PolicyName::CriticalPath)),
        (Change::Policy(PolicyName::Locality), policy(PolicyName::Locality)),
        (
            Change::Submit(0.5),
            with(|chip| {
                let c = &mut chip.costs;
                (c.admit, c.look_up, c.insert, c.wire) =
                    (c.admit / 2, c.look_up / 2, c.insert / 2, c.wire / 2);
            }),
        ),
        (
            Change::Submit(0.0),
            with(|chip| {
                let c = &mut chip.costs;
                (c.admit, c.look_up, c.insert, c.wire) = (0, 0, 0, 0);
            }),
        ),
        (
            Change::Scheduler(0.0),
            with(|chip| {
                let c = &mut chip.costs;
                (c.dispatch_store, c.poll, c.resolve, c.reclaim, c.round) = (0, 0, 0, 0, 0);
            }),
        ),
        (Change::Schedulers(1), with(|chip| chip.schedulers = 1)),
        (Change::Memory(2.0), with(|chip| chip.rates.memory_bytes *= 2.0)),
    ];
    // The host accesses the memory of the other one.
    if platform == Platform::A5sim {
        let faster = with(|chip| (chip.link.latency, chip.link.bytes_per_second) = half_as_long(&chip.link));
        let free =
            with(|chip| (chip.link.latency, chip.link.bytes_per_second) = (0, 1_000_000_000_000_000_000));
        validated.extend([(Change::Copies(0.5), faster), (Change::Copies(0.0), free)]);
    }
    validated
}

/// Latency and bandwidth of a link whose copies take half as long.
fn half_as_long(link: &ringlane::task::LinkSpec) -> (u64, u64) {
    (link.latency / 2, link.bytes_per_second * 2)
}

#[test]
fn predictions_are_those_of_a_run_with_the_change_to_the_tick() {
    for scene in scenes() {
        let case = scene.default_case();
        for platform in [Platform::A2a3sim, Platform::A5sim] {
            let recorded = record(platform, scene, case, ENOUGH, Model::default());
            for (change, model) in validated(platform) {
                let real = record(platform, scene, case, ENOUGH, model);
                let what = format!("{} {} {platform:?} {change}", scene.name, case.name);
                assert_eq!(predict(&recorded, vec![change]), makespan(&real), "{what}");
            }
        }
    }
}

#[test]
fn a_kernel_with_another_time_is_predicted_as_a_run_with_another_cost_table() {
    let scene = Scene::find("cholesky").unwrap();
    let case = scene.default_case();
    let plain = record(Platform::A2a3sim, scene, case, ENOUGH, Model::default());
    let table = ringlane::recorded_costs([plain.path().join("run")]).unwrap().to_json();
    let costs = |text: &str| {
        let costs = ringlane::CostTable::parse(text.as_bytes(), "edited".as_ref()).unwrap();
        Model::default().with_costs(costs)
    };
    let recorded = record(Platform::A2a3sim, scene, case, ENOUGH, costs(&table));
    // Every time of POTRF, twice.
    let mut edited: serde_json::Value = serde_json::from_str(&table).unwrap();
    for kernel in
        edited["kernels"].as_array_mut().unwrap().iter_mut().filter(|kernel| kernel["name"] == "POTRF")
    {
        let twice = |value: &mut serde_json::Value| *value = (value.as_u64().unwrap() * 2).into();
        ["mean_ps", "min_ps", "max_ps"].into_iter().for_each(|field| twice(&mut kernel[field]));
        kernel["spread_ps"].as_array_mut().unwrap().iter_mut().for_each(twice);
        for task in kernel["tasks"].as_array_mut().unwrap() {
            task.as_array_mut().unwrap().iter_mut().skip(1).for_each(twice);
        }
    }
    let real = record(Platform::A2a3sim, scene, case, ENOUGH, costs(&edited.to_string()));
    let change = Change::Kernel("POTRF".to_string(), KernelTime::Factor(2.0));
    assert_eq!(predict(&recorded, vec![change]), makespan(&real));
    assert!(makespan(&real) > makespan(&recorded));
}

#[test]
fn a_captured_graph_and_the_streamed_run_predict_each_other_to_the_tick() {
    let mut captured = 0;
    for scene in scenes() {
        for case in cases(scene) {
            for (platform, flags) in
                [(Platform::A2a3sim, ENOUGH), (Platform::A5sim, ENOUGH), (Platform::A2a3sim, ALL)]
            {
                let Some(graph) = record_captured(platform, scene, case, flags) else { continue };
                let what = format!("{} {} {platform:?} {flags}", scene.name, case.name);
                assert_exact(&graph, &what);
                let streamed = record(platform, scene, case, flags, Model::default());
                let capture = Change::Build(GraphBuild::Captured { memory_limit: None });
                assert_eq!(predict(&streamed, vec![capture]), makespan(&graph), "{what}");
                let stream = Change::Build(GraphBuild::Streamed);
                assert_eq!(predict(&graph, vec![stream]), makespan(&streamed), "{what}");
                captured += 1;
            }
        }
    }
    assert!(captured >= 40, "only {captured} runs were captured");
}
