//! Why a device cannot be used, or stopped.

#![forbid(unsafe_code)]

use ringlane_engine::{Error, Fault};
use ringlane_task::Explain;

/// What went wrong with a device or its programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// There is no such device, or what it needs is not installed.
    DeviceUnavailable {
        /// What is missing.
        detail: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A program does not compile.
    DeviceProgram {
        /// What the compiler printed.
        log: String,
    },
    /// The device has not enough memory.
    OutOfDeviceMemory {
        /// Bytes asked for.
        wanted: u64,
        /// Bytes that are free.
        free: u64,
        /// If heap rings were asked for: the size that fits.
        ring_heap: Option<u64>,
    },
    /// A kernel has no body for the device.
    NoDeviceKernel {
        /// Its name.
        kernel: &'static str,
    },
    /// The device stopped: nothing that it held can be used.
    DeviceLost {
        /// What it ran.
        running: String,
        /// What the driver says.
        reason: String,
    },
    /// A kernel does not return.
    KernelSilent {
        /// Its block and task.
        running: String,
        /// For how long it has run, at least.
        seconds: u64,
    },
    /// Blocks wait for tasks, none of which runs.
    DeviceStalled {
        /// How many tasks did not end.
        tasks: usize,
    },
    /// Only captured graphs can be run with the policy.
    OnlyCaptured {
        /// The policy.
        policy: &'static str,
    },
    /// A task failed in a run whose policy does not go on after that.
    TaskFailedInGraph {
        /// The task's number, and what its kernel says.
        what: String,
    },
    /// A call of the driver failed.
    DeviceCall {
        /// Which call.
        call: &'static str,
        /// What the driver says.
        reason: String,
    },
}

ringlane_task::explained_error!(DeviceError);

impl Explain for DeviceError {
    fn name(&self) -> &'static str {
        match self {
            DeviceError::DeviceUnavailable { .. } => "DeviceUnavailable",
            DeviceError::DeviceProgram { .. } => "DeviceProgram",
            DeviceError::OutOfDeviceMemory { .. } => "OutOfDeviceMemory",
            DeviceError::NoDeviceKernel { .. } => "NoDeviceKernel",
            DeviceError::DeviceLost { .. } => "DeviceLost",
            DeviceError::KernelSilent { .. } => "KernelSilent",
            DeviceError::DeviceStalled { .. } => "DeviceStalled",
            DeviceError::OnlyCaptured { .. } => "OnlyCaptured",
            DeviceError::TaskFailedInGraph { .. } => "TaskFailedInGraph",
            DeviceError::DeviceCall { .. } => "DeviceCall",
        }
    }

    fn summary(&self) -> String {
        self.sentence().to_string()
    }

    fn detail(&self) -> String {
        match self {
            DeviceError::DeviceUnavailable { detail, .. } => detail.clone(),
            DeviceError::DeviceProgram { log } => log.trim().to_string(),
            DeviceError::OutOfDeviceMemory { wanted, free, .. } => {
                format!("{wanted} bytes are needed, {free} are free")
            }
            DeviceError::NoDeviceKernel { kernel } => format!("the kernel is {kernel}"),
            DeviceError::DeviceLost { running, reason } => format!("{reason}; {running}"),
            DeviceError::KernelSilent { running, seconds } => {
                format!("after {seconds} s: {running}; the device was halted, and what it held is lost")
            }
            DeviceError::DeviceStalled { tasks } => format!("{tasks} tasks of the batch did not end"),
            DeviceError::OnlyCaptured { policy } => format!("the policy is {policy}"),
            DeviceError::TaskFailedInGraph { what } => what.clone(),
            DeviceError::DeviceCall { call, reason } => format!("{call}: {reason}"),
        }
    }

    fn hint(&self) -> String {
        if let DeviceError::OutOfDeviceMemory { ring_heap: Some(bytes), .. } = self {
            return format!(
                "use heap rings of {bytes} bytes (--ring-heap {bytes}), or end other programs on the device"
            );
        }
        let text = match self {
            DeviceError::DeviceUnavailable { hint, .. } => hint,
            DeviceError::DeviceProgram { .. } => {
                "correct the body that follows `cuda` in the kernel's declaration"
            }
            DeviceError::OutOfDeviceMemory { .. } => {
                "use smaller buffers or smaller heap rings (--ring-heap), or end other programs on the device"
            }
            DeviceError::NoDeviceKernel { .. } => {
                "add `cuda \"…\"` to its declaration, or run on another platform"
            }
            DeviceError::DeviceLost { .. } => {
                "run with RL_CHECK=1, which turns accesses out of bounds into errors of their task"
            }
            DeviceError::KernelSilent { .. } => {
                "look for a loop that does not end, or an rl_sync() that not all threads call; RL_KERNEL_SECONDS sets the limit"
            }
            DeviceError::DeviceStalled { .. } => {
                "this is an error in Ringlane: please report it with the program"
            }
            DeviceError::OnlyCaptured { .. } => "use --runtime host_build_graph, or the policy lists",
            DeviceError::TaskFailedInGraph { .. } => {
                "use the policy lists, which skips only what reads the bytes of the failed task"
            }
            DeviceError::DeviceCall { .. } => "nvidia-smi shows the state of the device",
        };
        text.to_string()
    }
}

/// Blocks that an error names; more are counted.
const NAMED_MAX: usize = 4;

impl DeviceError {
    /// The same error with what ran on the device, block by block.
    pub(crate) fn running(self, blocks: Vec<String>) -> Self {
        let others = blocks.len().saturating_sub(NAMED_MAX);
        let mut text = blocks.into_iter().take(NAMED_MAX).collect::<Vec<_>>().join(", ");
        if others > 0 {
            text += &format!(", and {others} others");
        }
        match self {
            DeviceError::KernelSilent { seconds, .. } => DeviceError::KernelSilent { running: text, seconds },
            DeviceError::DeviceLost { reason, .. } if !text.is_empty() => {
                let running = format!("the device ran {text}, or what came just after on the same processor");
                DeviceError::DeviceLost { running, reason }
            }
            DeviceError::DeviceLost { reason, .. } => {
                let running = "no block had said what it ran".to_string();
                DeviceError::DeviceLost { running, reason }
            }
            other => other,
        }
    }

    fn sentence(&self) -> &'static str {
        match self {
            DeviceError::DeviceUnavailable { .. } => "the device is not available",
            DeviceError::DeviceProgram { .. } => "the CUDA body of a kernel does not compile",
            DeviceError::OutOfDeviceMemory { .. } => "the device has not enough memory",
            DeviceError::NoDeviceKernel { .. } => "a kernel has no CUDA body",
            DeviceError::DeviceLost { .. } => "the device stopped, and what it held is lost",
            DeviceError::KernelSilent { .. } => "a kernel does not return",
            DeviceError::DeviceStalled { .. } => "the tasks on the device wait for each other",
            DeviceError::OnlyCaptured { .. } => "only captured graphs can be run with this policy",
            DeviceError::TaskFailedInGraph { .. } => "a task failed, and the run was ended",
            DeviceError::DeviceCall { .. } => "a call of the CUDA driver failed",
        }
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Self {
        let (name, summary, detail, hint) = (error.name(), error.sentence(), error.detail(), error.hint());
        Fault::Device { name, summary, detail, hint }.into()
    }
}
