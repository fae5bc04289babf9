//! Every scene gives its known answer on a modelled chip.

mod support;

use ringlane_chip_sim::core::CoreKind;
use ringlane_chip_sim::policy::PolicyName;
use ringlane_chip_sim::{SimOptions, SimRuntime};
use ringlane_scenes::scenes;
use ringlane_task::CallConfig;

#[test]
fn every_scene_gives_its_known_answer_with_every_policy() {
    let spec = support::a2a3();
    for scene in scenes() {
        for case in scene.cases.iter().filter(|case| scene.name != "stream" || case.name == "short") {
            for policy in PolicyName::ALL {
                let settings = scene.settings(case, &[], 0).unwrap();
                let mut program = (scene.build)(&settings).unwrap();
                let mut buffers = program.buffers().unwrap();
                let mut runtime = SimRuntime::new(
                    &spec,
                    &CallConfig::default(),
                    SimOptions { policy, ..SimOptions::default() },
                )
                .unwrap();
                let start = std::time::Instant::now();
                let run = runtime.run(&mut buffers, |o| program.orchestrate(o));
                run.result.unwrap();
                assert!(program.golden(&buffers).unwrap().passed(), "{} {} {policy}", scene.name, case.name);
                let t = runtime.totals();
                println!(
                    "{} {} {policy}: {} tasks, {:.1} µs, aic {:.2} aiv {:.2}, host {:?}",
                    scene.name,
                    case.name,
                    run.report.tasks,
                    t.makespan as f64 / 1e6,
                    t.utilization(CoreKind::Aic),
                    t.utilization(CoreKind::Aiv),
                    start.elapsed()
                );
            }
        }
    }
}
