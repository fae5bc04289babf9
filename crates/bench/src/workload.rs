//! The six workloads: the same graphs, sizes and random numbers as those of the peers they are compared with.

use super::graph::{BufferIndex, Graph, Task};

/// Tasks between the fork and the join of `forkjoin`.
const FORK_WIDTH: u32 = 64;
/// How far back `random` reads, in tasks.
const RANDOM_WINDOW: u32 = 64;
/// Seed of the random numbers of `random`.
const RANDOM_SEED: u64 = 42;

/// The work of each task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub enum Spin {
    /// None.
    Empty,
    /// One microsecond.
    Us1,
    /// Ten microseconds.
    Us10,
    /// A hundred microseconds.
    Us100,
}

impl Spin {
    /// All of them, shortest first.
    pub const ALL: [Spin; 4] = [Spin::Empty, Spin::Us1, Spin::Us10, Spin::Us100];

    /// In microseconds.
    pub const fn us(self) -> u32 {
        [0, 1, 10, 100][self as usize]
    }
}

/// A shape of graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Workload {
    /// No dependencies.
    Independent,
    /// Each task depends on the previous one, through one buffer.
    Chain,
    /// Rounds of 1 → 64 → 1.
    Forkjoin,
    /// A square of tasks, each depends on the one to its left and the one above.
    Wavefront,
    /// Tiled Cholesky factorization, by tile access.
    Cholesky,
    /// Each task reads two of the last 64 written buffers and writes its own.
    Random,
}

impl Workload {
    /// All of them, in the order of the tables.
    pub const ALL: [Workload; 6] = [
        Workload::Independent,
        Workload::Chain,
        Workload::Forkjoin,
        Workload::Wavefront,
        Workload::Cholesky,
        Workload::Random,
    ];

    /// Its name on the command line and in every table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Workload::Independent => "independent",
            Workload::Chain => "chain",
            Workload::Forkjoin => "forkjoin",
            Workload::Wavefront => "wavefront",
            Workload::Cholesky => "cholesky",
            Workload::Random => "random",
        }
    }

    /// The size to measure: longer tasks are fewer, so that one repetition takes 20 to 100 ms.
    pub const fn size(self, spin: Spin) -> u32 {
        let by_spin = match self {
            Workload::Independent => [1_000_000, 40_000, 4_000, 400],
            Workload::Chain => [100_000, 20_000, 2_000, 200],
            Workload::Forkjoin => [1_000, 500, 50, 5],
            Workload::Wavefront => [256, 200, 64, 20],
            Workload::Cholesky => [40, 40, 26, 12],
            Workload::Random => [100_000, 40_000, 4_000, 400],
        };
        by_spin[spin as usize]
    }

    /// The size to verify.
    pub const fn size_to_verify(self) -> u32 {
        match self {
            Workload::Independent | Workload::Random => 5_000,
            Workload::Chain => 2_000,
            Workload::Forkjoin => 30,
            Workload::Wavefront => 48,
            Workload::Cholesky => 16,
        }
    }

    /// The largest size that fits into one scope.
    pub const fn size_of_one_scope(self) -> u32 {
        match self {
            Workload::Independent | Workload::Chain | Workload::Random => 4_096,
            Workload::Forkjoin => 62,
            Workload::Wavefront => 64,
            Workload::Cholesky => 27,
        }
    }

    /// The graph of this size.
    pub fn graph(self, size: u32) -> Graph {
        match self {
            Workload::Independent => Graph { tasks: vec![Task::Free; size as usize], buffers: 0 },
            Workload::Chain => Graph { tasks: vec![Task::Update(BufferIndex(0)); size as usize], buffers: 1 },
            Workload::Forkjoin => forkjoin(size),
            Workload::Wavefront => wavefront(size),
            Workload::Cholesky => cholesky(size),
            Workload::Random => random(size, size),
        }
    }

    /// The length of the best possible schedule on `threads` threads, in task lengths.
    pub fn ideal_task_lengths(self, tasks: usize, critical_tasks: u32, threads: u32) -> f64 {
        let (tasks, threads) = (tasks as f64, f64::from(threads));
        match self {
            Workload::Forkjoin => {
                let width = f64::from(FORK_WIDTH);
                tasks / (width + 2.0) * (2.0 + width / threads)
            }
            _ => (tasks / threads).max(f64::from(critical_tasks)),
        }
    }
}

