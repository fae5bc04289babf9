//! A GPU through the CUDA driver, which is loaded when it is needed.

use core::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;

use crate::device::{Address, Answer, Device, LAUNCHES_MAX, Launch, Mapped};
use crate::entry::Grid;
use crate::error::DeviceError;
use crate::gpu_graph::GpuGraph;
use crate::nodes::{DeviceGraph, Node, Nodes};
use crate::nvrtc;
use crate::peak;
use crate::source::Entries;

/// Threads of a block; `rl_main` is compiled for them.
const THREADS: u32 = 256;
/// Bytes of scratch memory of a block: `RL_SCRATCH_BYTES` of `device/body.h`.
const SCRATCH_BYTES: u32 = 160 * 1024;
/// How long a device gets to end what runs.
const STOP: Duration = Duration::from_secs(5);
/// The oldest architecture whose memory operations the device runtime uses.
pub(crate) const ARCHITECTURE_MIN: u32 = 80;

/// A GPU.
#[derive(Debug)]
pub(crate) struct Gpu {
    device: sys::CUdevice,
    context: sys::CUcontext,
    /// The program runs here, copies there: they do not wait for each other.
    work: sys::CUstream,
    copies: sys::CUstream,
    /// Recorded after each launch, in turn.
    ends: [sys::CUevent; LAUNCHES_MAX],
    launches: AtomicU64,
    program: Mutex<Option<Program>>,
    architecture: u32,
    processors: u32,
    /// Whether the context can no longer be used.
    is_lost: AtomicBool,
}

/// A loaded program.
#[derive(Clone, Copy, Debug)]
struct Program {
    module: sys::CUmodule,
    main: sys::CUfunction,
    /// For a launch of each task; none in programs that only have lists.
    node: Option<sys::CUfunction>,
    /// Ends everything by a trap.
    stop: sys::CUfunction,
}

// SAFETY: handles of the driver may be used from any thread to which the context is current; every method makes it so.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

/// Why there is no GPU to use.
pub(crate) fn unavailable() -> Option<DeviceError> {
    let missing =
        |detail: &str, hint| Some(DeviceError::DeviceUnavailable { detail: detail.to_string(), hint });
    // SAFETY: it tries to load a library of NVIDIA's, whose initializers are trusted.
    if !unsafe { sys::is_culib_present() } {
        return missing(
            "no driver (libcuda.so.1 not found)",
            "install the NVIDIA driver, or run on another platform",
        );
    }
    if let Err(error) = result::init() {
        return missing(
            &format!("the driver does not start: {}", reason(error)),
            "nvidia-smi shows the state of the driver",
        );
    }
    match result::device::get_count() {
        Ok(0) | Err(_) => missing("the driver shows no device", "CUDA_VISIBLE_DEVICES may hide it"),
        Ok(_) if !nvrtc::is_present() => missing(
            "NVRTC is not installed (libnvrtc.so not found)",
            "install NVRTC of CUDA 13, and let LD_LIBRARY_PATH name its directory",
        ),
        Ok(_) => None,
    }
}

/// The architecture of the first device, if there is one.
pub(crate) fn architecture() -> Option<u32> {
    // SAFETY: it tries to load a library of NVIDIA's, whose initializers are trusted.
    if !unsafe { sys::is_culib_present() } || result::init().is_err() {
        return None;
    }
    architecture_of(result::device::get(0).ok()?).ok()
}

