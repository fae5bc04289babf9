//! The parent: starts the children, reads their progress, and identifies a program that hangs or crashes by its seed.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::Args;
use crate::error::{Error, Result};

/// How often progress is shown.
const SHOW_EVERY: Duration = Duration::from_secs(5);

/// What went wrong with which program.
pub(crate) struct Found {
    pub(crate) seed: u64,
    pub(crate) what: String,
}

/// What the children did.
pub(crate) struct Tally {
    pub(crate) programs: u64,
    /// How many of them were of each kind, beside the plain run.
    pub(crate) kinds: BTreeMap<String, u64>,
    pub(crate) found: Option<Found>,
}

impl Tally {
    /// How many programs there were, and of which kinds.
    pub(crate) fn summary(&self) -> String {
        let kinds: Vec<_> = self.kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
        format!("{} programs{kinds}", self.programs)
    }
}

enum News {
    Line(String),
    Closed,
}

struct Watched {
    child: Child,
    seed: u64,
    heard: Instant,
    /// The text of a failure on its way.
    failure: Option<String>,
    open: bool,
}

/// Runs `jobs` children over consecutive seeds until time is up or one finds something.
pub(crate) fn watch(args: &Args, first: u64, jobs: u64, silence: Duration) -> Result<Tally> {
    let (sender, news) = channel();
    let mut all = Vec::new();
    for job in 0..jobs {
        all.push(start(args, first, job, jobs, &sender)?);
    }
    drop(sender);
    let tally = listen(&mut all, &news, silence);
    for watched in &mut all {
        // Its end was seen, or it is one that hangs: either way nothing more is wanted of it.
        let _ = watched.child.kill();
        let _ = watched.child.wait();
    }
    Ok(tally)
}

fn start(args: &Args, first: u64, job: u64, jobs: u64, sender: &Sender<(usize, News)>) -> Result<Watched> {
    let program =
        std::env::current_exe().map_err(|source| Error::Start { program: "xtask".into(), source })?;
    let mut command = Command::new(&program);
    let seed = first.wrapping_add(job);
    command.args(["swarm", "--worker", &jobs.to_string(), "--seed", &seed.to_string()]);
    command.args(["--seconds", &args.seconds.to_string()]);
    let share = args.count.map(|count| count.saturating_sub(job).div_ceil(jobs));
    for (option, value) in [("--count", share.map(|n| n.to_string())), ("--plant", args.plant.clone())] {
        command.args(value.iter().flat_map(|value| [option, value.as_str()]));
    }
    // One compilation for all programs.
    command.envs(args.device.iter().map(|_| ("RL_KERNELS", "all")));
    command.args(args.device.iter().flat_map(|device| ["--device", device.as_str()]));
    command.args(args.threads.iter().flat_map(|n| ["--threads".to_string(), n.to_string()]));
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let shown = program.display().to_string();
    let mut child = spawned.map_err(|source| Error::Start { program: shown, source })?;
    let out = child.stdout.take().expect("piped above");
    let sender = sender.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(|line| line.ok()) {
            if sender.send((job as usize, News::Line(line))).is_err() {
                return;
            }
        }
        let _ = sender.send((job as usize, News::Closed));
    });
    Ok(Watched { child, seed, heard: Instant::now(), failure: None, open: true })
}

fn listen(all: &mut [Watched], news: &Receiver<(usize, News)>, silence: Duration) -> Tally {
    let (begun, mut shown) = (Instant::now(), Instant::now());
    let mut tally = Tally { programs: 0, kinds: BTreeMap::new(), found: None };
    while tally.found.is_none() && all.iter().any(|w| w.open) {
        match news.recv_timeout(Duration::from_millis(200)) {
            Ok((job, News::Line(line))) => tally.found = all[job].read_line(&line, &mut tally),
            Ok((job, News::Closed)) => tally.found = all[job].closed(),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if tally.found.is_none() {
            tally.found = all.iter().find_map(|w| w.silent(silence));
        }
        if shown.elapsed() >= SHOW_EVERY {
            shown = Instant::now();
            let seconds = begun.elapsed().as_secs_f64();
            eprintln!(
                "{:>7} programs, {seconds:>4.0} s, {:.0} a second",
                tally.programs,
                tally.programs as f64 / seconds
            );
        }
    }
    tally
}

impl Watched {
    fn read_line(&mut self, line: &str, tally: &mut Tally) -> Option<Found> {
        self.heard = Instant::now();
        if let Some(seed) = line.strip_prefix("at ").and_then(|seed| seed.parse().ok()) {
            tally.programs += 1;
            self.seed = seed;
        } else if let Some(kind) = line.strip_prefix("as ") {
            *tally.kinds.entry(kind.to_string()).or_default() += 1;
        } else if line.starts_with("failed ") {
            self.failure = Some(String::new());
        } else if let (Some(text), Some(failure)) = (line.strip_prefix("| "), &mut self.failure) {
            failure.push_str(text);
            failure.push('\n');
        } else if line == "end" {
            return Some(self.found(String::new()));
        }
        None
    }

    fn found(&mut self, end: String) -> Found {
        let text = self.failure.take().unwrap_or_default();
        Found { seed: self.seed, what: text + &end }
    }

    fn closed(&mut self) -> Option<Found> {
        self.open = false;
        let status = self.child.wait();
        match status {
            Ok(status) if status.success() && self.failure.is_none() => None,
            Ok(status) => Some(self.found(format!("the process ended: {}\n", said(status)))),
            Err(error) => Some(self.found(format!("the process is lost: {error}\n"))),
        }
    }

    fn silent(&self, silence: Duration) -> Option<Found> {
        let text = self.failure.clone().unwrap_or_default();
        let what = format!("{text}hangs: nothing heard for {} s\n", silence.as_secs());
        (self.open && self.heard.elapsed() > silence).then_some(Found { seed: self.seed, what })
    }
}

fn said(status: ExitStatus) -> String {
    status.to_string()
}
