//! The bound of one pool of equal cores: the maximum over `(a, b)` of `a + work(head ≥ a and tail ≥ b) / cores + b`.
//!
//! Jobs enter in the order of falling heads, so that those inside are the ones with `head ≥ a`; a tree over the tails
//! knows the best `b` for them at any time. Only heads and tails of jobs inside need to be tried: with any other `a` or
//! `b`, the same jobs are counted up to the next larger one, which gives more; and where no job is left, there is no bound.
//! A bound in the middle of jobs with equal heads is one of fewer jobs than it could be of, and no harm.

/// What a task asks of the pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolTask {
    /// Time that must pass before it begins.
    pub(super) head: u64,
    /// Time that must pass after its end.
    pub(super) tail: u64,
    /// What its blocks take together.
    pub(super) work: u64,
}

/// The time below which `cores` cores cannot be done with the jobs, rounded down; 0 if there are none.
pub(super) fn pool_bound(jobs: impl Iterator<Item = PoolTask>, cores: u64) -> u64 {
    let mut jobs: Vec<_> = jobs.filter(|job| job.work > 0).collect();
    if jobs.is_empty() || cores == 0 {
        return 0;
    }
    jobs.sort_unstable_by_key(|job| std::cmp::Reverse(job.head));
    let mut tails: Vec<_> = jobs.iter().map(|job| job.tail).collect();
    tails.sort_unstable();
    tails.dedup();
    let cores = u128::from(cores);
    let mut tree = TailTree::new(&tails, cores);
    let mut best = 0;
    for job in &jobs {
        tree.add(tails.partition_point(|tail| *tail < job.tail), job.work);
        best = best.max(u128::from(job.head) * cores + tree.best());
    }
    u64::try_from(best / cores).unwrap_or(u64::MAX)
}

/// The tails of jobs in rising order, and over all that are in use the maximum of `cores × tail + work of this tail and
/// of longer ones`. In units of a tick over `cores`, so that nothing is rounded; 128 bits hold every sum of up to 2^32 jobs.
struct TailTree<'a> {
    tails: &'a [u64],
    cores: u128,
    /// A binary tree with the root at 1 and the leaves in the second half.
    nodes: Vec<Node>,
}

/// A stretch of tails.
#[derive(Clone, Copy, Default)]
struct Node {
    /// The work of its jobs.
    work: u128,
    /// The maximum over its tails, of jobs of this stretch only; 0 if there is no job, for every job has work.
    best: u128,
}

impl Node {
    fn join(shorter: Node, longer: Node) -> Node {
        let crossing = if shorter.best == 0 { 0 } else { shorter.best + longer.work };
        Node { work: shorter.work + longer.work, best: crossing.max(longer.best) }
    }
}

impl<'a> TailTree<'a> {
    fn new(tails: &'a [u64], cores: u128) -> Self {
        TailTree { tails, cores, nodes: vec![Node::default(); 2 * tails.len().next_power_of_two()] }
    }

    /// A job more, with the tail at this position.
    fn add(&mut self, position: usize, work: u64) {
        let mut index = self.nodes.len() / 2 + position;
        let work = self.nodes[index].work + u128::from(work);
        self.nodes[index] = Node { work, best: self.cores * u128::from(self.tails[position]) + work };
        while index > 1 {
            index /= 2;
            self.nodes[index] = Node::join(self.nodes[2 * index], self.nodes[2 * index + 1]);
        }
    }

    fn best(&self) -> u128 {
        self.nodes[1].best
    }
}
