//! The child process: runs programs one after another and reports its progress to its parent, line by line.
//!
//! ```text
//! at 17            about to run the program of seed 17
//! as recorded      it is of this kind (and of others that follow)
//! failed 17        it failed; what follows says how
//! | …
//! end
//! ```
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ringlane::{Platform, Runtime};
use ringlane_task::CallConfig;

use super::capacity::DEVICE_ROOMY;
use super::check::{check, check_device};
use super::outcome::OnDevice;
use super::program::Program;
use super::shrink::{describe, shrink};
use super::{Args, draw};

/// The program of a seed, as the command line changes it.
fn program(args: &Args, seed: u64) -> Program {
    let mut program = draw::program(seed, 0);
    if let Some(threads) = args.threads {
        program.threads = threads;
    }
    program
}

/// What programs are checked on.
enum Checks {
    /// This machine and the modelled chips.
    Here,
    /// A device, and its runtime for captured graphs, which also keeps the device open.
    Device(Platform, Box<OnDevice>),
}

impl Checks {
    fn of(args: &Args) -> Result<Self, String> {
        let Some(name) = &args.device else { return Ok(Checks::Here) };
        let platform = Platform::named(name).ok_or_else(|| format!("there is no platform {name}"))?;
        // A graph keeps all tasks, and in long programs they follow very many others: only the heap is limited.
        let runtime = Runtime::on(platform).with(&CallConfig::default().with_ring_heap(DEVICE_ROOMY.heap));
        let runtime = runtime.map_err(|error| format!("{error:?}"))?;
        Ok(Checks::Device(platform, Box::new(OnDevice(runtime))))
    }

    fn check(&mut self, program: &Program) -> Result<(), String> {
        match self {
            Checks::Here => check(program),
            Checks::Device(platform, graphs) => check_device(program, *platform, graphs),
        }
    }

    fn kinds(&self, program: &Program) -> Vec<String> {
        match self {
            Checks::Here => kinds(program).collect(),
            Checks::Device(..) => Vec::new(),
        }
    }
}

/// What is done with a program beside the plain run.
fn kinds(program: &Program) -> impl Iterator<Item = String> {
    let recorded = program.recorded.map(|_| "recorded".to_string());
    let modelled = program.modelled.iter().flat_map(|plan| {
        let chaos = plan.chaos.map(|_| "with chaos".to_string());
        [Some(format!("on {}", plan.platform)), chaos].into_iter().flatten()
    });
    recorded.into_iter().chain(modelled)
}

fn report(line: &str) {
    let mut out = std::io::stdout().lock();
    // If the parent has ended, nothing reads the line.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Runs the programs of this child's share of the seeds.
pub(crate) fn work(args: &Args, first: u64, stride: u64) -> ExitCode {
    let end = Instant::now() + Duration::from_secs(args.seconds);
    let mut seed = first;
    let mut left = args.count.unwrap_or(u64::MAX);
    let mut checks = match Checks::of(args) {
        Ok(checks) => checks,
        Err(failure) => {
            report(&format!("failed {seed}"));
            report(&format!("| {failure}"));
            report("end");
            return ExitCode::from(1);
        }
    };
    while left > 0 && (args.count.is_some() || Instant::now() < end) {
        report(&format!("at {seed}"));
        let drawn = program(args, seed);
        checks.kinds(&drawn).into_iter().for_each(|kind| report(&format!("as {kind}")));
        if let Err(failure) = checks.check(&drawn) {
            report(&format!("failed {seed}"));
            let show = |text: &str| text.lines().for_each(|line| report(&format!("| {line}")));
            show(&failure);
            if args.plant.is_none() && args.device.is_none() {
                let small = shrink(&drawn);
                show(&describe(&small));
                show(&check(&small).err().unwrap_or_else(|| "(it does not fail every time)".to_string()));
            }
            report("end");
            return ExitCode::from(1);
        }
        seed = seed.wrapping_add(stride);
        left -= 1;
    }
    ExitCode::SUCCESS
}
