//! What C passes, checked: pointers, structs with their size, texts, arrays.

use core::ffi::{CStr, c_char};
use core::mem::MaybeUninit;

use crate::abi::{rl_arg, rl_buffer, rl_kernel_info, rl_launch, rl_param, rl_runtime_options};
use crate::error::CapiError;
use crate::plugin::abi::{rl_parts, rl_plugin, rl_scene, rl_scene_case, rl_scene_param};

type Result<T> = core::result::Result<T, CapiError>;

/// A struct that begins with its size.
///
/// # Safety
/// `repr(C)`, with a `u32` size first, and all zero bits are a value.
pub(crate) unsafe trait Sized32: Copy {
    /// Its name in errors.
    const NAME: &'static str;
}

macro_rules! sized {
    ($($ty:ty),*) => {$(
        // SAFETY: `repr(C)`, the size is first; numbers, pointers and optional functions may be zero.
        unsafe impl Sized32 for $ty {
            const NAME: &'static str = stringify!($ty);
        }
    )*};
}

sized!(rl_runtime_options, rl_buffer, rl_param, rl_kernel_info, rl_launch, rl_arg);
sized!(rl_plugin, rl_scene, rl_scene_param, rl_scene_case, rl_parts);

/// Copies a struct. Every field of the first version must be there; what this library does not know must be zero.
///
/// # Safety
/// The pointer is null, or that of a struct with as many bytes as its first field says.
#[inline]
pub(crate) unsafe fn sized<T: Sized32>(at: *const T) -> Result<T> {
    if at.is_null() {
        return Err(CapiError::NullPointer { what: T::NAME });
    }
    // SAFETY: the size is the first field.
    let given = unsafe { at.cast::<u32>().read_unaligned() };
    if given as usize != size_of::<T>() {
        // SAFETY: the caller's promise.
        unsafe { unusual_size(at, given) }?;
    }
    // SAFETY: at least as many bytes, and any bytes that the caller wrote are a value.
    Ok(unsafe { at.read_unaligned() })
}

/// Accepts a struct of a newer header if its new fields are zero.
#[cold]
unsafe fn unusual_size<T: Sized32>(at: *const T, given: u32) -> Result<()> {
    let (known, bytes) = (size_of::<T>(), at.cast::<u8>());
    // SAFETY: the struct has as many bytes as it says.
    let is_zero = |byte: usize| unsafe { bytes.add(byte).read() } == 0;
    let is_newer = given as usize > known && given < 1 << 16;
    if is_newer && (known..given as usize).all(is_zero) {
        return Ok(());
    }
    Err(CapiError::BadStruct { what: T::NAME, given, known })
}

/// The structs of an array, each as large as the first says.
///
/// # Safety
/// As for [`sized`], for each.
pub(crate) unsafe fn array<T: Sized32>(first: *const T, count: usize) -> Result<Vec<T>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if first.is_null() {
        return Err(CapiError::NullPointer { what: T::NAME });
    }
    // SAFETY: the size is the first field.
    let stride = unsafe { first.cast::<u32>().read_unaligned() } as usize;
    // SAFETY: the caller's promise.
    (0..count).map(|i| unsafe { sized(first.byte_add(i * stride)) }).collect()
}

/// A slice of plain values.
///
/// # Safety
/// The pointer is that of `count` values that live and do not change for `'a`, or `count` is 0.
#[inline]
pub(crate) unsafe fn slice<'a, T>(what: &'static str, first: *const T, count: usize) -> Result<&'a [T]> {
    match (count, first.is_null()) {
        (0, _) => Ok(&[]),
        (_, true) => Err(CapiError::NullPointer { what }),
        // SAFETY: the caller's promise.
        _ => Ok(unsafe { core::slice::from_raw_parts(first, count) }),
    }
}

/// A text.
///
/// # Safety
/// The pointer is null, or that of a text which ends with a zero byte and lives for `'a`.
pub(crate) unsafe fn text<'a>(what: &'static str, at: *const c_char) -> Result<&'a str> {
    // SAFETY: the caller's promise.
    unsafe { optional_text(what, at) }?.ok_or(CapiError::NullPointer { what })
}

/// A text, or nothing.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn optional_text<'a>(what: &'static str, at: *const c_char) -> Result<Option<&'a str>> {
    if at.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(at) }.to_str();
    text.map(Some).map_err(|error| CapiError::NotText { what, at: error.valid_up_to() })
}

/// Where a result goes.
///
/// # Safety
/// The pointer is null, or one that may be written for `'a`.
#[inline]
pub(crate) unsafe fn result<'a, T>(what: &'static str, at: *mut T) -> Result<&'a mut MaybeUninit<T>> {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<MaybeUninit<T>>().as_mut() }.ok_or(CapiError::NullPointer { what })
}
