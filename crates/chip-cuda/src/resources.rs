//! What a kernel takes on a GPU: what the assembler reports of it. No GPU is needed, only NVRTC.
//!
//! Each kernel is compiled as a program of its own, whose only entry is its body: of functions that are not entries the assembler
//! reports no registers. Lists run all bodies from one entry, whose registers are those of the body that needs the most.
//!
//! ```
//! use ringlane_chip_cuda::resources::Architecture;
//! assert_eq!("sm_90".parse(), Ok(Architecture(90)));
//! assert!("90".parse::<Architecture>().is_err());
//! ```

#![forbid(unsafe_code)]

use core::fmt;
use core::str::FromStr;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ringlane_engine::api::kernel::Kernel;

use crate::device::Answer;
use crate::error::DeviceError;
use crate::source::{self, Bounds};
use crate::{gpu, nvrtc};

/// What a GPU can run: `sm_90` is 90.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Architecture(pub u32);

impl Architecture {
    /// That of an H200, for machines without a GPU.
    pub const DEFAULT: Architecture = Architecture(90);

    /// That of the GPU of this machine, if there is one.
    pub fn of_device() -> Option<Self> {
        gpu::architecture().map(Architecture)
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.0)
    }
}

impl FromStr for Architecture {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let digits =
            text.strip_prefix("sm_").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse().ok());
        number.filter(|number| (gpu::ARCHITECTURE_MIN..1000).contains(number)).map(Architecture).ok_or(())
    }
}

/// What one kernel takes. Bytes in memory are those of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread: arrays, and what does not fit into registers.
    pub stack_bytes: u32,
    /// Bytes that a thread stores because registers do not suffice.
    pub spill_store_bytes: u32,
    /// Bytes that it loads for the same reason.
    pub spill_load_bytes: u32,
    /// Bytes of shared memory of a block, without scratch memory.
    pub shared_bytes: u32,
    /// Whether the body asks for scratch memory; how much is known only when it runs.
    pub uses_scratch: bool,
}

/// The version of NVRTC, such as `13.0`.
///
/// # Errors
/// `DeviceUnavailable` if NVRTC is not installed.
pub fn compiler_version() -> Answer<String> {
    nvrtc::require()?;
    Ok(nvrtc::version())
}

/// What each of these kernels takes, in their order; none for a kernel without a CUDA body. Reports are cached as programs are.
///
/// # Errors
/// `DeviceUnavailable` if NVRTC is not installed. A body that does not compile is an error of its own.
pub fn of_kernels(kernels: &[&Kernel], architecture: Architecture) -> Answer<Vec<Option<Answer<Resources>>>> {
    nvrtc::require()?;
    let results = Mutex::new(vec![None; kernels.len()]);
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(kernels.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(number) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < kernels.len())
                {
                    let result = of_kernel(kernels[number], architecture);
                    results.lock().expect("no panic while it is held")[number] = result;
                }
            });
        }
    });
    Ok(results.into_inner().expect("no panic while it is held"))
}

fn of_kernel(kernel: &Kernel, architecture: Architecture) -> Option<Answer<Resources>> {
    let source = source::alone(kernel, Bounds::from_environment())?;
    let log = nvrtc::assembler_report(&source, architecture.0);
    Some(log.and_then(|log| {
        let parsed = parsed(&log).ok_or_else(|| DeviceError::DeviceProgram {
            log: format!("the report of the assembler has another form: {log}"),
        });
        let uses_scratch = kernel.cuda().is_some_and(|body| body.source.contains("rl_scratch("));
        parsed.map(|resources| Resources { uses_scratch, ..resources })
    }))
}

/// Reads the report of the assembler; none if it does not name the registers of the entry.
fn parsed(log: &str) -> Option<Resources> {
    let mut found = Resources::default();
    let mut stack_of_entry = 0;
    let mut is_known = false;
    for line in log.lines() {
        // The word after a number says what it is.
        let number = |what: &str| {
            let before = line[..line.find(what)?].trim_end();
            before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
        };
        if line.contains("bytes stack frame") {
            // One line for each function.
            stack_of_entry = stack_of_entry.max(number("bytes stack frame")?);
            found.spill_store_bytes += number("bytes spill stores")?;
            found.spill_load_bytes += number("bytes spill loads")?;
        } else if let Some(registers) = number("registers").filter(|_| line.contains("Used ")) {
            is_known = true;
            found.registers = registers;
            found.stack_bytes = number("bytes cumulative stack size").unwrap_or(0);
            found.shared_bytes = number("bytes smem").unwrap_or(0);
        }
    }
    found.stack_bytes = found.stack_bytes.max(stack_of_entry);
    is_known.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_of_the_assembler_is_read() {
        let log = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'rl_entry' for 'sm_90'
ptxas info    : Function properties for rl_entry
ptxas         .     8 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 24 bytes cumulative stack size, 16 bytes smem
ptxas info    : Compile time = 299.932 ms
ptxas info    : Function properties for rl_kernel_0
ptxas         .     0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads";
        let expected = Resources {
            registers: 128,
            stack_bytes: 24,
            spill_store_bytes: 12,
            spill_load_bytes: 12,
            shared_bytes: 16,
            uses_scratch: false,
        };
        assert_eq!(parsed(log), Some(expected));
        let small = parsed("ptxas info : Used 24 registers, used 0 barriers").unwrap();
        assert_eq!(small, Resources { registers: 24, ..Resources::default() });
        assert_eq!(parsed("another compiler's words"), None);
    }

    #[test]
    fn an_architecture_is_written_as_compilers_write_it() {
        assert_eq!("sm_100".parse(), Ok(Architecture(100)));
        for wrong in ["", "sm_", "sm_70", "sm_9x", "sm_-90", "sm_+90", "90", "compute_90", "sm_4294967386"] {
            assert_eq!(wrong.parse::<Architecture>(), Err(()), "{wrong}");
        }
        assert_eq!(Architecture(90).to_string(), "sm_90");
    }
}
