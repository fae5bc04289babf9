//! What a runtime does after an error: it computes right values, or gives an error again.

#[path = "common/mod.rs"]
mod common;

use std::panic::Location;

use common::{in_child, runtime, runtime_with};
use ringlane_chip_cuda::CudaRuntime;
use ringlane_engine::api::kernel::CudaBody;
use ringlane_engine::chip_runtime::ChipRuntime;
use ringlane_engine::prelude::*;
use ringlane_engine::seams::Probe;
use ringlane_task::{CallConfig, Explain};

kernel! { static NEXT = any fn(y: &mut [u32]) { y[0] += 1; } cuda "rl_one y[0] += 1u;" }
// Returns later than its limit of a second, while it is asked to leave.
kernel! { static LATE = any fn(y: &mut [u32]) { y[0] += 1; }
cuda "rl_one {
    const u64 end = rl_nanoseconds() + 1500000000ull;
    while (rl_nanoseconds() < end) rl_pause();
    y[0] += 1u;
}" }
kernel! { static SEVENTH_FAILS = any fn(y: &mut [u32], block: Block) -> KernelResult {
    if block.index.0 == 7 { return Err(KernelError::new("the seventh")); }
    y[0] += 1;
    Ok(())
} cuda "if (block.index == 7) { rl_fail(\"the seventh\"); return; } rl_one y[0] += 1u;" }
kernel! { static WITHOUT_BODY = any fn(y: &mut [u32]) { y[0] += 1; } }
/// Not declared with `kernel!`: the programs of all others could contain it.
static WRONG: Kernel =
    Kernel::new("WRONG", CoreType::Any, &[<&mut [u32]>::SPEC], |_| Ok(())).with_cuda(CudaBody {
        source: "y[0] = no_such_name;",
        params: &["y"],
        file: "somewhere/wrong.rs",
        line: 3,
    });

/// Sees blocks.
struct Observed;

impl Probe for Observed {}

const WORDS: u32 = 64;

fn ones() -> (Buffers<'static>, BufferId) {
    let mut data = Buffers::new();
    let id = data.add(&[WORDS], &[1u32; WORDS as usize]).unwrap();
    (data, id)
}

/// A task of this kernel between two others.
fn program(o: &mut Orch<'_, '_>, id: BufferId, kernel: &'static Kernel) -> Result<()> {
    let all = o.external(id)?;
    o.submit(&NEXT, [all.inout()])?;
    o.submit(kernel, [all.inout()])?;
    o.submit(&NEXT, [all.inout()]).map(drop)
}

/// Two replays of the program with this kernel, each with the error that it gives.
fn replayed_twice<P: Probe>(runtime: &mut CudaRuntime, kernel: &'static Kernel, probe: &P) -> [Error; 2] {
    let (mut data, id) = ones();
    let capture = runtime.capture_at(Location::caller(), &data, None, |o| program(o, id, kernel));
    let (_, mut graph) = capture.unwrap();
    [(); 2].map(|()| runtime.replay_at(&mut graph, &mut data, probe).result.unwrap_err())
}

#[test]
fn a_run_after_one_that_was_halted_computes_its_values() {
    let name = "a_run_after_one_that_was_halted_computes_its_values";
    in_child(name, &[("RL_KERNEL_SECONDS", "1")], || {
        let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
        let mut run = |kernel| {
            let (mut data, id) = ones();
            let run = runtime.run_at(Location::caller(), &mut data, &(), |o| program(o, id, kernel));
            run.result.map(|()| data.get::<u32>(id).unwrap()[0])
        };
        // On a busy machine the kernel may return before anybody asks for the second time.
        match run(&LATE) {
            Ok(value) => assert_eq!(value, 4),
            Err(error) => assert_eq!(error.name(), "KernelSilent"),
        }
        // A device that had to be stopped gives an error; what must not happen is that nothing runs.
        if let Ok(value) = run(&NEXT) {
            assert_eq!(value, 4);
        }
    });
}

#[test]
fn every_replay_of_a_graph_whose_body_does_not_compile_is_an_error() {
    let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
    for error in replayed_twice(&mut runtime, &WRONG, &()) {
        assert_eq!(error.name(), "DeviceProgram");
        assert!(error.detail().contains("no_such_name"), "{error}");
    }
}

#[test]
fn a_graph_that_cannot_be_laid_out_is_refused_observed_or_not() {
    in_child("a_graph_that_cannot_be_laid_out_is_refused_observed_or_not", &[], || {
        let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
        let errors = replayed_twice(&mut runtime, &WITHOUT_BODY, &());
        let observed = replayed_twice(&mut runtime, &WITHOUT_BODY, &Observed);
        for error in errors.iter().chain(&observed) {
            assert_eq!(error.name(), "NoDeviceKernel");
            assert!(error.detail().contains("WITHOUT_BODY"), "{error}");
        }
    });
}

#[test]
fn a_late_block_that_fails_in_a_launch_of_its_own_is_named() {
    for policy in ["cuda-graph", "launches"] {
        let Some(mut runtime) = runtime_with(&CallConfig::default(), Some(policy)) else { return };
        let (mut data, id) = ones();
        let capture = runtime.capture_at(Location::caller(), &data, None, |o| {
            let all = o.external(id)?;
            o.submit(SEVENTH_FAILS.blocks(8), [all.inout().split(0)]).map(drop)
        });
        let (_, mut graph) = capture.unwrap();
        let error = runtime.replay_at(&mut graph, &mut data, &()).result.unwrap_err();
        assert_eq!(error.name(), "TaskFailedInGraph");
        assert!(error.detail().contains("the seventh"), "{error}");
    }
}
