//! `wavefront`: Smith-Waterman local alignment of two random strings, on tiles of one score matrix.
//!
//! ```text
//! H[i][j] = max(0, H[i-1][j-1] + (aᵢ == bⱼ ? 2 : -1), H[i-1][j] - 1, H[i][j-1] - 1)
//! ```
//! A tile reads the row above it (with the corner), the column to its left, and its parts of the strings. So it
//! depends on the tiles to the left, above and at the corner, and the ready tiles form a diagonal front. Row 0 and
//! column 0 of the matrix are the zero border of the recurrence.
//!
//! Golden: the same recurrence over whole rows in 64-bit integers; every cell is equal.

use ringlane_engine::prelude::*;

use crate::cost;
use crate::golden::{Check, Golden, Tolerance};
use crate::rng::Rng;
use crate::scene::{Case, Param, Program, Scene, made};
use crate::scopes::{in_scopes, pieces};

const MATCH: i32 = 2;
const MISMATCH: i32 = -1;
const GAP: i32 = 1;
/// Letters of the strings' alphabet.
const LETTERS: u32 = 4;
/// Tasks in one scope: half of a window of 64, so that two rows of tiles are in flight.
const TASKS_PER_SCOPE: usize = 32;

pub(crate) const SCENE: Scene = Scene {
    site: core::panic::Location::caller(),
    name: "wavefront",
    about: "Smith-Waterman alignment of two strings: each tile depends on those to its left and above",
    params: &[
        Param { name: "rows", default: "256", about: "length of the first string" },
        Param { name: "cols", default: "256", about: "length of the second string" },
        Param { name: "tile", default: "32", about: "rows and columns of a tile" },
    ],
    cases: &[
        Case { name: "small", about: "8×8 tiles", set: &[] },
        Case {
            name: "ragged",
            about: "no side is a multiple of the tile",
            set: &[("rows", "100"), ("cols", "333")],
        },
        Case {
            name: "chain",
            about: "one column of tiles: no parallelism",
            set: &[("rows", "2048"), ("cols", "16")],
        },
        Case {
            name: "cells",
            about: "tiles of one cell",
            set: &[("rows", "40"), ("cols", "40"), ("tile", "1")],
        },
        Case {
            name: "large",
            about: "32×32 tiles",
            set: &[("rows", "4096"), ("cols", "4096"), ("tile", "128")],
        },
    ],
    kernels: &[&ALIGN],
    build: &|settings| {
        let side = |name| settings.u32(name, 1..=1 << 14);
        let (rows, cols, tile) = (side("rows")?, side("cols")?, side("tile")?);
        Ok(Box::new(Wavefront { rows, cols, tile, seed: settings.seed, ids: None }))
    },
};

kernel! {
    /// Fills one tile from the row above (corner first), the column to the left and its letters.
    static ALIGN = aiv fn(above: &[i32], left: View<i32, 2>, a: &[u8], b: &[u8], tile: ViewMut<i32, 2>) {
        let mut tile = tile;
        let mut line = above.to_vec();
        for (i, &letter) in a.iter().enumerate() {
            let mut diagonal = line[0];
            let mut previous = left[[i, 0]];
            line[0] = previous;
            for ((cell, &other), up) in tile.row(&[i]).iter_mut().zip(b).zip(&mut line[1..]) {
                let pair = diagonal + if letter == other { MATCH } else { MISMATCH };
                previous = pair.max(previous.max(*up) - GAP).max(0);
                diagonal = *up;
                *up = previous;
                *cell = previous;
            }
        }
    }
    cuda include_str!("wavefront.cuh")
    cost cost::PASS
}

#[derive(Clone, Copy)]
struct Ids {
    a: BufferId,
    b: BufferId,
    scores: BufferId,
}

struct Wavefront {
    rows: u32,
    cols: u32,
    tile: u32,
    seed: u64,
    ids: Option<Ids>,
}

impl Wavefront {
    fn inputs(&self) -> (Vec<u8>, Vec<u8>) {
        let mut rng = Rng::new(self.seed);
        let mut string = |len| (0..len).map(|_| rng.below(LETTERS) as u8).collect();
        (string(self.rows), string(self.cols))
    }
}

impl Program for Wavefront {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        let (a, b) = self.inputs();
        let scores = data.add_zeroed(i32, &[self.rows + 1, self.cols + 1])?;
        self.ids = Some(Ids { a: data.add(&[self.rows], &a)?, b: data.add(&[self.cols], &b)?, scores });
        Ok(data)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let ids = made(&self.ids)?;
        let (a, b, scores) = (o.external(ids.a)?, o.external(ids.b)?, o.external(ids.scores)?);
        for (i, rows) in pieces(self.rows, self.tile) {
            in_scopes(o, pieces(self.cols, self.tile), TASKS_PER_SCOPE, |o, (j, cols)| {
                // Letter i of a string corresponds to row i + 1 of the scores.
                let above = scores.tile(&[i, j], &[1, cols + 1])?.read();
                let left = scores.tile(&[i + 1, j], &[rows, 1])?.read();
                let (a, b) = (a.slice(0, i, rows)?.read(), b.slice(0, j, cols)?.read());
                let tile = scores.tile(&[i + 1, j + 1], &[rows, cols])?.write();
                o.submit(&ALIGN, [above, left, a, b, tile]).map(drop)
            })?;
        }
        Ok(())
    }

    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        let (a, b) = self.inputs();
        let width = b.len() + 1;
        let mut last = vec![0i64; width];
        let mut check = Check::new();
        for (i, got) in data.get::<i32>(made(&self.ids)?.scores)?.chunks_exact(width).enumerate() {
            let mut row = vec![0i64; width];
            if i > 0 {
                for j in 1..width {
                    let pair = if a[i - 1] == b[j - 1] { MATCH } else { MISMATCH } as i64;
                    let gap = GAP as i64;
                    row[j] = [0, last[j - 1] + pair, last[j] - gap, row[j - 1] - gap]
                        .into_iter()
                        .max()
                        .unwrap_or(0);
                }
            }
            got.iter().zip(&row).for_each(|(&got, &want)| check.value(got, want as f64, Tolerance::EXACT));
            last = row;
        }
        Ok(check.finish())
    }

    fn outputs(&self) -> Vec<BufferId> {
        self.ids.iter().map(|ids| ids.scores).collect()
    }
}
