//! What a case in a process of its own and its parent say to each other: a file in memory that both have open.
//!
//! ```text
//! 0           8           16          24             40            56     4152
//! │ submitted │ in a task │ length of │ rate of the │ lengths of  │ path │ job, as │ run    │ answer, as JSON, once the
//! │           │           │ path      │ clock       │ job, request│      │ JSON    │ request│ case is over
//! ```
//! The parent writes the clock, the job and the run's request before the child starts. The rest is the child's: the parent
//! reads it whenever it likes, neither waits for the other, and what a process that died has written stays. A number that is half written is a wrong picture on a screen and nothing worse; an answer that is half written
//! is no JSON, and so none.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use ringlane::RunRequest;
use ringlane_chip_cpu::{CpuClock, TickSource};
use ringlane_node::inherited;
use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};

use super::{Pages, Plan};
use crate::case_report::Answer;
use crate::diagnostics::DfxRounds;
use crate::errors::CliError;
use crate::execute::{Audience, Setup};
use crate::progress::Progress;
use crate::workers::parts::SceneSpec;
use crate::workers::{self, shape::Shape};

const SUBMITTED_AT: u64 = 0;
const IN_TASK_AT: u64 = 8;
const DIR_LENGTH_AT: u64 = 16;
const CLOCK_HZ_AT: u64 = 24;
const CLOCK_ERROR_AT: u64 = 32;
const JOB_LENGTH_AT: u64 = 40;
const REQUEST_LENGTH_AT: u64 = 48;
const DIR_AT: u64 = 56;
/// Longer than any path that a run directory can have: a configuration holds 1,023 bytes.
const DIR_BYTES_MAX: u64 = 4096;
const JOB_AT: u64 = DIR_AT + DIR_BYTES_MAX;

/// The file.
#[derive(Debug)]
pub struct JobMessage {
    file: File,
    answer_at: u64,
}

/// What a process runs for its parent, beside what the run is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobSpec {
    scene: SceneSpec,
    workers: Option<(Shape, Duration)>,
    rounds: u32,
    dfx_rounds: DfxRounds,
    output: Option<PathBuf>,
    pages: Pages,
}

impl JobSpec {
    /// What is said of a plan; its request is said beside it.
    pub fn of(Plan { job, setup }: &Plan) -> Self {
        JobSpec {
            scene: SceneSpec::of(job),
            workers: setup.workers.as_ref().map(|plan| (plan.shape.clone(), plan.call_timeout)),
            rounds: setup.rounds,
            dfx_rounds: setup.dfx_rounds,
            output: setup.output.clone(),
            pages: setup.pages,
        }
    }

    /// The plan again, in the process that runs it.
    fn plan(self, request: RunRequest, message: &Arc<JobMessage>) -> Result<Plan, CliError> {
        let JobSpec { scene, workers, rounds, dfx_rounds, output, pages } = self;
        let worker_plan = |(shape, call_timeout)| workers::Plan { shape, call_timeout, ranks: Vec::new() };
        let setup = Setup {
            request,
            workers: workers.map(worker_plan),
            rounds,
            dfx_rounds,
            output,
            pages,
            progress: Progress::Hidden,
            audience: Audience::Parent(message.clone()),
        };
        Ok(Plan { job: scene.job()?, setup: Rc::new(setup) })
    }
}

impl JobMessage {
    /// A new one, for a child that runs this.
    pub fn create(job: &JobSpec, request: &RunRequest) -> io::Result<Self> {
        let file = File::from(memfd_create("ringlane-case", MemfdFlags::CLOEXEC)?);
        let (job, request) = (serde_json::to_vec(job)?, request.encode());
        let (job_bytes, request_bytes) = (job.len() as u64, request.len() as u64);
        let request_at = JOB_AT + job_bytes;
        file.write_all_at(&job_bytes.to_ne_bytes(), JOB_LENGTH_AT)?;
        file.write_all_at(&request_bytes.to_ne_bytes(), REQUEST_LENGTH_AT)?;
        file.write_all_at(&job, JOB_AT)?;
        file.write_all_at(&request, request_at)?;
        Ok(JobMessage { file, answer_at: request_at + request_bytes })
    }

