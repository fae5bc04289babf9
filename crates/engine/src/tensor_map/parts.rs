//! The parts of one tensor that tasks access, filed so that a lookup meets few that it does not share a byte with.
//!
//! A part is filed by its bounds along the tensor's [axes](super::axes): in a cell of the tensor's [grid](super::grid) if it has
//! about the grid's size, in a [tree](super::tree) otherwise. A cell is found at once; a tree takes a few steps more, and
//! copes with whatever is in it. Programs choose how a tensor is divided, so the grid is chosen by what they do:
//!
//! - The first part gives the size of a cell.
//! - When more parts since then went into the tree than into cells, the largest of those gives the size, and all parts are
//!   filed again. At least as many came as there are now, so on average each part is filed once more.
//! - When lookups meet many parts of their cells in vain (prefixes of growing length all begin in one), there are no
//!   more cells: all parts go into the tree.
//!
//! The past counts less and less, so that a program that begins to divide its tensor in another way is noticed.

use super::axes::{Axes, Bounds};
use super::grid::{Cells, Grid};
use super::reach::Probe;
use super::{Access, Filed, Hazard, MetAccess, NONE, NewAccess, PART, READ, Regions, TensorMap, WRITE};
use crate::overlap::{Region, Relation};
use crate::sync::prefetch;

/// Lookups before the cells are judged by what they met in vain.
const LOOKUPS_MIN: u32 = 16;
/// Parts that a lookup may meet in vain, on average.
const VAIN_MAX: u32 = 16;
/// Lookups, and filed parts beyond twice those that are there, after which the past counts half.
const MEMORY: u32 = 1 << 10;
/// Cells that a lookup may visit however few parts are in cells.
const VISIT_MIN: u64 = 16;

/// Where the parts of a tensor are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    axes: Axes,
    /// `None`: cells are of no use for this tensor.
    grid: Option<Grid>,
    /// Trees of writes and of reads.
    trees: [u32; 2],
    in_cells: u32,
    in_trees: u32,
    /// Since the grid was chosen: parts that went into cells, and into trees, with the largest of these.
    fits: u32,
    misfits: u32,
    largest_misfit: Bounds,
    /// Since the grid was chosen: lookups in cells, and parts that they met in vain.
    lookups: u32,
    in_vain: u32,
}

impl Parts {
    fn new(first: &Region<'_>) -> Parts {
        let axes = Axes::of(first);
        let mut parts = Parts {
            axes,
            grid: None,
            trees: [NONE; 2],
            in_cells: 0,
            in_trees: 0,
            fits: 0,
            misfits: 0,
            largest_misfit: Bounds::EMPTY,
            lookups: 0,
            in_vain: 0,
        };
        parts.choose(Some(Grid::for_part(&axes.bounds(first), axes.rank())));
        parts
    }

    fn choose(&mut self, grid: Option<Grid>) {
        (self.grid, self.largest_misfit) = (grid, Bounds::EMPTY);
        (self.fits, self.misfits, self.lookups, self.in_vain) = (0, 0, 0, 0);
    }

    /// Another choice of grid that what came since this one calls for.
    #[inline]
    fn better_grid(&mut self) -> Option<Option<Grid>> {
        self.grid?;
        let live = self.in_cells + self.in_trees;
        if self.fits + self.misfits > 2 * live + MEMORY {
            (self.fits, self.misfits) = (self.fits / 2, self.misfits / 2);
        }
        if self.lookups > MEMORY {
            (self.lookups, self.in_vain) = (self.lookups / 2, self.in_vain / 2);
        }
        if self.lookups >= LOOKUPS_MIN && self.in_vain / self.lookups > VAIN_MAX {
            return Some(None);
        }
        let outdated = self.misfits > self.fits && self.misfits + self.fits >= live;
        outdated.then(|| Some(Grid::for_part(&self.largest_misfit, self.axes.rank())))
    }
}

