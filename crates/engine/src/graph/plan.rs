//! Where the tensors of a captured graph are in memory.
//!
//! Two tensors share bytes only if every task that uses the first precedes the task that makes the second: the edges of the
//! graph order them already, so sharing costs no parallelism. With a limit on the memory, edges are added where that is not
//! enough, and counted.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::rc::Rc;

use super::order::Order;

/// Free ranges that are tried for a tensor, the last freed first.
const RANGES_TRIED: usize = 64;

/// A tensor that tasks of the graph make and use. Tasks are numbered in submission order.
#[derive(Clone, Debug)]
pub(super) struct PlannedTensor {
    pub(super) bytes: u64,
    /// The task that makes it, which is the first to use it.
    pub(super) creator: u32,
    /// The last task that uses it, in submission order.
    pub(super) last_user: u32,
}

/// What a memory plan comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Bytes that the tensors take together.
    pub bytes: u64,
    /// Bytes that they would take if none shared any.
    pub sum: u64,
    /// The most bytes that are alive at once in submission order: no plan can take less.
    pub lower_bound: u64,
    /// Edges that were added so that the tensors fit the limit.
    pub added_edges: u64,
    /// The limit, if there is one.
    pub limit: Option<u64>,
}

/// Where each tensor is.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) offsets: Vec<u64>,
    pub(super) plan: MemoryPlan,
    /// Edges that were added: the second task follows the first.
    pub(super) edges: Vec<(u32, u32)>,
}

/// A free range, and the tasks that must be done before it is used.
#[derive(Clone, Debug)]
struct Free {
    bytes: u64,
    users: Rc<[u32]>,
    /// When it was freed: its key in [`FreeRanges::recent`].
    freed: u64,
}

/// The free ranges, by offset and by the time at which they were freed: a graph can have as many as it has tensors.
#[derive(Debug, Default)]
struct FreeRanges {
    by_offset: BTreeMap<u64, Free>,
    /// The offset of each, by when it was freed.
    recent: BTreeMap<u64, u64>,
    next_freed: u64,
}

impl FreeRanges {
    fn add(&mut self, offset: u64, bytes: u64, users: Rc<[u32]>) {
        let freed = self.next_freed;
        self.next_freed += 1;
        self.by_offset.insert(offset, Free { bytes, users, freed });
        self.recent.insert(freed, offset);
    }

    fn remove(&mut self, offset: u64) -> Free {
        let range = self.by_offset.remove(&offset).expect("a free range");
        self.recent.remove(&range.freed);
        range
    }

    /// Offsets and ranges, the last freed first.
    fn last_freed(&self) -> impl Iterator<Item = (u64, &Free)> {
        self.recent.values().rev().map(|&offset| (offset, &self.by_offset[&offset]))
    }
}

/// The tasks of a graph, as a plan needs them.
pub(super) struct Tasks<'a> {
    /// The predecessors of each.
    pub(super) predecessors: &'a [Vec<u32>],
    /// The tensors that each uses, those that it makes included.
    pub(super) uses: &'a [Vec<u32>],
}

/// The limit is too small: this many bytes are needed at the task with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DoesNotFit {
    pub(super) task: u32,
    pub(super) bytes: u64,
}

struct Planner<'a> {
    tensors: &'a [PlannedTensor],
    order: Order,
    /// For each tensor, users of which no other user is known to follow.
    frontiers: Vec<Vec<u32>>,
    free: FreeRanges,
    end: u64,
    limit: u64,
    planned: Planned,
}

/// Plans the memory of tensors whose sizes are multiples of their alignment.
pub(super) fn plan(
    tasks: &Tasks<'_>,
    tensors: &[PlannedTensor],
    limit: Option<u64>,
) -> Result<Planned, DoesNotFit> {
    let mut successors = vec![0; tasks.predecessors.len()];
    tasks.predecessors.iter().flatten().for_each(|&task| successors[task as usize] += 1);
    let sum = tensors.iter().map(|tensor| tensor.bytes).sum();
    let plan = MemoryPlan { sum, limit, ..MemoryPlan::default() };
    let mut planner = Planner {
        tensors,
        order: Order::new(successors),
        frontiers: vec![Vec::new(); tensors.len()],
        free: FreeRanges::default(),
        end: 0,
        limit: limit.unwrap_or(u64::MAX),
        planned: Planned { offsets: vec![0; tensors.len()], plan, edges: Vec::new() },
    };
    let mut alive = 0;
    for (task, uses) in (0u32..).zip(tasks.uses) {
        planner.order.add(&tasks.predecessors[task as usize]);
        for &tensor in uses.iter().filter(|&&tensor| tensors[tensor as usize].creator == task) {
            planner.place(tensor, task)?;
            alive += tensors[tensor as usize].bytes;
        }
        planner.planned.plan.lower_bound = planner.planned.plan.lower_bound.max(alive);
        for &tensor in uses {
            planner.note_use(tensor, task);
            if tensors[tensor as usize].last_user == task {
                planner.release(tensor);
                alive -= tensors[tensor as usize].bytes;
            }
        }
    }
    planner.planned.plan.bytes = planner.end;
    planner.planned.plan.added_edges = planner.planned.edges.len() as u64;
    Ok(planner.planned)
}

