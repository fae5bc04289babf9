//! What a plugin exports and what it is given.

use core::ffi::{c_char, c_void};

use crate::abi::{rl_arg, rl_kernel, rl_kernel_info, rl_launch, rl_orch, rl_task, rl_tensor};

/// The parameters and the seed of a scene's run.
pub struct rl_settings {
    pub(crate) _private: [u8; 0],
}

/// The buffers of a scene's run, while they are made.
pub struct rl_inputs {
    pub(crate) _private: [u8; 0],
}

/// The comparison of a scene's results, while it is made.
pub struct rl_golden {
    pub(crate) _private: [u8; 0],
}

/// A parameter of a scene. Its values are text.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_scene_param {
    /// `sizeof(rl_scene_param)`
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Its name, as in `--param NAME=VALUE`.
    pub name: *const c_char,
    /// The value if neither user nor case sets one.
    pub default_value: *const c_char,
    /// What it means.
    pub about: *const c_char,
}

/// A case of a scene: some parameters set.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_scene_case {
    /// `sizeof(rl_scene_case)`
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Its name, as in `--case NAME`.
    pub name: *const c_char,
    /// What it shows.
    pub about: *const c_char,
    /// Names and values in turn.
    pub set: *const *const c_char,
    /// How many pairs.
    pub set_count: usize,
}

/// Makes the buffers of a run, with `add_buffer`. 0, or the status of a call that failed.
pub type rl_inputs_fn = Option<
    unsafe extern "C-unwind" fn(
        user: *mut c_void,
        settings: *const rl_settings,
        inputs: *mut rl_inputs,
    ) -> i32,
>;

/// Submits the tasks of a run; `kernels` are those of the plugin's table. 0, or the status of a call that failed.
pub type rl_orchestrate_fn = Option<
    unsafe extern "C-unwind" fn(
        user: *mut c_void,
        settings: *const rl_settings,
        kernels: *const *const rl_kernel,
        o: *mut rl_orch,
    ) -> i32,
>;

/// Compares the results of a run, with `expect`. 0, or the status of a call that failed.
pub type rl_golden_fn = Option<
    unsafe extern "C-unwind" fn(
        user: *mut c_void,
        settings: *const rl_settings,
        golden: *mut rl_golden,
    ) -> i32,
>;

/// All rows of a buffer, for `count` of `rl_rows`.
pub const RL_ALL_ROWS: u32 = u32::MAX;

/// What a part of a scene uses of a buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_rows {
    /// `sizeof(rl_rows)`, set by the library.
    pub struct_size: u32,
    /// `RL_ACCESS_READ`, `RL_ACCESS_WRITE` or `RL_ACCESS_INOUT`
    pub access: u32,
    /// The first row, along the first dimension.
    pub first: u32,
    /// How many, or `RL_ALL_ROWS`: then they are read only.
    pub count: u32,
}

/// Gives the number of indivisible units of a run, at least 1: sequences, rows of tiles. 0, or the status of a call that failed.
pub type rl_units_fn = Option<
    unsafe extern "C-unwind" fn(user: *mut c_void, settings: *const rl_settings, units: *mut u32) -> i32,
>;

/// Says what the units from `first` to before `end` use of a buffer; `rows` is all of it, for reading, if nothing is written there.
/// 0, or the status of a call that failed.
pub type rl_rows_fn = Option<
    unsafe extern "C-unwind" fn(
        user: *mut c_void,
        settings: *const rl_settings,
        first: u32,
        end: u32,
        buffer: usize,
        rows: *mut rl_rows,
    ) -> i32,
>;

/// Submits the tasks of the units from `first` to before `end`. There `external` gives the rows of a buffer that were asked for. 0, or
/// the status of a call that failed.
pub type rl_orchestrate_part_fn = Option<
    unsafe extern "C-unwind" fn(
        user: *mut c_void,
        settings: *const rl_settings,
        kernels: *const *const rl_kernel,
        first: u32,
        end: u32,
        o: *mut rl_orch,
    ) -> i32,
>;

/// How a scene is divided among workers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_parts {
    /// `sizeof(rl_parts)`
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// How many buffers the tasks use: the first of the run.
    pub buffer_count: usize,
    /// Gives the number of units.
    pub units: rl_units_fn,
    /// Says what units use of a buffer.
    pub rows: rl_rows_fn,
    /// Submits the tasks of units.
    pub orchestrate: rl_orchestrate_part_fn,
}

/// A scene: a program with cases and known results.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_scene {
    /// `sizeof(rl_scene)`
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Its name.
    pub name: *const c_char,
    /// What it computes.
    pub about: *const c_char,
    /// Its parameters.
    pub params: *const rl_scene_param,
    /// How many.
    pub param_count: usize,
    /// Its cases, at least one.
    pub cases: *const rl_scene_case,
    /// How many.
    pub case_count: usize,
    /// Given to the functions.
    pub user: *mut c_void,
    /// Makes the buffers.
    pub inputs: rl_inputs_fn,
    /// Submits the tasks.
    pub orchestrate: rl_orchestrate_fn,
    /// Compares the results.
    pub golden: rl_golden_fn,
    /// How it is divided among workers, or null if it cannot be.
    pub parts: *const rl_parts,
}

