//! The runtime, whichever chip is behind it.
//!
//! A configuration is checked here before anything is made of it, so that an error appears at the caller.

use std::fmt;
use std::mem;
use std::panic::{Location, resume_unwind};
use std::path::Path;
use std::thread;

use ringlane_chip_cpu::CpuRuntime;
use ringlane_chip_sim::{SimOptions, SimRuntime, Totals};
use ringlane_engine::api::backend::Site;
use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_engine::report::{Run, RunReport};
use ringlane_engine::{Error, Fault, Result};
use ringlane_probe::{DumpSelection, Pool, RecordingProblem};
use ringlane_task::{CallConfig, ConfigError, DfxFlags, Explain};
use ringlane_trace::{Manifest, ModelFacts, RunDir, UtcTime};

use crate::manifest::tell;
use crate::memory;
use crate::observe::{self, ObservedRun, Observing, cannot_record};
pub use crate::platform::{Model, ModelError, Platform};
use crate::recording::{REPORTED, Recording};
use crate::remote::Remote;
use crate::setup_error::SetupError;

/// Runs orchestrations on a platform; can be used again after any run, also a failed one.
///
/// ```
/// use ringlane::prelude::*;
/// kernel! { static SQUARE = aiv fn(x: &[f32], y: &mut [f32]) {
///     y.iter_mut().zip(x).for_each(|(y, x)| *y = x * x);
/// } }
/// let mut data = Buffers::new();
/// let x = data.add(&[2], &[3.0f32, 4.0])?;
/// let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default())?;
/// let run = runtime.run(&mut data, |o| {
///     let x = o.external(x)?;
///     let squares = o.submit(&SQUARE, [x.read(), out(f32, [2])])?;
///     o.read::<f32>(squares.out(0))
/// });
/// assert_eq!(run.result?, [9.0, 16.0]);
/// # Ok::<(), Error>(())
/// ```
pub struct Runtime {
    chip: Chip,
    observing: Observing,
    /// What the next run is recorded by, in place of the above.
    next: Option<CallConfig>,
    recording: Option<Recording>,
    /// What `run.json` calls the program and the case.
    title: (String, String),
}

enum Chip {
    Cpu(Box<CpuRuntime>),
    Sim(Platform, Box<SimRuntime>),
}

/// A platform that waits for its configuration.
#[derive(Clone, Debug)]
#[must_use = "a platform does nothing until it is given a configuration"]
pub struct OnPlatform {
    platform: Platform,
    pub(crate) model: Model,
}

impl Runtime {
    /// Chooses the platform.
    pub fn on(platform: Platform) -> OnPlatform {
        OnPlatform { platform, model: Model::default() }
    }

    /// The platform it runs on.
    pub fn platform(&self) -> Platform {
        match self.chip {
            Chip::Cpu(_) => Platform::Cpu,
            Chip::Sim(platform, _) => platform,
        }
    }

    /// Number of threads, the submitting one included; of a modelled chip, its control threads.
    pub fn threads(&self) -> u32 {
        match &self.chip {
            Chip::Cpu(cpu) => cpu.threads(),
            Chip::Sim(_, sim) => sim.spec().schedulers + 1,
        }
    }

    /// How its modelled chip is run.
    pub fn model_facts(&self) -> Option<ModelFacts> {
        match &self.chip {
            Chip::Cpu(_) => None,
            Chip::Sim(_, sim) => {
                let SimOptions { policy, chaos, costs } = sim.options();
                Some(ModelFacts {
                    chip: sim.spec().name.clone(),
                    policy: policy.to_string(),
                    chaos: *chaos,
                    costs: costs.as_ref().map(|table| table.chip().to_string()),
                })
            }
        }
    }

    /// What the last run was like on a modelled chip.
    pub fn modelled(&self) -> Option<&Totals> {
        match &self.chip {
            Chip::Cpu(_) => None,
            Chip::Sim(_, sim) => Some(sim.totals()),
        }
    }

