//! Chaos: the same seed injects the same faults, results stay correct, and a silent core is detected.

mod support;

use ringlane_chip_sim::chaos::Draw;
use ringlane_chip_sim::{SimOptions, SimRuntime, Totals};
use ringlane_engine::prelude::*;
use ringlane_engine::report::Run;
use ringlane_task::{CallConfig, Explain};

kernel! { static ADD = any fn(x: &[u64], y: &mut [u64]) { y[0] += x[0] + 1; } }

/// Forty chains of twenty-five tasks that sometimes share a buffer.
fn run(chaos: u64) -> (Run<Vec<u64>>, Totals) {
    let mut data = Buffers::new();
    let ids: Vec<_> = (0..40u64).map(|i| data.add(&[1], &[i]).unwrap()).collect();
    let options = SimOptions { chaos: Some(chaos), ..SimOptions::default() };
    let mut runtime = SimRuntime::new(&support::a2a3(), &CallConfig::default(), options).unwrap();
    let run = runtime.run(&mut data, |o| {
        let chains = ids.iter().map(|&id| o.external(id)).collect::<Result<Vec<_>>>()?;
        for round in 0..25 {
            for i in 0..chains.len() {
                o.submit(&ADD, [chains[(i + 1 + round) % chains.len()].read(), chains[i].inout()])?;
            }
        }
        chains.iter().map(|&chain| o.read::<u64>(chain).map(|values| values[0])).collect()
    });
    let totals = runtime.totals().clone();
    (run, totals)
}

#[test]
fn a_seed_injects_the_same_faults_each_time_and_results_stay_correct() {
    let mut answers = Vec::new();
    let (mut silent, mut makespans) = (0, Vec::new());
    for seed in 0..40 {
        let (first, again) = (run(seed), run(seed));
        assert_eq!(first.1.draws, again.1.draws);
        assert_eq!(first.1.makespan, again.1.makespan);
        makespans.push(first.1.makespan);
        match first.0.result {
            Ok(answer) => answers.push(answer),
            Err(error) => {
                assert_eq!(error.name(), "CoreSilent");
                let drawn = first.1.draws.iter().find_map(|draw| match draw {
                    Draw::SilentCore(core, _) => Some(core.0),
                    _ => None,
                });
                let expected =
                    format!("core {} began task ", drawn.expect("a core is silent because it was drawn"));
                assert!(error.detail().starts_with(&expected), "{}", error.detail());
                silent += 1;
            }
        }
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "timing does not change values");
    assert!(silent > 0 && answers.len() > 20, "{silent} silent, {} answers", answers.len());
    makespans.dedup();
    assert!(makespans.len() > 30, "seeds differ");
}
