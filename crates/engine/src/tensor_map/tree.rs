//! Boxes in a tree: which of them meet a given box, however they differ in size and shape.
//!
//! An R-tree. A node holds up to eight boxes: of accesses at level 0, of nodes of the level below otherwise. A search visits
//! the nodes whose boxes meet the one asked for. A box is inserted where it enlarges what is there least; a node that is too
//! full is split in two, in the way that leaves the smallest boxes; one that gets almost empty joins a neighbour. All
//! leaves are at level 0, so the depth grows with the logarithm of the number of boxes.
//!
//! Nodes of all trees share one pool; a tree is the index of its top node.

use super::NONE;
use super::axes::{AXES_MAX, Bounds};
use super::pool::Pool;

/// Boxes of a node.
const NODE_ITEMS: usize = 8;
/// A node with this many or fewer joins a neighbour that has room.
const FEW_ITEMS: usize = 2;
/// The smaller part of a node that is split has at least this many.
const SPLIT_MIN: usize = 3;

/// A node. The boxes are stored by axis, so that one comparison tests several.
#[derive(Clone, Copy, Debug)]
struct TreeNode {
    low: [[i32; NODE_ITEMS]; AXES_MAX],
    high: [[i32; NODE_ITEMS]; AXES_MAX],
    /// Accesses, or nodes of the level below. The boxes past `count` meet nothing.
    items: [u32; NODE_ITEMS],
    parent: u32,
    count: u8,
    level: u8,
}

/// A box and what it is of.
#[derive(Clone, Copy)]
struct Entry {
    bounds: Bounds,
    item: u32,
}

impl TreeNode {
    fn new(level: u8) -> TreeNode {
        let (low, high) = ([[i32::MAX; NODE_ITEMS]; AXES_MAX], [[-1; NODE_ITEMS]; AXES_MAX]);
        TreeNode { low, high, items: [NONE; NODE_ITEMS], parent: NONE, count: 0, level }
    }

    fn count(&self) -> usize {
        self.count as usize
    }

    /// Bit `i` is set if box `i` meets `bounds`.
    #[inline]
    fn meets(&self, bounds: &Bounds, rank: usize) -> u32 {
        let mut meets = [true; NODE_ITEMS];
        for axis in 0..rank {
            let (low, high) = (bounds.low[axis], bounds.high[axis]);
            for (i, meets) in meets.iter_mut().enumerate() {
                *meets &= (self.low[axis][i] <= high) & (self.high[axis][i] >= low);
            }
        }
        meets.iter().enumerate().fold(0, |mask, (i, &meets)| mask | (meets as u32) << i)
    }

    fn bounds_of(&self, i: usize) -> Bounds {
        Bounds {
            low: core::array::from_fn(|axis| self.low[axis][i]),
            high: core::array::from_fn(|axis| self.high[axis][i]),
            exact: false,
        }
    }

    /// The smallest box that holds all.
    fn bounds(&self) -> Bounds {
        (0..self.count()).fold(Bounds::EMPTY, |all, i| all.union(&self.bounds_of(i)))
    }

    fn set(&mut self, i: usize, bounds: &Bounds) {
        for axis in 0..AXES_MAX {
            self.low[axis][i] = bounds.low[axis];
            self.high[axis][i] = bounds.high[axis];
        }
    }

    fn push(&mut self, entry: Entry) {
        let i = self.count();
        self.set(i, &entry.bounds);
        self.items[i] = entry.item;
        self.count += 1;
    }

    /// Takes out box `i`; the last one takes its place.
    fn take(&mut self, i: usize) -> Entry {
        let taken = self.entry(i);
        let last = self.count() - 1;
        self.set(i, &self.bounds_of(last));
        self.items[i] = self.items[last];
        self.set(last, &Bounds::EMPTY);
        self.count -= 1;
        taken
    }

    fn entry(&self, i: usize) -> Entry {
        Entry { bounds: self.bounds_of(i), item: self.items[i] }
    }

    fn position(&self, item: u32) -> usize {
        self.items[..self.count()].iter().position(|&i| i == item).expect("the node holds the item")
    }

    /// The box, of those that `may` be chosen, that grows least when it takes in `bounds`; of equals the smallest.
    fn least_enlarged(&self, bounds: &Bounds, may: impl Fn(usize) -> bool) -> Option<usize> {
        let growth = |i: usize| {
            let before = self.bounds_of(i).volume();
            (self.bounds_of(i).union(bounds).volume() - before, before)
        };
        let candidates = (0..self.count()).filter(|&i| may(i)).map(|i| (growth(i), i));
        candidates.min_by(|a, b| a.0.partial_cmp(&b.0).expect("no length is NaN")).map(|(_, i)| i)
    }
}

/// The nodes of all trees.
#[derive(Debug)]
pub(super) struct Trees {
    nodes: Pool<TreeNode>,
}