    /// Sets what is recorded of the runs to come: the diagnostics of `config`, what they do when their buffers are full,
    /// the group of counters, and the directory. Everything else of `config` is what the runtime was made with.
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
        self.observing.config = *config;
        Ok(())
    }

    /// Records the next run, and only that one, into a directory of its own, which is made with its parents before the run
    /// starts. The instruments are those that [`observe`](Self::observe) turned on; if it turned on none, all but the
    /// dump, whose files can be large. What the run left is in [`recording`](Self::recording) afterwards.
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
        let mut config = self.observing.config;
        if config.dfx_flags.is_empty() {
            config.dfx_flags = REPORTED;
        }
        let dir = str::from_utf8(dir.as_ref().as_os_str().as_encoded_bytes()).map_err(|error| {
            SetupError::Config(ConfigError::OutputPrefixNotUtf8 { at: error.valid_up_to() })
        })?;
        config.set_output_prefix(dir).map_err(SetupError::Config)?;
        check(self.platform(), &config)?;
        self.next = Some(config);
        Ok(self)
    }

    /// Sets what `run.json` calls the program and the case of the runs to come.
    pub fn entitle(&mut self, scene: &str, case: &str) {
        self.title = (scene.to_string(), case.to_string());
    }

    /// Chooses which arguments are captured where they are (`DfxFlags::DUMP`); everything, unless this is called.
    pub fn select_dump(&mut self, selection: DumpSelection) {
        self.observing.dump = selection;
    }

    /// Sets what the export of a recording asks now and then: once it answers true the export gives up, and the recording is
    /// incomplete. For programs that catch signals; nothing is asked unless this is called.
    pub fn give_up_export_when(&mut self, stop_asked: fn() -> bool) {
        self.observing.stop_asked = Some(stop_asked);
    }

    /// Runs an orchestration on these buffers; afterwards they hold the results.
    ///
    /// If diagnostics are on, their files are in the configuration's output prefix afterwards, with a `run.json`. A
    /// directory that cannot be made or holds a run already is the run's error, before anything has run.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// kernel! { static INC = aiv fn(x: &mut [f32]) { x.iter_mut().for_each(|x| *x += 1.0); } }
    /// # let dir = std::env::temp_dir().join(format!("ringlane-run-{}", std::process::id()));
    /// # let dir = dir.to_str().unwrap();
    /// let mut data = Buffers::new();
    /// let x = data.add(&[1], &[1.0f32])?;
    /// let mut config = CallConfig::default().with_dfx_flags(DfxFlags::DEPS);
    /// config.set_output_prefix(dir).map_err(Fault::Config)?;
    /// let mut runtime = Runtime::on(Platform::Cpu).with(&config)?;
    /// runtime.run(&mut data, |o| { let x = o.external(x)?; o.submit(&INC, [x.inout()]).map(drop) }).result?;
    /// let deps = std::fs::read_to_string(format!("{dir}/deps.json")).unwrap();
    /// assert!(deps.contains("INC"));
    /// # std::fs::remove_dir_all(dir).unwrap();
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn run<'e, R>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        self.run_from(Location::caller(), buffers, f)
    }

    /// As [`run`](Self::run), with a root scope that is said to be at `site`.
    pub fn run_from<'e, R>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        let config = self.next.take().unwrap_or(self.observing.config);
        if config.dfx_flags.is_empty() && observe::is_logged() {
            let ObservedRun { result, report, .. } = self.run_in(None, site, buffers, f);
            return Run { result: result.unwrap_or_else(|panic| resume_unwind(panic)), report };
        }
        if config.dfx_flags.is_empty() {
            return match &mut self.chip {
                Chip::Cpu(cpu) => cpu.run_at(site, buffers, &(), f),
                Chip::Sim(_, sim) => sim.run_at(site, buffers, &(), f),
            };
        }
        let usual = mem::replace(&mut self.observing.config, config);
        let run = self.run_into_directory(site, buffers, f);
        self.observing.config = usual;
        run.unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn run_into_directory<'e, R>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> thread::Result<Run<R>> {
        let started_at = UtcTime::now();
        self.recording = None;
        let failed = |error: Error| Ok(Run { result: Err(error), report: RunReport::default() });
        let prefix = match self.observing.config.output_prefix() {
            Ok(prefix) => prefix.unwrap_or_default().to_string(),
            Err(error) => return failed(Fault::Config(error).into()),
        };
        let dir = match RunDir::create_exact(&prefix) {
            Ok(dir) => dir,
            Err(error) => return failed(cannot_record(&error)),
        };
        if let Err(error) = dir.reserve(self.observing.config.dfx_flags) {
            dir.abandon();
            return failed(cannot_record(&error));
        }
        let ObservedRun { result, report, wall, recording } = self.run_in(Some(&dir), site, buffers, f);
        let (scene, case) = &self.title;
        let mut manifest = Manifest::new(scene, case, self.platform().as_str(), started_at);
        (manifest.threads, manifest.model) = (self.threads(), self.model_facts());
        manifest.seed = self.observing.config.seed;
        manifest.wall_us = wall.as_nanos() as f64 / 1e3;
        let manifest = tell(manifest, &report, result.as_ref(), recording.as_ref(), &self.observing.config);
        let written = manifest.write(&dir);
        self.recording = recording.map(|mut exported| {
            let unwritten = written.err().map(|error| RecordingProblem::Incomplete { what: error.detail() });
            exported.problems.extend(unwritten);
            Recording::new(dir.path().to_path_buf(), exported)
        });
        result.map(|result| Run { result, report })
    }

    /// What the last recorded run left: its directory, its files, what did not go well with them, and the answers that
    /// follow from them. It is there after a run that failed or panicked too; a recording that is incomplete does not
    /// make a run fail.
    pub fn recording(&self) -> Option<&Recording> {
        self.recording.as_ref()
    }

    /// As [`run`](Self::run), recording into a directory that the caller answers for, or nowhere.
    pub fn run_in<'e, R>(
        &mut self,
        dir: Option<&RunDir>,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> ObservedRun<R> {
        let (platform, threads) = (self.platform(), self.threads());
        observe::log_run(platform, threads, site, || match &mut self.chip {
            Chip::Cpu(cpu) => observe::run_on_cpu(cpu, &self.observing, dir, site, buffers, f),
            Chip::Sim(platform, sim) => {
                observe::run_on_sim((*platform, sim), &self.observing, dir, site, buffers, f)
            }
        })
    }

    /// A hand for other threads: interrupts the run, looks inside.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// let runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default())?;
    /// assert_eq!(runtime.remote().status().submitted, 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn remote(&self) -> Remote {
        match &self.chip {
            Chip::Cpu(cpu) => Remote::Cpu(cpu.remote()),
            Chip::Sim(_, sim) => Remote::Sim(sim.remote()),
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runtime({}, {} threads)", self.platform(), self.threads())
    }
}

