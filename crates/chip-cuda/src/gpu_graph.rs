//! A CUDA graph: what lists are compared with.

use core::ffi::c_void;

use cudarc::driver::sys;

use crate::device::Answer;
use crate::gpu::{call, scratch_of};
use crate::nodes::Nodes;

/// A CUDA graph, ready to be launched.
pub(crate) struct GpuGraph {
    graph: sys::CUgraph,
    executable: sys::CUgraphExec,
}

// SAFETY: handles of the driver may be used from any thread to which the context is current.
unsafe impl Send for GpuGraph {}
// SAFETY: as above.
unsafe impl Sync for GpuGraph {}

impl GpuGraph {
    /// A graph with a node for each of these.
    ///
    /// # Safety
    /// The context of the function is current; the nodes are placed, and their addresses stay valid as long as this exists.
    pub(crate) unsafe fn new(function: sys::CUfunction, threads: u32, nodes: &Nodes) -> Answer<Self> {
        let mut graph = GpuGraph { graph: core::ptr::null_mut(), executable: core::ptr::null_mut() };
        // SAFETY: the place is valid.
        unsafe { sys::cuGraphCreate(&mut graph.graph, 0) }.result().map_err(call("cuGraphCreate"))?;
        let mut made: Vec<sys::CUgraphNode> = Vec::with_capacity(nodes.len());
        let mut before = Vec::new();
        for (number, node) in nodes.placed().iter().enumerate() {
            before.clear();
            before.extend(nodes.before(number).iter().map(|&before| made[before as usize]));
            let mut arguments = *node;
            let mut params = [(&raw mut arguments).cast::<c_void>()];
            let launch = sys::CUDA_KERNEL_NODE_PARAMS {
                func: function,
                gridDimX: node.blocks,
                gridDimY: 1,
                gridDimZ: 1,
                blockDimX: threads,
                blockDimY: 1,
                blockDimZ: 1,
                sharedMemBytes: scratch_of(node),
                kernelParams: params.as_mut_ptr(),
                extra: core::ptr::null_mut(),
                kern: core::ptr::null_mut(),
                ctx: core::ptr::null_mut(),
            };
            let mut handle = core::ptr::null_mut();
            // SAFETY: the nodes before it are of this graph; the driver copies the parameters before the call returns.
            unsafe {
                sys::cuGraphAddKernelNode_v2(&mut handle, graph.graph, before.as_ptr(), before.len(), &launch)
            }
            .result()
            .map_err(call("cuGraphAddKernelNode"))?;
            made.push(handle);
        }
        // SAFETY: the graph is ours.
        unsafe { sys::cuGraphInstantiateWithFlags(&mut graph.executable, graph.graph, 0) }
            .result()
            .map_err(call("cuGraphInstantiate"))?;
        Ok(graph)
    }

    /// Launches it.
    ///
    /// # Safety
    /// The context is current, and nothing else uses the memory of its tasks in a way that conflicts.
    pub(crate) unsafe fn launch(&self, stream: sys::CUstream) -> Answer<()> {
        // SAFETY: the caller's promise; the stream is one of the context.
        unsafe { sys::cuGraphLaunch(self.executable, stream) }.result().map_err(call("cuGraphLaunch"))
    }
}

impl Drop for GpuGraph {
    fn drop(&mut self) {
        if !self.executable.is_null() {
            // SAFETY: ours, and destroyed once.
            let _ = unsafe { sys::cuGraphExecDestroy(self.executable) };
        }
        if !self.graph.is_null() {
            // SAFETY: as above.
            let _ = unsafe { sys::cuGraphDestroy(self.graph) };
        }
    }
}
