//! What tests of a device share.
#![allow(dead_code)]

use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use ringlane_chip_cuda::CudaRuntime;
use ringlane_engine::chip_runtime::{Capabilities, ChipOptions, ChipRuntime};
use ringlane_task::CallConfig;

/// Set in the process of a test's own.
const CHILD: &str = "RINGLANE_TEST_CHILD";
/// A process that does not end by then is ended.
const CHILD_SECONDS: u64 = 90;

/// The platform that is tested: `RINGLANE_TEST_PLATFORM=cuda` for a GPU, which must be there.
fn wanted() -> Option<String> {
    std::env::var("RINGLANE_TEST_PLATFORM").ok()
}

/// Whether a GPU is tested.
pub fn is_gpu() -> bool {
    wanted().as_deref() == Some("cuda")
}

/// Whether the C++ compiler checks for data races.
pub fn has_thread_sanitizer() -> bool {
    std::env::var_os("RINGLANE_TEST_TSAN").is_some()
}

/// The platform of this name.
pub fn platform(name: &str) -> &'static Capabilities {
    CudaRuntime::PLATFORMS.iter().find(|platform| platform.name == name).unwrap()
}

/// The runtime, if this machine has a C++ compiler.
pub fn runtime(config: &CallConfig) -> Option<CudaRuntime> {
    runtime_with(config, None)
}

/// The same with a policy for captured graphs.
pub fn runtime_with(config: &CallConfig, policy: Option<&'static str>) -> Option<CudaRuntime> {
    let wanted = wanted();
    let platform = platform(wanted.as_deref().unwrap_or("cuda-host"));
    let options = ChipOptions { policy, ..ChipOptions::default() };
    match (platform.availability)() {
        Ok(()) => Some(CudaRuntime::new(platform, config, &options).unwrap()),
        Err(why) if wanted.is_some() => panic!("{why}"),
        Err(why) => {
            eprintln!("not tested: {why}");
            None
        }
    }
}

/// Runs the body of the test with this name in a process of its own, with these variables: a device that is lost, a thread
/// that does not end and a hang are that process's alone.
pub fn in_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if let Some(status) = status_of_child(name, variables, body) {
        assert!(status.success(), "{name}: {status}");
    }
}

/// The same; how the process ended. None in that process, once the body has returned.
pub fn status_of_child(name: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<ExitStatus> {
    if std::env::var_os(CHILD).is_some() {
        body();
        return None;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if begun.elapsed() > Duration::from_secs(CHILD_SECONDS) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{name} did not end in {CHILD_SECONDS} s");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
