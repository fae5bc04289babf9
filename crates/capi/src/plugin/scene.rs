//! A scene of a plugin as a program.

use core::cell::RefCell;
use core::ffi::{c_char, c_void};

use ringlane::engine::api::buffers::{BufferId, Buffers};
use ringlane::engine::prelude::{Kernel, Orch, Result};
use ringlane::scenes::{Check, Golden, Parts, Program, SceneResult, Settings, Tolerance, Value};
use ringlane::task::DType;

use super::abi::{rl_golden, rl_inputs, rl_parts, rl_scene, rl_settings};
use crate::abi::{RL_OK, rl_kernel};
use crate::dtype::dtype;
use crate::error::{CapiError, Failure, guarded, last_failure};
use crate::orch;
use crate::read;

/// A scene, with the kernels of its plugin.
pub(super) struct LoadedScene {
    pub(super) name: &'static str,
    pub(super) scene: rl_scene,
    pub(super) parts: Option<rl_parts>,
    pub(super) kernels: &'static [&'static Kernel],
}

// SAFETY: the header says that a plugin's functions and data may be used from any thread.
unsafe impl Send for LoadedScene {}
// SAFETY: as above.
unsafe impl Sync for LoadedScene {}

/// A run of a scene.
pub(super) struct LoadedProgram {
    pub(super) of: &'static LoadedScene,
    settings: Settings,
    pub(super) ids: Vec<BufferId>,
    outputs: Vec<BufferId>,
    /// How many units it has, if it can be divided.
    pub(super) units: Option<u32>,
    pub(super) state: RefCell<Box<orch::Program>>,
}

impl LoadedProgram {
    pub(super) fn new(of: &'static LoadedScene, settings: &Settings) -> SceneResult<Self> {
        let state = RefCell::new(Box::new(orch::Program::new()));
        let (ids, outputs) = (Vec::new(), Vec::new());
        let mut made = LoadedProgram { of, settings: settings.clone(), ids, outputs, units: None, state };
        made.units = made.count_units()?;
        Ok(made)
    }

    pub(super) fn kernels(&self) -> *const *const rl_kernel {
        self.of.kernels.as_ptr().cast()
    }

    pub(super) fn settings(&self) -> *const rl_settings {
        core::ptr::from_ref(&self.settings).cast()
    }
}

/// The buffers that a plugin makes.
struct Inputs {
    buffers: Buffers<'static>,
    ids: Vec<BufferId>,
    outputs: Vec<BufferId>,
}

/// The comparison that a plugin makes.
struct Comparison<'b> {
    buffers: &'b Buffers<'b>,
    ids: &'b [BufferId],
    check: Check,
}

/// What a function of a plugin answered.
pub(super) fn answer(status: i32) -> Result<()> {
    match status {
        RL_OK => Ok(()),
        status => Err(last_failure(status).ends_run()),
    }
}

impl Program for LoadedProgram {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut inputs = Inputs { buffers: Buffers::new(), ids: Vec::new(), outputs: Vec::new() };
        let function = self.of.scene.inputs.expect("checked when it was loaded");
        // SAFETY: the plugin's function with its data; the other pointers live until it returns.
        answer(unsafe { function(self.of.scene.user, self.settings(), (&raw mut inputs).cast()) })?;
        (self.ids, self.outputs) = (inputs.ids, inputs.outputs);
        Ok(inputs.buffers)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let mut state = self.state.borrow_mut();
        state.prepare(self.ids.clone());
        let function = self.of.scene.orchestrate.expect("checked when it was loaded");
        let call = |handle| {
            // SAFETY: the plugin's function with its data; settings and kernels live until it returns.
            unsafe { function(self.of.scene.user, self.settings(), self.kernels(), handle) }
        };
        // SAFETY: the state was prepared, and is borrowed here alone.
        unsafe { orch::run(&raw mut **state, o, call) }
    }

    fn golden(&self, buffers: &Buffers<'_>) -> Result<Golden> {
        let mut comparison = Comparison { buffers, ids: &self.ids, check: Check::new() };
        let function = self.of.scene.golden.expect("checked when it was loaded");
        // SAFETY: as for `buffers`.
        answer(unsafe { function(self.of.scene.user, self.settings(), (&raw mut comparison).cast()) })?;
        Ok(comparison.check.finish())
    }

    fn outputs(&self) -> Vec<BufferId> {
        self.outputs.clone()
    }

    fn parts(&self) -> Option<&dyn Parts> {
        self.units.map(|_| self as &dyn Parts)
    }
}

