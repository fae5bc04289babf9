//! The error of an unknown group of counters. Each chip has its own groups; the error is the same for all.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::Explain;

/// The chip does not have this group of counters.
///
/// ```
/// use ringlane_task::{Explain, UnknownPmuGroup};
/// let error = UnknownPmuGroup::new("3", [(1, "arithmetic"), (2, "pipe")]);
/// assert_eq!((error.name(), error.detail()), ("UnknownPmuGroup", "\"3\"".to_string()));
/// assert_eq!(error.hint(), "use 1 or arithmetic, 2 or pipe");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPmuGroup {
    /// The requested group.
    pub given: String,
    /// The groups that the chip has, by number and name.
    pub known: Vec<(u8, &'static str)>,
}

impl UnknownPmuGroup {
    /// The error for a requested group, on a chip with these groups.
    pub fn new(given: impl fmt::Display, known: impl IntoIterator<Item = (u8, &'static str)>) -> Self {
        UnknownPmuGroup { given: given.to_string(), known: known.into_iter().collect() }
    }
}

crate::explained_error!(UnknownPmuGroup);

impl Explain for UnknownPmuGroup {
    fn name(&self) -> &'static str {
        "UnknownPmuGroup"
    }

    fn summary(&self) -> String {
        "the group of counters does not exist".to_string()
    }

    fn detail(&self) -> String {
        format!("{:?}", self.given)
    }

    fn hint(&self) -> String {
        let known: Vec<_> = self.known.iter().map(|(number, name)| format!("{number} or {name}")).collect();
        format!("use {}", known.join(", "))
    }
}
