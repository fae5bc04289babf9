//! Every scene passes its golden on the modelled chips, with the same bytes on both.

use ringlane_chip_sim::policy::PolicyName;
use ringlane_chip_sim::{SimOptions, SimRuntime, spec};
use ringlane_scenes::{Case, Golden, Scene, scenes};
use ringlane_task::CallConfig;

fn run(chip: &str, scene: &Scene, case: &Case, policy: PolicyName) -> Golden {
    let params: Vec<(String, String)> =
        if scene.name == "stream" { vec![("tasks".into(), "20000".into())] } else { vec![] };
    let mut program = (scene.build)(&scene.settings(case, &params, 7).unwrap()).unwrap();
    let mut buffers = program.buffers().unwrap();
    let options = SimOptions { policy, ..SimOptions::default() };
    let mut runtime =
        SimRuntime::new(&spec::builtin(chip).unwrap(), &CallConfig::default(), options).unwrap();
    let run = runtime.run(&mut buffers, |o| program.orchestrate(o));
    run.result.unwrap_or_else(|error| panic!("{} {}: {error:?}", scene.name, case.name));
    program.golden(&buffers).unwrap()
}

#[test]
fn every_case_passes_its_golden_with_every_policy_on_both_chips() {
    for scene in scenes() {
        // Large cases compute for seconds: these are run manually, with the command.
        for case in
            scene.usual_cases().filter(|case| !["large", "long", "fine", "scopes"].contains(&case.name))
        {
            let runs =
                ["a2a3sim", "a5sim"].map(|chip| PolicyName::ALL.map(|policy| run(chip, scene, case, policy)));
            for golden in runs.as_flattened() {
                assert!(golden.passed(), "{} {}: {golden:?}", scene.name, case.name);
                assert_eq!(golden.output_hash, runs[0][0].output_hash, "{} {}", scene.name, case.name);
            }
        }
    }
}