impl TensorMap {
    /// The bounds of an access along its tensor's axes. `None`: it is the whole tensor.
    #[inline]
    pub fn locate(&mut self, new: &NewAccess<'_>, regions: &impl Regions) -> Option<Bounds> {
        if new.whole {
            return None;
        }
        let root = &mut self.roots[new.root];
        let region = Region { offset: new.region.offset - root.base(), ..new.region };
        if root.parts == NONE {
            root.parts = self.parts.take(Parts::new(&region));
        }
        let parts = &mut self.parts[root.parts];
        if parts.axes.misses(&region) {
            parts.axes.extend(&region);
            let axes = parts.axes;
            parts.choose(Some(Grid::for_part(&axes.bounds(&region), axes.rank())));
            self.file_all_again(new.root, regions);
        }
        Some(self.parts[self.roots[new.root].parts].axes.bounds(&region))
    }

    /// Finds the parts that an access conflicts with.
    pub(super) fn look_up_parts(
        &mut self,
        new: &NewAccess<'_>,
        bounds: Option<&Bounds>,
        regions: &impl Regions,
        found: &mut impl FnMut(MetAccess),
    ) {
        let Some(bounds) = bounds else {
            // Every part is one of the whole.
            return self.walk_parts(new, None, regions, found);
        };
        let parts = &self.parts[self.roots[new.root].parts];
        if let Some(grid) = parts.grid.filter(|_| parts.in_cells > 0) {
            let (cells, count) = grid.neighbourhood(bounds);
            if count > VISIT_MIN.max(parts.in_cells as u64 + parts.in_trees as u64) {
                return self.walk_parts(new, Some(bounds), regions, found);
            }
            let in_vain = match count {
                1 => self.walk_cell(cells.first(), None, bounds, new, regions, found),
                _ => self.walk_cells(&grid, &cells, bounds, new, regions, found),
            };
            let parts = &mut self.parts[self.roots[new.root].parts];
            parts.lookups = parts.lookups.saturating_add(1);
            parts.in_vain = parts.in_vain.saturating_add(in_vain);
        }
        if self.parts[self.roots[new.root].parts].in_trees > 0 {
            self.walk_trees(bounds, new, regions, found);
        }
    }

    fn walk_parts(
        &mut self,
        new: &NewAccess<'_>,
        bounds: Option<&Bounds>,
        regions: &impl Regions,
        found: &mut impl FnMut(MetAccess),
    ) {
        for &list in new.hazard.lists() {
            self.walk_list(self.roots[new.root].heads[list + PART], new, bounds, regions, found);
        }
    }

    /// Gives the number of parts that were met in vain.
    fn walk_cells(
        &mut self,
        grid: &Grid,
        cells: &Cells,
        bounds: &Bounds,
        new: &NewAccess<'_>,
        regions: &impl Regions,
        found: &mut impl FnMut(MetAccess),
    ) -> u32 {
        // A table that is not in the cache: all of the lines that the cells are in are asked for at once.
        if self.buckets.is_large() {
            cells.for_each_row(|row| prefetch(self.buckets.head(new.root, row.name, WRITE)));
        }
        let mut in_vain = 0;
        cells.for_each_row(|row| {
            row.for_each(grid, bounds, |name, probe| {
                in_vain += self.walk_cell(name, Some(probe), bounds, new, regions, found);
            });
        });
        in_vain
    }

    /// As [`walk_cells`](Self::walk_cells), for one; its lists are passed over if they do not reach what is probed.
    #[inline]
    fn walk_cell(
        &mut self,
        name: u32,
        probe: Option<Probe>,
        bounds: &Bounds,
        new: &NewAccess<'_>,
        regions: &impl Regions,
        found: &mut impl FnMut(MetAccess),
    ) -> u32 {
        let mut in_vain = 0;
        for &list in new.hazard.lists() {
            let head = self.buckets.head(new.root, name, list);
            if head.first == NONE || probe.is_some_and(|probe| !head.reach.meets(probe)) {
                continue;
            }
            let mut at = head.first;
            while at != NONE {
                let next = self.accesses[at].bucket_next;
                if self.accesses[at].root == new.root {
                    let how = self.meet(at, new, Some(bounds), regions, found);
                    in_vain += (how == Relation::Disjoint) as u32;
                }
                at = next;
            }
        }
        in_vain
    }