impl Planner<'_> {
    /// The task added last uses the tensor.
    fn note_use(&mut self, tensor: u32, task: u32) {
        let (order, frontier) = (&self.order, &mut self.frontiers[tensor as usize]);
        frontier.retain(|&user| user != task && !order.precedes_last(user));
        frontier.push(task);
    }

    /// Finds memory for a tensor that the task added last makes.
    fn place(&mut self, tensor: u32, task: u32) -> Result<(), DoesNotFit> {
        let bytes = self.tensors[tensor as usize].bytes;
        let offset = match self.best_free(bytes) {
            Some(offset) => self.take(offset, bytes),
            None if self.end + bytes <= self.limit => {
                self.end += bytes;
                self.end - bytes
            }
            None => self.take_by_waiting(bytes, task)?,
        };
        self.planned.offsets[tensor as usize] = offset;
        Ok(())
    }

    /// The smallest of the last freed ranges that is large enough and whose users precede the task added last.
    fn best_free(&self, bytes: u64) -> Option<u64> {
        let fits = |(_, range): &(u64, &Free)| {
            range.bytes >= bytes && range.users.iter().all(|&user| self.order.precedes_last(user))
        };
        let tried = self.free.last_freed().take(RANGES_TRIED).filter(fits);
        tried.min_by_key(|(_, range)| range.bytes).map(|(offset, _)| offset)
    }

    /// Takes the front of a free range.
    fn take(&mut self, offset: u64, bytes: u64) -> u64 {
        let range = self.free.remove(offset);
        if range.bytes > bytes {
            self.free.add(offset + bytes, range.bytes - bytes, range.users);
        }
        offset
    }

    /// Takes memory whose users need not precede the task: it follows them from now on. Adjacent free ranges count as one.
    fn take_by_waiting(&mut self, bytes: u64, task: u32) -> Result<u64, DoesNotFit> {
        let Some((offset, count)) = self.adjacent(bytes) else {
            return Err(DoesNotFit { task, bytes: self.end + bytes });
        };
        let taken: Vec<u64> = self.free.by_offset.range(offset..).take(count).map(|(&at, _)| at).collect();
        let (mut users, mut length) = (Vec::new(), 0);
        for at in taken {
            let range = self.free.remove(at);
            users.extend_from_slice(&range.users);
            length += range.bytes;
        }
        for &user in &users {
            if !self.order.precedes_last(user) {
                self.order.add_edge(user);
                self.planned.edges.push((user, task));
            }
        }
        // The last range may end at the end of the memory, which then grows.
        self.end = self.end.max(offset + bytes);
        if length > bytes {
            self.free.add(offset + bytes, length - bytes, users.into());
        }
        Ok(offset)
    }

    /// The first free ranges, one after another in memory, that are large enough together: the first, and how many.
    fn adjacent(&self, bytes: u64) -> Option<(u64, usize)> {
        let (mut start, mut end, mut count) = (0, 0, 0);
        for (&offset, range) in &self.free.by_offset {
            if count == 0 || offset != end {
                (start, count) = (offset, 0);
            }
            (end, count) = (offset + range.bytes, count + 1);
            let grows = end == self.end && start + bytes <= self.limit;
            if end - start >= bytes || grows {
                return Some((start, count));
            }
        }
        None
    }

    fn release(&mut self, tensor: u32) {
        let users = core::mem::take(&mut self.frontiers[tensor as usize]).into();
        let (offset, bytes) = (self.planned.offsets[tensor as usize], self.tensors[tensor as usize].bytes);
        if bytes > 0 {
            self.free.add(offset, bytes, users);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// A random graph, from a seed: predecessors, tensors and uses.
    fn random(seed: u64, tasks: u32) -> (Vec<Vec<u32>>, Vec<Vec<u32>>, Vec<PlannedTensor>) {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |below: u32| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % u64::from(below.max(1))) as u32
        };
        let (mut predecessors, mut uses, mut tensors) = (Vec::new(), Vec::new(), Vec::<PlannedTensor>::new());
        for task in 0..tasks {
            let mut used = vec![tensors.len() as u32];
            tensors.push(PlannedTensor {
                bytes: 64 * u64::from(1 + draw(4)),
                creator: task,
                last_user: task,
            });
            let mut follows = Vec::new();
            for _ in 0..draw(3) {
                let tensor = draw(tensors.len() as u32);
                let made = &mut tensors[tensor as usize];
                if made.creator < task && !used.contains(&tensor) && task - made.creator < 12 {
                    made.last_user = task;
                    used.push(tensor);
                    if !follows.contains(&made.creator) {
                        follows.push(made.creator);
                    }
                }
            }
            predecessors.push(follows);
            uses.push(used);
        }
        (predecessors, uses, tensors)
    }

    /// Whether `to` can be reached from `from`, by the edges alone.
    fn reaches(predecessors: &[Vec<u32>], from: u32, to: u32) -> bool {
        let mut open = vec![to];
        while let Some(task) = open.pop() {
            if task == from {
                return true;
            }
            open.extend(predecessors[task as usize].iter().filter(|&&p| p >= from));
        }
        false
    }

    fn assert_sound(seed: u64, mut limit: impl FnMut(&MemoryPlan) -> Option<u64>) -> bool {
        let (mut predecessors, uses, tensors) = random(seed, 120);
        let free = plan(&Tasks { predecessors: &predecessors, uses: &uses }, &tensors, None).unwrap();
        let Some(limit) = limit(&free.plan) else { return false };
        let Ok(planned) = plan(&Tasks { predecessors: &predecessors, uses: &uses }, &tensors, Some(limit))
        else {
            return false;
        };
        assert!(planned.plan.lower_bound <= planned.plan.bytes && planned.plan.bytes <= limit);
        planned.edges.iter().for_each(|&(from, to)| predecessors[to as usize].push(from));
        for (a, first) in tensors.iter().enumerate() {
            for (b, second) in tensors.iter().enumerate() {
                let (x, y) = (planned.offsets[a], planned.offsets[b]);
                let overlap = a != b && x < y + second.bytes && y < x + first.bytes;
                if !overlap || first.creator > second.creator || (first.creator == second.creator && a > b) {
                    continue;
                }
                let users = (0u32..).zip(&uses).filter(|(_, used)| used.contains(&(a as u32)));
                for (user, _) in users {
                    assert!(
                        reaches(&predecessors, user, second.creator),
                        "seed {seed}: tensor {b} shares bytes with {a}, which task {user} uses"
                    );
                }
            }
        }
        true
    }

    #[test]
    fn tensors_share_bytes_only_if_the_edges_order_them() {
        assert!((0..200).all(|seed| assert_sound(seed, |_| Some(u64::MAX))));
    }

    #[test]
    fn with_a_limit_the_added_edges_order_what_shares_bytes() {
        let between = |plan: &MemoryPlan| Some((plan.lower_bound + plan.bytes) / 2);
        let fitted = (0..200).filter(|&seed| assert_sound(seed, between)).count();
        // Not every plan fits: free memory may be in pieces.
        assert!(fitted > 100, "only {fitted} plans fitted");
    }

    /// Each placement tries some of the free ranges: if it walked all of them, this would take minutes.
    #[test]
    fn a_hundred_thousand_free_ranges_are_planned_too() {
        let tasks = 100_000u32;
        let (predecessors, uses) =
            (vec![Vec::new(); tasks as usize], (0..tasks).map(|task| vec![task]).collect::<Vec<_>>());
        let tensors: Vec<_> =
            (0..tasks).map(|task| PlannedTensor { bytes: 64, creator: task, last_user: task }).collect();
        let tasks = Tasks { predecessors: &predecessors, uses: &uses };
        let plan = plan(&tasks, &tensors, None).unwrap().plan;
        assert_eq!((plan.bytes, plan.sum, plan.lower_bound), (6_400_000, 6_400_000, 64));
    }

    #[test]
    fn a_chain_takes_two_tensors_however_long_it_is() {
        let tasks = 1000u32;
        let predecessors: Vec<Vec<u32>> =
            (0..tasks).map(|task| task.checked_sub(1).into_iter().collect()).collect();
        let uses: Vec<Vec<u32>> =
            (0..tasks).map(|task| task.checked_sub(1).into_iter().chain([task]).collect()).collect();
        let tensor = |task| PlannedTensor { bytes: 64, creator: task, last_user: (task + 1).min(tasks - 1) };
        let tensors: Vec<_> = (0..tasks).map(tensor).collect();
        let planned = plan(&Tasks { predecessors: &predecessors, uses: &uses }, &tensors, None).unwrap();
        assert_eq!((planned.plan.bytes, planned.plan.lower_bound, planned.plan.sum), (128, 128, 64_000));
    }

    #[test]
    fn independent_tasks_share_nothing_unless_a_limit_makes_them_wait() {
        let (predecessors, uses) = (vec![Vec::new(); 10], (0..10).map(|task| vec![task]).collect::<Vec<_>>());
        let tensors: Vec<_> =
            (0..10).map(|task| PlannedTensor { bytes: 64, creator: task, last_user: task }).collect();
        let tasks = Tasks { predecessors: &predecessors, uses: &uses };
        assert_eq!(plan(&tasks, &tensors, None).unwrap().plan.bytes, 640);
        let limited = plan(&tasks, &tensors, Some(128)).unwrap();
        assert_eq!((limited.plan.bytes, limited.plan.added_edges), (128, 8));
        assert_eq!(plan(&tasks, &tensors, Some(63)).unwrap_err(), DoesNotFit { task: 0, bytes: 64 });
    }
}
