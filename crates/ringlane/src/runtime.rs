//! The runtime, on any chip.
//!
//! A configuration is checked before anything is created from it, so that an error appears at the caller.

use std::fmt;
use std::panic::Location;

use ringlane_engine::Result;
use ringlane_engine::api::backend::Site;
use ringlane_engine::chip_runtime::{ChipOptions, ChipRuntime, ModelledAs};
use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_engine::remote::Remote;
use ringlane_engine::report::Run;
use ringlane_task::{CallConfig, ConfigError, DfxFlags};

use crate::chips::{AnyChip, Program};
use crate::memory;
use crate::platform::Platform;
#[cfg(feature = "record")]
use crate::record::RecordingState;
use crate::request::RunRequest;
use crate::setup_error::SetupError;

/// Runs orchestrations on a platform; can be reused after any run, even a failed one.
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
    platform: Platform,
    pub(crate) chip: Box<dyn AnyChip>,
    #[cfg(feature = "record")]
    pub(crate) recorded: RecordingState,
}

/// A platform without its configuration yet.
#[derive(Clone, Debug)]
#[must_use = "a platform does nothing until it is given a configuration"]
pub struct OnPlatform {
    pub(crate) request: RunRequest,
}

impl Runtime {
    /// Chooses the platform.
    pub fn on(platform: Platform) -> OnPlatform {
        OnPlatform { request: RunRequest::on(platform) }
    }

    /// Makes the runtime that a request asks for; what its runs record is what the request says.
    pub fn request(request: &RunRequest) -> core::result::Result<Self, SetupError> {
        let RunRequest { platform, config, options, .. } = request;
        check(*platform, config)?;
        let made = platform.registration().make(platform.capabilities(), config, options);
        Ok(Runtime {
            platform: *platform,
            chip: made.map_err(SetupError::Chip)?,
            #[cfg(feature = "record")]
            recorded: RecordingState::new(*config, request.dump.clone()),
        })
    }

    /// The platform it runs on.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// Number of threads, including the submitting one; of a modelled chip, its control threads.
    pub fn threads(&self) -> u32 {
        self.chip.threads()
    }

    /// How its chip is modelled, if it is.
    pub fn modelled_as(&self) -> Option<ModelledAs> {
        self.chip.modelled_as()
    }

    /// Its chip, if it has this type: for features that only that chip has.
    pub fn chip<T: ChipRuntime>(&self) -> Option<&T> {
        self.chip.as_any().downcast_ref()
    }

    /// The totals of the last run on a modelled chip.
    #[cfg(feature = "sim")]
    pub fn modelled(&self) -> Option<&ringlane_chip_sim::Totals> {
        self.chip::<ringlane_chip_sim::SimRuntime>().map(ringlane_chip_sim::SimRuntime::totals)
    }

    /// Runs an orchestration on these buffers; afterwards they contain the results.
    ///
    /// If diagnostics are on, their files are in the configuration's output prefix afterwards, with a `run.json`. If
    /// the directory cannot be created or already contains a run, the run fails before anything has run.
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

    /// Like [`run`](Self::run), with `site` as the source location of the root scope.
    pub fn run_from<'e, R>(
        &mut self,
        site: Site,
        buffers: &'e mut Buffers<'_>,
        f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
    ) -> Run<R> {
        let mut answer = None;
        let mut f = storing_result(f, &mut answer);
        let run = self.run_any(buffers, Program::Orchestration(site, &mut f));
        drop(f);
        Run { result: run.result.map(|()| answer.expect(RESULT_STORED)), report: run.report }
    }

    #[cfg(not(feature = "record"))]
    pub(crate) fn run_any<'e>(
        &mut self,
        buffers: &'e mut Buffers<'_>,
        program: Program<'_, '_, 'e>,
    ) -> Run<()> {
        self.chip.run(buffers, program)
    }

    /// A handle for other threads: interrupts the run, and reads its status.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// let runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default())?;
    /// assert_eq!(runtime.remote().status().submitted, 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn remote(&self) -> Remote {
        self.chip.remote()
    }
}

/// Why the result exists.
pub(crate) const RESULT_STORED: &str = "a successful run stores the result of its orchestration";

/// Wraps an orchestration so that it stores its result.
pub(crate) fn storing_result<'f, 'e, R: 'f>(
    f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R> + 'f,
    answer: &'f mut Option<R>,
) -> impl for<'r> FnMut(&mut Orch<'r, 'e>) -> Result<()> + 'f {
    let mut f = Some(f);
    move |o: &mut Orch<'_, 'e>| {
        let f = f.take().expect("an orchestration runs once");
        *answer = Some(f(o)?);
        Ok(())
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runtime({}, {} threads)", self.platform(), self.threads())
    }
}

impl OnPlatform {
    /// Sets options of the chip, in addition to its configuration.
    pub fn options(mut self, options: ChipOptions) -> Self {
        self.request.options = options;
        self
    }

    /// The options of the chip set so far.
    pub fn chip_options(&self) -> &ChipOptions {
        &self.request.options
    }

    /// Creates the runtime, with the threads and capacities of `config`.
    ///
    /// ```
    /// use ringlane::prelude::*;
    /// let config = CallConfig::default().with_ring_task_window([20; 4]);
    /// let error = Runtime::on(Platform::Cpu).with(&config).unwrap_err();
    /// assert_eq!(error.name(), "CapacityNotPowerOfTwo");
    /// ```
    pub fn with(self, config: &CallConfig) -> core::result::Result<Runtime, SetupError> {
        Runtime::request(&self.request.with_config(*config))
    }
}

/// Checks everything of a configuration that can be refused without creating anything.
pub fn check(platform: Platform, config: &CallConfig) -> core::result::Result<(), SetupError> {
    config.validate().map_err(SetupError::Config)?;
    if config.dfx_flags.contains(DfxFlags::NODE_SWIMLANE) {
        // It is given with the workers.
        let bit = DfxFlags::NODE_SWIMLANE.bits().trailing_zeros();
        return Err(SetupError::Config(ConfigError::ReservedBit { bit }));
    }
    if let Err(reason) = (platform.capabilities().availability)() {
        return Err(SetupError::NotAvailable { platform: platform.as_str(), reason });
    }
    #[cfg(feature = "record")]
    crate::observe::check_counters(platform.capabilities().counters, config.pmu_group)
        .map_err(SetupError::Pmu)?;
    #[cfg(not(feature = "record"))]
    if !config.dfx_flags.is_empty() {
        return Err(SetupError::NoRecorder);
    }
    memory::check_capacities(config)
}
