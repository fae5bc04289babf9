//! Recording runs: which instruments are on, where their files go, and the last recording.

use std::mem;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use ringlane_engine::api::backend::Site;
use ringlane_engine::chip_runtime::ModelledAs;
use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::{Error, Fault, Result};
use ringlane_probe::{DumpSelection, RecordingProblem};
use ringlane_task::{CallConfig, ConfigError, Explain};
use ringlane_trace::{Manifest, ModelFacts, RunDir, UtcTime};

use crate::chips::Program;
use crate::graph::GraphRuntime;
use crate::manifest::with_outcome;
use crate::observe::{self, ObservedRun, Observing, cannot_record};
use crate::recording::{REPORTED, Recording};
use crate::runtime::{RESULT_STORED, Runtime, check, storing_result};
use crate::setup_error::SetupError;

/// What a runtime records of its runs, and its last recording.
pub(crate) struct RecordingState {
    observing: Observing,
    /// What the next run records, in place of the above.
    next: Option<CallConfig>,
    recording: Option<Recording>,
    /// The names of the program and the case in `run.json`.
    title: (String, String),
}

impl RecordingState {
    pub(crate) fn new(config: CallConfig, dump: DumpSelection) -> Self {
        let title = ("program".to_string(), "run".to_string());
        let observing = Observing { dump, ..Observing::new(config) };
        RecordingState { observing, next: None, recording: None, title }
    }
}

/// The model of a chip, for `run.json`.
pub(crate) fn model_facts(modelled: ModelledAs) -> ModelFacts {
    let ModelledAs { chip, policy, chaos, costs, spec } = modelled;
    ModelFacts { chip, policy: policy.to_string(), chaos, costs, spec: Some(spec) }
}

