//! A group of counters that is not there. Each chip has groups of its own; that one is missing is said alike of all.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::Explain;

/// There is no such group of counters.
///
/// ```
/// use ringlane_task::{Explain, UnknownPmuGroup};
/// let error = UnknownPmuGroup::new("3", [(1, "arithmetic"), (2, "pipe")]);
/// assert_eq!((error.name(), error.detail()), ("UnknownPmuGroup", "\"3\"".to_string()));
/// assert_eq!(error.hint(), "use 1 or arithmetic, 2 or pipe");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPmuGroup {
    /// What was asked for.
    pub given: String,
    /// The groups that the chip has, by number and name.
    pub known: Vec<(u8, &'static str)>,
}

impl UnknownPmuGroup {
    /// The error about what was asked for, on a chip with these groups.
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
        "there is no such group of counters".to_string()
    }

    fn detail(&self) -> String {
        format!("{:?}", self.given)
    }

    fn hint(&self) -> String {
        let known: Vec<_> = self.known.iter().map(|(number, name)| format!("{number} or {name}")).collect();
        format!("use {}", known.join(", "))
    }
}
