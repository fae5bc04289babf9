//! The structs and numbers that cross the boundary.

use core::ffi::{c_char, c_void};

use ringlane::dynamic::{DynTask, DynTensor};

/// The version of the ABI. Functions and trailing fields are added without a new version.
pub const RL_ABI_VERSION: u32 = 1;

/// It worked.
pub const RL_OK: i32 = 0;
/// It did not; `rl_error_name()` says why.
pub const RL_ERROR: i32 = 1;
/// An argument of the call itself is wrong: a null pointer, a size, a number.
pub const RL_BAD_CALL: i32 = 2;
/// A task of the run failed.
pub const RL_TASK_FAILED: i32 = 3;
/// The run was interrupted.
pub const RL_INTERRUPTED: i32 = 4;
/// A handle is used outside of its scope or run.
pub const RL_STALE_HANDLE: i32 = 5;

/// `bool`, a byte that is 0 or 1.
pub const RL_BOOL: u32 = 0;
/// `int8_t`
pub const RL_I8: u32 = 1;
/// `uint8_t`
pub const RL_U8: u32 = 2;
/// `int16_t`
pub const RL_I16: u32 = 3;
/// `uint16_t`
pub const RL_U16: u32 = 4;
/// `int32_t`
pub const RL_I32: u32 = 5;
/// `uint32_t`
pub const RL_U32: u32 = 6;
/// `int64_t`
pub const RL_I64: u32 = 7;
/// `uint64_t`
pub const RL_U64: u32 = 8;
/// IEEE half precision
pub const RL_F16: u32 = 9;
/// bfloat16
pub const RL_BF16: u32 = 10;
/// `float`
pub const RL_F32: u32 = 11;
/// `double`
pub const RL_F64: u32 = 12;
/// 8-bit float with 4 bits of exponent
pub const RL_F8_E4M3: u32 = 13;
/// 8-bit float with 5 bits of exponent
pub const RL_F8_E5M2: u32 = 14;

/// A matrix core.
pub const RL_CORE_AIC: u32 = 0;
/// A vector core.
pub const RL_CORE_AIV: u32 = 1;
/// Any core.
pub const RL_CORE_ANY: u32 = 2;

/// A parameter that reads a tensor.
pub const RL_PARAM_READ: u32 = 0;
/// A parameter that writes a tensor, or reads and writes it; in a task of several blocks each block its own part.
pub const RL_PARAM_WRITE: u32 = 1;
/// A parameter that writes a tensor which other blocks may write at the same time: the kernel answers for that.
pub const RL_PARAM_SHARED: u32 = 2;
/// A parameter that takes a scalar.
pub const RL_PARAM_SCALAR: u32 = 3;

/// The elements must be consecutive, in row-major order.
pub const RL_PARAM_CONTIGUOUS: u32 = 1;
/// The last parameter takes any number of arguments.
pub const RL_PARAM_REST: u32 = 2;

/// An argument that is read.
pub const RL_ACCESS_READ: u32 = 0;
/// An argument that is overwritten without being read.
pub const RL_ACCESS_WRITE: u32 = 2;
/// An argument that is read and written.
pub const RL_ACCESS_INOUT: u32 = 3;
/// An argument that the dependency inference does not follow: the program answers for its order.
pub const RL_ACCESS_NO_DEP: u32 = 4;

/// An argument that is a tensor which exists.
pub const RL_ARG_TENSOR: u32 = 0;
/// An argument that is a tensor which the task makes.
pub const RL_ARG_OUTPUT: u32 = 1;
/// An argument that is a scalar; with a name, a captured graph can change it.
pub const RL_ARG_SCALAR: u32 = 2;

/// No axis: the argument is not split between blocks.
pub const RL_NO_SPLIT: u32 = 255;

/// Tasks may only read the buffer.
pub const RL_BUFFER_READ: u32 = 0;
/// Tasks may read and write the buffer.
pub const RL_BUFFER_WRITE: u32 = 1;

/// The cost is in ticks of the chip's counter: `amount`.
pub const RL_COST_TICKS: u32 = 0;
/// The cost is in nanoseconds: `amount`.
pub const RL_COST_NANOSECONDS: u32 = 1;
/// The cost is work against the chip's rates: `flops` and `bytes`.
pub const RL_COST_ROOFLINE: u32 = 2;

/// A tensor, or a view of one, that is valid in its scope. A plain value: copy it as a whole.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_tensor {
    /// The library's.
    pub opaque: [u64; 12],
}

/// A submitted task, for explicit edges. A plain value: copy it as a whole.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_task {
    /// The library's.
    pub opaque: [u64; 2],
}

const _: () = {
    assert!(
        size_of::<rl_tensor>() == size_of::<DynTensor>()
            && align_of::<rl_tensor>() == align_of::<DynTensor>()
    );
    assert!(size_of::<rl_task>() == size_of::<DynTask>() && align_of::<rl_task>() == align_of::<DynTask>());
};

/// A runtime: a platform with its threads and capacities. One run at a time.
pub struct rl_runtime {
    pub(crate) _private: [u8; 0],
}

