//! Seeded inputs: SplitMix64, the same numbers on every machine.

/// A small generator of pseudo-random numbers.
///
/// ```
/// use ringlane_scenes::Rng;
/// let (mut a, mut b) = (Rng::new(7), Rng::new(7));
/// assert_eq!(a.signed(100), b.signed(100));
/// assert!(a.signed(100).iter().all(|x| (-1.0..1.0).contains(x)));
/// ```
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which must not be 0.
    #[inline]
    pub fn below(&mut self, limit: u32) -> u32 {
        (((self.bits() >> 32) * limit as u64) >> 32) as u32
    }

    /// `count` numbers in -1..1, all of them exact in an f32.
    pub fn signed(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
    }

    /// Shuffles a slice.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_are_those_of_splitmix64() {
        let mut rng = Rng::new(1234567);
        assert_eq!([rng.bits(), rng.bits()], [6457827717110365317, 3203168211198807973]);
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Rng::new(3).shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert!(items.into_iter().eq(0..100));
    }
}
