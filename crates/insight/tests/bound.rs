//! The bound is what its definition says, and no schedule beats it.

use proptest::prelude::*;
use ringlane_insight::bound::{Bound, Placement, TaskTimes, lower_bound};
use ringlane_insight::{CoreKind, Cores};
use ringlane_task::{Explain, Ticks};

use CoreKind::{Aic, Aiv, Cpu};

/// A task as its blocks; its durations are theirs.
type Blocks = Vec<(Placement, u64)>;

/// A program on a chip.
#[derive(Clone, Debug)]
struct Program {
    tasks: Vec<Blocks>,
    edges: Vec<(u32, u32)>,
    cores: Cores,
}

impl Program {
    fn bound(&self) -> Bound {
        lower_bound(&self.times(), &self.edges, &self.cores).unwrap()
    }

    fn times(&self) -> Vec<TaskTimes> {
        let add = |task: TaskTimes, &(placement, ticks): &(Placement, u64)| {
            task.with_block(placement, Ticks(ticks))
        };
        self.tasks.iter().map(|blocks| blocks.iter().fold(TaskTimes::default(), add)).collect()
    }

    fn before(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        self.edges.iter().filter(move |edge| edge.1 as usize == task).map(|edge| edge.0 as usize)
    }

    fn after(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        self.edges.iter().filter(move |edge| edge.0 as usize == task).map(|edge| edge.1 as usize)
    }

    fn longest_block(&self, task: usize) -> u64 {
        self.tasks[task].iter().map(|block| block.1).max().unwrap_or(0)
    }

    fn head(&self, task: usize) -> u64 {
        self.before(task).map(|other| self.head(other) + self.longest_block(other)).max().unwrap_or(0)
    }

    fn tail(&self, task: usize) -> u64 {
        self.after(task).map(|other| self.tail(other) + self.longest_block(other)).max().unwrap_or(0)
    }

    /// The definition, word for word: every pair of a head and a tail, for blocks that a pool counts.
    fn pool(&self, cores: u64, counts: impl Fn(Placement) -> bool) -> u64 {
        let all = 0..self.tasks.len();
        let around: Vec<_> = all.map(|task| (self.head(task), self.tail(task))).collect();
        let work_of = |blocks: &Blocks| -> u64 {
            blocks.iter().filter(|block| counts(block.0)).map(|block| block.1).sum()
        };
        let mut best = 0;
        for a in around.iter().map(|around| around.0) {
            for b in around.iter().map(|around| around.1) {
                let inside =
                    self.tasks.iter().zip(&around).filter(|(_, around)| around.0 >= a && around.1 >= b);
                let work: u64 = inside.map(|(blocks, _)| work_of(blocks)).sum();
                if work > 0 {
                    best = best.max(a + b + work / cores);
                }
            }
        }
        best
    }

    /// When the last block ends if every core that is free takes the ready block of the highest rank that it can run.
    fn list_schedule(&self, ranks: &[u32]) -> u64 {
        let kinds = self.cores.kinds().flat_map(|kind| vec![kind; self.cores.of(kind) as usize]);
        let mut cores: Vec<(CoreKind, u64)> = kinds.map(|kind| (kind, 0)).collect();
        let mut waiting: Vec<Blocks> = self.tasks.clone();
        let mut ends: Vec<Vec<u64>> = vec![Vec::new(); self.tasks.len()];
        let mut now = 0;
        loop {
            let done = |task: usize, waiting: &[Blocks], ends: &[Vec<u64>]| {
                waiting[task].is_empty() && ends[task].iter().all(|end| *end <= now)
            };
            let mut ready: Vec<_> = (0..self.tasks.len())
                .filter(|&task| self.all_before(task).iter().all(|&other| done(other, &waiting, &ends)))
                .collect();
            ready.sort_by_key(|&task| std::cmp::Reverse(ranks[task % ranks.len()]));
            for (kind, free) in cores.iter_mut().filter(|core| core.1 <= now) {
                let fits = |placement| placement == Placement::Anywhere || placement == Placement::On(*kind);
                let found = ready
                    .iter()
                    .find_map(|&task| Some((task, waiting[task].iter().position(|block| fits(block.0))?)));
                if let Some((task, block)) = found {
                    *free = now + waiting[task].swap_remove(block).1;
                    ends[task].push(*free);
                }
            }
            match cores.iter().map(|core| core.1).filter(|free| *free > now).min() {
                Some(next) => now = next,
                None if waiting.iter().all(Vec::is_empty) => return now,
                None => {}
            }
        }
    }

    /// Everything that must be done before a task, at any distance: a task without blocks ends when those do.
    fn all_before(&self, task: usize) -> Vec<usize> {
        self.before(task).flat_map(|other| [vec![other], self.all_before(other)].concat()).collect()
    }
}

fn placement() -> impl Strategy<Value = Placement> {
    prop::sample::select(vec![Placement::On(Aic), Placement::On(Aiv), Placement::Anywhere])
}

