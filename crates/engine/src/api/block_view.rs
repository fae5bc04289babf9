//! Arguments as a cost model sees them: this block's part of each tensor, and the scalars, without an allocation.

#![forbid(unsafe_code)]

use ringlane_task::{Access, DType, Dim, Element, MAX_RANK, Scalar};

use super::arg::NO_SPLIT;
use super::args::{Args, Record, TensorRecord, all_records};

/// What one block gets of a tensor argument: how it is used, its element type and its dimensions.
///
/// Of an argument that is split among the blocks of a task this is the block's own part, which is empty for the last
/// blocks of a short dimension. An argument that is not split is whole to every block; a cost model whose blocks share
/// such a tensor by their index divides by [`Args::block_count`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockView<'a> {
    /// Those of the whole argument.
    dims: &'a [Dim],
    /// The dimension that is split, or `NO_SPLIT`.
    split: u8,
    /// Its length in this block.
    split_len: u32,
    dtype: DType,
    access: Access,
}

impl BlockView<'_> {
    /// Number of dimensions.
    #[inline]
    pub const fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The length of a dimension, outermost first, if there is that dimension.
    #[inline]
    pub fn len(&self, axis: usize) -> Option<u32> {
        let whole = self.dims.get(axis)?.len;
        Some(if axis == self.split as usize { self.split_len } else { whole })
    }

    /// Type of the elements.
    #[inline]
    pub const fn dtype(&self) -> DType {
        self.dtype
    }

    /// How the task uses it.
    #[inline]
    pub const fn access(&self) -> Access {
        self.access
    }

    /// Number of elements; none in an empty part.
    #[inline]
    pub fn elements(&self) -> u64 {
        let len =
            |(axis, dim): (usize, &Dim)| if axis == self.split as usize { self.split_len } else { dim.len };
        self.dims.iter().enumerate().map(|dim| u64::from(len(dim))).product()
    }

    /// Bytes of the elements.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.elements() * self.dtype.size_bytes() as u64
    }
}

impl<'a> Args<'a> {
    /// This block's part of each tensor argument not yet taken, in order: for cost models, which are asked once a block.
    ///
    /// ```
    /// use ringlane_engine::prelude::*;
    /// fn bytes(args: &Args<'_>) -> f64 {
    ///     args.tensors().map(|tensor| tensor.bytes() as f64).sum()
    /// }
    /// kernel! {
    ///     static COPY = aiv fn(x: &[f32], y: &mut [f32]) {
    ///         y.copy_from_slice(x);
    ///     } cost Cost::Roofline { flops: |_| 0.0, bytes }
    /// }
    /// # assert_eq!(COPY.name(), "COPY");
    /// ```
    #[inline]
    pub fn tensors(&self) -> impl Iterator<Item = BlockView<'a>> {
        self.records().map(|record| self.block_view(&record))
    }

    /// This block's part of the tensor argument with this index among those not yet taken, scalars not counted.
    #[inline]
    pub fn tensor(&self, index: usize) -> Option<BlockView<'a>> {
        self.records().nth(index).map(|record| self.block_view(&record))
    }

    /// The scalar arguments not yet taken, in order, tensors left out.
    ///
    /// ```
    /// use ringlane_engine::prelude::*;
    /// kernel! {
    ///     static SPIN = any fn(x: &mut [f32], rounds: u64) {
    ///         (0..rounds).for_each(|_| x[0] += 1.0);
    ///     } cost Cost::Ticks(|args| args.scalar::<u64>(0).unwrap_or(1))
    /// }
    /// # assert_eq!(SPIN.name(), "SPIN");
    /// ```
    #[inline]
    pub fn scalars(&self) -> impl Iterator<Item = Scalar> + use<'a> {
        all_records(self.words()).filter_map(|record| match record {
            Record::Scalar(scalar) => Some(scalar),
            Record::Tensor(_) => None,
        })
    }

    /// The scalar argument with this index among those not yet taken, tensors not counted; `None` if there is none or it has
    /// another type.
    #[inline]
    pub fn scalar<T: Element>(&self, index: usize) -> Option<T> {
        self.scalars().nth(index)?.get()
    }

    /// [`Args::tensors`] in a vector, for cost models that read them in any order.
    pub fn views(&self) -> Vec<BlockView<'a>> {
        self.tensors().collect()
    }

    #[inline]
    fn block_view(&self, record: &TensorRecord<'a>) -> BlockView<'a> {
        let (dims, split) = (record.dims, record.split());
        let split_len = dims.get(split as usize).map_or(0, |dim| self.part_of(dim.len).1);
        BlockView { dims, split, split_len, dtype: record.dtype(), access: record.access() }
    }
}

// `NO_SPLIT` is the number of no dimension.
const _: () = assert!(NO_SPLIT as usize >= MAX_RANK);

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::cell::RefCell;

    use crate::prelude::*;

    thread_local! {
        /// For each block: elements of each tensor, and bytes of all.
        static SEEN: RefCell<Vec<(Vec<u64>, u64)>> = const { RefCell::new(Vec::new()) };
    }

    const PARAMS: &[ParamSpec] = &[View::<f32, 2>::SPEC, <f32>::SPEC, ViewMut::<f32, 2>::SPEC];
    static CHECK_VIEW: Kernel = Kernel::new("CHECK_VIEW", CoreType::Any, PARAMS, |args| {
        let views = args.views();
        assert_eq!(args.tensor(1), views.get(1).copied());
        assert_eq!(args.tensor(2), None);
        assert_eq!(views[0].len(1), Some(5));
        assert_eq!((views[1].rank(), views[1].len(1), views[1].len(2)), (2, Some(3), None));
        let elements = views.iter().map(|view| view.elements()).collect();
        let bytes = args.tensors().map(|view| view.bytes()).sum();
        SEEN.with_borrow_mut(|seen| seen.push((elements, bytes)));
        let scalars: Vec<_> = args.scalars().map(|scalar| scalar.get::<f32>()).collect();
        assert_eq!((scalars, args.scalar::<f32>(0)), (vec![Some(1.0)], Some(1.0)));
        assert_eq!((args.scalar::<u32>(0), args.scalar::<f32>(1)), (None, None));
        // A block gets what was announced to it.
        let (x, _, y) = (args.take::<View<f32, 2>>()?, args.take::<f32>()?, args.take::<ViewMut<f32, 2>>()?);
        let taken = [x.shape(), y.shape()].map(|[rows, columns]| (rows * columns) as u64);
        assert_eq!(taken.as_slice(), views.iter().map(|view| view.elements()).collect::<Vec<_>>());
        Ok(())
    });

    #[test]
    fn a_cost_model_sees_scalars_the_part_of_a_split_argument_and_the_whole_of_others() {
        let mut data = Buffers::new();
        let x = data.add(&[2, 5], &[0f32; 10]).unwrap();
        let y = data.add(&[5, 3], &[0f32; 15]).unwrap();
        crate::oracle::run(&mut data, |o| {
            let (x, y) = (o.external(x)?, o.external(y)?);
            o.submit(CHECK_VIEW.blocks(4), [x.read(), scalar(1f32), y.inout().split(0)])?;
            o.submit(&CHECK_VIEW, [x.read(), scalar(1f32), y.inout()])?;
            Ok(())
        })
        .unwrap();
        // Five rows in parts of two: the third has one, the fourth none.
        let expected = [(6, 64), (6, 64), (3, 52), (0, 40), (15, 100)];
        let expected = expected.map(|(part, bytes)| (vec![10, part], bytes));
        assert_eq!(SEEN.take(), expected);
    }
}
