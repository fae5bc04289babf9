//! Plugins: kernels and scenes from shared libraries.
//!
//! ```text
//! dlopen ──▶ ringlane_plugin_v1(&rl_api) ──▶ rl_plugin: kernels, scenes ──▶ register_scene
//! ```
//! A plugin calls the library through the table of functions that it is given, so it is not linked with it. It is never
//! unloaded: kernels, names and scenes refer to it.

pub mod abi;
mod error;
mod parts;
mod scene;

use std::collections::BTreeSet;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use ringlane::engine::prelude::Kernel;
use ringlane::scenes::{Case, Param, Program, Scene, SceneResult, Settings, register_scene};

use crate::abi::{RL_ABI_VERSION, rl_kernel_info};
use crate::error::{CapiError, Failure};
use crate::{error as errors, kernel, orch, read, submit, view};
use abi::{rl_api, rl_parts, rl_plugin, rl_scene, rl_scene_case, rl_scene_param};
pub use error::PluginError;
use scene::{LoadedProgram, LoadedScene};

/// What plugins are given.
static API: rl_api = rl_api {
    struct_size: size_of::<rl_api>() as u32,
    abi_version: RL_ABI_VERSION,
    error_name: Some(errors::rl_error_name),
    error_detail: Some(errors::rl_error_detail),
    fail: Some(errors::rl_fail),
    param_u32: Some(scene::param_u32),
    seed: Some(scene::seed),
    add_buffer: Some(scene::add_buffer),
    expect: Some(scene::expect),
    external: Some(orch::rl_external),
    alloc: Some(orch::rl_alloc),
    read: Some(orch::rl_read),
    begin_scope: Some(orch::rl_begin_scope),
    end_scope: Some(orch::rl_end_scope),
    barrier: Some(orch::rl_barrier),
    submit: Some(submit::rl_submit),
    submit_launch: Some(submit::rl_submit_launch),
    tile: Some(view::rl_tile),
    slice: Some(view::rl_slice),
    select: Some(view::rl_select),
    transpose: Some(view::rl_transpose),
    reshape: Some(view::rl_reshape),
    broadcast: Some(view::rl_broadcast),
};

type Entry = unsafe extern "C-unwind" fn(*const rl_api) -> *const rl_plugin;

/// Loads a plugin and registers its kernels and scenes. A file that was loaded before is left as it is.
///
/// The plugin's code runs in this process: what it does wrong there, the process does.
pub fn load(path: &Path) -> Result<(), PluginError> {
    static LOADED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let cannot = |reason: String| PluginError::CannotLoad { path: path.to_path_buf(), reason };
    let whole = path.canonicalize().map_err(|error| cannot(error.to_string()))?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if loaded.contains(&whole) {
        return Ok(());
    }
    // SAFETY: a plugin's initializers run, as its functions do later.
    let library = unsafe { Library::open(Some(&whole), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| cannot(error.to_string()))?;
    let entry = {
        // SAFETY: the symbol has this type in every plugin of this version.
        let symbol = unsafe { library.get::<Entry>(b"ringlane_plugin_v1\0") };
        *symbol.map_err(|_| PluginError::NotAPlugin { path: path.to_path_buf() })?
    };
    // Never unloaded.
    core::mem::forget(library);
    // SAFETY: the plugin's function.
    let table = unsafe { entry(&API) };
    // SAFETY: the plugin returns a true table, which it keeps.
    unsafe { register(path, table) }?;
    loaded.insert(whole);
    Ok(())
}

unsafe fn register(path: &Path, table: *const rl_plugin) -> Result<(), PluginError> {
    let bad = |detail: String| PluginError::BadTable { path: path.to_path_buf(), detail };
    let failed = |failure: Failure| bad(failure.text());
    // SAFETY: the caller's promise; so below.
    let table = unsafe { read::sized(table) }.map_err(|error| failed(error.into()))?;
    if table.abi_version != RL_ABI_VERSION {
        return Err(PluginError::Version { path: path.to_path_buf(), version: table.abi_version });
    }
    // SAFETY: as above.
    let (kernels, scenes) = unsafe {
        let infos = read::array::<rl_kernel_info>(table.kernels, table.kernel_count);
        let scenes = read::array::<rl_scene>(table.scenes, table.scene_count);
        let infos = infos.map_err(|error| failed(error.into()))?;
        let kernels = infos.iter().map(|info| kernel::make(info)).collect::<Result<Vec<_>, _>>();
        (kernels.map_err(failed)?, scenes.map_err(|error| failed(error.into()))?)
    };
    let kernels: &'static [&'static Kernel] = kernels.leak();
    // All of them are checked before one is registered.
    // SAFETY: as above.
    let scenes =
        scenes.iter().map(|scene| unsafe { scene_of(scene, kernels) }).collect::<Result<Vec<_>, _>>();
    let scenes = scenes.map_err(|error| failed(error.into()))?;
    scenes.into_iter().for_each(register_scene);
    Ok(())
}