fn program() -> impl Strategy<Value = Program> {
    let blocks = prop::collection::vec((placement(), 0u64..12), 0..4);
    let edges = prop::collection::vec((0u32..9, 1u32..9), 0..14);
    (prop::collection::vec(blocks, 1..9), edges, 1u32..4, 1u32..4).prop_map(|(tasks, edges, aic, aiv)| {
        let fits = |edge: &(u32, u32)| edge.0 < edge.1 && (edge.1 as usize) < tasks.len();
        let edges = edges.into_iter().filter(fits).collect();
        Program { tasks, edges, cores: Cores::none().with(Aic, aic).with(Aiv, aiv) }
    })
}

proptest! {
    #[test]
    fn the_sweep_gives_what_trying_all_pairs_gives(program in program()) {
        let bound = program.bound();
        for kind in [Aic, Aiv] {
            let expected = program.pool(u64::from(program.cores.of(kind)), |placement| placement == Placement::On(kind));
            prop_assert!(bound.by_kind.contains(&(kind, Ticks(expected))), "{kind:?} {expected}: {bound:?}");
        }
        prop_assert_eq!(bound.all_cores, Ticks(program.pool(program.cores.all(), |_| true)));
        let through = |task| program.head(task) + program.longest_block(task) + program.tail(task);
        prop_assert_eq!(bound.longest_path, Ticks((0..program.tasks.len()).map(through).max().unwrap()));
        let parts = bound.by_kind.iter().map(|part| part.1);
        let parts = parts.chain([bound.all_cores, bound.longest_path, bound.whole_blocks]);
        prop_assert_eq!(bound.ticks, parts.max().unwrap());
    }

    #[test]
    fn no_list_schedule_beats_the_bound(program in program(), ranks in prop::collection::vec(0u32..100, 1..9)) {
        let (makespan, bound) = (program.list_schedule(&ranks), program.bound());
        prop_assert!(Ticks(makespan) >= bound.ticks, "{makespan}: {bound:?}");
    }

    #[test]
    fn no_assignment_of_whole_blocks_to_cores_beats_the_bound(
        blocks in prop::collection::vec(1u64..30, 1..8),
        cores in 1usize..4,
    ) {
        let bound = cpu(blocks.iter().map(|&ticks| on(Cpu, ticks)).collect(), &[], cores as u32);
        let best = shortest_schedule(&blocks, &mut vec![0; cores]);
        prop_assert!(bound.ticks <= Ticks(best), "{best}: {bound:?}");
    }
}

/// The shortest schedule of independent blocks, by trying all of them.
fn shortest_schedule(blocks: &[u64], cores: &mut Vec<u64>) -> u64 {
    let [first, rest @ ..] = blocks else { return cores.iter().copied().max().unwrap_or(0) };
    let on_each = (0..cores.len()).map(|core| {
        cores[core] += first;
        let ends = shortest_schedule(rest, cores);
        cores[core] -= first;
        ends
    });
    on_each.min().unwrap_or(u64::MAX)
}

fn on(kind: CoreKind, ticks: u64) -> Blocks {
    vec![(Placement::On(kind), ticks)]
}

fn cpu(tasks: Vec<Blocks>, edges: &[(u32, u32)], cores: u32) -> Bound {
    Program { tasks, edges: edges.to_vec(), cores: Cores::none().with(Cpu, cores) }.bound()
}

#[test]
fn a_chain_takes_the_sum_of_its_tasks_on_any_number_of_cores() {
    let edges: Vec<_> = (1..10).map(|task| (task - 1, task)).collect();
    for cores in [1, 2, 7] {
        let bound = cpu(vec![on(Cpu, 7); 10], &edges, cores);
        assert_eq!((bound.ticks, bound.longest_path), (Ticks(70), Ticks(70)));
    }
}

#[test]
fn independent_tasks_share_the_cores_and_none_of_them_is_cut() {
    for (cores, expected) in [(1, 70), (2, 35), (3, 28), (4, 21), (20, 7)] {
        assert_eq!(cpu(vec![on(Cpu, 7); 10], &[], cores).ticks, Ticks(expected));
    }
}

#[test]
fn a_hundred_equal_tasks_take_two_turns_on_seventy_two_cores() {
    let cores = Cores::none().with(Aic, 24).with(Aiv, 48);
    let any = vec![vec![(Placement::Anywhere, 50)]; 100];
    let bound = Program { tasks: any, edges: Vec::new(), cores }.bound();
    assert_eq!((bound.all_cores, bound.whole_blocks, bound.ticks), (Ticks(69), Ticks(100), Ticks(100)));
    // As blocks of one task, and on the cores of one kind.
    let blocks = vec![vec![(Placement::On(Aiv), 50); 100]];
    assert_eq!(Program { tasks: blocks, edges: Vec::new(), cores }.bound().ticks, Ticks(150));
    // Between two others, in the middle of a graph.
    let edges: Vec<_> = (1..101).flat_map(|task| [(0, task), (task, 101)]).collect();
    let tasks = [vec![on(Cpu, 7)], vec![on(Cpu, 50); 100], vec![on(Cpu, 3)]].concat();
    assert_eq!(cpu(tasks, &edges, 72).ticks, Ticks(7 + 100 + 3));
}

