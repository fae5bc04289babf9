//! The kernels of the benchmarks: one for each combination of accesses, in two versions.
//!
//! The plain ones only work; they do not read their arguments. A GPU cannot calibrate the work: there, a kernel takes its
//! arguments and waits for its time to pass, so there is a set of plain kernels for each length. The checked ones take their task's number as their
//! first argument, a scalar, and check that their predecessors have run; they have no body for GPUs.

use ringlane_engine::api::kernel::CudaBody;
use ringlane_engine::prelude::{Args, CoreType, Kernel, KernelParam, KernelResult, ParamSpec};

use super::graph::Task;
use super::workload::Spin;
use super::{check, spin};

/// The plain kernels whose bodies for GPUs take their arguments, and then this many nanoseconds.
macro_rules! plain_kernels {
    ($ns:literal) => {
        Plain {
            free: plain("FREE", &[], &[], wait!($ns)),
            updates: plain("UPDATES", &[UPDATE], &["y"], concat!(check!("y"), wait!($ns))),
            reads: plain("READS", &[READ], &["x"], concat!(check!("x"), wait!($ns))),
            read_updates: plain(
                "READ_UPDATES",
                &[READ, UPDATE],
                &["x", "y"],
                concat!(check!("x"), check!("y"), wait!($ns)),
            ),
            read2_updates: plain(
                "READ2_UPDATES",
                &[READ, READ, UPDATE],
                &["w", "x", "y"],
                concat!(check!("w"), check!("x"), check!("y"), wait!($ns)),
            ),
        }
    };
}
/// Takes an argument: what every body does, whatever it computes.
macro_rules! check {
    ($name:literal) => {
        concat!("if (!", $name, ".data() || ", $name, ".len() != 1) rl_fail(\"not one element\"); ")
    };
}
/// Waits until this many nanoseconds have passed: a GPU cannot calibrate its work.
macro_rules! wait {
    (0) => {
        ""
    };
    ($ns:literal) => {
        concat!("rl_one { const u64 end = rl_nanoseconds() + ", $ns, "; while (rl_nanoseconds() < end) {} }")
    };
}

const TASK: ParamSpec = <u32 as KernelParam>::SPEC;
const READ: ParamSpec = <&[f32] as KernelParam>::SPEC;
const UPDATE: ParamSpec = <&mut [f32] as KernelParam>::SPEC;

/// The plain kernels of one length.
pub struct Plain {
    /// Accesses nothing.
    pub free: Kernel,
    /// Updates a buffer.
    pub updates: Kernel,
    /// Reads a buffer.
    pub reads: Kernel,
    /// Reads a buffer and updates one.
    pub read_updates: Kernel,
    /// Reads two buffers and updates one.
    pub read2_updates: Kernel,
}

impl Plain {
    /// Those whose tasks take as long as the current spin.
    pub fn current() -> &'static Self {
        match spin::current() {
            Spin::Empty => &EMPTY,
            Spin::Us1 => &US_1,
            Spin::Us10 => &US_10,
            Spin::Us100 => &US_100,
        }
    }
}

static EMPTY: Plain = plain_kernels!(0);
static US_1: Plain = plain_kernels!(1000);
static US_10: Plain = plain_kernels!(10000);
static US_100: Plain = plain_kernels!(100000);

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

const fn plain(
    name: &'static str,
    params: &'static [ParamSpec],
    names: &'static [&'static str],
    cuda: &'static str,
) -> Kernel {
    let body = CudaBody { source: cuda, params: names, file: file!(), line: line!() };
    Kernel::new(name, CoreType::Any, params, work).with_cuda(body)
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
