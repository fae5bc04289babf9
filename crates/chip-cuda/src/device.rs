//! What the chip needs of a machine: memory, copies, and a program that runs on many blocks at once.
//!
//! Two machines have it: a GPU (`gpu.rs`), and threads of this machine (`host_threads.rs`), where everything is tested
//! that does not need a GPU.

use core::fmt::Debug;

use crate::entry::{Grid, Plain};
use crate::error::DeviceError;
use crate::nodes::{DeviceGraph, Node, Nodes};
use crate::source::Entries;

/// The address of memory on the device.
pub(crate) type Address = u64;

/// The number of a launch.
pub(crate) type Launch = u64;

/// Launches that may be unfinished at the same time.
pub(crate) const LAUNCHES_MAX: usize = 4;

/// What answers of a device are.
pub(crate) type Answer<T> = Result<T, DeviceError>;

/// Memory that the host sees too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped {
    pub(crate) host: *mut u8,
    pub(crate) device: Address,
}

/// A machine whose blocks run the entries of lists.
pub(crate) trait Device: Send + Sync + Debug {
    /// How many blocks run at the same time.
    fn blocks(&self) -> u32;
    /// The operations per second that it can do at most in products of bf16 matrices, if that is known.
    fn matrix_operations_max(&self) -> Option<f64> {
        None
    }
    /// How much of its memory is free.
    fn free_bytes(&self) -> Answer<u64>;
    /// Reserves memory of the device, aligned to a cache line. What it holds is undefined.
    fn alloc(&self, bytes: u64) -> Answer<Address>;
    /// Gives memory back.
    fn free(&self, at: Address);
    /// Reserves zeroed memory that host and device use.
    fn alloc_mapped(&self, bytes: u64) -> Answer<Mapped>;
    /// Gives such memory back.
    fn free_mapped(&self, memory: Mapped);
    /// Copies bytes to the device; they are there when it returns.
    ///
    /// # Safety
    /// The bytes are inside memory of this device, and nobody uses them meanwhile.
    unsafe fn copy_in(&self, from: &[u8], at: Address) -> Answer<()>;
    /// Copies bytes from the device.
    ///
    /// # Safety
    /// As for `copy_in`; nobody writes them meanwhile.
    unsafe fn copy_out(&self, at: Address, into: &mut [u8]) -> Answer<()>;
    /// Copies bytes to the device; they are there when the next launch begins.
    ///
    /// # Safety
    /// As for `copy_in`, until that launch has begun. The bytes are in memory of [`alloc_mapped`](Self::alloc_mapped), and stay
    /// as they are until then.
    unsafe fn copy_in_before_launch(&self, from: &[u8], at: Address) -> Answer<()>;
    /// Replaces the program, whose source has these entries. Nothing runs meanwhile.
    fn load(&self, source: &str, entries: Entries) -> Answer<()>;
    /// Starts the program on this many blocks, once all earlier launches have ended. At most [`LAUNCHES_MAX`] are unfinished.
    ///
    /// # Safety
    /// A program is loaded, and the grid's addresses are what `device/worker.h` says until the launch has ended.
    unsafe fn launch(&self, grid: &Grid, blocks: u32) -> Answer<Launch>;
    /// Launches each of these tasks, one after another.
    ///
    /// # Safety
    /// A program with nodes is loaded, and the addresses of the nodes are what `device/node.h` says until the launch has ended.
    unsafe fn launch_nodes(&self, nodes: &[Node]) -> Answer<Launch>;
    /// Makes a graph of launches, one for each of these placed nodes.
    ///
    /// # Safety
    /// A program with nodes is loaded, which stays; the addresses are what `device/node.h` says as long as the graph exists.
    unsafe fn make_graph(&self, nodes: &Nodes) -> Answer<DeviceGraph>;
    /// Launches a graph that this device made, once all earlier launches have ended.
    ///
    /// # Safety
    /// As for `make_graph`, and nothing else uses the memory that its tasks use.
    unsafe fn launch_graph(&self, graph: &DeviceGraph) -> Answer<Launch>;
    /// Whether a launch has ended, well or not.
    fn has_ended(&self, launch: Launch) -> bool;
    /// Waits until a launch has ended.
    fn wait_for(&self, launch: Launch) -> Answer<()>;
    /// Ends by force what runs, after which the device can no longer be used.
    fn stop(&self);
    /// Waits until all launches have ended.
    fn wait(&self) -> Answer<()>;
}

/// The bytes of plain values.
pub(crate) fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: plain values have no padding, and any bytes may be read.
    unsafe { core::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The same, to be written.
pub(crate) fn bytes_of_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above; every bit pattern is a value.
    unsafe { core::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