fn architecture_of(device: sys::CUdevice) -> Answer<u32> {
    use sys::CUdevice_attribute_enum as A;
    let major = attribute(device, A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(device, A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    Ok(major * 10 + minor)
}

fn attribute(device: sys::CUdevice, attribute: sys::CUdevice_attribute) -> Answer<u32> {
    // SAFETY: the device was given out by the driver.
    let value = unsafe { result::device::get_attribute(device, attribute) };
    value.map(|value| value as u32).map_err(call("cuDeviceGetAttribute"))
}

fn reason(error: DriverError) -> String {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|_| format!("{:?}", error.0))
}

pub(crate) fn call(call: &'static str) -> impl FnOnce(DriverError) -> DeviceError {
    move |error| DeviceError::DeviceCall { call, reason: reason(error) }
}

/// Bytes of scratch memory for each block of a launch: without it, several blocks fit on a processor.
pub(crate) fn scratch_of(node: &Node) -> u32 {
    if node.scratch == 0 { 0 } else { SCRATCH_BYTES }
}

/// A stream whose work does not wait for that of others.
pub(crate) fn stream() -> Answer<sys::CUstream> {
    result::stream::create(result::stream::StreamKind::NonBlocking).map_err(call("cuStreamCreate"))
}

impl Gpu {
    /// The first device.
    pub(crate) fn open() -> Answer<Self> {
        if let Some(error) = unavailable() {
            return Err(error);
        }
        let device = result::device::get(0).map_err(call("cuDeviceGet"))?;
        let processors =
            attribute(device, sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let architecture = architecture_of(device)?;
        if architecture < ARCHITECTURE_MIN {
            let (major, minor) = (architecture / 10, architecture % 10);
            return Err(DeviceError::DeviceUnavailable {
                detail: format!("the device has compute capability {major}.{minor}, at least 8.0 is needed"),
                hint: "run on another device or platform",
            });
        }
        // SAFETY: the device exists; the context is released when this is dropped.
        let context =
            unsafe { result::primary_ctx::retain(device) }.map_err(call("cuDevicePrimaryCtxRetain"))?;
        // SAFETY: the context was just retained.
        unsafe { result::ctx::set_current(context) }.map_err(call("cuCtxSetCurrent"))?;
        let (work, copies) = (stream()?, stream()?);
        let untimed = sys::CUevent_flags_enum::CU_EVENT_DISABLE_TIMING;
        let mut ends = [core::ptr::null_mut(); LAUNCHES_MAX];
        for end in &mut ends {
            *end = result::event::create(untimed).map_err(call("cuEventCreate"))?;
        }
        let (program, launches) = (Mutex::new(None), AtomicU64::new(0));
        let is_lost = AtomicBool::new(false);
        Ok(Gpu { device, context, work, copies, ends, launches, program, architecture, processors, is_lost })
    }

    /// What is recorded after a launch.
    fn end_of(&self, launch: Launch) -> sys::CUevent {
        self.ends[launch as usize % LAUNCHES_MAX]
    }

    /// The program that is loaded.
    fn program(&self) -> Program {
        self.program.lock().expect("no panic while it is held").expect("the caller loaded a program")
    }

    /// The number of what was just launched.
    fn launched(&self) -> Answer<Launch> {
        let launch = self.launches.fetch_add(1, Ordering::Relaxed);
        // SAFETY: event and stream are ours.
        unsafe { result::event::record(self.end_of(launch), self.work) }.map_err(call("cuEventRecord"))?;
        Ok(launch)
    }

    /// What the driver says when what runs did not end well.
    fn lose(&self, error: DriverError) -> DeviceError {
        self.is_lost.store(true, Ordering::Relaxed);
        DeviceError::DeviceLost { running: String::new(), reason: reason(error) }
    }

    fn bind(&self) -> Answer<()> {
        if self.is_lost.load(Ordering::Relaxed) {
            let reason = "it was stopped earlier, and this process cannot use it again".to_string();
            return Err(DeviceError::DeviceLost { running: String::new(), reason });
        }
        // SAFETY: the context is retained as long as this exists.
        unsafe { result::ctx::set_current(self.context) }.map_err(call("cuCtxSetCurrent"))
    }

    fn replace(&self, program: Option<Program>) {
        let old = core::mem::replace(&mut *self.program.lock().expect("no panic while it is held"), program);
        if let Some(Program { module, .. }) = old {
            // SAFETY: nothing of it runs: `load` and `drop` are called between launches.
            let _ = unsafe { result::module::unload(module) };
        }
    }
}

impl Device for Gpu {
    fn blocks(&self) -> u32 {
        self.processors
    }

    fn matrix_operations_max(&self) -> Option<f64> {
        let clock = sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_CLOCK_RATE;
        let clock_khz = attribute(self.device, clock).ok()?;
        peak::matrix_operations_max(self.architecture, self.processors, clock_khz)
    }

    fn free_bytes(&self) -> Answer<u64> {
        self.bind()?;
        result::mem_get_info().map(|(free, _)| free as u64).map_err(call("cuMemGetInfo"))
    }

    fn alloc(&self, bytes: u64) -> Answer<Address> {
        self.bind()?;
        let bytes_usize = usize::try_from(bytes.max(1)).unwrap_or(usize::MAX);
        // SAFETY: any size may be asked for.
        unsafe { result::malloc_sync(bytes_usize) }.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let free = self.free_bytes().unwrap_or(0);
                DeviceError::OutOfDeviceMemory { wanted: bytes, free, ring_heap: None }
            }
            _ => call("cuMemAlloc")(error),
        })
    }

    fn free(&self, at: Address) {
        if self.bind().is_ok() {
            // SAFETY: `alloc` gave it out; callers give it back once.
            let _ = unsafe { result::free_sync(at) };
        }
    }

    fn alloc_mapped(&self, bytes: u64) -> Answer<Mapped> {
        self.bind()?;
        // Mapped into the device's address space, for all contexts.
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: any size may be asked for.
        let host =
            unsafe { result::malloc_host(bytes.max(1) as usize, flags) }.map_err(call("cuMemHostAlloc"))?;
        // SAFETY: it was just allocated, with this many bytes.
        unsafe { core::ptr::write_bytes(host.cast::<u8>(), 0, bytes as usize) };
        let mut device = 0;
        // SAFETY: as above.
        let found = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut device, host, 0) };
        found.result().map_err(call("cuMemHostGetDevicePointer"))?;
        Ok(Mapped { host: host.cast(), device })
    }

    fn free_mapped(&self, memory: Mapped) {
        if self.bind().is_ok() {
            // SAFETY: `alloc_mapped` gave it out; callers give it back once.
            let _ = unsafe { result::free_host(memory.host.cast()) };
        }
    }

    unsafe fn copy_in(&self, from: &[u8], at: Address) -> Answer<()> {
        self.bind()?;
        // SAFETY: the caller's promise; the source lives until the copy is complete, below.
        unsafe { result::memcpy_htod_async(at, from, self.copies) }.map_err(call("cuMemcpyHtoDAsync"))?;
        // SAFETY: the stream is ours.
        unsafe { result::stream::synchronize(self.copies) }.map_err(call("cuStreamSynchronize"))
    }

    unsafe fn copy_out(&self, at: Address, into: &mut [u8]) -> Answer<()> {
        self.bind()?;
        // SAFETY: as above.
        unsafe { result::memcpy_dtoh_async(into, at, self.copies) }.map_err(call("cuMemcpyDtoHAsync"))?;
        // SAFETY: as above.
        unsafe { result::stream::synchronize(self.copies) }.map_err(call("cuStreamSynchronize"))
    }

    unsafe fn copy_in_before_launch(&self, from: &[u8], at: Address) -> Answer<()> {
        self.bind()?;
        // SAFETY: the caller's promise.
        unsafe { result::memcpy_htod_async(at, from, self.work) }.map_err(call("cuMemcpyHtoDAsync"))
    }

    fn load(&self, source: &str, entries: Entries) -> Answer<()> {
        self.bind()?;
        let code = nvrtc::compile(source, self.architecture)?;
        // SAFETY: NVRTC made the code for this device.
        let module =
            unsafe { result::module::load_data(code.as_ptr().cast()) }.map_err(call("cuModuleLoadData"))?;
        // SAFETY: the module was just loaded.
        let function =
            |name: &core::ffi::CStr| unsafe { result::module::get_function(module, name.to_owned()) };
        let main = function(c"rl_main").map_err(call("cuModuleGetFunction"))?;
        let node = match entries {
            Entries::Lists => None,
            Entries::ListsAndNodes => Some(function(c"rl_node").map_err(call("cuModuleGetFunction"))?),
        };
        let stop = function(c"rl_stop").map_err(call("cuModuleGetFunction"))?;
        // Later, while a kernel runs that does not return, it could not be loaded.
        // SAFETY: the function is of that module.
        unsafe { sys::cuFuncLoad(stop) }.result().map_err(call("cuFuncLoad"))?;
        self.replace(Some(Program { module, main, node, stop }));
        let scratch = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        for function in [Some(main), node].into_iter().flatten() {
            // SAFETY: the function is of that module.
            unsafe { result::function::set_function_attribute(function, scratch, SCRATCH_BYTES as i32) }
                .map_err(call("cuFuncSetAttribute"))?;
        }
        Ok(())
    }

    unsafe fn launch(&self, grid: &Grid, blocks: u32) -> Answer<Launch> {
        self.bind()?;
        let main = self.program().main;
        let mut grid = *grid;
        let mut params = [(&raw mut grid).cast::<c_void>()];
        // Cooperative: all blocks run at the same time, or the launch is refused.
        // SAFETY: the caller vouches for the grid; the driver copies it before the call returns.
        unsafe {
            result::launch_cooperative_kernel(
                main,
                (blocks, 1, 1),
                (THREADS, 1, 1),
                SCRATCH_BYTES,
                self.work,
                &mut params,
            )
        }
        .map_err(call("cuLaunchCooperativeKernel"))?;
        self.launched()
    }

    unsafe fn launch_nodes(&self, nodes: &[Node]) -> Answer<Launch> {
        self.bind()?;
        let function = self.program().node.expect("the caller loaded a program with nodes");
        for node in nodes {
            let mut node = *node;
            let mut params = [(&raw mut node).cast::<c_void>()];
            let (grid, block, scratch) = ((node.blocks, 1, 1), (THREADS, 1, 1), scratch_of(&node));
            // SAFETY: the caller vouches for the node; the driver copies it before the call returns.
            unsafe { result::launch_kernel(function, grid, block, scratch, self.work, &mut params) }
                .map_err(call("cuLaunchKernel"))?;
        }
        self.launched()
    }

    unsafe fn make_graph(&self, nodes: &Nodes) -> Answer<DeviceGraph> {
        self.bind()?;
        let function = self.program().node.expect("the caller loaded a program with nodes");
        // SAFETY: the caller's promise.
        let graph = unsafe { GpuGraph::new(function, THREADS, nodes) }?;
        Ok(Box::new(graph))
    }

    unsafe fn launch_graph(&self, graph: &DeviceGraph) -> Answer<Launch> {
        self.bind()?;
        let graph = graph.downcast_ref::<GpuGraph>().expect("this device made it");
        // SAFETY: the caller's promise.
        unsafe { graph.launch(self.work) }?;
        self.launched()
    }

    fn has_ended(&self, launch: Launch) -> bool {
        // SAFETY: the event is ours.
        let ended = self.bind().is_ok().then(|| unsafe { result::event::query(self.end_of(launch)) });
        !matches!(ended, Some(Err(error)) if error.0 == sys::CUresult::CUDA_ERROR_NOT_READY)
    }

    fn wait_for(&self, launch: Launch) -> Answer<()> {
        self.bind()?;
        // SAFETY: the event is ours.
        unsafe { result::event::synchronize(self.end_of(launch)) }.map_err(|error| self.lose(error))
    }

    fn stop(&self) {
        let Ok(stream) = self.bind().and_then(|()| stream()) else { return };
        let mut now = 1u32;
        let mut params = [(&raw mut now).cast::<c_void>()];
        let stop = self.program().stop;
        // SAFETY: the function takes a number. What it ends is given up.
        let launched = unsafe { result::launch_kernel(stop, (1, 1, 1), (1, 1, 1), 0, stream, &mut params) };
        let since = Instant::now();
        // Until the driver says that the context is lost, or there is no room for the kernel that traps.
        while launched.is_ok() && since.elapsed() < STOP {
            // SAFETY: the stream is ours.
            if unsafe { sys::cuStreamQuery(stream) } != sys::CUresult::CUDA_ERROR_NOT_READY {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.is_lost.store(true, Ordering::Relaxed);
    }

    fn wait(&self) -> Answer<()> {
        self.bind()?;
        // SAFETY: the stream is ours.
        unsafe { result::stream::synchronize(self.work) }.map_err(|error| self.lose(error))
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if self.bind().is_err() {
            return;
        }
        self.replace(None);
        // SAFETY: nothing uses the streams and the context any more.
        unsafe {
            for end in self.ends {
                let _ = result::event::destroy(end);
            }
            let _ = result::stream::destroy(self.work);
            let _ = result::stream::destroy(self.copies);
            let _ = result::primary_ctx::release(self.device);
        }
    }
}