    fn walk_trees(
        &mut self,
        bounds: &Bounds,
        new: &NewAccess<'_>,
        regions: &impl Regions,
        found: &mut impl FnMut(MetAccess),
    ) {
        let Parts { trees, axes, .. } = &self.parts[self.roots[new.root].parts];
        // What a write covers leaves the tree, so the tree is searched first.
        let mut met = core::mem::take(&mut self.met);
        for &list in new.hazard.lists() {
            if trees[list] != NONE {
                self.trees.search(trees[list], axes.rank(), bounds, &mut |access| met.push(access));
            }
        }
        for access in met.drain(..) {
            self.meet(access, new, Some(bounds), regions, found);
        }
        self.met = met;
    }

    /// Files a part that is on its list, in the grid or a tree, and chooses another grid if it is time.
    #[inline]
    pub(super) fn file_part(&mut self, index: u32, bounds: &Bounds, regions: &impl Regions) {
        let root = self.accesses[index].root;
        self.file_in(self.roots[root].parts, index, bounds);
        let parts = &mut self.parts[self.roots[root].parts];
        match self.accesses[index].filed {
            Filed::Cell => parts.fits += 1,
            _ => {
                parts.misfits = parts.misfits.saturating_add(1);
                if parts.largest_misfit.volume() < bounds.volume() || parts.misfits == 1 {
                    parts.largest_misfit = *bounds;
                }
            }
        }
        if let Some(grid) = parts.better_grid() {
            parts.choose(grid);
            self.file_all_again(root, regions);
        }
    }

    #[inline]
    fn file_in(&mut self, parts: u32, index: u32, bounds: &Bounds) {
        let parts = &mut self.parts[parts];
        let access = &mut self.accesses[index];
        access.bounds = *bounds;
        match parts.grid.as_mut().and_then(|grid| grid.admit(bounds)) {
            Some((cell, reach)) => {
                parts.in_cells += 1;
                access.filed = Filed::Cell;
                self.link_bucket(index, cell, reach);
            }
            None => {
                parts.in_trees += 1;
                access.filed = Filed::Tree;
                let tree = &mut parts.trees[access.kind()];
                let links = &mut self.links;
                self.trees.insert(tree, *bounds, index, &mut |access, node| links[access].home = node);
            }
        }
    }

    /// Takes a part out of its cell or tree.
    #[inline]
    pub(super) fn take_out_part(&mut self, index: u32) {
        let access = self.accesses[index];
        let parts = &mut self.parts[self.roots[access.root].parts];
        match access.filed {
            Filed::List => {}
            Filed::Cell => {
                parts.in_cells -= 1;
                self.unlink_bucket(index);
            }
            Filed::Tree => {
                parts.in_trees -= 1;
                let tree = &mut parts.trees[access.kind()];
                let home = self.links[index].home;
                let links = &mut self.links;
                self.trees.remove(tree, home, index, &mut |access, node| links[access].home = node);
            }
        }
    }

    /// Files every part of a tensor again, after its axes or its grid changed.
    #[cold]
    fn file_all_again(&mut self, root: u32, regions: &impl Regions) {
        const { assert!(WRITE == 0 && READ == 1) };
        let (base, parts) = (self.roots[root].base(), self.roots[root].parts);
        for list in [WRITE, READ] {
            let mut at = self.roots[root].heads[list + PART];
            while at != NONE {
                self.take_out_part(at);
                at = self.links[at].next;
            }
        }
        for list in [WRITE, READ] {
            let mut at = self.roots[root].heads[list + PART];
            while at != NONE {
                let Access { task, at: record, .. } = self.accesses[at];
                let region = regions.region(task, record);
                let region = Region { offset: region.offset - base, ..region };
                let bounds = self.parts[parts].axes.bounds(&region);
                self.file_in(parts, at, &bounds);
                at = self.links[at].next;
            }
        }
    }
}

impl Hazard {
    /// The lists of accesses that it conflicts with.
    #[inline]
    fn lists(self) -> &'static [usize] {
        match self {
            Hazard::Read => &[WRITE],
            Hazard::Write => &[WRITE, READ],
        }
    }
}
