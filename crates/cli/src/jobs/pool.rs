//! Cases side by side: this many workers, each with one case at a time in a process of its own.
//!
//! ```text
//! every event, and every tick:  printed ─▶ whole lines        ended ─▶ its answer, or how it died; the next case
//!                               Ctrl-C  ─▶ on to all          SIGUSR1 ─▶ on to all
//!                               messages ─▶ lines of progress
//! ```
//! A process is in a group of its own, so that a Ctrl-C on the terminal reaches this one only, which hands it on: a case
//! then ends at its next task and writes what it has. A second Ctrl-C ends this process, and the kernel ends the others
//! with it, as it does whenever this process dies.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use ringlane_chip_cpu::CpuClock;
use ringlane_node::{Exit, NodeError, Process, ProcessObserver};
use ringlane_trace::{Manifest, RunError, RunStatus};
use rustix::process::Signal;

use super::death::CaseEnd;
use super::message::{JobMessage, JobSpec};
use super::screen::{Printed, Screen};
use super::{Ended, Plan};
use crate::case_report::{Answer, CaseReport, Note, Refusal, Voice};
use crate::cmd::common_arguments;
use crate::errors::CliError;
use crate::execute::Setup;
use crate::limits::{CASE_EVENTS, CTRL_C_GRACE, TICK};
use crate::output::say;
use crate::progress::Progress;
use crate::signals::{Inbox, SignalRequest, StopSignal, is_stop_asked, stop_signal};

/// What a process is heard of.
enum Event {
    Printed(usize, Vec<u8>),
    Ended(usize),
}

/// Hears of the process of one worker.
#[derive(Debug)]
struct EventSender {
    worker: usize,
    events: SyncSender<Event>,
}

impl ProcessObserver for EventSender {
    fn printed(&self, printed: &[u8]) {
        // An error means that the receiver is gone.
        let _ = self.events.send(Event::Printed(self.worker, printed.to_vec()));
    }

    fn ended(&self) {
        let _ = self.events.send(Event::Ended(self.worker));
    }
}

/// A case in its process.
struct AtWork {
    case: usize,
    process: Process,
    message: JobMessage,
    printed: Printed,
    /// Whether it was killed because it did not end after Ctrl-C.
    is_killed: bool,
}

/// A case, without its program: that is made anew in its process, and would only take room here.
struct Case {
    /// What is known of it beforehand.
    manifest: Manifest,
    spec: JobSpec,
    setup: Rc<Setup>,
}

struct ProcessPool {
    /// Dropped before the workers, so that nothing waits to be heard when they are.
    events: Receiver<Event>,
    sender: SyncSender<Event>,
    workers: Vec<Option<AtWork>>,
    cases: Vec<Case>,
    next: usize,
    /// The clock of the machine, if the cases run on it.
    clock: Option<CpuClock>,
    case_report: Vec<Option<CaseReport>>,
    refusal: Option<Refusal>,
    voice: Voice,
    screen: Screen,
    inbox: Inbox,
    patience: Option<Instant>,
}

/// Runs cases side by side, this many at a time.
pub fn side_by_side(plans: Vec<Plan>, workers: usize, progress: Progress) -> Result<Ended, CliError> {
    let is_modelled = plans.iter().all(|plan| plan.setup.request.platform.capabilities().virtual_time);
    let case = |plan: Plan| Case {
        manifest: plan.setup.manifest(&plan.job),
        spec: JobSpec::of(&plan),
        setup: plan.setup,
    };
    let cases: Vec<_> = plans.into_iter().map(case).collect();
    let workers = workers.min(cases.len());
    let inbox = Inbox::open()?;
    let (sender, events) = sync_channel(CASE_EVENTS);
    let pool = ProcessPool {
        events,
        sender,
        workers: (0..workers).map(|_| None).collect(),
        next: 0,
        clock: (!is_modelled).then(CpuClock::get),
        case_report: vec![None; cases.len()],
        refusal: None,
        voice: Voice::default(),
        screen: Screen::new(progress, workers, cases.len()),
        cases,
        inbox,
        patience: None,
    };
    Ok(pool.run())
}

impl ProcessPool {
    fn run(mut self) -> Ended {
        loop {
            self.start_cases();
            if self.workers.iter().all(Option::is_none) {
                break;
            }
            let event = self.events.recv_timeout(TICK).ok();
            event.into_iter().for_each(|event| self.handle(event));
            while let Ok(event) = self.events.try_recv() {
                self.handle(event);
            }
            self.handle_signals();
            self.show_progress();
        }
        let case_report = self.case_report.into_iter().flatten().collect();
        Ended { case_report, refusal: self.refusal, interrupted: stop_signal() }
    }

    /// Gives each worker that has none a case, as long as there are cases and no stop was requested.
    fn start_cases(&mut self) {
        for worker in 0..self.workers.len() {
            let is_over = self.next == self.cases.len() || self.refusal.is_some() || is_stop_asked();
            if is_over || self.workers[worker].is_some() {
                continue;
            }
            match self.start(worker, self.next) {
                Ok(at_work) => self.workers[worker] = Some(at_work),
                Err(error) => self.refusal = Some(Refusal::of(&CliError::Node(error))),
            }
            self.next += 1;
        }
    }

