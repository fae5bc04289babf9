//! The inputs of a batch: context lengths, the block table, queries, and a pool of key and value blocks.

use crate::rng::Rng;

/// The sizes of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Sequences, each with one position to attend from.
    pub(super) batch: u32,
    /// Query heads of a sequence; they share one head of keys and values.
    pub(super) heads: u32,
    /// Heads in one query block.
    pub(super) query_tile: u32,
    /// Length of a query, key or value.
    pub(super) dim: u32,
    /// Positions in one block of the pool.
    pub(super) block: u32,
    /// The longest context.
    pub(super) context: u32,
}

/// Where the keys and values of each sequence are stored; the orchestration reads it.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Positions of each sequence, from 1 to the longest context.
    pub(super) lengths: Vec<u32>,
    /// Blocks of the pool that hold them, in order.
    pub(super) blocks: Vec<Vec<u32>>,
    /// Blocks in the pool.
    pub(super) pool: u32,
}

impl Table {
    /// Contexts of random lengths in blocks scattered over the pool. The first two have the minimum and the maximum
    /// length.
    pub(super) fn new(shape: &Shape, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut lengths: Vec<u32> = (0..shape.batch).map(|_| 1 + rng.below(shape.context)).collect();
        lengths[0] = 1;
        if let Some(second) = lengths.get_mut(1) {
            *second = shape.context;
        }
        let pool = lengths.iter().map(|len| len.div_ceil(shape.block)).sum();
        let mut free: Vec<u32> = (0..pool).collect();
        rng.shuffle(&mut free);
        let blocks =
            lengths.iter().map(|len| free.split_off(free.len() - len.div_ceil(shape.block) as usize));
        Table { blocks: blocks.collect(), lengths, pool }
    }

    /// The blocks of a sequence, each with the number of positions in it that belong to the context.
    pub(super) fn used(&self, shape: &Shape, sequence: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let (length, size) = (self.lengths[sequence], shape.block);
        let held = (0..).map(move |i| size.min(length - i * size));
        self.blocks[sequence].iter().copied().zip(held)
    }
}

/// The values of a batch.
pub(super) struct Values {
    /// Queries: batch × heads rows.
    pub(super) queries: Vec<f32>,
    /// Keys: one row for each position of the pool.
    pub(super) keys: Vec<f32>,
    /// Values, laid out like the keys.
    pub(super) values: Vec<f32>,
}

impl Values {
    /// Random values; queries are larger, so that some positions matter much more than others.
    pub(super) fn new(shape: &Shape, table: &Table, seed: u64) -> Self {
        let mut rng = Rng::new(!seed);
        let dim = shape.dim as usize;
        let positions = (table.pool * shape.block) as usize;
        let mut queries = rng.signed((shape.batch * shape.heads) as usize * dim);
        queries.iter_mut().for_each(|q| *q *= 4.0);
        Values { queries, keys: rng.signed(positions * dim), values: rng.signed(positions * dim) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_of_the_pool_belongs_to_one_context() {
        let shape = Shape { batch: 9, heads: 1, query_tile: 1, dim: 1, block: 4, context: 30 };
        let table = Table::new(&shape, 5);
        let mut all: Vec<u32> = table.blocks.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..table.pool));
        for (sequence, &length) in table.lengths.iter().enumerate() {
            assert_eq!(table.used(&shape, sequence).map(|(_, held)| held).sum::<u32>(), length);
            assert!(table.used(&shape, sequence).all(|(_, held)| held > 0));
        }
    }
}
