//! A wide graph fits a screen: layers of more boxes than a row takes are folded into rows, one below the other.
//!
//! Boxes of a folded layer stay in their order from left to right, column by column, so that a box is still near those that it
//! is linked to. The layers that need no folding then move to where their neighbours went.

use super::layout::{Neighbours, Position};
use super::shelves::{BOX_ASPECT, SCREEN_ASPECT};

/// A graph of at most this many columns is readable as it is.
const COLUMNS_MIN: usize = 16;

/// A graph at most this much wider than high stays as it is.
const ASPECT_MAX: f64 = 2.0;

/// From one row of a folded layer to the next, in layers: no edge passes between them, so they are closer.
const ROW: f64 = 0.6;

/// The places of boxes, given where each is in its layer; `x` is left as it was for layers that are not folded.
pub(super) fn fold(rows: &mut [Vec<usize>], neighbours: &Neighbours, x: &mut [f64]) -> Vec<Position> {
    let columns = columns_for(rows, x);
    if let Some(columns) = columns {
        let (left, right) = ends_of(x);
        let scale = columns as f64 / (right - left + 1.0);
        x.iter_mut().for_each(|x| *x = (*x - (left + right) / 2.0) * scale);
        for row in rows.iter_mut().filter(|row| row.len() > columns) {
            row.sort_by(|&a, &b| x[a].total_cmp(&x[b]).then(a.cmp(&b)));
            let high = row.len().div_ceil(columns);
            let wide = row.len().div_ceil(high) as f64;
            row.iter()
                .enumerate()
                .for_each(|(place, &node)| x[node] = (place / high) as f64 - (wide - 1.0) / 2.0);
        }
        neighbours.align_all(rows, x, |row| row.len() <= columns);
    }
    let mut places: Vec<Position> = x.iter().map(|&x| Position { x, y: 0.0 }).collect();
    let mut top = 0.0;
    for row in rows.iter() {
        let high = row.len().div_ceil(columns.unwrap_or(usize::MAX)).max(1);
        row.iter().enumerate().for_each(|(place, &node)| places[node].y = top + (place % high) as f64 * ROW);
        top += height_of(high) + 1.0;
    }
    places
}

/// How far the last of some rows is below the first.
fn height_of(rows: usize) -> f64 {
    (rows - 1) as f64 * ROW
}

/// How many columns make the graph about as wide as a screen for its height; `None` if it is not too wide.
fn columns_for(rows: &[Vec<usize>], x: &[f64]) -> Option<usize> {
    let (left, right) = ends_of(x);
    let wide = right - left + 1.0;
    let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
    let height = |columns: usize| -> f64 {
        rows.iter().map(|row| height_of(row.len().div_ceil(columns).max(1)) + 1.0).sum()
    };
    let aspect = |columns: usize| columns as f64 * BOX_ASPECT / height(columns);
    if wide <= COLUMNS_MIN as f64 || wide * BOX_ASPECT / rows.len() as f64 <= ASPECT_MAX {
        return None;
    }
    // More columns make it wider and lower: the first that are wide enough.
    let (mut low, mut high) = (COLUMNS_MIN, widest.max(COLUMNS_MIN));
    while low < high {
        let middle = (low + high) / 2;
        if aspect(middle) >= SCREEN_ASPECT { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

fn ends_of(x: &[f64]) -> (f64, f64) {
    x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(left, right), &x| (left.min(x), right.max(x)))
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Position, layout_part};
    use super::*;

    fn size(places: &[Position]) -> (f64, f64) {
        let (left, right) = ends_of(&places.iter().map(|place| place.x).collect::<Vec<_>>());
        let (top, bottom) = ends_of(&places.iter().map(|place| place.y).collect::<Vec<_>>());
        ((right - left + 1.0) * BOX_ASPECT, bottom - top + 1.0)
    }

    #[test]
    fn a_fan_of_748_boxes_is_about_as_wide_as_a_screen_and_none_covers_another() {
        // One box, 746 that wait for it, one that waits for all of them.
        let pairs: Vec<_> = (1..747).flat_map(|node| [(0, node), (node, 747)]).collect();
        let places = layout_part(748, &pairs);
        let (wide, high) = size(&places);
        assert!(wide / high > 1.0 && wide / high < ASPECT_MAX, "{wide} by {high}");
        assert!(pairs.iter().all(|&(from, to)| places[from].y < places[to].y));
        let mut sorted: Vec<_> = places.iter().map(|place| (place.y, place.x)).collect();
        sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let apart =
            |pair: &[(f64, f64)]| pair[1].0 - pair[0].0 > ROW - 1e-9 || pair[1].1 - pair[0].1 > 1.0 - 1e-9;
        assert!(sorted.windows(2).all(apart));
    }

    #[test]
    fn a_graph_that_is_not_too_wide_is_not_folded() {
        let fan: Vec<_> = (1..12).map(|node| (0, node)).collect();
        assert!(layout_part(12, &fan).iter().skip(1).all(|place| place.y == 1.0));
    }
}
