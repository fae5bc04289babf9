//! `scope_stats.json`: how full each ring was while a scope was open, what the scope needs, and who waited.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::borrow::Cow;

use ringlane_task::{RINGS, Resource, RingIndex, ScopeId, Ticks};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

pub use super::RowCounts;
use super::field::Field;
use super::quick::Quick;
pub use read::{Scopes, ScopesHead, read_scopes};
pub use write::ScopesWriter;

use crate::text::Text;

/// The file's name in the run directory.
pub const FILE_NAME: &str = "scope_stats.json";

/// The version of the file.
pub const VERSION: u64 = 1;

/// The most of something that was in use at once, and how much of it there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// Most in use.
    pub peak: u64,
    /// How much there is.
    pub capacity: u64,
}

/// `"peak/capacity"`.
impl Field for Peak {
    #[inline]
    fn write(&self, text: &mut Text) {
        text.raw("\"").number(self.peak).raw("/").number(self.capacity).raw("\"");
    }

    #[inline]
    fn quick(text: &mut Quick<'_>) -> Option<Self> {
        text.take(b'"')?;
        let peak = text.number()?;
        text.take(b'/')?;
        let capacity = text.number()?;
        text.take(b'"')?;
        Some(Peak { peak, capacity })
    }
}

impl<'de> Deserialize<'de> for Peak {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(from)?;
        let number = |text: &str| text.parse::<u64>().ok();
        let numbers = text.split_once('/').and_then(|(peak, capacity)| number(peak).zip(number(capacity)));
        let (peak, capacity) =
            numbers.ok_or_else(|| D::Error::custom(format!("{text:?} is not peak/capacity")))?;
        Ok(Peak { peak, capacity })
    }
}

row! { object
    /// One scope.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct ScopeRow<'a> {
        /// The scope.
        scope: ScopeId,
        /// The scope around it; the root has none.
        parent: Option<ScopeId>,
        /// Where in the source, `file:line`.
        site: Cow<'a, str>,
        /// Its label, if it has one.
        label: Option<Cow<'a, str>> [absent],
        /// How deep it is nested; the root has depth 0.
        depth: u32,
        /// The ring its tasks live on.
        ring: RingIndex,
        /// Submits made directly in it.
        tasks: u64,
        derived open: bool = |row| row.exit.is_none(),
        /// When it was entered.
        enter: Ticks,
        /// When it ended; `None` if the run stopped while it was open.
        exit: Option<Ticks>,
        /// Slots in use, ring by ring.
        task_window: [Peak; RINGS] [line],
        /// Bytes of outputs in use.
        heap: [Peak; RINGS],
        /// Dependency entries in use.
        dep_pool: [Peak; RINGS],
        /// Bytes of arguments in use.
        args: [Peak; RINGS],
        /// Entries of the tensor map in use.
        tensormap: Peak,
        /// The widest fan-in of a task, against its limit.
        fanin: Peak,
        /// The capacities that suffice for it.
        need: ScopeNeed [line],
        /// What its submits waited for.
        stalls: Cow<'a, [ScopeStall]>,
    }
    checked by ring_of
}

impl ScopeRow<'_> {
    /// Where in the source, and its label, as people read it.
    pub fn place(&self) -> String {
        place(&self.site, self.label.as_deref())
    }
}

impl ScopeFatal<'_> {
    /// Where in the source, and its label, as people read it.
    pub fn place(&self) -> String {
        place(&self.site, self.label.as_deref())
    }
}

fn place(site: &str, label: Option<&str>) -> String {
    label.map_or_else(|| site.to_string(), |label| format!("{site} {label:?}"))
}

fn ring_of(row: &ScopeRow<'_>) -> Result<(), String> {
    if usize::from(row.ring.0) < RINGS { Ok(()) } else { Err(format!("ring {} of {RINGS}", row.ring)) }
}

row! { object
    /// The capacities that suffice for a scope, counted from the program alone.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ScopeNeed {
        /// Slots.
        task_window: u64,
        /// Bytes of outputs.
        heap: u64,
        /// Dependency entries.
        dep_pool: u64,
        /// Bytes of arguments.
        args: u64,
        /// The largest single piece of output bytes: a ring that wraps may leave that much unused.
        heap_piece: u64 [default],
        /// The largest single piece of argument bytes.
        args_piece: u64 [default],
    }
}

row! { object
    /// Waits of one scope's submits for one resource.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ScopeStall {
        /// The ring; `None` for what all rings share.
        ring: Option<RingIndex>,
        /// What was waited for.
        resource: Resource,
        /// How often.
        count: u64,
        /// How long in all.
        ticks: Ticks,
    }
}

row! { object
    /// Which scope, on which ring, exhausted which resource.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct ScopeFatal<'a> {
        /// The scope.
        scope: ScopeId,
        /// Where in the source, `file:line`.
        site: Cow<'a, str>,
        /// Its label, if it has one.
        label: Option<Cow<'a, str>> [absent],
        /// The ring; `None` for what all rings share.
        ring: Option<RingIndex>,
        /// What there was too little of.
        resource: Resource,
        /// How much was in use.
        used: u64,
        /// How much there is.
        capacity: u64,
        /// How much suffices.
        need: u64,
    }
}
