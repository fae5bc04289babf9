//! Which tasks of a graph precede which, as far as a bounded memory of each task's ancestors knows.
//!
//! Tasks are numbered in submission order, so every edge goes to a larger number. They are divided into *chains*, in which each
//! task follows the one before it. Of its ancestors a task remembers, for each of at most [`CHAINS_MAX`] chains, the last one:
//! that one and all before it in the chain precede the task. What is forgotten only makes the answer "not known".

#![forbid(unsafe_code)]

/// Chains that a task remembers ancestors of; 8 bytes each while it has successors to come. Those with the latest tasks are
/// kept.
const CHAINS_MAX: usize = 64;

/// The latest ancestor in a chain.
#[derive(Clone, Copy, Debug)]
struct Latest {
    chain: u32,
    task: u32,
}

/// The order of the tasks so far. Tasks are added one after another.
#[derive(Debug, Default)]
pub(super) struct Order {
    chain_of: Vec<u32>,
    /// The last task of each chain.
    tails: Vec<u32>,
    /// What each task remembers, as long as successors are to come.
    ancestors: Vec<Box<[Latest]>>,
    successors_left: Vec<u32>,
    /// Of the task added last, by chain; `mark` says which entries are its own.
    latest: Vec<(u32, u32)>,
    mark: u32,
}

impl Order {
    /// For tasks that have this many successors each.
    pub(super) fn new(successors: Vec<u32>) -> Self {
        Order { successors_left: successors, ..Order::default() }
    }

    /// Adds the next task, which follows these.
    pub(super) fn add(&mut self, predecessors: &[u32]) {
        let task = self.chain_of.len() as u32;
        self.mark += 1;
        let mut met = Vec::new();
        for &predecessor in predecessors {
            self.meet(Latest { chain: self.chain_of[predecessor as usize], task: predecessor }, &mut met);
            let ancestors = core::mem::take(&mut self.ancestors[predecessor as usize]);
            ancestors.iter().for_each(|&latest| self.meet(latest, &mut met));
            let left = &mut self.successors_left[predecessor as usize];
            *left -= 1;
            if *left > 0 {
                self.ancestors[predecessor as usize] = ancestors;
            }
        }
        let chain = predecessors
            .iter()
            .map(|&predecessor| self.chain_of[predecessor as usize])
            .find(|&chain| predecessors.contains(&self.tails[chain as usize]));
        let chain = chain.unwrap_or_else(|| {
            self.tails.push(task);
            self.latest.push((0, 0));
            self.tails.len() as u32 - 1
        });
        self.tails[chain as usize] = task;
        self.chain_of.push(chain);
        let kept =
            if self.successors_left[task as usize] > 0 { self.remembered(met) } else { Box::default() };
        self.ancestors.push(kept);
    }

    /// The task added last follows another one too.
    pub(super) fn add_edge(&mut self, predecessor: u32) {
        let chain = self.chain_of[predecessor as usize];
        let task = self.chain_of.len() - 1;
        let mut met = Vec::new();
        self.meet(Latest { chain, task: predecessor }, &mut met);
        let mut remembered = core::mem::take(&mut self.ancestors[task]).into_vec();
        remembered.retain(|latest| latest.chain != chain);
        remembered.push(Latest { chain, task: predecessor });
        self.ancestors[task] = remembered.into();
    }

    fn meet(&mut self, latest: Latest, met: &mut Vec<u32>) {
        let (mark, task) = &mut self.latest[latest.chain as usize];
        if *mark != self.mark {
            (*mark, *task) = (self.mark, latest.task);
            met.push(latest.chain);
        }
        *task = latest.task.max(*task);
    }

    fn remembered(&self, met: Vec<u32>) -> Box<[Latest]> {
        let latest = |chain: u32| Latest { chain, task: self.latest[chain as usize].1 };
        let mut all: Vec<Latest> = met.into_iter().map(latest).collect();
        if all.len() > CHAINS_MAX {
            all.select_nth_unstable_by_key(CHAINS_MAX, |latest| core::cmp::Reverse(latest.task));
            all.truncate(CHAINS_MAX);
        }
        all.into()
    }

    /// Whether a task is known to precede the one added last.
    pub(super) fn precedes_last(&self, task: u32) -> bool {
        let (mark, latest) = self.latest[self.chain_of[task as usize] as usize];
        mark == self.mark && latest >= task
    }
}