/// One buffer per round: the fork writes it, the middle reads it, the join updates it, the next fork reads it.
fn forkjoin(rounds: u32) -> Graph {
    let mut graph = Graph::over(rounds);
    for round in 0..rounds {
        match round.checked_sub(1) {
            Some(last) => graph.add(&[last], round),
            None => graph.add(&[], round),
        }
        graph.tasks.extend([Task::Read(BufferIndex(round)); FORK_WIDTH as usize]);
        graph.add(&[], round);
    }
    graph
}

fn wavefront(side: u32) -> Graph {
    let mut graph = Graph::over(side * side);
    for me in 0..side * side {
        let (row, column) = (me / side, me % side);
        match (row > 0, column > 0) {
            (true, true) => graph.add(&[me - 1, me - side], me),
            (false, true) => graph.add(&[me - 1], me),
            (true, false) => graph.add(&[me - side], me),
            (false, false) => graph.add(&[], me),
        }
    }
    graph
}

/// Right-looking: POTRF of a diagonal tile, TRSM below it, SYRK and GEMM to the right.
fn cholesky(tiles: u32) -> Graph {
    let mut graph = Graph::over(tiles * tiles);
    let at = |row: u32, column: u32| row * tiles + column;
    for k in 0..tiles {
        graph.add(&[], at(k, k));
        for i in k + 1..tiles {
            graph.add(&[at(k, k)], at(i, k));
        }
        for i in k + 1..tiles {
            graph.add(&[at(i, k)], at(i, i));
            for j in k + 1..i {
                graph.add(&[at(i, k), at(j, k)], at(i, j));
            }
        }
    }
    graph
}

/// Task `i` updates buffer `i` and reads two (or, if they are the same, one) of those of the last 64 tasks. With
/// fewer buffers than tasks the buffers are reused cyclically.
pub fn random(tasks: u32, buffers: u32) -> Graph {
    let mut graph = Graph::over(buffers);
    let mut state = RANDOM_SEED;
    for task in 0..tasks {
        let window = u64::from(task.min(RANDOM_WINDOW));
        if window == 0 {
            graph.add(&[], task % buffers);
            continue;
        }
        let mut earlier = || (task - 1 - (next_random(&mut state) % window) as u32) % buffers;
        let (a, b) = (earlier(), earlier());
        if a == b { graph.add(&[a], task % buffers) } else { graph.add(&[a, b], task % buffers) }
    }
    graph
}

/// SplitMix64.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::graph::Edges;
    use super::super::limits::SCOPE_TASKS;
    use super::*;

    /// Tasks, buffers, edges, longest path, and a sum over all edges, as the peers' own generator computes them.
    #[test]
    fn the_graphs_are_those_of_the_peers() {
        let expected = [
            (Workload::Independent, 5_000, (5_000, 0, 0, 1, 0)),
            (Workload::Chain, 2_000, (2_000, 1, 1_999, 2_000, 2_666_666_000)),
            (Workload::Forkjoin, 30, (1_980, 30, 3_869, 90, 5_057_814_930)),
            (Workload::Wavefront, 48, (2_304, 2_304, 4_512, 95, 7_946_588_920)),
            (Workload::Cholesky, 16, (816, 256, 2_040, 46, 428_710_692)),
            (Workload::Random, 100_000, (100_000, 100_000, 198_435, 6_404, 661_172_750_327_005)),
        ];
        for (workload, size, counts) in expected {
            let graph = workload.graph(size);
            let edges = Edges::of(&graph);
            let weight = |task: u32| -> u64 {
                edges.before(task).iter().map(|&before| u64::from(task + 1) * u64::from(before + 1)).sum()
            };
            let sum = (0..graph.tasks.len() as u32).map(weight).sum::<u64>();
            let counted = (graph.tasks.len(), graph.buffers, edges.count(), edges.critical_tasks, sum);
            assert_eq!(counted, counts, "{workload:?}");
        }
    }

    #[test]
    fn empty_workloads_have_the_tasks_of_the_tables() {
        let tasks = Workload::ALL.map(|w| w.graph(w.size(Spin::Empty)).tasks.len());
        assert_eq!(tasks, [1_000_000, 100_000, 66_000, 65_536, 11_480, 100_000]);
    }

    #[test]
    fn the_size_of_one_scope_fits_into_one_scope() {
        for workload in Workload::ALL {
            let tasks = workload.graph(workload.size_of_one_scope()).tasks.len();
            assert!((SCOPE_TASKS * 4 / 5..=SCOPE_TASKS).contains(&tasks), "{workload:?}: {tasks}");
        }
    }
}