impl Trees {
    pub(super) fn new() -> Self {
        Trees { nodes: Pool::with_capacity(0) }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
    }

    /// Calls `found` with each access in the tree whose box meets `bounds`, a box of `rank` axes.
    pub(super) fn search(&self, tree: u32, rank: usize, bounds: &Bounds, found: &mut impl FnMut(u32)) {
        let node = &self.nodes[tree];
        let mut meets = node.meets(bounds, rank);
        while meets != 0 {
            let item = node.items[meets.trailing_zeros() as usize];
            meets &= meets - 1;
            match node.level {
                0 => found(item),
                _ => self.search(item, rank, bounds, found),
            }
        }
    }

    /// Inserts an access; `moved` is called with every access that gets a new node, this one included.
    pub(super) fn insert(
        &mut self,
        tree: &mut u32,
        bounds: Bounds,
        access: u32,
        moved: &mut impl FnMut(u32, u32),
    ) {
        if *tree == NONE {
            *tree = self.nodes.take(TreeNode::new(0));
        }
        let mut at = *tree;
        while self.nodes[at].level > 0 {
            let node = &mut self.nodes[at];
            let i = node.least_enlarged(&bounds, |_| true).expect("an inner node is never empty");
            let grown = node.bounds_of(i).union(&bounds);
            node.set(i, &grown);
            at = node.items[i];
        }
        self.add(tree, at, Entry { bounds, item: access }, moved);
    }

    /// Adds to a node that its tree's boxes hold already, and splits it if it is full.
    fn add(&mut self, tree: &mut u32, at: u32, entry: Entry, moved: &mut impl FnMut(u32, u32)) {
        if self.nodes[at].count() < NODE_ITEMS {
            self.put(at, entry, moved);
            return;
        }
        let (mut all, level) = ([entry; NODE_ITEMS + 1], self.nodes[at].level);
        for (i, entry) in all.iter_mut().take(NODE_ITEMS).enumerate() {
            *entry = self.nodes[at].entry(i);
        }
        let middle = split(&mut all);
        let parent = self.nodes[at].parent;
        self.nodes[at] = TreeNode { parent, ..TreeNode::new(level) };
        let other = self.nodes.take(TreeNode::new(level));
        all[..middle].iter().for_each(|&entry| self.put(at, entry, moved));
        all[middle..].iter().for_each(|&entry| self.put(other, entry, moved));
        let (here, there) = (self.nodes[at].bounds(), self.nodes[other].bounds());
        let there = Entry { bounds: there, item: other };
        if parent == NONE {
            *tree = self.nodes.take(TreeNode::new(level + 1));
            self.put(*tree, Entry { bounds: here, item: at }, moved);
            self.put(*tree, there, moved);
        } else {
            let i = self.nodes[parent].position(at);
            self.nodes[parent].set(i, &here);
            self.add(tree, parent, there, moved);
        }
    }

    /// Puts an entry into a node that has room.
    fn put(&mut self, at: u32, entry: Entry, moved: &mut impl FnMut(u32, u32)) {
        self.nodes[at].push(entry);
        match self.nodes[at].level {
            0 => moved(entry.item, at),
            _ => self.nodes[entry.item].parent = at,
        }
    }

    /// Removes an access from the node that holds it.
    pub(super) fn remove(
        &mut self,
        tree: &mut u32,
        node: u32,
        access: u32,
        moved: &mut impl FnMut(u32, u32),
    ) {
        let mut at = node;
        let i = self.nodes[at].position(access);
        self.nodes[at].take(i);
        while let Some(changed) = self.tighten(at, moved) {
            at = changed;
        }
        while self.nodes[*tree].count <= 1 {
            let TreeNode { count, level, items, .. } = self.nodes[*tree];
            if count == 1 && level == 0 {
                return;
            }
            self.nodes.give(*tree);
            *tree = if count == 0 { NONE } else { items[0] };
            if count == 0 {
                return;
            }
            self.nodes[*tree].parent = NONE;
        }
    }

    /// Makes the parent's box of a node that lost an entry as small as it can be, or joins the node with a neighbour if it
    /// has few entries left. The parent, if that changed it.
    fn tighten(&mut self, at: u32, moved: &mut impl FnMut(u32, u32)) -> Option<u32> {
        let node = self.nodes[at];
        let parent = (node.parent != NONE).then_some(node.parent)?;
        let (i, bounds) = (self.nodes[parent].position(at), node.bounds());
        if node.count() > FEW_ITEMS || !self.join(&node, parent, i, &bounds, moved) {
            let changed = self.nodes[parent].bounds_of(i) != bounds;
            self.nodes[parent].set(i, &bounds);
            return changed.then_some(parent);
        }
        self.nodes[parent].take(i);
        self.nodes.give(at);
        Some(parent)
    }