impl Runtime {
    /// Sets what the following runs record: the diagnostics of `config`, their overflow policy, the group of
    /// counters, and the directory. All other fields of `config` stay as the runtime was created with.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default())?;
    /// let config = CallConfig::default().with_dfx_flags(DfxFlags::DEPS);
    /// assert_eq!(runtime.observe(&config).unwrap_err().name(), "MissingOutputPrefix");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn observe(&mut self, config: &CallConfig) -> core::result::Result<(), SetupError> {
        check(self.platform(), config)?;
        self.recorded.observing.config = *config;
        Ok(())
    }

    /// Records only the next run, into its own directory, which is created with its parents before the run starts.
    /// The instruments are those that [`observe`](Self::observe) enabled; if it enabled none, all but the dump, whose
    /// files can be large. The result is in [`recording`](Self::recording) afterwards.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// kernel! { static INC = aiv fn(x: &mut [f32]) { x.iter_mut().for_each(|x| *x += 1.0); } }
    /// # let dir = std::env::temp_dir().join(format!("ringlane-record-{}", std::process::id()));
    /// let mut data = Buffers::new();
    /// let x = data.add(&[1], &[1.0f32])?;
    /// let mut runtime = Runtime::on(Platform::A2a3sim).with(&CallConfig::default())?;
    /// let run = runtime.record(&dir)?.run(&mut data, |o| {
    ///     let x = o.external(x)?;
    ///     (0..3).try_for_each(|_| o.submit(&INC, [x.inout()]).map(drop))
    /// });
    /// run.result?;
    /// let recording = runtime.recording().expect("the run was recorded");
    /// assert_eq!(recording.dir(), dir);
    /// assert_eq!(recording.overhead()?.makespan, recording.critical_path()?.whole());
    /// assert!(recording.report()?.ends_with("report.html"));
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record(&mut self, dir: impl AsRef<Path>) -> core::result::Result<&mut Self, SetupError> {
        let mut config = self.recorded.observing.config;
        if config.dfx_flags.is_empty() {
            config.dfx_flags = REPORTED;
        }
        let dir = str::from_utf8(dir.as_ref().as_os_str().as_encoded_bytes()).map_err(|error| {
            SetupError::Config(ConfigError::OutputPrefixNotUtf8 { at: error.valid_up_to() })
        })?;
        config.set_output_prefix(dir).map_err(SetupError::Config)?;
        check(self.platform(), &config)?;
        self.recorded.next = Some(config);
        Ok(self)
    }

    /// Sets the names of the program and the case in `run.json` for the following runs.
    pub fn set_title(&mut self, scene: &str, case: &str) {
        self.recorded.title = (scene.to_string(), case.to_string());
    }

    /// Chooses which arguments a dump captures (`DfxFlags::DUMP`); all of them by default.
    pub fn select_dump(&mut self, selection: DumpSelection) {
        self.recorded.observing.dump = selection;
    }

    /// Sets a function that the export of a recording calls from time to time: once it returns true, the export stops
    /// and the recording is incomplete. For programs that catch signals.
    pub fn give_up_export_when(&mut self, stop_asked: fn() -> bool) {
        self.recorded.observing.stop_asked = Some(stop_asked);
    }

    /// The model of its chip, for `run.json`.
    pub fn model_facts(&self) -> Option<ModelFacts> {
        self.modelled_as().map(model_facts)
    }

    /// Runs, and records as requested.
    pub(crate) fn run_any<'e>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        program: Program<'_, '_, 'e>,
    ) -> Run<()> {
        let config = self.recorded.next.take().unwrap_or(self.recorded.observing.config);
        if config.dfx_flags.is_empty() && observe::is_logged() {
            let ObservedRun { result, report, .. } = self.observed(None, buffers, program);
            return Run { result: result.unwrap_or_else(|panic| resume_unwind(panic)), report };
        }
        if config.dfx_flags.is_empty() {
            return self.chip.run(buffers, program);
        }
        let usual = mem::replace(&mut self.recorded.observing.config, config);
        let run = self.run_into_directory(buffers, program);
        self.recorded.observing.config = usual;
        run.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn run_into_directory<'e>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        program: Program<'_, '_, 'e>,
    ) -> thread::Result<Run<()>> {
        let started_at = UtcTime::now();
        let graph = match &program {
            Program::Graph(_, graph) => Some(self.graph_facts(graph)),
            Program::Orchestration(..) => None,
        };
        self.recorded.recording = None;
        let failed = |error: Error| Ok(Run { result: Err(error), report: RunReport::default() });
        let prefix = match self.recorded.observing.config.output_prefix() {
            Ok(prefix) => prefix.unwrap_or_default().to_string(),
            Err(error) => return failed(Fault::Config(error).into()),
        };
        let dir = match RunDir::create_exact(&prefix) {
            Ok(dir) => dir,
            Err(error) => return failed(cannot_record(&error)),
        };
        if let Err(error) = dir.reserve(self.recorded.observing.config.dfx_flags) {
            dir.abandon();
            return failed(cannot_record(&error));
        }
        let ObservedRun { result, report, wall, recording } = self.observed(Some(&dir), buffers, program);
        let (scene, case) = &self.recorded.title;
        let mut manifest = Manifest::new(scene, case, self.platform().as_str(), started_at);
        (manifest.threads, manifest.model) = (self.threads(), self.model_facts());
        if graph.is_some() {
            manifest.runtime = GraphRuntime::HostBuildGraph.as_str().to_string();
        }
        manifest.graph = graph;
        manifest.seed = self.recorded.observing.config.seed;
        manifest.wall_us = wall.as_nanos() as f64 / 1e3;
        let manifest = with_outcome(
            manifest,
            &report,
            result.as_ref(),
            recording.as_ref(),
            &self.recorded.observing.config,
        );
        let written = manifest.write(&dir);
        self.recorded.recording = recording.map(|mut exported| {
            let unwritten = written.err().map(|error| RecordingProblem::Incomplete { what: error.detail() });
            exported.problems.extend(unwritten);
            Recording::new(dir.path().to_path_buf(), exported)
        });
        result.map(|result| Run { result, report })
    }

    /// The last recording: its directory, its files, problems with them, and the answers that follow from them. It
    /// also exists after a run that failed or panicked; an incomplete recording does not make a run fail.
    pub fn recording(&self) -> Option<&Recording> {
        self.recorded.recording.as_ref()
    }

    /// Like [`run`](Self::run), recording into a directory that the caller has created, or not at all.
    pub fn run_in<'e, R>(
        &mut self,
        dir: Option<&RunDir>,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> ObservedRun<R> {
        let mut answer = None;
        let mut f = storing_result(f, &mut answer);
        let observed = self.observed(dir, buffers, Program::Orchestration(site, &mut f));
        drop(f);
        let ObservedRun { result, report, wall, recording } = observed;
        let result = result.map(|result| result.map(|()| answer.expect(RESULT_STORED)));
        ObservedRun { result, report, wall, recording }
    }

    pub(crate) fn observed<'e>(
        &mut self,
        dir: Option<&RunDir>,
        buffers: &'e mut Buffers<'_>,
        program: Program<'_, '_, 'e>,
    ) -> ObservedRun<()> {
        let (platform, threads) = (self.platform().as_str(), self.threads());
        let (chip, observing) = (&mut self.chip, &self.recorded.observing);
        observe::log_run(platform, threads, program.site(), || {
            chip.run_observed(observing, platform, dir, buffers, program)
        })
    }
}