    /// Gives the child the rate of this machine's clock: to measure it takes a good part of the time of a short case, and so
    /// all cases of a command have the same.
    pub fn set_clock(&self, clock: &CpuClock) -> io::Result<()> {
        if clock.source() == TickSource::Tsc {
            self.file.write_all_at(&clock.freq_hz().to_ne_bytes(), CLOCK_HZ_AT)?;
            self.file.write_all_at(&clock.error_ppm().to_bits().to_ne_bytes(), CLOCK_ERROR_AT)?;
        }
        Ok(())
    }

    /// Takes the rate of the clock, if it is there.
    fn adopt_clock(&self) {
        CpuClock::adopt(self.word(CLOCK_HZ_AT), f64::from_bits(self.word(CLOCK_ERROR_AT)));
    }

    /// The one that this process was started with, and what it is to run. Called once, before anything is opened.
    pub fn of_this_process(descriptor: i32) -> Result<(Arc<Self>, Plan), CliError> {
        let file = inherited(descriptor).map_err(CliError::Node)?.into();
        let mut message = JobMessage { file, answer_at: 0 };
        let (job_bytes, request_bytes) = (message.word(JOB_LENGTH_AT), message.word(REQUEST_LENGTH_AT));
        let request_at = JOB_AT.saturating_add(job_bytes);
        message.answer_at = request_at.saturating_add(request_bytes);
        let refused = || {
            let hint = "leave it out; --jobs 2 runs cases in parallel";
            let allowed = "what --jobs gives to its own processes";
            CliError::bad_value("--job-fd", &descriptor.to_string(), allowed, hint)
        };
        let job =
            message.bytes(JOB_AT, job_bytes).and_then(|json| serde_json::from_slice::<JobSpec>(&json).ok());
        let (job, request) = job.zip(message.bytes(request_at, request_bytes)).ok_or_else(refused)?;
        let request = RunRequest::decode(&request).map_err(CliError::Request)?;
        message.adopt_clock();
        let message = Arc::new(message);
        let plan = job.plan(request, &message)?;
        Ok((message, plan))
    }

    /// A descriptor of it for a child to inherit.
    pub fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// The number of tasks that are submitted, and of those that run at this moment.
    pub fn update(&self, submitted: u64, running: usize) {
        // An error shows as a lack of progress, to the reader.
        let _ = self.file.write_all_at(&submitted.to_ne_bytes(), SUBMITTED_AT);
        let _ = self.file.write_all_at(&(running as u64).to_ne_bytes(), IN_TASK_AT);
    }

    /// The case has a directory.
    pub fn begun(&self, dir: &Path) {
        let bytes = dir.as_os_str().as_bytes();
        if bytes.len() as u64 <= DIR_BYTES_MAX && self.file.write_all_at(bytes, DIR_AT).is_ok() {
            let _ = self.file.write_all_at(&(bytes.len() as u64).to_ne_bytes(), DIR_LENGTH_AT);
        }
    }

    /// The case is over.
    pub fn hand_over(&self, answer: &Answer) -> io::Result<()> {
        self.file.write_all_at(&serde_json::to_vec(answer)?, self.answer_at)
    }

    /// How many tasks are submitted.
    pub fn submitted(&self) -> u64 {
        self.word(SUBMITTED_AT)
    }

    /// Whether a task ran when the child last checked.
    pub fn is_in_task(&self) -> bool {
        self.word(IN_TASK_AT) != 0
    }

    /// The case's directory, if it has come so far.
    pub fn dir(&self) -> Option<PathBuf> {
        let bytes = self.bytes(DIR_AT, self.word(DIR_LENGTH_AT).min(DIR_BYTES_MAX))?;
        (!bytes.is_empty()).then(|| OsStr::from_bytes(&bytes).into())
    }

    /// The answer, if it was handed over whole.
    pub fn answer(&self) -> Option<Answer> {
        let length = self.file.metadata().ok()?.len().checked_sub(self.answer_at)?;
        serde_json::from_slice(&self.bytes(self.answer_at, length)?).ok()
    }

