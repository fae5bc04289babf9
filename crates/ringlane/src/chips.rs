//! The chips of a program: the built-in ones, and those that its crates register.
//!
//! ```text
//! ChipRuntime (a chip's crate) ── Registration::of::<T>() ──▶ Platform ──▶ Runtime::on(platform)
//! ```
//! A built-in chip is a line of [`BUILT_IN`]; any other crate uses [`register_chip!`](crate::register_chip) once.

use std::any::Any;

use ringlane_chip_cpu::CpuRuntime;
#[cfg(feature = "cuda")]
use ringlane_chip_cuda::CudaRuntime;
#[cfg(feature = "sim")]
use ringlane_chip_sim::SimRuntime;
use ringlane_engine::Result;
use ringlane_engine::api::backend::Site;
use ringlane_engine::chip_runtime::{Capabilities, ChipOptions, ChipRuntime, ModelledAs};
use ringlane_engine::graph::Graph;
use ringlane_engine::prelude::{Buffers, Orch};
use ringlane_engine::remote::Remote;
use ringlane_engine::report::Run;
use ringlane_engine::seams::Probe;
use ringlane_task::{CallConfig, Ticks};

/// The built-in chips.
const BUILT_IN: &[Registration] = &[
    Registration::of::<CpuRuntime>(),
    #[cfg(feature = "sim")]
    Registration::of::<SimRuntime>(),
    #[cfg(feature = "cuda")]
    Registration::of::<CudaRuntime>(),
];

/// A chip that a program can run on: its platforms, and how to create a runtime.
#[derive(Clone, Copy)]
pub struct Registration {
    platforms: &'static [Capabilities],
    make: Make,
}

type Make = fn(&'static Capabilities, &CallConfig, &ChipOptions) -> Result<Box<dyn AnyChip>>;

ringlane_engine::inventory::collect!(Registration);

impl Registration {
    /// The registration of this chip runtime.
    pub const fn of<T: ChipRuntime>() -> Self {
        Registration {
            platforms: T::PLATFORMS,
            make: |platform, config, options| {
                Ok(Box::new(OneChip { chip: T::new(platform, config, options)? }))
            },
        }
    }

    /// Creates a runtime for one of the platforms.
    pub(crate) fn make(
        &self,
        platform: &'static Capabilities,
        config: &CallConfig,
        options: &ChipOptions,
    ) -> Result<Box<dyn AnyChip>> {
        (self.make)(platform, config, options)
    }
}

/// Every platform with its chip: the built-in ones, then others by name.
pub(crate) fn platforms() -> Vec<(&'static Capabilities, &'static Registration)> {
    let of = |registration: &'static Registration| {
        registration.platforms.iter().map(move |platform| (platform, registration))
    };
    let mut registered: Vec<_> = ringlane_engine::inventory::iter::<Registration>().flat_map(of).collect();
    registered.sort_by_key(|(platform, _)| platform.name);
    BUILT_IN.iter().flat_map(of).chain(registered).collect()
}

/// Registers a chip of another crate: with this line, [`Platform::named`](crate::Platform::named), the command's
/// `--platform` and `ringlane list` know it. The type implements
/// [`ChipRuntime`](crate::engine::chip_runtime::ChipRuntime).
///
/// ```ignore
/// ringlane::register_chip!(ToyRuntime);
/// ```
#[macro_export]
macro_rules! register_chip {
    ($runtime:ty) => {
        $crate::inventory::submit! { $crate::Registration::of::<$runtime>() }
    };
}

/// An orchestration, whatever its result.
pub(crate) type Orchestrate<'f, 'e> = dyn for<'r> FnMut(&mut Orch<'r, 'e>) -> Result<()> + 'f;

/// What a runtime is asked to run.
pub(crate) enum Program<'a, 'f, 'e> {
    /// An orchestration, whose root scope is at this site.
    Orchestration(Site, &'a mut Orchestrate<'f, 'e>),
    /// A captured graph, replayed from this site.
    Graph(Site, &'a mut Graph),
}

impl Program<'_, '_, '_> {
    pub(crate) fn site(&self) -> Site {
        match self {
            Program::Orchestration(site, _) | Program::Graph(site, _) => site,
        }
    }
}

