//! A device without a runtime: what copies and programs take by themselves, for benchmarks to compare with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ringlane_engine::Result;
use ringlane_engine::api::kernel::Kernel;

use crate::cache;
use crate::device::{Address, Answer, Device, Mapped};
use crate::error::DeviceError;
use crate::gpu::Gpu;
use crate::host_threads::HostThreads;
use crate::source::{Bounds, Entries, Machine, program};

/// A device, and memory on both sides to copy between.
pub struct BareDevice {
    device: Arc<dyn Device>,
    machine: Machine,
}

/// Memory of the device, and pinned memory of the host of the same size; given back when it is dropped.
struct Pair<'a> {
    device: &'a dyn Device,
    pinned: Mapped,
    at: Address,
}

impl Drop for Pair<'_> {
    fn drop(&mut self) {
        self.device.free_mapped(self.pinned);
        self.device.free(self.at);
    }
}

impl BareDevice {
    /// The device of the platform `cuda` or `cuda-host`.
    ///
    /// # Errors
    /// `DeviceUnavailable` if there is none.
    pub fn open(platform: &str) -> Result<Self> {
        let (device, machine): (Arc<dyn Device>, _) = match platform {
            "cuda-host" => (Arc::new(HostThreads::open()?), Machine::HostThreads),
            _ => (Arc::new(Gpu::open()?), Machine::Gpu),
        };
        Ok(BareDevice { device, machine })
    }

    /// The operations per second that it can do at most in products of bf16 matrices with f32 sums: what its tensor cores do in
    /// each cycle, at the highest clock that its driver names. None for threads, and for GPUs other than those of compute
    /// capability 8.0 and 9.0.
    ///
    /// ```
    /// // Without a C++ compiler, there is no such device.
    /// if let Ok(threads) = ringlane_chip_cuda::BareDevice::open("cuda-host") {
    ///     assert_eq!(threads.matrix_operations_max(), None);
    /// }
    /// ```
    pub fn matrix_operations_max(&self) -> Option<f64> {
        self.device.matrix_operations_max()
    }

    /// What copies of this many bytes take: from pinned memory to the device, and back.
    ///
    /// # Errors
    /// `OutOfDeviceMemory` if they do not fit.
    pub fn copy_pinned(&self, bytes: u32) -> Result<(Duration, Duration)> {
        Ok(self.copied(u64::from(bytes))?)
    }

    fn copied(&self, bytes: u64) -> Answer<(Duration, Duration)> {
        let device = &*self.device;
        let pinned = device.alloc_mapped(bytes)?;
        let at = device.alloc(bytes).inspect_err(|_| device.free_mapped(pinned))?;
        let pair = Pair { device, pinned, at };
        // SAFETY: the memory is as large, and only used here.
        let host = unsafe { core::slice::from_raw_parts_mut(pair.pinned.host, bytes as usize) };
        let start = Instant::now();
        // SAFETY: as above.
        unsafe { device.copy_in(host, pair.at) }?;
        let copied_in = start.elapsed();
        let start = Instant::now();
        // SAFETY: as above.
        unsafe { device.copy_out(pair.at, host) }?;
        Ok((copied_in, start.elapsed()))
    }

    /// What it takes to compile and load a program with these kernels, and to load it again from the cache.
    ///
    /// # Errors
    /// `DeviceProgram` if a body does not compile.
    pub fn load(&self, kernels: &[&Kernel]) -> Result<(Duration, Duration)> {
        Ok(self.loaded(kernels)?)
    }

    fn loaded(&self, kernels: &[&Kernel]) -> core::result::Result<(Duration, Duration), DeviceError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let source = program(kernels, self.machine, Bounds::from_environment(), Entries::Lists);
        // A source that no one has compiled.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let new = format!("{source}// {} {number}\n", std::process::id());
        let start = Instant::now();
        cache::bypassed(|| self.device.load(&new, Entries::Lists))?;
        let cold = start.elapsed();
        self.device.load(&source, Entries::Lists)?;
        let start = Instant::now();
        self.device.load(&source, Entries::Lists)?;
        Ok((cold, start.elapsed()))
    }
}
