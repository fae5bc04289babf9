//! How a task accesses a tensor: the five accesses, and the dependencies of each.

use core::fmt;

/// How a task uses one of its tensor arguments.
///
/// | access | reads | writes | depends on |
/// |---|---|---|---|
/// | `Input` | yes | no | the last writers (RAW) |
/// | `Output` | no | new memory | nothing |
/// | `OutputExisting` | no | yes | earlier writers (WAW) and readers (WAR) |
/// | `InOut` | yes | yes | RAW, WAW, WAR |
/// | `NoDep` | — | — | nothing; the user is responsible for the order |
///
/// ```
/// use ringlane_task::Access;
/// assert!(Access::InOut.reads() && Access::InOut.writes());
/// assert_eq!(Access::OutputExisting.to_string(), "output_existing");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Access {
    /// Read only.
    Input = 0,
    /// Written; new memory from the heap ring.
    Output = 1,
    /// Written without being read; existing memory.
    OutputExisting = 2,
    /// Read and written.
    InOut = 3,
    /// Ignored by the dependency inference.
    NoDep = 4,
}

impl Access {
    /// All accesses, in the order of their codes.
    pub const ALL: [Access; 5] =
        [Access::Input, Access::Output, Access::OutputExisting, Access::InOut, Access::NoDep];

    /// Whether the task uses the previous value.
    pub const fn reads(self) -> bool {
        matches!(self, Access::Input | Access::InOut)
    }

    /// Whether the task changes the bytes.
    pub const fn writes(self) -> bool {
        matches!(self, Access::Output | Access::OutputExisting | Access::InOut)
    }

    /// The access with this code, if there is one.
    pub const fn from_code(code: u8) -> Option<Access> {
        if (code as usize) < Self::ALL.len() { Some(Self::ALL[code as usize]) } else { None }
    }

    /// The name used in every artifact.
    pub const fn as_str(self) -> &'static str {
        match self {
            Access::Input => "input",
            Access::Output => "output",
            Access::OutputExisting => "output_existing",
            Access::InOut => "inout",
            Access::NoDep => "no_dep",
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