/// What a program submits with, during its run and on its thread.
pub struct rl_orch {
    pub(crate) _private: [u8; 0],
}

/// A kernel. It lives as long as the process.
pub struct rl_kernel {
    pub(crate) _private: [u8; 0],
}

/// A captured graph.
pub struct rl_graph {
    pub(crate) _private: [u8; 0],
}

/// DLPack's `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct rl_device {
    /// 1 is the host.
    pub device_type: i32,
    /// 0 for the host.
    pub device_id: i32,
}

/// DLPack's `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct rl_dltype {
    /// 0 signed, 1 unsigned, 2 float, 4 bfloat, 6 bool, 8 or 10 float8 e4m3, 12 float8 e5m2.
    pub code: u8,
    /// Bits of an element.
    pub bits: u8,
    /// 1.
    pub lanes: u16,
}

/// A view of memory: DLPack's `DLTensor`, field by field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_view {
    /// Where it is.
    pub data: *mut c_void,
    /// Which device has it.
    pub device: rl_device,
    /// Number of dimensions, at most 8.
    pub ndim: i32,
    /// Type of the elements.
    pub dtype: rl_dltype,
    /// Length of each dimension.
    pub shape: *mut i64,
    /// Elements from one index to the next, for each dimension; null: row-major, without gaps.
    pub strides: *mut i64,
    /// Where the first element is, from `data`.
    pub byte_offset: u64,
}

const _: () = assert!(size_of::<rl_view>() == 48);

/// A scalar, of the type that is said beside it.
#[repr(C)]
#[derive(Clone, Copy)]
pub union rl_scalar {
    /// All of its bits, the unused ones zero.
    pub bits: u64,
    /// `RL_I8`
    pub i8: i8,
    /// `RL_U8`, and `RL_BOOL` as 0 or 1
    pub u8: u8,
    /// `RL_I16`
    pub i16: i16,
    /// `RL_U16`, and 16-bit floats by their bits
    pub u16: u16,
    /// `RL_I32`
    pub i32: i32,
    /// `RL_U32`
    pub u32: u32,
    /// `RL_I64`
    pub i64: i64,
    /// `RL_U64`
    pub u64: u64,
    /// `RL_F32`
    pub f32: f32,
    /// `RL_F64`
    pub f64: f64,
}

/// Memory that a run borrows. It is used where it is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_buffer {
    /// `sizeof(rl_buffer)`
    pub struct_size: u32,
    /// `RL_BUFFER_READ` or `RL_BUFFER_WRITE`
    pub permission: u32,
    /// What and where it is.
    pub view: rl_view,
}

/// How a runtime is made. All zero but the first two fields: the platform `cpu` with every default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_runtime_options {
    /// `sizeof(rl_runtime_options)`
    pub struct_size: u32,
    /// `RL_ABI_VERSION`
    pub abi_version: u32,
    /// `cpu`, `a2a3sim`, …; null: `cpu`.
    pub platform: *const c_char,
    /// Where recordings go; null: nowhere.
    pub output_prefix: *const c_char,
    /// Which diagnostics are on; see the page on diagnostics.
    pub dfx_flags: u64,
    /// Seed of the simulator.
    pub seed: u64,
    /// Bytes of outputs of each ring; 0: the default. So below.
    pub ring_heap: [u64; 4],
    /// Tasks of each ring.
    pub ring_task_window: [u32; 4],
    /// Dependency entries of each ring.
    pub ring_dep_pool: [u32; 4],
    /// Bytes of arguments of each ring.
    pub ring_args: [u32; 4],
    /// Entries of the tensor map.
    pub tensormap: u32,
    /// Threads of the platform `cpu`, the submitting one included; 0: all cores.
    pub threads: i32,
    /// Scheduler threads of a modelled chip.
    pub scheduler_threads: i32,
    /// Clusters to use; 0: all.
    pub block_dim: i32,
    /// Group of hardware counters.
    pub pmu_group: i32,
    /// 1: recordings lose records instead of making the run wait.
    pub drop_records: u32,
}

/// What a parameter of a kernel accepts.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_param {
    /// `sizeof(rl_param)`
    pub struct_size: u32,
    /// `RL_PARAM_READ`, …
    pub kind: u32,
    /// `RL_F32`, …
    pub dtype: u32,
    /// Number of dimensions; -1: any.
    pub rank: i32,
    /// `RL_PARAM_CONTIGUOUS`, `RL_PARAM_REST`
    pub flags: u32,
    /// Its name in the CUDA source; null without one.
    pub name: *const c_char,
}

/// One argument of a kernel that runs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_value {
    /// `RL_ARG_TENSOR` or `RL_ARG_SCALAR`
    pub kind: u32,
    /// `RL_F32`, …
    pub dtype: u32,
    /// 1 if the kernel may write the tensor.
    pub writable: u32,
    /// Number of elements of the tensor; of a part of a split argument possibly 0.
    pub elements: u64,
    /// This block's part of the tensor; in a cost function without an address.
    pub tensor: rl_view,
    /// The scalar.
    pub scalar: rl_scalar,
}

