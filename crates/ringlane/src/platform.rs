//! Platforms: what runs are executed on.

use std::fmt;
use std::hash::{Hash, Hasher};

use ringlane_chip_cpu::CpuRuntime;
#[cfg(feature = "sim")]
use ringlane_chip_sim::SimRuntime;
use ringlane_engine::chip_runtime::{Capabilities, ChipRuntime};
use ringlane_task::ChipSpec;

use crate::chips::{Registration, platforms};

/// A platform: its name, and its capabilities.
///
/// ```
/// use ringlane::prelude::*;
/// let cpu = Platform::named("cpu").expect("every program has it");
/// assert_eq!(cpu, Platform::Cpu);
/// assert!(cpu.capabilities().host_threads && !cpu.capabilities().virtual_time);
/// assert!(Platform::all().contains(&Platform::A5sim));
/// ```
#[derive(Clone, Copy)]
pub struct Platform(&'static Capabilities);

// Named like enum variants, which they were before, so that programs that use them still compile.
#[allow(non_upper_case_globals)]
impl Platform {
    /// The machine's own cores.
    pub const Cpu: Platform = Platform(&CpuRuntime::PLATFORMS[0]);
    /// A modelled Ascend A2/A3, one die, in virtual time.
    #[cfg(feature = "sim")]
    pub const A2a3sim: Platform = Platform(&SimRuntime::PLATFORMS[0]);
    /// A modelled Ascend A5, one device, in virtual time.
    #[cfg(feature = "sim")]
    pub const A5sim: Platform = Platform(&SimRuntime::PLATFORMS[1]);
}

impl Platform {
    /// Every platform that this program lists.
    pub fn all() -> Vec<Platform> {
        Platform::with_unlisted().into_iter().filter(|platform| platform.0.listed).collect()
    }

    /// Every platform that this program knows: also those for tests of Ringlane itself, which are not listed.
    pub fn with_unlisted() -> Vec<Platform> {
        platforms().into_iter().map(|(capabilities, _)| Platform(capabilities)).collect()
    }

    /// The platform with this name, listed or not.
    pub fn named(name: &str) -> Option<Platform> {
        Platform::with_unlisted().into_iter().find(|platform| platform.as_str() == name)
    }

    /// Its capabilities.
    pub const fn capabilities(self) -> &'static Capabilities {
        self.0
    }

    /// The name used in every artifact and on the command line.
    pub const fn as_str(self) -> &'static str {
        self.0.name
    }

    /// The chip that it models, if it does.
    pub fn modelled(self) -> Option<ChipSpec> {
        self.0.spec.map(|spec| spec())
    }

    /// The registration of its chip.
    pub(crate) fn registration(self) -> &'static Registration {
        let found = platforms().into_iter().find(|(capabilities, _)| capabilities.name == self.as_str());
        found.expect("a platform comes from a registration").1
    }
}

impl Default for Platform {
    fn default() -> Self {
        Platform::Cpu
    }
}

impl PartialEq for Platform {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Platform {}

impl Hash for Platform {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Platform({})", self.as_str())
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
