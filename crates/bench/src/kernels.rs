//! The kernels of the benchmarks: one for each combination of accesses, in two versions.
//!
//! The plain ones only work; they do not read their arguments. The checked ones take their task's number as their
//! first argument, a scalar, and check that their predecessors have run.

use ringlane_engine::prelude::{Args, CoreType, Kernel, KernelParam, KernelResult, ParamSpec};

use super::graph::Task;
use super::{check, spin};

const TASK: ParamSpec = <u32 as KernelParam>::SPEC;
const READ: ParamSpec = <&[f32] as KernelParam>::SPEC;
const UPDATE: ParamSpec = <&mut [f32] as KernelParam>::SPEC;

/// Accesses nothing.
pub static FREE: Kernel = plain("FREE", &[]);
/// Updates a buffer.
pub static UPDATES: Kernel = plain("UPDATES", &[UPDATE]);
/// Reads a buffer.
pub static READS: Kernel = plain("READS", &[READ]);
/// Reads a buffer and updates one.
pub static READ_UPDATES: Kernel = plain("READ_UPDATES", &[READ, UPDATE]);
/// Reads two buffers and updates one.
pub static READ2_UPDATES: Kernel = plain("READ2_UPDATES", &[READ, READ, UPDATE]);

static CHECKED_FREE: Kernel = checked("CHECKED_FREE", &[TASK]);
static CHECKED_UPDATES: Kernel = checked("CHECKED_UPDATES", &[TASK, UPDATE]);
static CHECKED_READS: Kernel = checked("CHECKED_READS", &[TASK, READ]);
static CHECKED_READ_UPDATES: Kernel = checked("CHECKED_READ_UPDATES", &[TASK, READ, UPDATE]);
static CHECKED_READ2_UPDATES: Kernel = checked("CHECKED_READ2_UPDATES", &[TASK, READ, READ, UPDATE]);

/// The checked kernel for a task.
pub fn checked_for(task: &Task) -> &'static Kernel {
    match task {
        Task::Free => &CHECKED_FREE,
        Task::Update(_) => &CHECKED_UPDATES,
        Task::Read(_) => &CHECKED_READS,
        Task::ReadUpdate(..) => &CHECKED_READ_UPDATES,
        Task::Read2Update(..) => &CHECKED_READ2_UPDATES,
    }
}

const fn plain(name: &'static str, params: &'static [ParamSpec]) -> Kernel {
    Kernel::new(name, CoreType::Any, params, work)
}

const fn checked(name: &'static str, params: &'static [ParamSpec]) -> Kernel {
    Kernel::new(name, CoreType::Any, params, check_order)
}

fn work(_: &mut Args<'_>) -> KernelResult {
    spin::task_body();
    Ok(())
}

fn check_order(args: &mut Args<'_>) -> KernelResult {
    check::task_runs(args.take::<u32>()?);
    Ok(())
}
