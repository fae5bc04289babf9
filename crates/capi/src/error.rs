//! Errors on their way to C: a status, and the last error of each thread as three texts.

use core::cell::RefCell;
use core::ffi::{CStr, c_char};
use core::ops::Deref;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ringlane::SetupError;
use ringlane::engine::{Error, Fault, describe_panic, drop_panic};
use ringlane::insight::InsightError;
use ringlane::scenes::SceneError;
use ringlane::task::Explain;

use crate::abi::{RL_BAD_CALL, RL_ERROR, RL_INTERRUPTED, RL_OK, RL_STALE_HANDLE, RL_TASK_FAILED};
use crate::hints::in_c;

/// What only a caller in C can do wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CapiError {
    /// A pointer is null.
    NullPointer { what: &'static str },
    /// A struct says that it is smaller than its first version, or larger than this library knows with something in it.
    BadStruct { what: &'static str, given: u32, known: usize },
    /// Header and library have different versions.
    AbiVersion { header: u32, library: u32 },
    /// A number has no meaning.
    BadNumber { what: &'static str, value: i64, allowed: &'static str },
    /// A DLPack type that no tensor has.
    BadType { code: u8, bits: u8, lanes: u16 },
    /// A text is not UTF-8.
    NotText { what: &'static str, at: usize },
    /// An array has another number of elements than the call needs.
    WrongCount { what: &'static str, given: usize, needed: usize },
    /// There is no platform of this name.
    UnknownPlatform { name: String, known: Vec<&'static str> },
    /// A runtime is used while a run of it is in progress.
    RuntimeBusy,
    /// A program's handle is used on another thread.
    WrongThread,
    /// A kernel uses the handle of the program that waits for it.
    CallsBack,
    /// The bytes of a tensor are none that a call wrote.
    NotATensor,
    /// A program's handle is used when its program does not run.
    NotRunning,
    /// A program returned a number that is not the status of a call that failed.
    ProgramFailed { status: i32 },
    /// Nothing was recorded.
    NoRecording,
    /// The library panicked: a defect.
    LibraryPanicked { message: String },
}

ringlane::task::explained_error!(CapiError);

impl Explain for CapiError {
    fn name(&self) -> &'static str {
        match self {
            CapiError::NullPointer { .. } => "NullPointer",
            CapiError::BadStruct { .. } => "BadStruct",
            CapiError::AbiVersion { .. } => "AbiVersion",
            CapiError::BadNumber { .. } | CapiError::BadType { .. } => "BadNumber",
            CapiError::NotText { .. } => "NotText",
            CapiError::WrongCount { .. } => "WrongCount",
            CapiError::UnknownPlatform { .. } => "UnknownPlatform",
            CapiError::RuntimeBusy => "RuntimeBusy",
            CapiError::WrongThread => "WrongThread",
            CapiError::CallsBack => "NotInOrchestration",
            CapiError::NotATensor => "NotATensor",
            CapiError::NotRunning => "StaleHandle",
            CapiError::ProgramFailed { .. } => "ProgramFailed",
            CapiError::NoRecording => "NoRecording",
            CapiError::LibraryPanicked { .. } => "LibraryPanicked",
        }
    }

    fn summary(&self) -> String {
        match self {
            CapiError::NullPointer { .. } => "a pointer is null",
            CapiError::BadStruct { .. } => "the size of a struct does not fit this library",
            CapiError::AbiVersion { .. } => "header and library have different versions",
            CapiError::BadNumber { .. } | CapiError::BadType { .. } => "a number has no meaning here",
            CapiError::NotText { .. } => "a text is not UTF-8",
            CapiError::WrongCount { .. } => "an array has the wrong number of elements",
            CapiError::UnknownPlatform { .. } => "there is no such platform",
            CapiError::RuntimeBusy => "the runtime is used while a run of it is in progress",
            CapiError::WrongThread => "a program submits from another thread than its own",
            CapiError::CallsBack => "the orchestrator is used outside of its orchestration",
            CapiError::NotATensor => "the bytes of a tensor are none that a call wrote",
            CapiError::NotRunning => "a program's handle is used when the program does not run",
            CapiError::ProgramFailed { .. } => "the program returned an error of its own",
            CapiError::NoRecording => "nothing was recorded",
            CapiError::LibraryPanicked { .. } => "the library panicked",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            CapiError::NullPointer { what } => format!("`{what}`"),
            CapiError::BadStruct { what, given, known } => {
                format!("{what}: struct_size is {given}, this library has {known} bytes")
            }
            CapiError::AbiVersion { header, library } => format!("header {header}, library {library}"),
            CapiError::BadNumber { what, value, allowed } => format!("{what} is {value}, not {allowed}"),
            CapiError::BadType { code, bits, lanes } => {
                format!("DLPack type code {code}, {bits} bits, {lanes} lanes")
            }
            CapiError::NotText { what, at } => format!("`{what}`, from byte {at} on"),
            CapiError::WrongCount { what, given, needed } => {
                format!("{what}: {given} given, {needed} needed")
            }
            CapiError::UnknownPlatform { name, known } => format!("`{name}`; there are {}", known.join(", ")),
            CapiError::ProgramFailed { status } => format!("status {status}"),
            CapiError::LibraryPanicked { message } => message.clone(),
            CapiError::CallsBack => "a kernel calls back into the program that waits for it".to_string(),
            CapiError::RuntimeBusy
            | CapiError::WrongThread
            | CapiError::NotATensor
            | CapiError::NotRunning
            | CapiError::NoRecording => String::new(),
        }
    }

    fn hint(&self) -> String {
        match self {
            CapiError::NullPointer { .. } => "pass a pointer to it",
            CapiError::BadStruct { .. } => "set struct_size to sizeof, and use the header of this library",
            CapiError::AbiVersion { .. } => "compile with the header of the library that is loaded",
            CapiError::BadNumber { .. } => {
                "pass one of those; ringlane.h has constants for kinds, types and flags"
            }
            CapiError::BadType { .. } => {
                "fill it in with `rl_dltype_of`; one lane, and types that tensors have"
            }
            CapiError::NotText { .. } => "pass UTF-8, ended by a zero byte",
            CapiError::WrongCount { .. } => "pass as many as are needed",
            CapiError::UnknownPlatform { .. } => "pass one of them, or null for cpu",
            CapiError::RuntimeBusy => "wait for the run, or make a second runtime",
            CapiError::WrongThread => "submit on the thread that calls the program",
            CapiError::CallsBack => "submit in the program, not in a kernel",
            CapiError::NotATensor => {
                "copy tensors as a whole, and use only those that a call returned RL_OK for"
            }
            CapiError::NotRunning => "use `rl_orch` only until the program returns",
            CapiError::ProgramFailed { .. } => "return RL_OK, or the status of the call that failed",
            CapiError::NoRecording => "call `rl_record` before the run",
            CapiError::LibraryPanicked { .. } => "report it with the program",
        }
        .to_string()
    }
}

/// An error with the status that the call returns. One pointer, so that calls which succeed return in registers.
#[derive(Clone, Debug)]
pub(crate) struct Failure(Box<Failed>);

#[derive(Clone, Debug)]
pub(crate) struct Failed {
    pub(crate) status: i32,
    /// As the engine has it, if it is the engine's.
    error: Option<Error>,
    /// What is wrong with the parameters of a scene.
    settings: Option<SceneError>,
    texts: [CString; 3],
}

impl Deref for Failure {
    type Target = Failed;

    fn deref(&self) -> &Failed {
        &self.0
    }
}

impl Failure {
    #[cold]
    fn new(status: i32, error: &dyn Explain) -> Self {
        let detail = match error.detail() {
            detail if detail.is_empty() => error.summary(),
            detail => format!("{}: {detail}", error.summary()),
        };
        let texts = [error.name().to_string(), detail, in_c(error)];
        Failure(Box::new(Failed { status, error: None, settings: None, texts: texts.map(text) }))
    }

    /// What is wrong with the parameters of a scene, if that is the error.
    pub(crate) fn into_settings(self) -> Option<SceneError> {
        self.0.settings
    }

    /// As an error that ends a run.
    pub(crate) fn ends_run(&self) -> Error {
        self.error.clone().unwrap_or_else(|| Error::user(self.text()))
    }

    /// Its name and its detail.
    pub(crate) fn text(&self) -> String {
        let [name, detail, _] = self.texts.each_ref().map(|text| text.to_string_lossy());
        format!("{name}: {detail}")
    }
}

/// A text for C, which ends at the first zero byte.
fn text(text: String) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

impl From<CapiError> for Failure {
    #[cold]
    fn from(error: CapiError) -> Self {
        let status = match error {
            CapiError::NotRunning => RL_STALE_HANDLE,
            CapiError::ProgramFailed { status } => status,
            CapiError::NoRecording | CapiError::LibraryPanicked { .. } => RL_ERROR,
            _ => RL_BAD_CALL,
        };
        Failure::new(status, &error)
    }
}

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Self {
        let status = match error.fault() {
            Fault::TaskFailed(_) => RL_TASK_FAILED,
            Fault::Interrupted { .. } => RL_INTERRUPTED,
            _ if error.name() == "StaleHandle" => RL_STALE_HANDLE,
            _ => RL_ERROR,
        };
        let mut failure = Failure::new(status, &error);
        failure.0.error = Some(error);
        failure
    }
}

impl From<SceneError> for Failure {
    #[cold]
    fn from(error: SceneError) -> Self {
        let mut failure = Failure::new(RL_ERROR, &error);
        failure.0.settings = Some(error);
        failure
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        Failure::new(RL_ERROR, &error)
    }
}

impl From<InsightError> for Failure {
    fn from(error: InsightError) -> Self {
        Failure::new(RL_ERROR, &error)
    }
}

thread_local! {
    static LAST: RefCell<Option<Failure>> = const { RefCell::new(None) };
}

/// Does what a function of the ABI does: a failure becomes the thread's last error, and so does a panic.
#[inline]
pub(crate) fn guarded(f: impl FnOnce() -> Result<(), Failure>) -> i32 {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(Ok(())) => RL_OK,
        Ok(Err(failure)) => fail(failure),
        Err(panic) => {
            let message = describe_panic(&*panic);
            drop_panic(panic);
            fail(CapiError::LibraryPanicked { message }.into())
        }
    }
}

#[cold]
fn fail(failure: Failure) -> i32 {
    let status = failure.status;
    LAST.with_borrow_mut(|last| *last = Some(failure));
    status
}

/// What a function of the user's fails with that returns this status: the last error of the thread, if it has the status.
pub(crate) fn last_failure(status: i32) -> Failure {
    let last = LAST.with_borrow(|last| last.clone().filter(|failure| failure.status == status));
    last.unwrap_or_else(|| CapiError::ProgramFailed { status }.into())
}

fn last(which: usize) -> *const c_char {
    LAST.with_borrow(|last| last.as_ref().map_or(c"", |failure| &failure.texts[which]).as_ptr())
}

/// The name of the last error of this thread, as on the page of errors; empty if there was none. Valid until the next error.
#[unsafe(no_mangle)]
pub extern "C" fn rl_error_name() -> *const c_char {
    last(0)
}

/// What happened, with its numbers.
#[unsafe(no_mangle)]
pub extern "C" fn rl_error_detail() -> *const c_char {
    last(1)
}

/// What to do about it.
#[unsafe(no_mangle)]
pub extern "C" fn rl_error_hint() -> *const c_char {
    last(2)
}

thread_local! {
    /// What the kernel that runs on this thread fails with.
    static KERNEL_TEXT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// In a kernel: says why its task fails. Returns -1, for `return rl_fail("…")`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rl_fail(text: *const c_char) -> i32 {
    if !text.is_null() {
        // SAFETY: the caller passes a text that ends with a zero byte.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        KERNEL_TEXT.with_borrow_mut(|last| *last = Some(text));
    }
    -1
}

/// What `rl_fail` was given since the last call.
pub(crate) fn take_kernel_text() -> Option<String> {
    KERNEL_TEXT.with_borrow_mut(Option::take)
}
