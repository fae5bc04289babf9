//! What a diagnostic does when its buffers are full.

use core::fmt;

/// The policy of a diagnostic whose collector is too slow.
///
/// ```
/// use ringlane_task::Overflow;
/// assert_eq!(Overflow::from_code(1), Some(Overflow::Drop));
/// assert_eq!(Overflow::default().as_str(), "block");
/// assert_eq!(Overflow::from_name("drop"), Some(Overflow::Drop));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Overflow {
    /// The writer waits; the time is counted and nothing is lost.
    #[default]
    Block = 0,
    /// The record is counted and lost.
    Drop = 1,
}

impl Overflow {
    /// Both policies, in the order of their codes.
    pub const ALL: [Overflow; 2] = [Overflow::Block, Overflow::Drop];

    /// The policy with this code, if there is one.
    pub const fn from_code(code: i32) -> Option<Overflow> {
        match code {
            0 => Some(Overflow::Block),
            1 => Some(Overflow::Drop),
            _ => None,
        }
    }

    /// The policy with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Overflow> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == name)
    }

    /// The name used on the command line and in every artifact.
    pub const fn as_str(self) -> &'static str {
        match self {
            Overflow::Block => "block",
            Overflow::Drop => "drop",
        }
    }
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
