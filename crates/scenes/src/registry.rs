//! All scenes: these ten, and those that other crates of the program register.
//!
//! The ten are registered in the module of the function that every user of scenes calls, so that the linker keeps
//! them together with it.

use std::sync::{Mutex, PoisonError};

use ringlane_engine::inventory;

use crate::scene::Scene;
use crate::{cholesky, decode, fanin, heat, matmul, moe, paged_attention, stream, vector, wavefront};

inventory::collect!(Scene);

inventory::submit! { cholesky::SCENE }
inventory::submit! { decode::SCENE }
inventory::submit! { fanin::SCENE }
inventory::submit! { heat::SCENE }
inventory::submit! { matmul::SCENE }
inventory::submit! { moe::SCENE }
inventory::submit! { paged_attention::SCENE }
inventory::submit! { stream::SCENE }
inventory::submit! { vector::SCENE }
inventory::submit! { wavefront::SCENE }

/// Scenes of plugins.
static LOADED: Mutex<Vec<&'static Scene>> = Mutex::new(Vec::new());

/// Registers a scene that was made at run time.
pub fn register_scene(scene: &'static Scene) {
    // Nothing panics between two changes that belong together.
    LOADED.lock().unwrap_or_else(PoisonError::into_inner).push(scene);
}

/// Every registered scene, by name.
///
/// ```
/// assert!(ringlane_scenes::scenes().is_sorted_by_key(|scene| scene.name));
/// ```
pub fn scenes() -> Vec<&'static Scene> {
    let mut all: Vec<_> = inventory::iter::<Scene>.into_iter().collect();
    all.extend(LOADED.lock().unwrap_or_else(PoisonError::into_inner).iter());
    all.sort_by_key(|scene| scene.name);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_engine::api::kernel::registered_kernels;

    /// A scene's module declares the kernels that it submits; this crate declares no others.
    #[test]
    fn every_kernel_declared_here_is_listed_by_one_scene() {
        let mut listed: Vec<_> =
            scenes().iter().flat_map(|s| s.kernels).map(|kernel| kernel.name()).collect();
        listed.sort();
        let declared: Vec<_> = registered_kernels().iter().map(|kernel| kernel.name()).collect();
        assert_eq!(listed, declared);
    }
}
