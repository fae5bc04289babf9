//! How programs divide one tensor: the views that are live, and those that are looked up among them.

use ringlane_task::{DType, Dim, TensorView, ViewError};

/// Elements along each side of a tile.
const TILE: u32 = 64;
/// Elements of a row, where rows are whole.
const ROW: u32 = 256;
/// Columns that are live beside the rows.
const COLUMNS: u32 = 8;
/// Elements between two of a strided view, and views that share a stretch.
const STEP: u32 = 8;
/// More than there are numbers of probes.
const PROBES: u32 = 1 << 16;
/// Strides that no box describes.
const ODD_STRIDES: [u32; 4] = [1021, 1019, 1013, 1009];

/// How a tensor is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Tiles of one grid.
    Tiles,
    /// Tiles with a border of one element that overlaps their neighbours.
    Halo,
    /// Whole rows, and a few whole columns across them.
    RowsColumns,
    /// Prefixes of growing length, as attention reads a cache.
    Prefix,
    /// Windows of random size at random places.
    Rectangles,
    /// Tiles here and there in a large grid.
    BlockSparse,
    /// Every eighth element of a stretch.
    Strided,
    /// Tiles, half of them transposed.
    Transposed,
    /// The same rows as views of one, two and three dimensions.
    Ranks,
    /// Strides that have no common frame: the index cannot help.
    Irregular,
}

impl Pattern {
    pub(super) const ALL: [Pattern; 10] = [
        Pattern::Tiles,
        Pattern::Halo,
        Pattern::RowsColumns,
        Pattern::Prefix,
        Pattern::Rectangles,
        Pattern::BlockSparse,
        Pattern::Strided,
        Pattern::Transposed,
        Pattern::Ranks,
        Pattern::Irregular,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Pattern::Tiles => "tiles",
            Pattern::Halo => "halo",
            Pattern::RowsColumns => "rows_columns",
            Pattern::Prefix => "prefix",
            Pattern::Rectangles => "rectangles",
            Pattern::BlockSparse => "block_sparse",
            Pattern::Strided => "strided",
            Pattern::Transposed => "transposed",
            Pattern::Ranks => "ranks",
            Pattern::Irregular => "irregular",
        }
    }

    /// The live view of this index, of `live`.
    pub(super) fn live(self, index: u32, live: u32) -> Result<TensorView, ViewError> {
        let side = tiles_per_side(live);
        let at = [index / side * TILE, index % side * TILE];
        match self {
            Pattern::Tiles => square(side)?.tile(&at, &[TILE; 2]),
            Pattern::Halo => {
                let padded = TensorView::contiguous(DType::Float32, &[side * TILE + 2; 2])?;
                padded.tile(&at, &[TILE + 2; 2])
            }
            Pattern::RowsColumns => {
                let matrix = rows(live)?;
                match index.checked_sub(COLUMNS) {
                    None => matrix.select(1, index * ROW / COLUMNS),
                    Some(row) => matrix.slice(0, row, 1),
                }
            }
            Pattern::Prefix => rows(live)?.slice(0, 0, index + 1),
            Pattern::Rectangles => {
                let random = |salt: u32, below: u32| mix(index * 4 + salt) % below;
                let len = [0, 1].map(|salt| 1 + random(salt, TILE));
                // As many as fill the area once if they were squares of `TILE`.
                let width = (f64::from(live).sqrt() * f64::from(TILE)) as u32;
                let start = [2, 3].map(|salt| random(salt, width));
                let matrix = TensorView::contiguous(DType::Float32, &[width + TILE; 2])?;
                matrix.tile(&start, &len)
            }
            Pattern::BlockSparse => {
                let wide = 4 * side;
                let place = [index / side, index % side].map(|i| (4 * i + mix(index) % 4) * TILE);
                square(wide)?.tile(&place, &[TILE; 2])
            }
            Pattern::Strided => {
                let dims = [Dim { len: TILE, stride: STEP }];
                let first = u64::from(index / STEP) * u64::from(TILE * STEP) + u64::from(index % STEP);
                TensorView::from_parts(DType::Float32, first * 4, &dims, u64::MAX)
            }
            Pattern::Transposed => {
                let tile = square(side)?.tile(&at, &[TILE; 2])?;
                if index.is_multiple_of(2) { Ok(tile) } else { tile.transpose(0, 1) }
            }
            Pattern::Ranks => match index % 3 {
                0 => rows(live)?.slice(0, index, 1),
                1 => rows(live)?.select(0, index),
                _ => rows(live)?.reshape(&[live, 4, ROW / 4])?.slice(0, index, 1),
            },
            Pattern::Irregular => {
                let dims = ODD_STRIDES.map(|stride| Dim { len: 3, stride });
                let dims = &dims[..1 + index as usize % ODD_STRIDES.len()];
                TensorView::from_parts(DType::Float32, u64::from(mix(index) % 4096) * 4, dims, u64::MAX)
            }
        }
    }

    /// A view to look up: the number of live ones that it meets does not grow with their number.
    pub(super) fn probe(self, number: u32, live: u32) -> Result<TensorView, ViewError> {
        let index = mix(number) % live;
        match self {
            // The tile inside the halo, which meets those of its eight neighbours: not at the border, where it has fewer.
            Pattern::Halo => {
                let side = tiles_per_side(live);
                let (row, column) =
                    (1 + mix(number) % (live / side - 1), 1 + mix(number + PROBES) % (side - 2));
                self.live(row * side + column, live)?.tile(&[1; 2], &[TILE; 2])
            }
            Pattern::RowsColumns => self.live(COLUMNS + mix(number) % (live - COLUMNS), live),
            // The row at the end of the longest prefix.
            Pattern::Prefix => rows(live)?.slice(0, live - 1, 1),
            Pattern::Rectangles => self.live(live + number, live),
            _ => self.live(index, live),
        }
    }
}

fn tiles_per_side(live: u32) -> u32 {
    live.isqrt() + u32::from(live.isqrt().pow(2) < live)
}

fn square(side: u32) -> Result<TensorView, ViewError> {
    TensorView::contiguous(DType::Float32, &[side * TILE; 2])
}

fn rows(live: u32) -> Result<TensorView, ViewError> {
    TensorView::contiguous(DType::Float32, &[live, ROW])
}

/// A number that looks random, the same in every run.
fn mix(number: u32) -> u32 {
    let mixed = (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) as u32
}
