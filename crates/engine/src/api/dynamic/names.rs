//! Texts that live as long as the process: names of kernels and of scalars, which recordings and captured graphs refer to.

#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::error::DynamicError;
use crate::fault::{Fault, Result};
use crate::limits::DYNAMIC_NAMES_MAX;

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The same text for the rest of the process, stored once however often it is asked for.
///
/// ```
/// use ringlane_engine::api::dynamic::static_name;
/// let (first, second) = (static_name("scale")?, static_name(&"scale".to_string())?);
/// assert!(std::ptr::eq(first, second));
/// # Ok::<(), ringlane_engine::Error>(())
/// ```
pub fn static_name(name: &str) -> Result<&'static str> {
    // Nothing panics between two changes that belong together.
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if names.len() >= DYNAMIC_NAMES_MAX {
        return Err(
            Fault::Dynamic(DynamicError::TooManyKernels { what: "names", limit: DYNAMIC_NAMES_MAX }).into()
        );
    }
    let name: &'static str = Box::leak(name.into());
    names.insert(name);
    Ok(name)
}
