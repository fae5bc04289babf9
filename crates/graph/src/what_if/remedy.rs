//! What an experiment represents: a change that people can make.

use ringlane_insight::gains::Remedy;
use ringlane_insight::verdict::Limit;

use super::change::{Change, Cores, KernelTime};
use super::experiment::Experiment;

/// The remedy that an experiment is; `None` if it makes several changes, or one that nobody can make true.
pub(super) fn of(experiment: &Experiment) -> Option<Remedy> {
    let [change] = experiment.changes.as_slice() else { return None };
    let (subject, words, lifts) = match change {
        Change::Kernel(_, KernelTime::Factor(0.0)) => return None,
        Change::Kernel(name, time) => (format!("kernel {name}"), kernel(name, *time), Limit::Dependencies),
        Change::Submit(factor) => ("submit".to_string(), cost("submits", *factor), Limit::Orchestrator),
        Change::Copies(factor) => ("copies".to_string(), cost("copies", *factor), Limit::Transfers),
        Change::Scheduler(factor) => ("scheduler".to_string(), cost("scheduling", *factor), Limit::Scheduler),
        Change::Schedulers(count) => {
            ("schedulers".to_string(), format!("{count} scheduler threads"), Limit::Scheduler)
        }
        Change::Cores(cores) => ("cores".to_string(), more(*cores), Limit::Cores),
        Change::Memory(factor) => ("memory".to_string(), memory(*factor), Limit::Memory),
        Change::Policy(policy) => ("policy".to_string(), format!("the policy {policy}"), Limit::Scheduler),
        Change::UnlimitedRings | Change::Ring(_) => ("rings".to_string(), change.to_string(), Limit::Rings),
        Change::Build(build) => {
            ("runtime".to_string(), format!("the runtime {}", build.runtime()), Limit::Orchestrator)
        }
        Change::Chip(_) | Change::DropCause(_) | Change::DropBetween(..) => return None,
    };
    Some(Remedy { subject, words, lifts })
}

fn kernel(name: &str, time: KernelTime) -> String {
    match time {
        KernelTime::Factor(0.5) => format!("{name} twice as fast"),
        KernelTime::Factor(factor) if factor < 1.0 => {
            format!("{name} {:.0} % faster", (1.0 - factor) * 100.0)
        }
        time => format!("{name} at {time}"),
    }
}

fn cost(what: &str, factor: f64) -> String {
    match factor {
        0.0 => format!("free {what}"),
        0.5 => format!("{what} at half the cost"),
        factor => format!("{what} at {factor} times the cost"),
    }
}

fn memory(factor: f64) -> String {
    if factor == 2.0 { "memory twice as fast".to_string() } else { format!("memory {factor} times as fast") }
}

fn more(cores: Cores) -> String {
    match cores {
        Cores::Threads(count) => format!("{count} threads"),
        Cores::Processors(count) => format!("{count} SMs"),
        cores => cores.to_string(),
    }
}
