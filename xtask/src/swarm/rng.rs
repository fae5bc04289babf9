//! The one source of chance: everything about a program follows from its seed.
#![forbid(unsafe_code)]

/// A small generator (splitmix64): equal seeds give equal sequences on every machine.
///
/// ```
/// use xtask::swarm::rng::Rng;
/// assert_eq!(Rng::new(7).next(), Rng::new(7).next());
/// ```
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Self {
        Rng(scramble(seed ^ 0x5eed_5eed_5eed_5eed))
    }

    /// The next 64 bits.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        scramble(self.0)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u32) -> u32 {
        (((self.next() >> 32) * end as u64) >> 32) as u32
    }

    /// A number of `low..=high`.
    pub fn within(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    /// True this many times in a hundred.
    pub fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }

    /// One of the items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u32) as usize]
    }

    /// A power of two of `1 << low ..= 1 << high`.
    pub fn power(&mut self, low: u32, high: u32) -> u32 {
        1 << self.within(low, high)
    }
}

/// Spreads every bit of the input over the output.
pub fn scramble(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
