//! Tensors of a node's memory as they travel: their elements one after another, without the gaps between them.

#![allow(unsafe_code)]

use ringlane_task::TensorView;

use super::mapping::Mapping;

/// A copy of a tensor's elements, in row-major order.
///
/// # Safety
/// Nobody writes them meanwhile.
pub(crate) unsafe fn gather(memory: &Mapping, view: &TensorView) -> Vec<u8> {
    let mut dense = Vec::with_capacity(view.bytes() as usize);
    view.for_each_run(|start, bytes| {
        assert_inside(memory, start, bytes);
        // SAFETY: the run is inside the memory, which is mapped; the caller promises that no task writes it.
        dense.extend_from_slice(unsafe { core::slice::from_raw_parts(memory.at(start), bytes as usize) });
    });
    dense
}

/// Puts elements in row-major order where a tensor has them. What there is too much or too little of is left.
///
/// # Safety
/// Nobody reads or writes them meanwhile.
pub(crate) unsafe fn scatter(memory: &Mapping, view: &TensorView, dense: &[u8]) {
    let mut rest = dense;
    view.for_each_run(|start, bytes| {
        assert_inside(memory, start, bytes);
        let (run, after) = rest.split_at(rest.len().min(bytes as usize));
        // SAFETY: the run is inside the memory, which is mapped; the caller promises that it is not shared.
        unsafe { core::ptr::copy_nonoverlapping(run.as_ptr(), memory.at(start), run.len()) };
        rest = after;
    });
}

/// Views are checked against their memory before they come here.
fn assert_inside(memory: &Mapping, start: u64, bytes: u64) {
    let end = start.checked_add(bytes);
    assert!(end.is_some_and(|end| end <= memory.bytes()), "{bytes} bytes at {start}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::DType;

    #[test]
    fn the_elements_of_a_tile_travel_without_their_neighbours() {
        let memory = Mapping::create(1 << 16).unwrap();
        let whole = TensorView::contiguous(DType::UInt8, &[4, 4]).unwrap().shifted(Mapping::HEAD_BYTES);
        let tile = whole.tile(&[1, 1], &[2, 3]).unwrap();
        let numbers: Vec<u8> = (0..16).collect();
        // SAFETY: nobody else has this memory.
        let (before, after) = unsafe {
            scatter(&memory, &whole, &numbers);
            let before = gather(&memory, &tile);
            scatter(&memory, &tile, &[90, 91, 92, 93, 94, 95]);
            (before, gather(&memory, &whole))
        };
        assert_eq!(before, [5, 6, 7, 9, 10, 11]);
        assert_eq!(after, [0, 1, 2, 3, 4, 90, 91, 92, 8, 93, 94, 95, 12, 13, 14, 15]);
    }
}