/// One block of a kernel that runs. Valid until the kernel returns.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_call {
    /// `sizeof(rl_call)` of the library.
    pub struct_size: u32,
    /// `sizeof(rl_value)` of the library.
    pub value_size: u32,
    /// Index of this block, from 0.
    pub block: u32,
    /// Number of blocks of the task.
    pub block_count: u32,
    /// Its arguments.
    pub args: *const rl_value,
    /// How many.
    pub arg_count: usize,
}

/// What a block takes on a modelled chip.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_cost {
    /// `sizeof(rl_cost)` of the library.
    pub struct_size: u32,
    /// `RL_COST_TICKS`, `RL_COST_NANOSECONDS` or `RL_COST_ROOFLINE`
    pub kind: u32,
    /// Ticks or nanoseconds.
    pub amount: u64,
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes moved.
    pub bytes: f64,
}

/// The body of a kernel: 0, or what the task fails with (`rl_fail` says more). Several threads may run it at the same time. A
/// C++ exception that leaves it ends the process.
pub type rl_kernel_fn = Option<unsafe extern "C-unwind" fn(user: *mut c_void, call: *const rl_call) -> i32>;

/// The cost model of a kernel: 0, or anything else if it has no answer.
pub type rl_cost_fn =
    Option<unsafe extern "C-unwind" fn(user: *mut c_void, call: *const rl_call, cost: *mut rl_cost) -> i32>;

/// A program: submits tasks; 0, or what the run fails with. Return the status of a call that failed, and the run fails with
/// that error.
pub type rl_program_fn = Option<unsafe extern "C-unwind" fn(user: *mut c_void, o: *mut rl_orch) -> i32>;

/// A kernel that is to be made.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_kernel_info {
    /// `sizeof(rl_kernel_info)`
    pub struct_size: u32,
    /// `RL_CORE_AIC`, `RL_CORE_AIV` or `RL_CORE_ANY`
    pub core: u32,
    /// Its name in every recording.
    pub name: *const c_char,
    /// Its parameters, in order.
    pub params: *const rl_param,
    /// How many.
    pub param_count: usize,
    /// Its body.
    pub function: rl_kernel_fn,
    /// Its cost model, or null.
    pub cost: rl_cost_fn,
    /// Given to both.
    pub user: *mut c_void,
    /// Its body for GPUs in CUDA C++, or null; its parameters then have names.
    pub cuda_source: *const c_char,
}

/// One argument of a submit; made by `rl_in`, `rl_out`, `rl_inout`, `rl_new`, `rl_f32`, ….
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_arg {
    /// `sizeof(rl_arg)`
    pub struct_size: u32,
    /// `RL_ARG_TENSOR`, `RL_ARG_OUTPUT` or `RL_ARG_SCALAR`
    pub kind: u32,
    /// `RL_ACCESS_READ`, … of a tensor.
    pub access: u32,
    /// The axis along which blocks share it out, or `RL_NO_SPLIT`.
    pub split: u32,
    /// The tensor.
    pub tensor: *const rl_tensor,
    /// Type of an output or a scalar.
    pub dtype: u32,
    /// Number of dimensions of an output.
    pub ndim: u32,
    /// Lengths of the dimensions of an output.
    pub shape: *const u32,
    /// The scalar.
    pub value: rl_scalar,
    /// The scalar's name in a captured graph, or null.
    pub name: *const c_char,
}

/// What a submit starts, in full; `rl_submit` is for one kernel in one block.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_launch {
    /// `sizeof(rl_launch)`
    pub struct_size: u32,
    /// Number of blocks; 0 is 1.
    pub blocks: u32,
    /// The kernel; of a mixed task the one on the AIC core, or null.
    pub kernel: *const rl_kernel,
    /// The kernels of a mixed task on AIV cores, or null.
    pub aiv: [*const rl_kernel; 2],
    /// The task's name, or null.
    pub label: *const c_char,
    /// Tasks that it follows by explicit edges.
    pub after: *const rl_task,
    /// How many.
    pub after_count: usize,
    /// How long each block takes on a modelled chip; 0: as its kernel says.
    pub duration_ns: u64,
    /// Arguments to capture, by index.
    pub marks: *const u16,
    /// How many.
    pub mark_count: usize,
}

/// The totals of a run.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct rl_report {
    /// `sizeof(rl_report)`
    pub struct_size: u32,
    /// Cores that could run blocks.
    pub cores: u32,
    /// Tasks submitted.
    pub tasks: u64,
    /// Kernel blocks executed.
    pub blocks: u64,
    /// Scopes that ended.
    pub scopes: u64,
    /// Tasks whose kernel failed.
    pub failed: u64,
    /// Tasks skipped because they needed what a failed one would have written.
    pub skipped: u64,
    /// The most bytes of outputs in use at once.
    pub peak_heap_bytes: u64,
    /// From the start of the program to the last completion, in ticks.
    pub makespan_ticks: u64,
    /// Ticks per second.
    pub clock_freq_hz: u64,
}
