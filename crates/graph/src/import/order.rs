//! A topological order of tasks: of those that could come next, the one that comes first in the input. An input that is in
//! order already stays as it is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Orders tasks with these ranks (their places in the input, each once). Edges, between tasks, become edges between positions
/// in that order, sorted by successor and then predecessor, each once. The order, by position; or the tasks of a cycle, each
/// before the one that waits for it.
pub(super) fn sort(ranks: &[u32], edges: &mut Vec<(u32, u32)>) -> Result<Vec<u32>, Vec<u32>> {
    let mut by_rank = vec![0; ranks.len()];
    for (task, &rank) in (0..).zip(ranks) {
        by_rank[rank as usize] = task;
    }
    for (pred, succ) in edges.iter_mut() {
        (*pred, *succ) = (ranks[*pred as usize], ranks[*succ as usize]);
    }
    tidy(edges);
    if edges.iter().all(|(pred, succ)| pred < succ) {
        return Ok(by_rank);
    }
    let order = match kahn(ranks.len(), edges) {
        Ok(order) => order,
        Err(left) => {
            let cycle = find_cycle(&left, edges);
            return Err(cycle.into_iter().map(|rank| by_rank[rank as usize]).collect());
        }
    };
    let mut positions = vec![0; order.len()];
    for (position, &rank) in (0..).zip(&order) {
        positions[rank as usize] = position;
    }
    for (pred, succ) in edges.iter_mut() {
        (*pred, *succ) = (positions[*pred as usize], positions[*succ as usize]);
    }
    tidy(edges);
    Ok(order.into_iter().map(|rank| by_rank[rank as usize]).collect())
}

/// Sorts edges by successor, then predecessor, and leaves out those that are there twice.
fn tidy(edges: &mut Vec<(u32, u32)>) {
    let key = |&(pred, succ): &(u32, u32)| (succ, pred);
    if !edges.is_sorted_by_key(key) {
        edges.sort_unstable_by_key(key);
    }
    edges.dedup();
}

/// Takes away, again and again, the first task that waits for none. If some are left, a mark for each of those.
fn kahn(tasks: usize, edges: &[(u32, u32)]) -> Result<Vec<u32>, Vec<bool>> {
    let (first, succs) = successors(tasks, edges);
    let mut missing = vec![0u32; tasks];
    edges.iter().for_each(|&(_, succ)| missing[succ as usize] += 1);
    let ready = (0..tasks as u32).filter(|&task| missing[task as usize] == 0).map(Reverse);
    let mut ready: BinaryHeap<_> = ready.collect();
    let mut order = Vec::with_capacity(tasks);
    while let Some(Reverse(task)) = ready.pop() {
        order.push(task);
        let of = first[task as usize] as usize..first[task as usize + 1] as usize;
        for &succ in &succs[of] {
            missing[succ as usize] -= 1;
            if missing[succ as usize] == 0 {
                ready.push(Reverse(succ));
            }
        }
    }
    if order.len() == tasks { Ok(order) } else { Err(missing.iter().map(|&count| count > 0).collect()) }
}

/// The successors of all tasks in one list, and where those of each begin.
fn successors(tasks: usize, edges: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0u32; tasks + 1];
    edges.iter().for_each(|&(pred, _)| first[pred as usize + 1] += 1);
    for at in 0..tasks {
        first[at + 1] += first[at];
    }
    let mut next = first.clone();
    let mut succs = vec![0u32; edges.len()];
    for &(pred, succ) in edges {
        succs[next[pred as usize] as usize] = succ;
        next[pred as usize] += 1;
    }
    (first, succs)
}

/// One cycle of tasks that are left: each of them has a predecessor that is left, so that a walk backwards comes around.
fn find_cycle(left: &[bool], edges: &[(u32, u32)]) -> Vec<u32> {
    let pred_of = |task: u32| {
        let from = edges.partition_point(|&(_, succ)| succ < task);
        let preds = edges[from..].iter().take_while(|&&(_, succ)| succ == task).map(|&(pred, _)| pred);
        preds.into_iter().find(|&pred| left[pred as usize])
    };
    let Some(start) = left.iter().position(|&is_left| is_left) else { return Vec::new() };
    let (mut task, mut walked, mut steps) = (start as u32, Vec::new(), vec![u32::MAX; left.len()]);
    while steps[task as usize] == u32::MAX {
        steps[task as usize] = walked.len() as u32;
        walked.push(task);
        let Some(pred) = pred_of(task) else { return walked };
        task = pred;
    }
    let mut cycle = walked.split_off(steps[task as usize] as usize);
    cycle.reverse();
    // From the task that comes first in the input.
    let first = cycle.iter().enumerate().min_by_key(|(_, task)| **task).map_or(0, |(at, _)| at);
    cycle.rotate_left(first);
    cycle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_that_holds_is_kept_and_another_changes_as_little_as_needed() {
        let mut edges = vec![(1, 2), (0, 2), (0, 2)];
        assert_eq!(sort(&[0, 1, 2], &mut edges), Ok(vec![0, 1, 2]));
        assert_eq!(edges, [(0, 2), (1, 2)]);
        // Task 0 waits for task 2, task 2 for task 3.
        let mut edges = vec![(2, 0), (3, 2)];
        assert_eq!(sort(&[0, 1, 2, 3], &mut edges), Ok(vec![1, 3, 2, 0]));
        assert_eq!(edges, [(1, 2), (2, 3)]);
        // The input has the tasks backwards.
        assert_eq!(sort(&[2, 1, 0], &mut vec![]), Ok(vec![2, 1, 0]));
    }

    #[test]
    fn a_cycle_is_found_behind_tasks_that_wait_for_it_and_before_others() {
        // 0 -> 1 -> 2 -> 3 -> 1, 3 -> 4.
        let mut edges = vec![(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)];
        assert_eq!(sort(&[0, 1, 2, 3, 4], &mut edges), Err(vec![1, 2, 3]));
        assert_eq!(sort(&[0, 1], &mut vec![(1, 1)]), Err(vec![1]));
    }
}