    fn start(&self, worker: usize, case: usize) -> Result<AtWork, NodeError> {
        let Case { manifest, spec, setup } = &self.cases[case];
        let label = label(manifest);
        let cannot = |error: std::io::Error| NodeError::CannotStart {
            worker: label.clone(),
            doing: "memory that it shares",
            error: error.to_string(),
        };
        let message = JobMessage::create(spec, &setup.request).map_err(cannot)?;
        self.clock.iter().try_for_each(|clock| message.set_clock(clock)).map_err(cannot)?;
        let descriptor = message.descriptor().map_err(cannot)?;
        let listener = Arc::new(EventSender { worker, events: self.sender.clone() });
        let arguments = arguments(&descriptor);
        let process = Process::start(&label, arguments, Arc::new(descriptor), listener)?;
        self.screen.begin(worker, &label);
        Ok(AtWork { case, process, message, printed: Printed::by(&label), is_killed: false })
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Printed(worker, bytes) => {
                if let Some(at_work) = &mut self.workers[worker] {
                    at_work.printed.add(&bytes, &self.screen);
                }
            }
            Event::Ended(worker) => {
                if let Some(at_work) = self.workers[worker].take() {
                    self.reap(worker, at_work);
                }
            }
        }
    }

    /// Takes the answer of a process that has ended.
    fn reap(&mut self, worker: usize, mut at_work: AtWork) {
        at_work.printed.finish(&self.screen);
        self.screen.end(worker);
        let answer = self.answer(&at_work);
        self.screen.above(|| answer.notes.into_iter().for_each(|note| self.voice.say(note)));
        self.case_report[at_work.case] = answer.case_report;
        self.refusal = self.refusal.take().or(answer.refusal);
    }

    fn answer(&self, at_work: &AtWork) -> Answer {
        // It has ended, so that there is no wait.
        let exit = at_work.process.exit_within(Duration::ZERO);
        match (at_work.message.answer(), exit) {
            (Some(answer), Some(exit)) => with_its_end(answer, &exit, &self.cases[at_work.case].manifest),
            (Some(answer), None) => answer,
            (None, Some(exit)) => self.death(at_work, exit),
            (None, None) => Answer::default(),
        }
    }

    /// What is reported of a case whose process ended without an answer.
    fn death(&self, at_work: &AtWork, exit: Exit) -> Answer {
        let (mut manifest, dir) = (self.cases[at_work.case].manifest.clone(), at_work.message.dir());
        if dir.is_none() && is_stop_asked() {
            // It had not begun: a case like those that were not started any more.
            return Answer::default();
        }
        let (scene, case) = (manifest.scene.clone(), manifest.case.clone());
        let (status, end) = if at_work.is_killed {
            (RunStatus::Interrupted, CaseEnd::Killed { scene, case, after: CTRL_C_GRACE, exit })
        } else {
            (RunStatus::Failed, CaseEnd::Died { scene, case, exit, dir: dir.clone() })
        };
        manifest.fail(status, RunError::of(&end));
        manifest.tasks = at_work.message.submitted();
        let dir = dir.unwrap_or_default();
        let case_report =
            CaseReport { manifest, dir, walls_us: vec![], peak_rss_bytes: 0, recorded: None, modelled: None };
        Answer { case_report: Some(case_report), notes: vec![Note::error(&end)], refusal: None }
    }

    fn handle_signals(&mut self) {
        for request in self.inbox.take() {
            match request {
                SignalRequest::Stop(signal) => {
                    self.screen.above(|| say(text(signal)));
                    self.patience = Instant::now().checked_add(CTRL_C_GRACE);
                    self.signal_all(Signal::INT);
                }
                SignalRequest::Status => self.signal_all(Signal::USR1),
            }
        }
        if self.patience.is_some_and(|until| Instant::now() >= until) {
            self.kill_those_in_a_task();
        }
    }

    fn signal_all(&self, signal: Signal) {
        self.workers.iter().flatten().for_each(|at_work| at_work.process.signal(signal));
    }

    /// Ends those that do not react. The others write what they have, however long that takes.
    fn kill_those_in_a_task(&mut self) {
        for at_work in self.workers.iter_mut().flatten() {
            if at_work.message.is_in_task() && !at_work.is_killed {
                at_work.is_killed = true;
                at_work.process.signal(Signal::KILL);
            }
        }
    }

    /// Shows how far the cases are.
    fn show_progress(&self) {
        for (worker, at_work) in self.workers.iter().enumerate() {
            if let Some(at_work) = at_work {
                self.screen.update(worker, at_work.message.submitted());
            }
        }
        self.screen.tick();
    }
}

/// The answer of a process that came to a bad end after it had given it: the case is what it says, and its end is reported.
fn with_its_end(mut answer: Answer, exit: &Exit, case: &Manifest) -> Answer {
    if !exit.status.success() {
        let label = label(case);
        answer.notes.push(Note::Say(format!("warning: {label}: after the case was over, its {exit}")));
    }
    answer
}

fn text(signal: StopSignal) -> String {
    signal.text("the cases end at their next tasks").replace("ends it", "ends them")
}

fn label(case: &Manifest) -> String {
    format!("{} {}", case.scene, case.case)
}

/// The command line of a case's process; what it runs is in the message.
fn arguments(message: &OwnedFd) -> Vec<OsString> {
    let own = ["worker".into(), "--job-fd".into(), message.as_raw_fd().to_string().into()];
    own.into_iter().chain(common_arguments()).collect()
}