/// What a plugin has. It lives as long as the process.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct rl_plugin {
    /// `sizeof(rl_plugin)`
    pub struct_size: u32,
    /// `RL_ABI_VERSION`
    pub abi_version: u32,
    /// Its kernels.
    pub kernels: *const rl_kernel_info,
    /// How many.
    pub kernel_count: usize,
    /// Its scenes.
    pub scenes: *const rl_scene,
    /// How many.
    pub scene_count: usize,
}

/// The functions that a plugin calls: it is not linked with the library. Those with a namesake `rl_…` do the same.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct rl_api {
    pub struct_size: u32,
    pub abi_version: u32,
    pub error_name: Option<extern "C" fn() -> *const c_char>,
    pub error_detail: Option<extern "C" fn() -> *const c_char>,
    pub fail: Option<unsafe extern "C" fn(text: *const c_char) -> i32>,
    /// A number in a parameter, from `least` to `most`.
    pub param_u32: Option<
        unsafe extern "C" fn(
            settings: *const rl_settings,
            name: *const c_char,
            least: u32,
            most: u32,
            value: *mut u32,
        ) -> i32,
    >,
    /// The seed of the run.
    pub seed: Option<unsafe extern "C" fn(settings: *const rl_settings, value: *mut u64) -> i32>,
    /// Adds a buffer, all zero, and gives its address. `is_output`: 1 if it holds a result.
    pub add_buffer: Option<
        unsafe extern "C" fn(
            inputs: *mut rl_inputs,
            dtype: u32,
            ndim: u32,
            shape: *const u32,
            is_output: u32,
            data: *mut *mut c_void,
        ) -> i32,
    >,
    /// Compares all values of a buffer with the expected ones: each within `absolute` + `relative` · |expected|.
    pub expect: Option<
        unsafe extern "C" fn(
            golden: *mut rl_golden,
            buffer: usize,
            values: *const f64,
            count: usize,
            absolute: f64,
            relative: f64,
        ) -> i32,
    >,
    pub external: Option<unsafe extern "C" fn(o: *mut rl_orch, index: usize, out: *mut rl_tensor) -> i32>,
    pub alloc: Option<
        unsafe extern "C" fn(
            o: *mut rl_orch,
            dtype: u32,
            ndim: u32,
            shape: *const u32,
            out: *mut rl_tensor,
        ) -> i32,
    >,
    pub read: Option<
        unsafe extern "C" fn(
            o: *mut rl_orch,
            from: *const rl_tensor,
            values: *mut c_void,
            size: usize,
        ) -> i32,
    >,
    pub begin_scope: Option<unsafe extern "C" fn(o: *mut rl_orch, label: *const c_char) -> i32>,
    pub end_scope: Option<unsafe extern "C" fn(o: *mut rl_orch) -> i32>,
    pub barrier: Option<unsafe extern "C" fn(o: *mut rl_orch, task: *mut rl_task) -> i32>,
    pub submit: Option<
        unsafe extern "C" fn(
            o: *mut rl_orch,
            kernel: *const rl_kernel,
            args: *const rl_arg,
            arg_count: usize,
            outs: *mut rl_tensor,
            out_count: usize,
        ) -> i32,
    >,
    pub submit_launch: Option<
        unsafe extern "C" fn(
            o: *mut rl_orch,
            launch: *const rl_launch,
            args: *const rl_arg,
            arg_count: usize,
            outs: *mut rl_tensor,
            out_count: usize,
            task: *mut rl_task,
        ) -> i32,
    >,
    pub tile: Option<
        unsafe extern "C" fn(
            of: *const rl_tensor,
            ndim: u32,
            start: *const u32,
            len: *const u32,
            out: *mut rl_tensor,
        ) -> i32,
    >,
    pub slice: Option<
        unsafe extern "C" fn(
            of: *const rl_tensor,
            axis: u32,
            start: u32,
            len: u32,
            out: *mut rl_tensor,
        ) -> i32,
    >,
    pub select:
        Option<unsafe extern "C" fn(of: *const rl_tensor, axis: u32, index: u32, out: *mut rl_tensor) -> i32>,
    pub transpose:
        Option<unsafe extern "C" fn(of: *const rl_tensor, a: u32, b: u32, out: *mut rl_tensor) -> i32>,
    pub reshape: Option<
        unsafe extern "C" fn(of: *const rl_tensor, ndim: u32, shape: *const u32, out: *mut rl_tensor) -> i32,
    >,
    pub broadcast: Option<unsafe extern "C" fn(of: *const rl_tensor, len: u32, out: *mut rl_tensor) -> i32>,
}

// SAFETY: a table of functions.
unsafe impl Sync for rl_api {}