/// A scene of the table. Its texts live as long as the plugin.
unsafe fn scene_of(
    scene: &rl_scene,
    kernels: &'static [&'static Kernel],
) -> Result<&'static Scene, CapiError> {
    let none = |what| CapiError::NullPointer { what };
    scene.inputs.ok_or(none("inputs"))?;
    scene.orchestrate.ok_or(none("orchestrate"))?;
    scene.golden.ok_or(none("golden"))?;
    // SAFETY: the caller's promise; so below.
    let (name, about, params, cases, parts) = unsafe {
        (
            read::text("name of a scene", scene.name)?,
            read::text("about of a scene", scene.about)?,
            read::array(scene.params, scene.param_count)?,
            read::array(scene.cases, scene.case_count)?,
            (!scene.parts.is_null()).then(|| read::sized(scene.parts)).transpose()?,
        )
    };
    parts.iter().try_for_each(|parts: &rl_parts| {
        parts.units.ok_or(none("units"))?;
        parts.rows.ok_or(none("rows"))?;
        parts.orchestrate.ok_or(none("orchestrate of parts")).map(drop)
    })?;
    if name.is_empty() || cases.is_empty() {
        return Err(CapiError::WrongCount { what: "cases, or letters of its name", given: 0, needed: 1 });
    }
    // SAFETY: as above.
    let params = params.iter().map(|param| unsafe { param_of(param) }).collect::<Result<Vec<_>, _>>()?;
    // SAFETY: as above.
    let cases = cases.iter().map(|case| unsafe { case_of(case) }).collect::<Result<Vec<_>, _>>()?;
    let loaded: &'static LoadedScene =
        Box::leak(Box::new(LoadedScene { name, scene: *scene, parts, kernels }));
    let build = move |settings: &Settings| -> SceneResult<Box<dyn Program>> {
        Ok(Box::new(LoadedProgram::new(loaded, settings)?))
    };
    Ok(Box::leak(Box::new(Scene {
        site: Location::caller(),
        name,
        about,
        params: params.leak(),
        cases: cases.leak(),
        kernels,
        build: Box::leak(Box::new(build)),
    })))
}

unsafe fn param_of(param: &rl_scene_param) -> Result<Param, CapiError> {
    // SAFETY: the caller's promise.
    unsafe {
        let name = read::text("name of a parameter", param.name)?;
        let default = read::text("default_value of a parameter", param.default_value)?;
        Ok(Param { name, default, about: read::text("about of a parameter", param.about)? })
    }
}

unsafe fn case_of(case: &rl_scene_case) -> Result<Case, CapiError> {
    // SAFETY: the caller's promise.
    unsafe {
        let texts = read::slice("set of a case", case.set, case.set_count.saturating_mul(2))?;
        let text = |at: usize| read::text("set of a case", texts[at]);
        let pairs = (0..case.set_count).map(|pair| Ok((text(2 * pair)?, text(2 * pair + 1)?)));
        let set = pairs.collect::<Result<Vec<_>, CapiError>>()?.leak();
        Ok(Case {
            name: read::text("name of a case", case.name)?,
            about: read::text("about of a case", case.about)?,
            set,
        })
    }
}