    /// Some of its bytes, if they are there: no memory is taken for others.
    fn bytes(&self, at: u64, length: u64) -> Option<Vec<u8>> {
        let end = at.checked_add(length)?;
        if end > self.file.metadata().ok()?.len() {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.file.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    }

    fn word(&self, at: u64) -> u64 {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, at).map_or(0, |()| u64::from_ne_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case_report::{CaseReport, Note};
    use crate::select::{Choice, job, scene};
    use ringlane_task::{CallConfig, Explain};
    use ringlane_trace::{Manifest, UtcTime};
    use rustix::fs::ftruncate;
    use std::os::fd::IntoRawFd;

    fn plan() -> Plan {
        let vector = scene("vector").unwrap();
        let setup = Setup {
            request: RunRequest::default().with_config(CallConfig::default().with_seed(7)),
            workers: Some(workers::Plan {
                shape: Shape::parse("2x3").unwrap(),
                call_timeout: Duration::from_secs(9),
                ranks: Vec::new(),
            }),
            rounds: 3,
            dfx_rounds: DfxRounds::First,
            output: Some("here".into()),
            pages: Pages::Written,
            progress: Progress::Hidden,
            audience: Audience::People,
        };
        let choice = Choice { scene: vector, case: vector.default_case() };
        Plan { job: job(choice, &[], 7).unwrap(), setup: Rc::new(setup) }
    }

    fn message() -> JobMessage {
        let plan = plan();
        JobMessage::create(&JobSpec::of(&plan), &plan.setup.request).unwrap()
    }

    #[test]
    fn a_plan_arrives_as_it_was_made() {
        let there = JobMessage::of_this_process(message().descriptor().unwrap().into_raw_fd()).unwrap().1;
        let (there, here) = (there, plan());
        assert_eq!(there.setup.request.encode(), here.setup.request.encode());
        let [there, here] = [there, here].map(|plan| serde_json::to_string(&JobSpec::of(&plan)).unwrap());
        assert_eq!(there, here);
    }

    #[test]
    fn a_message_that_is_cut_off_or_has_a_request_that_is_none_is_refused() {
        let message = self::message();
        let answer_at = message.answer_at;
        for (length, name) in [(0, "BadValue"), (JOB_AT + 5, "BadValue"), (answer_at - 1, "BadValue")] {
            let copy = self::message();
            ftruncate(&copy.file, length).unwrap();
            let refused = JobMessage::of_this_process(copy.descriptor().unwrap().into_raw_fd());
            assert_eq!(refused.map(drop).unwrap_err().name(), name, "{length}");
        }
        message.file.write_all_at(b"?", JOB_AT + message.word(JOB_LENGTH_AT)).unwrap();
        let refused = JobMessage::of_this_process(message.descriptor().unwrap().into_raw_fd());
        assert_eq!(refused.map(drop).unwrap_err().name(), "CorruptRequest");
    }

    #[test]
    fn a_new_message_has_no_answer() {
        let message = self::message();
        assert_eq!((message.submitted(), message.is_in_task(), message.dir()), (0, false, None));
        assert!(message.answer().is_none());
    }

    #[test]
    fn what_is_written_is_read() {
        let message = self::message();
        message.update(7, 2);
        message.begun(Path::new("outputs/x"));
        assert_eq!((message.submitted(), message.is_in_task()), (7, true));
        assert_eq!(message.dir().unwrap(), Path::new("outputs/x"));
        let manifest = Manifest::new("vector", "small", "cpu", UtcTime::from_unix_seconds(0));
        // Digits enough that a reader that rounds would give another number.
        let walls_us = vec![0.1 + 0.2, 1e-300, 123_456_789.123_456_79];
        let case_report = CaseReport {
            manifest,
            dir: "outputs/x".into(),
            walls_us: walls_us.clone(),
            peak_rss_bytes: 1,
            recorded: None,
            modelled: None,
        };
        let notes = vec![Note::SayOnce("once".into())];
        message
            .hand_over(&Answer { case_report: Some(case_report), notes: notes.clone(), refusal: None })
            .unwrap();
        let answer = message.answer().unwrap();
        assert_eq!((answer.case_report.unwrap().walls_us, answer.notes), (walls_us, notes));
    }

    #[test]
    fn half_an_answer_is_none() {
        let message = self::message();
        message.hand_over(&Answer::default()).unwrap();
        assert!(message.answer().is_some());
        ftruncate(&message.file, message.file.metadata().unwrap().len() - 1).unwrap();
        assert!(message.answer().is_none());
    }
}
