//! Compiling programs for a GPU with NVRTC, which is loaded when it is needed, and keeping them on disk.

use std::ffi::{CStr, CString};

use cudarc::nvrtc::{result, sys};

use crate::cache::Cached;
use crate::device::Answer;
use crate::error::DeviceError;

/// Whether the library is there.
pub(crate) fn is_present() -> bool {
    // SAFETY: it tries to load a library of NVIDIA's, whose initializers are trusted.
    unsafe { sys::is_culib_present() }
}

/// An error without the library.
pub(crate) fn require() -> Answer<()> {
    if is_present() {
        return Ok(());
    }
    Err(DeviceError::DeviceUnavailable {
        detail: "NVRTC is not installed (libnvrtc.so not found)".to_string(),
        hint: "install NVRTC of CUDA 13, and let LD_LIBRARY_PATH name its directory",
    })
}

/// The program's machine code for an architecture such as `90`.
pub(crate) fn compile(source: &str, architecture: u32) -> Answer<Vec<u8>> {
    require()?;
    let options = options(architecture);
    let cached = Cached::of(&[source, &options.join(" "), &version()], "cubin");
    if let Some(code) = cached.read() {
        return Ok(code);
    }
    let code = build(source, &options)?.code;
    cached.write(&code);
    Ok(code)
}

/// What the assembler reports of a program.
pub(crate) fn assembler_report(source: &str, architecture: u32) -> Answer<String> {
    require()?;
    let mut options = options(architecture).to_vec();
    options.push("--ptxas-options=-v".to_string());
    let cached = Cached::of(&[source, &options.join(" "), &version()], "report");
    if let Some(log) = cached.read().and_then(|bytes| String::from_utf8(bytes).ok()) {
        return Ok(log);
    }
    let log = build(source, &options)?.log;
    cached.write(log.as_bytes());
    Ok(log)
}

fn options(architecture: u32) -> [String; 4] {
    [
        format!("--gpu-architecture=sm_{architecture}"),
        "--std=c++17".to_string(),
        "--fmad=true".to_string(),
        "-default-device".to_string(),
    ]
}

/// The version of the library, which is there.
pub(crate) fn version() -> String {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both places are valid; the library is present.
    let _ = unsafe { sys::nvrtcVersion(&mut major, &mut minor) };
    format!("{major}.{minor}")
}

/// What a compilation gives.
struct Built {
    code: Vec<u8>,
    log: String,
}

fn build(source: &str, options: &[String]) -> Answer<Built> {
    let failed = |log: String| DeviceError::DeviceProgram { log };
    let text = CString::new(source).map_err(|_| failed("a body contains a NUL byte".to_string()))?;
    let program = result::create_program(&text, None).map_err(|error| failed(format!("{error:?}")))?;
    // SAFETY: the program was just made, and is destroyed below, once.
    let compiled = unsafe { result::compile_program(program, options) };
    let log = log_of(program);
    let built = match compiled {
        Ok(()) => code_of(program).map_err(failed).map(|code| Built { code, log: log.unwrap_or_default() }),
        Err(error) => Err(failed(log.unwrap_or_else(|| format!("{error:?}")))),
    };
    // SAFETY: as above.
    let _ = unsafe { result::destroy_program(program) };
    built
}

fn log_of(program: sys::nvrtcProgram) -> Option<String> {
    // SAFETY: the caller's program is alive.
    let log = unsafe { result::get_program_log(program) }.ok()?;
    // SAFETY: NVRTC ends its log with a NUL.
    let text = unsafe { CStr::from_ptr(log.as_ptr()) }.to_string_lossy().into_owned();
    Some(text)
}

fn code_of(program: sys::nvrtcProgram) -> Result<Vec<u8>, String> {
    let mut bytes = 0;
    // SAFETY: the caller's program is compiled.
    let sized = unsafe { sys::nvrtcGetCUBINSize(program, &mut bytes) }.result();
    sized.map_err(|error| format!("{error:?}"))?;
    let mut code = vec![0u8; bytes];
    // SAFETY: there is room for as many bytes as NVRTC asked for.
    let copied = unsafe { sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast()) }.result();
    copied.map_err(|error| format!("{error:?}"))?;
    Ok(code)
}
