//! Answers of experiments written by hand.

use super::{Baseline, Outcome, Remedy, WhatIf};
use crate::verdict::Limit;

const BASELINE: Baseline = Baseline { recorded_us: 100.0, replayed_us: 100.0, error: 0.0 };

fn outcome(subject: &str, words: &str, lifts: Limit, gain: f64) -> Outcome {
    let remedy = Some(Remedy { subject: subject.to_string(), words: words.to_string(), lifts });
    Outcome { name: words.to_string(), makespan_us: 100.0 * (1.0 - gain), gain, remedy }
}

fn answer(experiments: Vec<Outcome>) -> WhatIf {
    WhatIf::new(BASELINE, 80.0, experiments, Vec::new())
}

#[test]
fn the_line_names_the_limit_and_the_best_change_of_each_thing() {
    let found = answer(vec![
        outcome("submit", "submits at half their cost", Limit::Orchestrator, 0.2),
        outcome("submit", "free submits", Limit::Orchestrator, 0.4),
        outcome("cores", "unlimited cores", Limit::Cores, 0.1),
        outcome("rings", "unlimited rings", Limit::Rings, 0.001),
    ]);
    assert_eq!(found.limit, Some(Limit::Orchestrator));
    assert_eq!(
        found.sentence,
        "Orchestrator-bound: free submits would make the run 40.0 % shorter, unlimited cores 10.0 %; \
         no order of these blocks on these cores gains more than 20.0 %."
    );
}

#[test]
fn faster_kernels_help_most_where_cores_or_parallel_tasks_are_too_few() {
    let with_cores = |gain| {
        let kernel = |name, gain| outcome(name, "a faster kernel", Limit::Dependencies, gain);
        let cores = outcome("cores", "unlimited cores", Limit::Cores, gain);
        answer(vec![kernel("A", 0.3), kernel("B", 0.29), kernel("C", 0.28), cores])
    };
    assert_eq!(
        (with_cores(0.2).limit, with_cores(0.1).limit),
        (Some(Limit::Cores), Some(Limit::Dependencies))
    );
    assert_eq!(
        with_cores(0.2).sentence.matches("a faster kernel").count(),
        2,
        "{:?}",
        with_cores(0.2).sentence
    );
}

#[test]
fn memory_is_the_limit_where_twice_its_bandwidth_helps_half_as_much_as_more_cores() {
    let with_memory = |gain| {
        answer(vec![
            outcome("cores", "unlimited cores", Limit::Cores, 0.7),
            outcome("A", "A twice as fast", Limit::Dependencies, 0.4),
            outcome("memory", "memory twice as fast", Limit::Memory, gain),
        ])
    };
    assert_eq!((with_memory(0.35).limit, with_memory(0.3).limit), (Some(Limit::Memory), Some(Limit::Cores)));
    assert_eq!(
        with_memory(0.35).sentence,
        "Memory-bound: A twice as fast would make the run 40.0 % shorter, memory twice as fast 35.0 %; \
         no order of these blocks on these cores gains more than 20.0 %."
    );
}

#[test]
fn a_run_that_no_change_helps_has_no_limit() {
    let found = answer(vec![outcome("submit", "free submits", Limit::Orchestrator, 0.004)]);
    assert_eq!(found.limit, None);
    assert!(
        found.sentence.starts_with("No single change would gain 1.0 % (the best, free submits: 0.4 %); ")
    );
    assert!(answer(Vec::new()).sentence.starts_with("No single change would gain 1.0 %; "));
}

#[test]
fn an_experiment_that_nobody_can_make_true_is_no_remedy() {
    let free = Outcome { name: "kernel A 0x".to_string(), makespan_us: 10.0, gain: 0.9, remedy: None };
    let found = answer(vec![free, outcome("A", "A twice as fast", Limit::Dependencies, 0.5)]);
    assert_eq!(found.experiments[0].name, "kernel A 0x");
    assert!(
        found.sentence.starts_with("Dependency-bound: A twice as fast would make the run 50.0 % shorter")
    );
}
