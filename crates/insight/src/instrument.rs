//! The instruments, by the noun that names them everywhere.

/// Something that a run can record of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instrument {
    /// When blocks ran, tasks lived, schedulers worked.
    Swimlane,
    /// What went into and came out of tasks.
    Dump,
    /// What the hardware counted.
    Pmu,
    /// Which task waits for which, and why.
    Deps,
    /// What scopes took of the rings.
    Scopes,
    /// What the workers of a node were called for.
    Dist,
}

impl Instrument {
    /// All of them, in the order of a run's options.
    pub const ALL: [Instrument; 6] = [
        Instrument::Swimlane,
        Instrument::Dump,
        Instrument::Pmu,
        Instrument::Deps,
        Instrument::Scopes,
        Instrument::Dist,
    ];

    /// Its noun.
    pub const fn as_str(self) -> &'static str {
        match self {
            Instrument::Swimlane => "swimlane",
            Instrument::Dump => "dump",
            Instrument::Pmu => "pmu",
            Instrument::Deps => "deps",
            Instrument::Scopes => "scopes",
            Instrument::Dist => "dist",
        }
    }

    /// The option of `ringlane run` that turns it on.
    pub const fn option(self) -> &'static str {
        match self {
            Instrument::Swimlane => "--chip-swimlane",
            Instrument::Dump => "--dump-tensor",
            Instrument::Pmu => "--pmu",
            Instrument::Deps => "--dep-gen",
            Instrument::Scopes => "--scope-stats",
            Instrument::Dist => "--dist-swimlane",
        }
    }
    /// The flags of a `CallConfig` that turn it on, as a hint to a program's author names them.
    pub const fn flags(self) -> &'static str {
        match self {
            Instrument::Swimlane => "`DfxFlags::with_swimlane_level`",
            Instrument::Dump => "`DfxFlags::DUMP`",
            Instrument::Pmu => "`DfxFlags::PMU`",
            Instrument::Deps => "`DfxFlags::DEPS`",
            Instrument::Scopes => "`DfxFlags::SCOPES`",
            Instrument::Dist => "`DfxFlags::NODE_SWIMLANE`",
        }
    }
}
