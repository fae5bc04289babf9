//! Kernels that stand in for those of a recorded program: same name, same cores, no work.
//!
//! The engine wants kernels that live as long as the process. Each name is made once: memory grows with the number of different
//! kernels that a process replays, not with replays.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use ringlane_engine::api::kernel::{CoreType, Kernel};

use crate::recorded::ProgramKernel;

static KNOWN: LazyLock<Mutex<HashMap<(String, CoreType), &'static Kernel>>> = LazyLock::new(Mutex::default);

/// The kernel that replaces this one.
pub(super) fn kernel(of: &ProgramKernel) -> &'static Kernel {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || {
        let name: &'static str = Box::leak(of.name.clone().into_boxed_str());
        &*Box::leak(Box::new(Kernel::stand_in(name, of.core)))
    };
    known.entry((of.name.clone(), of.core)).or_insert_with(make)
}