/// A number in a parameter.
pub(super) unsafe extern "C" fn param_u32(
    settings: *const rl_settings,
    name: *const c_char,
    least: u32,
    most: u32,
    value: *mut u32,
) -> i32 {
    // SAFETY: the caller passes the settings that it was given, a text, and where the result goes; so below.
    guarded(|| unsafe {
        let settings = settings.cast::<Settings>().as_ref();
        let settings = settings.ok_or(CapiError::NullPointer { what: "settings" })?;
        let result = read::result("value", value)?;
        let found = settings.u32(read::text("name", name)?, least..=most);
        result.write(found?);
        Ok(())
    })
}

/// The seed of the run.
pub(super) unsafe extern "C" fn seed(settings: *const rl_settings, value: *mut u64) -> i32 {
    // SAFETY: as above.
    guarded(|| unsafe {
        let settings = settings.cast::<Settings>().as_ref();
        let settings = settings.ok_or(CapiError::NullPointer { what: "settings" })?;
        read::result("value", value)?.write(settings.seed);
        Ok(())
    })
}

/// Adds a buffer.
pub(super) unsafe extern "C" fn add_buffer(
    inputs: *mut rl_inputs,
    dtype_code: u32,
    ndim: u32,
    shape: *const u32,
    is_output: u32,
    data: *mut *mut c_void,
) -> i32 {
    // SAFETY: as above.
    guarded(|| unsafe {
        let inputs = inputs.cast::<Inputs>().as_mut();
        let inputs = inputs.ok_or(CapiError::NullPointer { what: "inputs" })?;
        let result = read::result("data", data)?;
        let id = inputs.buffers.add_zeroed(dtype(dtype_code)?, orch::shape(ndim, shape)?)?;
        let (_, space, _) = inputs.buffers.place(id)?;
        inputs.ids.push(id);
        if is_output != 0 {
            inputs.outputs.push(id);
        }
        result.write(space.base.cast());
        Ok(())
    })
}

/// Compares a buffer with what is expected.
pub(super) unsafe extern "C" fn expect(
    golden: *mut rl_golden,
    buffer: usize,
    values: *const f64,
    count: usize,
    absolute: f64,
    relative: f64,
) -> i32 {
    // SAFETY: as above.
    guarded(|| unsafe {
        let golden = golden.cast::<Comparison<'_>>().as_mut();
        let golden = golden.ok_or(CapiError::NullPointer { what: "golden" })?;
        let given = golden.ids.len();
        let missing =
            CapiError::WrongCount { what: "buffers of the run", given, needed: buffer.saturating_add(1) };
        let id = *golden.ids.get(buffer).ok_or(missing)?;
        let want = read::slice("values", values, count)?;
        golden.compare(id, want, Tolerance { absolute, relative })
    })
}

impl Comparison<'_> {
    fn compare(
        &mut self,
        id: BufferId,
        want: &[f64],
        tolerance: Tolerance,
    ) -> core::result::Result<(), Failure> {
        match self.buffers.bytes(id)?.0.dtype() {
            DType::Float32 => self.values::<f32>(id, want, tolerance),
            DType::Float64 => self.values::<f64>(id, want, tolerance),
            DType::Int32 => self.values::<i32>(id, want, tolerance),
            DType::UInt32 => self.values::<u32>(id, want, tolerance),
            DType::Int64 => self.values::<i64>(id, want, tolerance),
            DType::UInt64 => self.values::<u64>(id, want, tolerance),
            other => {
                let allowed = "a float or an integer of 32 or 64 bits";
                Err(CapiError::BadNumber { what: "type of the buffer", value: other as i64, allowed }.into())
            }
        }
    }

    fn values<T: Value>(
        &mut self,
        id: BufferId,
        want: &[f64],
        tolerance: Tolerance,
    ) -> core::result::Result<(), Failure> {
        self.check.slice(self.buffers.get::<T>(id)?, want, tolerance);
        Ok(())
    }
}