impl OnPlatform {
    /// How a modelled chip is run: another chip, a policy, costs, chaos.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// use ringlane::{Model, PolicyName, SimOptions};
    /// let options = SimOptions { policy: PolicyName::CriticalPath, ..SimOptions::default() };
    /// let model = Model { options, ..Model::default() };
    /// let runtime = Runtime::on(Platform::A2a3sim).model(model).with(&CallConfig::default())?;
    /// assert_eq!(runtime.threads(), 4);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn model(mut self, model: Model) -> Self {
        self.model = model;
        self
    }

    /// Makes the runtime, with the threads and capacities of `config`.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// let config = CallConfig::default().with_ring_task_window([20; 4]);
    /// let error = Runtime::on(Platform::Cpu).with(&config).unwrap_err();
    /// assert_eq!(error.name(), "CapacityNotPowerOfTwo");
    /// ```
    pub fn with(self, config: &CallConfig) -> core::result::Result<Runtime, SetupError> {
        check(self.platform, config)?;
        let OnPlatform { platform, model } = self;
        let chip = match model.chip.or_else(|| platform.modelled()).filter(|_| platform.is_modelled()) {
            None => Chip::Cpu(Box::new(CpuRuntime::new(config).map_err(SetupError::Chip)?)),
            Some(spec) => {
                let sim = SimRuntime::new(&spec, config, model.options).map_err(SetupError::Chip)?;
                Chip::Sim(platform, Box::new(sim))
            }
        };
        let observing = Observing {
            config: *config,
            dump: DumpSelection::default(),
            pool: Pool::default(),
            stop_asked: None,
        };
        let title = ("program".to_string(), "run".to_string());
        Ok(Runtime { chip, observing, next: None, recording: None, title })
    }
}

/// Everything about a configuration that can be refused without making anything.
pub fn check(platform: Platform, config: &CallConfig) -> core::result::Result<(), SetupError> {
    config.validate().map_err(SetupError::Config)?;
    if config.dfx_flags.contains(DfxFlags::NODE_SWIMLANE) {
        // It comes with workers.
        let bit = DfxFlags::NODE_SWIMLANE.bits().trailing_zeros();
        return Err(SetupError::Config(ConfigError::ReservedBit { bit }));
    }
    let group = if platform.is_modelled() {
        observe::model_group(config).map(drop)
    } else {
        observe::pmu_group(config).map(drop)
    };
    group.map_err(SetupError::Pmu)?;
    memory::check_capacities(config)
}