    /// Moves the entries of a node, box `i` of its parent, to a neighbour that has room; false if there is none.
    fn join(
        &mut self,
        node: &TreeNode,
        parent: u32,
        i: usize,
        bounds: &Bounds,
        moved: &mut impl FnMut(u32, u32),
    ) -> bool {
        if node.count == 0 {
            return true;
        }
        let all = &self.nodes[parent];
        let has_room = |j: usize| j != i && self.nodes[all.items[j]].count() + node.count() <= NODE_ITEMS;
        let Some(j) = all.least_enlarged(bounds, has_room) else { return false };
        let (into, grown) = (all.items[j], all.bounds_of(j).union(bounds));
        (0..node.count()).for_each(|k| self.put(into, node.entry(k), moved));
        self.nodes[parent].set(j, &grown);
        true
    }
}

/// Sorts entries so that those before the place that is returned are one node, and the others another: of the orders by middle
/// and by length along each axis, the one with the smallest boxes. By length, because long rows and long columns have one middle.
fn split(all: &mut [Entry; NODE_ITEMS + 1]) -> usize {
    let whole = all.iter().fold(Bounds::EMPTY, |whole, entry| whole.union(&entry.bounds));
    let middle = |entry: &Entry, axis: usize| entry.bounds.low[axis] as i64 + entry.bounds.high[axis] as i64;
    let length = |entry: &Entry, axis: usize| entry.bounds.high[axis] as i64 - entry.bounds.low[axis] as i64;
    let mut best = (f32::INFINITY, *all, SPLIT_MIN);
    for axis in (0..AXES_MAX).filter(|&axis| whole.low[axis] < whole.high[axis]) {
        for key in [&middle as &dyn Fn(&Entry, usize) -> i64, &length] {
            all.sort_unstable_by_key(|entry| key(entry, axis));
            let (cost, place) = cheapest_place(all);
            if cost < best.0 {
                best = (cost, *all, place);
            }
        }
    }
    *all = best.1;
    best.2
}

/// Where to divide entries in this order, and the volume of the two boxes.
fn cheapest_place(all: &[Entry; NODE_ITEMS + 1]) -> (f32, usize) {
    let mut after = [Bounds::EMPTY; NODE_ITEMS + 2];
    for (i, entry) in all.iter().enumerate().rev() {
        after[i] = after[i + 1].union(&entry.bounds);
    }
    let (mut before, mut best) = (Bounds::EMPTY, (f32::INFINITY, SPLIT_MIN));
    for (i, entry) in all.iter().enumerate().take(NODE_ITEMS + 1 - SPLIT_MIN) {
        before = before.union(&entry.bounds);
        let cost = before.volume() + after[i + 1].volume();
        if i + 1 >= SPLIT_MIN && cost < best.0 {
            best = (cost, i + 1);
        }
    }
    best
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Boxes of two axes: small ones, long ones along either axis, prefixes, and everything.
    fn boxes() -> impl Strategy<Value = Bounds> {
        let at = || (0i32..100, 0i32..100);
        prop_oneof![
            (at(), 0i32..4, 0i32..4),
            (at(), 90i32..100, 0i32..2),
            (at(), 0i32..2, 90i32..100),
            (0i32..100).prop_map(|len| ((0, 0), len, 0)),
            Just(((0, 0), 200, 200)),
        ]
        .prop_map(|((x, y), w, h)| Bounds {
            low: [x, y, 0, 0],
            high: [x + w, y + h, 0, 0],
            exact: false,
        })
    }

    fn meet(a: &Bounds, b: &Bounds) -> bool {
        (0..AXES_MAX).all(|axis| a.low[axis] <= b.high[axis] && b.low[axis] <= a.high[axis])
    }

    proptest! {
        #[test]
        fn a_search_finds_what_a_scan_finds_whatever_was_inserted_and_removed(
            steps in prop::collection::vec((boxes(), any::<prop::sample::Index>(), 0u32..5), 1..300),
        ) {
            let (mut trees, mut tree) = (Trees::new(), NONE);
            let mut live: Vec<(u32, Bounds)> = Vec::new();
            let mut nodes = vec![NONE; steps.len()];
            for (access, (bounds, which, action)) in steps.into_iter().enumerate() {
                if action > 2 && !live.is_empty() {
                    let (access, _) = live.swap_remove(which.index(live.len()));
                    let node = nodes[access as usize];
                    trees.remove(&mut tree, node, access, &mut |access, node| nodes[access as usize] = node);
                } else {
                    live.push((access as u32, bounds));
                    trees.insert(&mut tree, bounds, access as u32, &mut |a, node| nodes[a as usize] = node);
                }
                prop_assert_eq!(tree == NONE, live.is_empty());
                if tree != NONE {
                    let mut found = BTreeSet::new();
                    trees.search(tree, 2, &bounds, &mut |access| assert!(found.insert(access)));
                    let expected = live.iter().filter(|(_, b)| meet(b, &bounds)).map(|(a, _)| *a).collect();
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
