//! The kinds of cores that chips have, and how many of each. The cores of a node are its workers.

/// A kind of core, as the swimlane names it.
///
/// ```
/// use ringlane_insight::CoreKind;
/// assert_eq!(CoreKind::from_name("aiv"), Some(CoreKind::Aiv));
/// assert_eq!(CoreKind::from_name("any"), Some(CoreKind::Sm), "a core of a GPU runs kernels of any kind");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoreKind {
    /// A matrix core.
    Aic,
    /// A vector core.
    Aiv,
    /// A thread of the machine's own processor.
    Cpu,
    /// A multiprocessor of a GPU, which runs kernels of any kind: `any` in artifacts.
    Sm,
    /// A worker of a node that runs graphs on one chip.
    Chip,
    /// A worker of a node that calls plain functions.
    Function,
    /// A worker of a node that is a node itself.
    Node,
}

impl CoreKind {
    /// How many kinds there are.
    pub const COUNT: usize = CoreKind::ALL.len();

    /// Every kind, in the order in which they are reported.
    pub const ALL: [CoreKind; 7] = [
        CoreKind::Aic,
        CoreKind::Aiv,
        CoreKind::Cpu,
        CoreKind::Sm,
        CoreKind::Chip,
        CoreKind::Function,
        CoreKind::Node,
    ];

    /// The name that answers have.
    pub const fn as_str(self) -> &'static str {
        match self {
            CoreKind::Aic => "aic",
            CoreKind::Aiv => "aiv",
            CoreKind::Cpu => "cpu",
            CoreKind::Sm => "sm",
            CoreKind::Chip => "chip",
            CoreKind::Function => "function",
            CoreKind::Node => "node",
        }
    }

    /// What one of them is called, and several.
    pub const fn nouns(self) -> (&'static str, &'static str) {
        match self {
            CoreKind::Aic => ("an aic core", "aic cores"),
            CoreKind::Aiv => ("an aiv core", "aiv cores"),
            CoreKind::Cpu => ("a cpu core", "cpu cores"),
            CoreKind::Sm => ("an SM", "SMs"),
            CoreKind::Chip => ("a chip", "chips"),
            CoreKind::Function => ("a function worker", "function workers"),
            CoreKind::Node => ("a node", "nodes"),
        }
    }

    /// The kind that has this name in artifacts, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "any" {
            return Some(CoreKind::Sm);
        }
        CoreKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// How many cores of each kind a chip has.
///
/// ```
/// use ringlane_insight::{CoreKind, Cores};
/// let cores = Cores::none().with(CoreKind::Aic, 24).with(CoreKind::Aiv, 48);
/// assert_eq!((cores.of(CoreKind::Aiv), cores.of(CoreKind::Cpu), cores.all()), (48, 0, 72));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cores {
    counts: [u32; CoreKind::COUNT],
}

impl Cores {
    /// No core at all.
    pub const fn none() -> Self {
        Cores { counts: [0; CoreKind::COUNT] }
    }

    /// The same with `count` cores of this kind.
    #[must_use]
    pub const fn with(mut self, kind: CoreKind, count: u32) -> Self {
        self.counts[kind as usize] = count;
        self
    }

    /// How many are of this kind.
    pub const fn of(&self, kind: CoreKind) -> u32 {
        self.counts[kind as usize]
    }

    /// How many there are in all.
    pub fn all(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// The kinds that the chip has.
    pub fn kinds(&self) -> impl Iterator<Item = CoreKind> + '_ {
        CoreKind::ALL.into_iter().filter(|&kind| self.of(kind) > 0)
    }
}
