//! Where the boxes of a graph are: in layers, each below everything that it waits for.
//!
//! A layer's boxes are pulled to the middle of those that they are linked to, one layer after the other, down and up a few times,
//! and pushed apart where they would overlap. That takes a few passes over the edges: seconds are far away at 10^4 boxes.
//! A graph much wider than high is folded: its wide layers take several rows each (`fold`).

use super::fold::fold;

/// Passes down and up. After eight hardly a box moves.
const PASSES: usize = 8;

/// A box's place: columns and layers, as units of one box and its margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Position {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Places for `nodes` boxes, by the links that lead from an earlier one to a later one.
pub(super) fn layout_part(nodes: usize, forward: &[(usize, usize)]) -> Vec<Position> {
    let layers = layers_of(nodes, forward);
    let mut neighbours = Neighbours::new(nodes);
    for &(from, to) in forward {
        neighbours.after[from].push(to);
        neighbours.before[to].push(from);
    }
    let depth = layers.iter().max().map_or(0, |&deepest| deepest as usize + 1);
    let mut rows = vec![Vec::new(); depth];
    layers.iter().enumerate().for_each(|(node, &layer)| rows[layer as usize].push(node));
    let mut x = vec![0.0; nodes];
    for row in &rows {
        spread(row, &mut x, |place, _| place as f64 - row.len() as f64 / 2.0);
    }
    neighbours.align_all(&mut rows, &mut x, |_| true);
    close_gaps(&mut x);
    fold(&mut rows, &neighbours, &mut x)
}

pub(super) struct Neighbours {
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
}

impl Neighbours {
    fn new(nodes: usize) -> Self {
        Neighbours { before: vec![Vec::new(); nodes], after: vec![Vec::new(); nodes] }
    }

    /// Aligns the layers that may move with those above and below them, down and up.
    pub(super) fn align_all(
        &self,
        rows: &mut [Vec<usize>],
        x: &mut [f64],
        may_move: impl Fn(&[usize]) -> bool,
    ) {
        for pass in 0..PASSES {
            let (lists, order): (_, Vec<usize>) = match pass % 2 {
                0 => (&self.before, (0..rows.len()).collect()),
                _ => (&self.after, (0..rows.len()).rev().collect()),
            };
            for layer in order {
                if may_move(&rows[layer]) {
                    align(&mut rows[layer], lists, x);
                }
            }
        }
    }
}

/// The length of the longest path to each box. A box without predecessors goes right above its first successor.
fn layers_of(nodes: usize, forward: &[(usize, usize)]) -> Vec<u32> {
    let mut sorted = forward.to_vec();
    sorted.sort_unstable_by_key(|&(from, to)| (to, from));
    let mut layers = vec![0; nodes];
    let mut is_source = vec![true; nodes];
    for &(from, to) in &sorted {
        // Links lead to later boxes, so all that lead to `from` have been seen.
        layers[to] = layers[to].max(layers[from] + 1);
        is_source[to] = false;
    }
    let mut lowest = vec![u32::MAX; nodes];
    for &(from, to) in &sorted {
        lowest[from] = lowest[from].min(layers[to] - 1);
    }
    let place =
        |node: usize| if is_source[node] && lowest[node] != u32::MAX { lowest[node] } else { layers[node] };
    (0..nodes).map(place).collect()
}

/// Puts the boxes of a layer into the order of their neighbours' places, as near to those as they fit.
fn align(row: &mut [usize], neighbours: &[Vec<usize>], x: &mut [f64]) {
    let middle = |node: usize, x: &[f64]| match neighbours[node].as_slice() {
        [] => x[node],
        list => list.iter().map(|&other| x[other]).sum::<f64>() / list.len() as f64,
    };
    let mut wanted: Vec<(f64, usize)> = row.iter().map(|&node| (middle(node, x), node)).collect();
    wanted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    row.iter_mut().zip(&wanted).for_each(|(place, &(_, node))| *place = node);
    spread(row, x, |place, _| wanted[place].0);
}

/// Gives boxes, in their order, the places nearest to those wanted at which they are one apart: groups that would overlap
/// are merged and placed around their middle.
fn spread(row: &[usize], x: &mut [f64], wanted: impl Fn(usize, usize) -> f64) {
    // Each group: the sum of (wanted − number in the row), and how many.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for (place, &node) in row.iter().enumerate() {
        groups.push((wanted(place, node) - place as f64, 1));
        while let [.., (before, many), (last, more)] = groups[..]
            && before / many as f64 >= last / more as f64
        {
            groups.pop();
            if let Some(group) = groups.last_mut() {
                *group = (before + last, many + more);
            }
        }
    }
    let mut place = 0;
    for (sum, many) in groups {
        for _ in 0..many {
            x[row[place]] = sum / many as f64 + place as f64;
            place += 1;
        }
    }
}

/// Moves parts of the graph together that have an empty stripe, from top to bottom, between them.
fn close_gaps(x: &mut [f64]) {
    const GAP: f64 = 1.5;
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
    let (mut before, mut shift) = (None, 0.0);
    for node in order {
        let wide = before.map_or(0.0, |before: f64| x[node] - before - GAP);
        before = Some(x[node]);
        shift += wide.max(0.0);
        x[node] -= shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_box_is_below_its_predecessors_and_none_overlaps_another() {
        let mut pairs = Vec::new();
        for node in 1..400usize {
            pairs.extend([(node * 7 % node.max(1), node), (node / 2, node)]);
        }
        let pairs: Vec<_> = pairs.into_iter().filter(|(from, to)| from < to).collect();
        let places = layout_part(400, &pairs);
        for (from, to) in pairs {
            assert!(places[from].y < places[to].y);
        }
        let mut sorted = places.clone();
        sorted.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x)));
        let near = |pair: &[Position]| pair[0].y == pair[1].y && pair[1].x - pair[0].x < 1.0 - 1e-6;
        assert!(!sorted.windows(2).any(near));
    }

    #[test]
    fn parts_that_are_far_apart_move_together() {
        let mut x = [40.0, 0.0, 0.5, 41.0];
        close_gaps(&mut x);
        assert_eq!(x, [2.0, 0.0, 0.5, 3.0]);
    }

    #[test]
    fn a_chain_is_straight() {
        let places = layout_part(3, &[(0, 1), (1, 2)]);
        assert_eq!(places.iter().map(|place| place.y).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
        assert!(places.iter().all(|place| (place.x - places[0].x).abs() < 1e-9));
        assert!(layout_part(0, &[]).is_empty());
    }
}
