//! The cores that a block can run on, as people and programs name them: one kind, or `any`.

use crate::bound::Placement;
use crate::timeline::Timeline;
use crate::{CoreKind, Cores};
use ringlane_task::KernelId;

impl Placement {
    /// The name: the kind's, or `any`.
    ///
    /// ```
    /// use ringlane_insight::CoreKind;
    /// use ringlane_insight::bound::Placement;
    /// assert_eq!((Placement::On(CoreKind::Aiv).as_str(), Placement::Anywhere.as_str()), ("aiv", "any"));
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Placement::On(kind) => kind.as_str(),
            Placement::Anywhere => "any",
        }
    }

    /// What one of these cores is called, and several.
    pub const fn nouns(self) -> (&'static str, &'static str) {
        match self {
            Placement::On(kind) => kind.nouns(),
            Placement::Anywhere => ("a core of any kind", "cores of all kinds"),
        }
    }

    /// Whether a core of this kind is one of them.
    ///
    /// ```
    /// use ringlane_insight::CoreKind::{Aic, Aiv};
    /// use ringlane_insight::bound::Placement;
    /// assert!(Placement::Anywhere.admits(Aic) && Placement::On(Aic).admits(Aic) && !Placement::On(Aiv).admits(Aic));
    /// ```
    pub fn admits(self, kind: CoreKind) -> bool {
        match self {
            Placement::On(only) => only == kind,
            Placement::Anywhere => true,
        }
    }

    /// How many of a chip's cores are among them.
    pub fn cores(self, cores: &Cores) -> u64 {
        match self {
            Placement::On(kind) => u64::from(cores.of(kind)),
            Placement::Anywhere => cores.all(),
        }
    }
}

impl Timeline {
    /// The cores that blocks of a kernel can run on. On a chip with one kind of core, that kind.
    pub fn pool(&self, kernel: KernelId) -> Placement {
        match (self.placement(kernel), self.cores.first()) {
            (Placement::Anywhere, Some(&kind)) if self.cores.iter().all(|&other| other == kind) => {
                Placement::On(kind)
            }
            (placement, _) => placement,
        }
    }

    /// The part of their time that these cores ran blocks, of whichever kernel.
    pub fn busy_share(&self, pool: Placement) -> f64 {
        let there = self.blocks.iter().filter(|block| pool.admits(self.kind_of(block)));
        let busy: f64 = there.map(|block| block.duration().0 as f64).sum();
        busy / (pool.cores(&self.core_counts()) as f64 * self.makespan.0 as f64).max(1.0)
    }
}