#[test]
fn blocks_of_different_lengths_take_at_least_as_long_as_the_shortest_that_must_share_a_core() {
    // Three on two cores: 6 and 5 share one at best.
    let bound = cpu(vec![on(Cpu, 9), on(Cpu, 6), on(Cpu, 5)], &[], 2);
    assert_eq!((bound.all_cores, bound.ticks), (Ticks(10), Ticks(11)));
    // A block of no length takes no turn.
    assert_eq!(cpu(vec![on(Cpu, 9), on(Cpu, 6), on(Cpu, 0)], &[], 2).whole_blocks, Ticks(0));
}

#[test]
fn a_fork_and_a_join_wait_for_what_is_between_them() {
    let edges: Vec<_> = (1..9).flat_map(|task| [(0, task), (task, 9)]).collect();
    let bound = cpu([vec![on(Cpu, 5)], vec![on(Cpu, 10); 8], vec![on(Cpu, 3)]].concat(), &edges, 4);
    assert_eq!((bound.longest_path, bound.ticks), (Ticks(18), Ticks(5 + 20 + 3)));
}

#[test]
fn a_task_of_one_long_block_is_not_divided_among_cores() {
    let bound = cpu(vec![on(Cpu, 100), on(Cpu, 1)], &[], 8);
    assert_eq!((bound.all_cores, bound.ticks), (Ticks(12), Ticks(100)));
}

#[test]
fn a_mixed_task_loads_both_kinds_and_a_block_for_any_core_loads_neither() {
    let mixed = vec![(Placement::On(Aic), 8), (Placement::On(Aiv), 6), (Placement::On(Aiv), 5)];
    let any = vec![(Placement::Anywhere, 20)];
    let cores = Cores::none().with(Aic, 1).with(Aiv, 2);
    let bound = Program { tasks: vec![mixed, any], edges: Vec::new(), cores }.bound();
    assert_eq!(bound.by_kind, [(Aic, Ticks(8)), (Aiv, Ticks(5))]);
    assert_eq!((bound.all_cores, bound.longest_path, bound.ticks), (Ticks(13), Ticks(20), Ticks(20)));
}

#[test]
fn nothing_takes_no_time() {
    assert_eq!(lower_bound(&[], &[], &Cores::none()).unwrap(), Bound::default());
}

#[test]
fn a_million_tasks_on_a_grid_are_swept() {
    const SIDE: u32 = 1000;
    let at = |row: u32, column: u32| row * SIDE + column;
    let cells = (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| (row, column)));
    let edges: Vec<_> = cells
        .flat_map(|(row, column)| {
            let left = (column > 0).then(|| (at(row, column - 1), at(row, column)));
            let above = (row > 0).then(|| (at(row - 1, column), at(row, column)));
            left.into_iter().chain(above)
        })
        .collect();
    let task = TaskTimes::default().with_block(Placement::On(Cpu), Ticks(10));
    let bound = lower_bound(&vec![task; 1_000_000], &edges, &Cores::none().with(Cpu, 100)).unwrap();
    assert_eq!(bound.longest_path, Ticks(19_990));
    // Cells with head ≥ 10 a and tail ≥ 10 a are the grid without two corners of a (a + 1) / 2 cells each.
    let best = (0..SIDE as u64).map(|a| (2 * a * 1000 + 10 * (1_000_000 - a * (a + 1))) / 100);
    assert_eq!(bound.ticks, Ticks(best.max().unwrap()));
}

#[test]
fn sums_that_64_bits_cannot_hold_stay_at_the_largest_number() {
    let bound = cpu(vec![on(Cpu, u64::MAX); 3], &[(0, 1), (1, 2)], 1);
    assert_eq!((bound.longest_path, bound.ticks), (Ticks(u64::MAX), Ticks(u64::MAX)));
}

#[test]
fn an_edge_that_leads_backwards_or_nowhere_is_refused_with_its_ends() {
    let task = TaskTimes::default().with_block(Placement::Anywhere, Ticks(1));
    for edge in [(1, 0), (1, 1), (0, 2)] {
        let error = lower_bound(&[task; 2], &[edge], &Cores::none().with(Cpu, 1)).unwrap_err();
        assert_eq!(error.name(), "EdgeOutOfOrder");
        assert!(error.detail().contains(&format!("from task {} to task {}", edge.0, edge.1)));
    }
}

#[test]
fn work_without_a_core_for_it_is_refused() {
    let task = TaskTimes::default().with_block(Placement::On(Aiv), Ticks(1));
    let error = lower_bound(&[task], &[], &Cores::none().with(Aic, 1)).unwrap_err();
    assert_eq!((error.name(), error.detail().contains("aiv")), ("NoCores", true));
    let task = TaskTimes::default().with_block(Placement::Anywhere, Ticks(1));
    assert_eq!(lower_bound(&[task], &[], &Cores::none()).unwrap_err().name(), "NoCores");
}
