//! What goes wrong on a device, and what is said about it. Each in a process of its own.

#[path = "common/mod.rs"]
mod common;

use std::panic::Location;

use common::{in_child, is_gpu, platform, runtime};
use ringlane_chip_cuda::CudaRuntime;
use ringlane_engine::api::kernel::CudaBody;
use ringlane_engine::chip_runtime::{ChipOptions, ChipRuntime};
use ringlane_engine::prelude::*;
use ringlane_task::{CallConfig, Explain};

kernel! { static NEXT = any fn(y: &mut [u32]) { y[0] += 1; } cuda "rl_one y[0] += 1u;" }
kernel! { static FOREVER = any fn(y: &mut [u32]) { y[0] += 1; }
cuda "while (*(volatile u32 *)y.data() != 77u) rl_pause();" }
kernel! { static TRAP = any fn(y: &mut [u32]) { y[0] += 1; }
cuda "if (y.len() == 0) return;
#ifndef RL_HOST
asm volatile(\"trap;\");
#endif
" }
kernel! { static WILD = any fn(y: &mut [u32]) { y[0] += 1; } cuda "*(volatile u32 *)(16 + y.len() * 0) = 1u;" }
kernel! { static BEYOND = any fn(y: &mut [u32]) { y[0] += 1; } cuda "rl_one y[y.len() + 3] = 1u;" }
/// Not declared with `kernel!`: the programs of all others could contain it.
static TOO_MUCH_SHARED: Kernel =
    Kernel::new("TOO_MUCH_SHARED", CoreType::Any, &[<&mut [u32]>::SPEC], |_| Ok(())).with_cuda(CudaBody {
        source: "__shared__ u32 big[60000]; big[threadIdx.x * 200] = y[0]; rl_sync(); rl_one y[0] = big[200 * (y[0] & 63)];",
        params: &["y"],
        file: "somewhere/shared.rs",
        line: 5,
    });

const WORDS: u32 = 64;

/// Runs a task of this kernel between two others; the error, and whether a second run on the same runtime works.
fn error_of(kernel: &'static Kernel) -> Option<(Error, Result<()>)> {
    let mut runtime = runtime(&CallConfig::default())?;
    let mut run = |kernel: &'static Kernel| {
        let mut data = Buffers::new();
        let id = data.add(&[WORDS], &[5u32; WORDS as usize]).unwrap();
        let run = runtime.run_at(Location::caller(), &mut data, &(), |o| {
            let all = o.external(id)?;
            o.submit(&NEXT, [all.tile(&[0], &[8])?.inout()])?;
            o.submit(kernel, [all.tile(&[0], &[8])?.inout()])?;
            o.submit(&NEXT, [all.tile(&[0], &[8])?.inout()])?;
            Ok(())
        });
        run.result
    };
    let error = run(kernel).unwrap_err();
    Some((error, run(&NEXT)))
}

#[test]
fn a_kernel_that_does_not_return_is_named_and_the_run_ends() {
    in_child(
        "a_kernel_that_does_not_return_is_named_and_the_run_ends",
        &[("RL_KERNEL_SECONDS", "1")],
        || {
            let Some((error, again)) = error_of(&FOREVER) else { return };
            println!("{error}");
            assert_eq!(error.name(), "KernelSilent");
            assert!(error.detail().contains("FOREVER") && error.detail().contains("failures.rs"), "{error}");
            assert!(!error.detail().contains("NEXT"), "{error}");
            assert!(["DeviceLost", "DeviceMemory"].contains(&again.unwrap_err().name()));
        },
    );
}

#[test]
fn a_trap_and_an_illegal_access_lose_the_device_and_name_what_ran() {
    if !is_gpu() {
        return;
    }
    in_child("a_trap_and_an_illegal_access_lose_the_device_and_name_what_ran", &[], || {
        // The second one in the same process finds a context that is lost.
        let (error, again) = error_of(&TRAP).unwrap();
        println!("{error}");
        assert_eq!(error.name(), "DeviceLost");
        assert!(error.detail().contains("NEXT") || error.detail().contains("TRAP"), "{error}");
        assert!(["DeviceLost", "DeviceMemory"].contains(&again.unwrap_err().name()));
    });
}

#[test]
fn an_illegal_access_loses_the_device() {
    if !is_gpu() {
        return;
    }
    in_child("an_illegal_access_loses_the_device", &[], || {
        let (error, again) = error_of(&WILD).unwrap();
        println!("{error}");
        assert_eq!(error.name(), "DeviceLost");
        assert!(["DeviceLost", "DeviceMemory"].contains(&again.unwrap_err().name()));
    });
}

#[test]
fn an_index_out_of_bounds_fails_its_task_where_views_are_checked() {
    let name = "an_index_out_of_bounds_fails_its_task_where_views_are_checked";
    in_child(name, &[("RL_CHECK", "1")], || {
        let Some((error, again)) = error_of(&BEYOND) else { return };
        println!("{error}");
        assert_eq!(error.name(), "TaskFailed");
        assert!(error.detail().contains("BEYOND") && error.detail().contains("out of bounds"), "{error}");
        again.unwrap();
    });
}

#[test]
fn rings_that_do_not_fit_are_refused_before_anything_is_reserved() {
    in_child("rings_that_do_not_fit_are_refused_before_anything_is_reserved", &[], || {
        let name = if is_gpu() { "cuda" } else { "cuda-host" };
        if (platform(name).availability)().is_err() {
            return;
        }
        let config = CallConfig::default().with_ring_heap([1 << 39; 4]);
        let error = CudaRuntime::new(platform(name), &config, &ChipOptions::default()).err().unwrap();
        println!("{error}");
        assert_eq!(error.name(), "OutOfDeviceMemory");
        assert!(error.detail().contains("free") && error.hint().contains("--ring-heap"), "{error}");
    });
}

#[test]
fn a_cache_that_cannot_be_written_is_no_error() {
    in_child("a_cache_that_cannot_be_written_is_no_error", &[("XDG_CACHE_HOME", "/proc/nothing")], || {
        let Some(mut runtime) = runtime(&CallConfig::default()) else { return };
        let mut data = Buffers::new();
        let id = data.add(&[WORDS], &[5u32; WORDS as usize]).unwrap();
        let run = runtime.run_at(Location::caller(), &mut data, &(), |o| {
            let all = o.external(id)?;
            o.submit(&NEXT, [all.inout()]).map(drop)
        });
        run.result.unwrap();
        assert_eq!(data.get::<u32>(id).unwrap()[0], 6);
    });
}

#[test]
fn too_much_shared_memory_is_an_error_of_the_program() {
    if !is_gpu() {
        return;
    }
    in_child("too_much_shared_memory_is_an_error_of_the_program", &[], || {
        let (error, again) = error_of(&TOO_MUCH_SHARED).unwrap();
        println!("{error}");
        assert_eq!(error.name(), "DeviceProgram");
        again.unwrap();
    });
}

#[test]
fn a_machine_without_a_visible_gpu_says_what_is_missing() {
    let name = "a_machine_without_a_visible_gpu_says_what_is_missing";
    in_child(name, &[("CUDA_VISIBLE_DEVICES", "")], || {
        let why = (platform("cuda").availability)().unwrap_err();
        println!("{why}");
        let known = ["no driver", "shows no device", "does not start"];
        assert!(known.iter().any(|text| why.contains(text)), "{why}");
        let error = CudaRuntime::new(platform("cuda"), &CallConfig::default(), &ChipOptions::default());
        assert_eq!(error.err().unwrap().name(), "DeviceUnavailable");
    });
}
