//! The errors that only programs known at run time can have: in Rust they do not compile.

#![forbid(unsafe_code)]

use ringlane_task::Explain;

use crate::limits::{SCALARS_MAX, TENSORS_MAX};

/// An error of a program that is known only at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DynamicError {
    /// A handle is used after its scope has ended.
    StaleHandle { what: &'static str, scope: u64, depth: usize, current: Option<u64> },
    /// A scope is ended, but the program began none.
    NoOpenScope,
    /// The program returned while scopes that it began were open.
    ScopeNotEnded { open: usize },
    /// A kernel's declaration is not valid.
    BadKernel { kernel: String, detail: String },
    /// Too many kernels or names were made at run time.
    TooManyKernels { what: &'static str, limit: usize },
    /// An access that this call does not accept.
    BadAccess { access: ringlane_task::Access },
    /// Two buffers share bytes, and tasks may write at least one of them.
    BufferOverlap { buffer: usize, other: usize },
    /// A byte of a `bool` tensor is not a value of the type.
    BadBool,
    /// The bytes given or asked for are not as many as the tensor's.
    ByteCount { what: &'static str, needed: u64, given: u64 },
}

ringlane_task::explained_error!(DynamicError);

impl Explain for DynamicError {
    fn name(&self) -> &'static str {
        match self {
            DynamicError::StaleHandle { .. } => "StaleHandle",
            DynamicError::NoOpenScope => "NoOpenScope",
            DynamicError::ScopeNotEnded { .. } => "ScopeNotEnded",
            DynamicError::BadKernel { .. } => "BadKernel",
            DynamicError::TooManyKernels { .. } => "TooManyKernels",
            DynamicError::BadAccess { .. } => "BadAccess",
            DynamicError::BufferOverlap { .. } => "BufferOverlap",
            DynamicError::BadBool => "BadBool",
            DynamicError::ByteCount { .. } => "ByteCount",
        }
    }

    fn summary(&self) -> String {
        match self {
            DynamicError::StaleHandle { .. } => "a handle is used after its scope has ended",
            DynamicError::NoOpenScope => "a scope is ended that was not begun",
            DynamicError::ScopeNotEnded { .. } => "the program returned while its scopes were open",
            DynamicError::BadKernel { .. } => "a kernel's declaration is not valid",
            DynamicError::TooManyKernels { .. } => "too many kernels were made at run time",
            DynamicError::BadAccess { .. } => {
                "a tensor is passed with an access that is not for tensors that exist"
            }
            DynamicError::BufferOverlap { .. } => "two buffers share bytes that tasks may write",
            DynamicError::BadBool => "a byte of a bool tensor is not a value of the type",
            DynamicError::ByteCount { .. } => "the bytes are not as many as the tensor has",
        }
        .to_string()
    }

    fn detail(&self) -> String {
        match self {
            DynamicError::StaleHandle { what, scope, depth, current: Some(current) } => {
                format!("{what} of scope {scope}; the open scope at its depth, {depth}, is scope {current}")
            }
            DynamicError::StaleHandle { what, scope: 0, .. } => {
                format!("{what} that no call returned: its scope is 0")
            }
            DynamicError::StaleHandle { what, scope, depth, current: None } => {
                format!("{what} of scope {scope} at depth {depth}, where no scope is open")
            }
            DynamicError::NoOpenScope => "the program has no scope of its own open".to_string(),
            DynamicError::ScopeNotEnded { open } => format!("{open} open"),
            DynamicError::BadKernel { kernel, detail } => format!("{kernel:?}: {detail}"),
            DynamicError::TooManyKernels { what, limit } => format!("at most {limit} {what} in one process"),
            DynamicError::BadAccess { access } => format!("the access {access}"),
            DynamicError::BufferOverlap { buffer, other } => {
                format!("buffers {other} and {buffer} of the run")
            }
            DynamicError::BadBool => "a byte of the upload is neither 0 nor 1".to_string(),
            DynamicError::ByteCount { what, needed, given } => {
                format!("{what} takes {needed} bytes, {given} given")
            }
        }
    }

    fn hint(&self) -> String {
        match self {
            DynamicError::StaleHandle { .. } => {
                "use handles only inside the scope that created them, in one run"
            }
            DynamicError::NoOpenScope => "end each scope once; the root scope ends with the program",
            DynamicError::ScopeNotEnded { .. } => {
                "end each scope that you begin, also on the way of an error"
            }
            DynamicError::BadKernel { .. } => {
                return format!(
                    "give it a name, at most {TENSORS_MAX} tensors and {SCALARS_MAX} scalars, and a variable number only at the end"
                );
            }
            DynamicError::TooManyKernels { .. } => {
                "make each kernel once, not once a run: a kernel is never freed"
            }
            DynamicError::BadAccess { .. } => {
                "pass it to be read, written or both; an output is made by its shape"
            }
            DynamicError::BufferOverlap { .. } => {
                "lend the whole array once, and pass tiles of its tensor; or lend both for reading only"
            }
            DynamicError::BadBool => "upload 0 for false and 1 for true",
            DynamicError::ByteCount { .. } => "give as many bytes as its elements take, one after another",
        }
        .to_string()
    }
}