/// A chip runtime of any type.
pub(crate) trait AnyChip: Send {
    fn run<'e>(&mut self, buffers: &'e mut Buffers<'_>, program: Program<'_, '_, 'e>) -> Run<()>;
    #[cfg(feature = "record")]
    fn run_observed<'e>(
        &mut self,
        observing: &crate::observe::Observing,
        platform: &'static str,
        dir: Option<&ringlane_trace::RunDir>,
        buffers: &'e mut Buffers<'_>,
        program: Program<'_, '_, 'e>,
    ) -> crate::observe::ObservedRun<()>;
    fn capture<'e>(
        &mut self,
        site: Site,
        buffers: &'e Buffers<'_>,
        memory_limit: Option<u64>,
        f: &mut Orchestrate<'_, 'e>,
    ) -> Result<Graph>;
    fn upload_ticks(&self, graph: &Graph) -> Option<Ticks>;
    fn remote(&self) -> Remote;
    fn threads(&self) -> u32;
    fn modelled_as(&self) -> Option<ModelledAs>;
    fn as_any(&self) -> &dyn Any;
}

struct OneChip<T> {
    chip: T,
}

impl<T: ChipRuntime> AnyChip for OneChip<T> {
    fn run<'e>(&mut self, buffers: &'e mut Buffers<'_>, program: Program<'_, '_, 'e>) -> Run<()> {
        run(&mut self.chip, buffers, &(), program)
    }

    #[cfg(feature = "record")]
    fn run_observed<'e>(
        &mut self,
        observing: &crate::observe::Observing,
        platform: &'static str,
        dir: Option<&ringlane_trace::RunDir>,
        buffers: &'e mut Buffers<'_>,
        program: Program<'_, '_, 'e>,
    ) -> crate::observe::ObservedRun<()> {
        if let Program::Graph(_, graph) = &program {
            self.chip.bind(graph);
        }
        crate::observe::run(&mut self.chip, observing, platform, dir, OnChip { buffers, program })
    }

    fn capture<'e>(
        &mut self,
        site: Site,
        buffers: &'e Buffers<'_>,
        memory_limit: Option<u64>,
        f: &mut Orchestrate<'_, 'e>,
    ) -> Result<Graph> {
        self.chip.capture_at(site, buffers, memory_limit, |o| f(o)).map(|((), graph)| graph)
    }

    fn upload_ticks(&self, graph: &Graph) -> Option<Ticks> {
        self.chip.upload_ticks(graph)
    }

    fn remote(&self) -> Remote {
        self.chip.remote()
    }

    fn threads(&self) -> u32 {
        self.chip.threads()
    }

    fn modelled_as(&self) -> Option<ModelledAs> {
        self.chip.modelled_as()
    }

    fn as_any(&self) -> &dyn Any {
        &self.chip
    }
}

/// Runs a program on a chip, with any probe.
fn run<'e, T: ChipRuntime>(
    chip: &mut T,
    buffers: &'e mut Buffers<'_>,
    probe: &impl Probe,
    program: Program<'_, '_, 'e>,
) -> Run<()> {
    match program {
        Program::Orchestration(site, f) => chip.run_at(site, buffers, probe, |o| f(o)),
        Program::Graph(_, graph) => chip.replay_at(graph, buffers, probe),
    }
}

/// A run on a chip, with any probe.
#[cfg(feature = "record")]
struct OnChip<'a, 'b, 'f, 'e> {
    buffers: &'e mut Buffers<'b>,
    program: Program<'a, 'f, 'e>,
}

#[cfg(feature = "record")]
impl<T: ChipRuntime> crate::observe::ProbedRun<T> for OnChip<'_, '_, '_, '_> {
    type Answer = ();

    fn run(self, chip: &mut T, probe: &impl Probe) -> Run<()> {
        run(chip, self.buffers, probe, self.program)
    }
}
