//! Parts of a graph that nothing links are on shelves, one after the other, so that the whole fits a screen.
//!
//! Each part is laid out by itself. The shelves are as wide as makes the whole about as wide as a screen for its height.

use super::layout::{Position, layout_part};
use super::picture::Link;

/// How much wider a box with its margin is than it is high; as `page.js` draws it.
pub(super) const BOX_ASPECT: f64 = 150.0 / 90.0;

/// How much wider than high the whole should be.
pub(super) const SCREEN_ASPECT: f64 = 1.3;

/// Empty columns between two parts, and empty layers between two shelves.
const GAP: f64 = 1.0;

/// Places for `nodes` boxes.
pub(super) fn layout(nodes: usize, links: &[Link]) -> Vec<Position> {
    let parts: Vec<PlacedPart> = parts_of(nodes, links).into_iter().map(PlacedPart::new).collect();
    let area: f64 = parts.iter().map(|part| (part.width + GAP) * (part.height + GAP)).sum();
    let widest = parts.iter().map(|part| part.width).fold(0.0, f64::max);
    let width = (area * SCREEN_ASPECT / BOX_ASPECT).sqrt().max(widest);
    let mut places = vec![Position { x: 0.0, y: 0.0 }; nodes];
    let (mut left, mut top, mut high) = (0.0, 0.0, 0.0_f64);
    for part in parts {
        if left > 0.0 && left + part.width > width {
            (left, top, high) = (0.0, top + high + GAP, 0.0);
        }
        for (node, place) in part.nodes.into_iter().zip(part.places) {
            places[node] = Position { x: left + place.x, y: top + place.y };
        }
        (left, high) = (left + part.width + GAP, high.max(part.height));
    }
    places
}

/// Boxes that links hold together.
#[derive(Default)]
struct Part {
    /// The boxes, in order.
    nodes: Vec<usize>,
    /// Links from an earlier to a later box, by their places in the part.
    links: Vec<(usize, usize)>,
}

/// A part that is laid out: its left edge is at 0.
struct PlacedPart {
    nodes: Vec<usize>,
    places: Vec<Position>,
    width: f64,
    height: f64,
}

impl PlacedPart {
    fn new(Part { nodes, links }: Part) -> Self {
        let mut places = layout_part(nodes.len(), &links);
        let left = places.iter().map(|place| place.x).fold(f64::INFINITY, f64::min);
        places.iter_mut().for_each(|place| place.x -= left);
        let width = places.iter().map(|place| place.x + 1.0).fold(0.0, f64::max);
        let height = places.iter().map(|place| place.y + 1.0).fold(0.0, f64::max);
        PlacedPart { nodes, places, width, height }
    }
}

/// The parts, in the order of their first boxes. Links that lead to an earlier box or to the same one, as a collapsed graph
/// can have, keep boxes together and are no links of the part.
fn parts_of(nodes: usize, links: &[Link]) -> Vec<Part> {
    let mut parents: Vec<usize> = (0..nodes).collect();
    for link in links {
        let (a, b) = (root(&mut parents, link.from), root(&mut parents, link.to));
        parents[a.max(b)] = a.min(b);
    }
    // A root is the first box of its part, so parts are in the order of their first boxes.
    let mut part_of = vec![0; nodes];
    let mut place_of = vec![0; nodes];
    let mut parts: Vec<Part> = Vec::new();
    for node in 0..nodes {
        let first = root(&mut parents, node);
        part_of[node] = if first == node { parts.len() } else { part_of[first] };
        if first == node {
            parts.push(Part::default());
        }
        let boxes = &mut parts[part_of[node]].nodes;
        place_of[node] = boxes.len();
        boxes.push(node);
    }
    for link in links.iter().filter(|link| link.from < link.to) {
        parts[part_of[link.from]].links.push((place_of[link.from], place_of[link.to]));
    }
    parts
}

/// The first box of the part that a box is in, as far as parts are known.
fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(from: usize, to: usize) -> Link {
        Link { from, to, label: String::new() }
    }

    #[test]
    fn parts_are_what_links_hold_together_whichever_way_they_lead() {
        let parts = parts_of(6, &[link(0, 4), link(5, 4), link(1, 3), link(2, 2)]);
        let boxes: Vec<_> = parts.iter().map(|part| part.nodes.clone()).collect();
        assert_eq!(boxes, [vec![0, 4, 5], vec![1, 3], vec![2]]);
        assert_eq!(parts[0].links, [(0, 1)]);
    }

    #[test]
    fn many_small_parts_fill_a_screen_and_none_overlaps_another() {
        let links: Vec<_> = (0..600).filter(|node| node % 3 != 2).map(|node| link(node, node + 1)).collect();
        let places = layout(600, &links);
        let wide = places.iter().map(|place| place.x).fold(0.0, f64::max) * BOX_ASPECT;
        let high = places.iter().map(|place| place.y).fold(0.0, f64::max);
        assert!(wide / high > 1.0 && wide / high < 2.5, "{wide} by {high}");
        let fixed = |place: &Position| ((place.y * 1e6) as i64, (place.x * 1e6) as i64);
        let mut taken: Vec<_> = places.iter().map(fixed).collect();
        taken.sort_unstable();
        assert!(taken.windows(2).all(|pair| pair[0].0 != pair[1].0 || pair[1].1 - pair[0].1 >= 999_999));
        assert!(layout(0, &[]).is_empty());
    }
}
