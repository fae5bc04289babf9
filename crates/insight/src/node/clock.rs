//! From one clock to another.

use ringlane_task::Ticks;

/// Where the ticks of a run are on another clock: its first tick, and how long each is there.
///
/// ```
/// use ringlane_insight::node::ClockMap;
/// use ringlane_task::Ticks;
/// let chip = ClockMap::new(Ticks(1_000), 20.0);
/// assert_eq!(chip.at(Ticks(5)), Ticks(1_100));
/// // The chip's node is itself a worker, whose run began at 7.
/// assert_eq!(ClockMap::new(Ticks(7), 1.0).after(chip).at(Ticks(5)), Ticks(1_107));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockMap {
    start: Ticks,
    scale: f64,
}

impl ClockMap {
    /// A clock on itself.
    pub const IDENTITY: ClockMap = ClockMap { start: Ticks(0), scale: 1.0 };

    /// The first tick is at `start`, each is `scale` long; a length that is none is 0.
    pub const fn new(start: Ticks, scale: f64) -> Self {
        ClockMap { start, scale: if scale.is_finite() && scale > 0.0 { scale } else { 0.0 } }
    }

    /// How long a tick is on the other clock.
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    /// A moment on the other clock, to the nearest tick; past all counting, the last.
    pub fn at(&self, ticks: Ticks) -> Ticks {
        if self.scale == 1.0 {
            return Ticks(self.start.0.saturating_add(ticks.0));
        }
        Ticks(self.start.0.saturating_add((ticks.0 as f64 * self.scale).round() as u64))
    }

    /// From the clock that `inner` maps from to the one that this maps to.
    #[must_use]
    pub fn after(&self, inner: ClockMap) -> ClockMap {
        ClockMap { start: self.at(inner.start), scale: self.scale * inner.scale }
    }
}
