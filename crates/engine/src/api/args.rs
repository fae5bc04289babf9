//! A task's arguments in memory: one packed record each, written at submit, read by the kernel.
//!
//! ```text
//! tensor  │ rank dtype flags access split kind │ space, base │ offset in the space │ (len, stride) × rank │
//! scalar  │      dtype                    kind │ bits          │
//! ```
//! Records hold indices and offsets, never pointers: [`Spaces`] turns them into addresses where they are used.
//! The reader checks each record against the type it is asked for, so a kernel gets what it declared or an error.

use ringlane_task::{Access, BlockIndex, DType, Dim, MAX_RANK, Scalar, TensorView};

use super::arg::NO_SPLIT;
use super::kernel::KernelError;
use super::params::KernelParam;
use crate::limits::ALIGNMENT;
use crate::memory::Spaces;

/// Words of a tensor record before its dimensions.
const TENSOR_WORDS: usize = 3;
/// Words of a scalar record.
const SCALAR_WORDS: usize = 2;

// The first word of a record: rank, data type and flags as in a view's signature, then access, split and kind.
const DTYPE_SHIFT: u32 = 8;
const ACCESS_SHIFT: u32 = 24;
const SPLIT_SHIFT: u32 = 32;
const KIND_SHIFT: u32 = 40;
const KIND_TENSOR: u64 = 1 << KIND_SHIFT;
const KIND_SCALAR: u64 = 2 << KIND_SHIFT;
const KIND_AND_DTYPE: u64 = 0xff << KIND_SHIFT | 0xff << DTYPE_SHIFT;
// The second word: which space, and above it where the tensor starts there, in units of the alignment.
const SPACE_BITS: u32 = 28;
const SPACE_MASK: u32 = (1 << SPACE_BITS) - 1;
const _: () = assert!(ringlane_task::limits::HEAP.max / ALIGNMENT < 1 << (64 - SPACE_BITS));
/// The elements (of each part, if split) are contiguous.
const FLAG_CONTIGUOUS: u64 = 1 << 16;

/// The view shows its whole tensor.
const FLAG_WHOLE: u64 = 1 << 18;
/// The kernel may not write it, although the access does not say so (`no_dep` to a parameter that reads).
const FLAG_READ_ONLY: u64 = 1 << 48;

/// A tensor record, decoded.
#[derive(Clone, Copy)]
pub(crate) struct TensorRecord<'a> {
    head: u64,
    pub(crate) space: u32,
    /// Where its tensor starts in the space.
    pub(crate) base: u64,
    pub(crate) offset: u64,
    pub(crate) dims: &'a [Dim],
}

impl TensorRecord<'_> {
    #[inline]
    pub(crate) fn access(&self) -> Access {
        Access::from_code((self.head >> ACCESS_SHIFT) as u8).expect("records are written from an Access")
    }

    #[inline]
    pub(crate) fn dtype(&self) -> DType {
        DType::from_code((self.head >> DTYPE_SHIFT) as u8).expect("records are written from a DType")
    }

    /// Whether the kernel may only read it, although the access does not say so.
    pub(crate) fn is_read_only(&self) -> bool {
        self.head & FLAG_READ_ONLY != 0
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.head & FLAG_WHOLE != 0
    }

    #[inline]
    pub(crate) fn split(&self) -> u8 {
        (self.head >> SPLIT_SHIFT) as u8
    }

    /// The view, with its offset counted in the space.
    pub(crate) fn view(&self) -> TensorView {
        TensorView::from_parts(self.dtype(), self.offset, self.dims, u64::MAX).expect("checked at submit")
    }
}

/// One record of an argument block.
pub(crate) enum Record<'a> {
    Tensor(TensorRecord<'a>),
    Scalar(Scalar),
}

/// The dimensions in a tensor record, one a word.
#[inline(always)]
pub(crate) fn dims_of(words: &[u64]) -> &[Dim] {
    const { assert!(size_of::<Dim>() == size_of::<u64>() && align_of::<Dim>() <= align_of::<u64>()) };
    // SAFETY: a `Dim` is two u32, so that each word is one; any bits are valid.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
}

/// Decodes the record at the front of `words`; gives it and the words it takes.
// Always inlined: a call for each argument that a kernel takes would show.
#[inline(always)]
pub(crate) fn decode(words: &[u64]) -> (Record<'_>, usize) {
    let head = words[0];
    if head & KIND_SCALAR != 0 {
        let dtype = DType::from_code((head >> DTYPE_SHIFT) as u8).expect("records are written from a DType");
        let scalar = Scalar::from_bits(words[1], dtype).expect("records are written from a Scalar");
        return (Record::Scalar(scalar), SCALAR_WORDS);
    }
    let rank = head as u8 as usize;
    let dims = dims_of(&words[TENSOR_WORDS..TENSOR_WORDS + rank]);
    let (space, base) = (space_of(words[1]), (words[1] >> SPACE_BITS) * ALIGNMENT);
    let record = TensorRecord { head, space, base, offset: words[2], dims };
    (Record::Tensor(record), TENSOR_WORDS + rank)
}

/// The records of the `count` arguments after the first `skip`: those of one kernel of a mixed task.
#[cold]
pub(crate) fn records_of(words: &[u64], skip: usize, count: usize) -> &[u64] {
    let after = |words, args| (0..args).fold(words, |words: &[u64], _| &words[decode(words).1..]);
    let own: &[u64] = after(words, skip);
    &own[..own.len() - after(own, count).len()]
}

/// Iterates over the records of an argument block.
pub(crate) fn all_records(mut words: &[u64]) -> impl Iterator<Item = Record<'_>> {
    core::iter::from_fn(move || {
        if words.is_empty() {
            return None;
        }
        let (record, used) = decode(words);
        words = &words[used..];
        Some(record)
    })
}

/// Iterates over the tensor records of an argument block.
pub(crate) fn tensor_records(words: &[u64]) -> impl Iterator<Item = TensorRecord<'_>> {
    all_records(words).filter_map(|record| match record {
        Record::Tensor(record) => Some(record),
        Record::Scalar(_) => None,
    })
}

/// Words that a tensor argument of this rank takes.
#[inline]
pub(crate) const fn tensor_words(rank: usize) -> usize {
    TENSOR_WORDS + rank
}

/// Words that a scalar argument takes.
pub(crate) const fn scalar_words() -> usize {
    SCALAR_WORDS
}

/// The first word of a tensor record.
#[inline(always)]
const fn tensor_head(signature: u32, access: Access, split: u8) -> u64 {
    signature as u64 | (access as u64) << ACCESS_SHIFT | (split as u64) << SPLIT_SHIFT | KIND_TENSOR
}

/// The second word of a tensor record.
#[inline(always)]
pub(crate) const fn tensor_place(space: u32, base: u64) -> u64 {
    space as u64 | (base / ALIGNMENT) << SPACE_BITS
}

/// The space in the second word of a tensor record.
#[inline(always)]
pub(crate) const fn space_of(place: u64) -> u32 {
    place as u32 & SPACE_MASK
}

/// Where a tensor argument is, and how the task uses it.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) access: Access,
    pub(crate) split: u8,
    pub(crate) space: u32,
    /// Where its tensor starts in the space, a multiple of `ALIGNMENT`.
    pub(crate) base: u64,
    /// First byte of the view in the space.
    pub(crate) offset: u64,
}

/// Writes a tensor record. Gives the words used.
// Always inlined: there is one orchestrator without and one with a probe, and a call for each argument would show.
#[inline(always)]
pub(crate) fn encode_tensor(words: &mut [u64], view: &TensorView, placed: Placed) -> usize {
    let Placed { access, split, space, base, offset } = placed;
    let dims = view.dims();
    let used = TENSOR_WORDS + dims.len();
    let (head_words, dim_words) = words[..used].split_at_mut(TENSOR_WORDS);
    let mut head = tensor_head(view.signature(), access, split);
    if split != NO_SPLIT && dims[..split as usize].iter().any(|d| d.len != 1) {
        head &= !FLAG_CONTIGUOUS;
    }
    head_words.copy_from_slice(&[head, tensor_place(space, base), offset]);
    let word = |dim: &Dim| dim.len as u64 | (dim.stride as u64) << 32;
    match (dim_words, dims) {
        // Nearly every tensor: without a loop, whose set-up costs more than its work.
        ([first], [dim]) => *first = word(dim),
        ([first, second], [outer, inner]) => (*first, *second) = (word(outer), word(inner)),
        (words, dims) => words.iter_mut().zip(dims).for_each(|(to, dim)| *to = word(dim)),
    }
    used
}

/// Moves the tensor of a record, written by `encode_tensor`, to another base in its space.
pub(crate) fn move_tensor(words: &mut [u64], base: u64) {
    let (Record::Tensor(record), _) = decode(words) else { unreachable!("the caller decoded a tensor") };
    let (space, offset) = (record.space, record.offset - record.base + base);
    words[1] = tensor_place(space, base);
    words[2] = offset;
}

/// Changes the value of a scalar record, written by `encode_scalar`.
pub(crate) fn set_scalar(words: &mut [u64], scalar: Scalar) {
    words[1] = scalar.bits();
}

/// The most words of the record of a simple tensor.
pub(crate) const SIMPLE_WORDS: usize = tensor_words(2);

/// As `encode_tensor`, for a whole, contiguous tensor of at most two dimensions that is not split, at a known place. One of
/// fewer dimensions has fewer words; those after them mean nothing.
#[inline(always)]
pub(crate) fn encode_simple(
    words: &mut [u64; SIMPLE_WORDS],
    view: &TensorView,
    access: Access,
    [place, base]: [u64; 2],
) -> usize {
    let word = |dim: Dim| dim.len as u64 | (dim.stride as u64) << 32;
    let ([outer, inner], signature) = (view.first_dims(), view.signature());
    *words = [tensor_head(signature, access, NO_SPLIT), place, base, word(outer), word(inner)];
    TENSOR_WORDS + (signature & 0xff) as usize
}

/// Makes a tensor record, written by `encode_tensor`, one that the kernel may only read.
pub(crate) fn make_read_only(words: &mut [u64]) {
    words[0] |= FLAG_READ_ONLY;
}

/// Writes a scalar record. Gives the words used.
#[inline]
pub(crate) fn encode_scalar(words: &mut [u64], scalar: Scalar) -> usize {
    words[0] = KIND_SCALAR | (scalar.dtype() as u64) << DTYPE_SHIFT;
    words[1] = scalar.bits();
    SCALAR_WORDS
}

/// The arguments of one block, handed to its kernel one after another.
///
/// Each argument can be taken once, so two borrows of one argument cannot exist; different arguments of a
/// task do not overlap where one is written (checked at submit).
pub struct Args<'a> {
    words: &'a [u64],
    spaces: &'a Spaces,
    block: BlockIndex,
    blocks: u32,
}

/// What a kernel wants of a tensor argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// To read it.
    Read,
    /// To write it, and no other block does.
    Alone,
    /// To write it beside other blocks.
    Shared,
}

/// A tensor argument on its way into a kernel: an address and the dimensions of this block's part.
pub(crate) struct Part {
    pub(crate) base: *mut u8,
    pub(crate) dims: [Dim; MAX_RANK],
    pub(crate) rank: usize,
}

impl Part {
    pub(crate) fn elements(&self) -> usize {
        self.dims[..self.rank].iter().map(|d| d.len as usize).product()
    }
}

impl<'a> Args<'a> {
    /// # Safety
    /// The records were written by `encode_*` for these spaces from checked views; for `'a` the bytes are
    /// ordered against all other accesses as their access says, and no other `Args` of this block exists.
    #[inline]
    pub(crate) unsafe fn new(words: &'a [u64], spaces: &'a Spaces, block: BlockIndex, blocks: u32) -> Self {
        Args { words, spaces, block, blocks }
    }

    /// Takes the addresses of arguments from these spaces, where the same bytes are.
    #[inline(always)]
    pub(crate) fn move_to(&mut self, spaces: &'a Spaces) {
        self.spaces = spaces;
    }

    /// The next argument as a value of type `P`; an error if it is something else.
    #[inline]
    pub fn take<P: KernelParam<'a>>(&mut self) -> Result<P, KernelError> {
        P::take(self)
    }

    /// Index of this block, from 0.
    pub fn block(&self) -> BlockIndex {
        self.block
    }

    /// Number of blocks of the task.
    pub fn block_count(&self) -> u32 {
        self.blocks
    }

    /// All arguments not yet taken; none is left here.
    pub(crate) fn take_rest(&mut self) -> Args<'a> {
        Args { words: core::mem::take(&mut self.words), ..*self }
    }

    /// Number of arguments not yet taken.
    pub(crate) fn count(&self) -> usize {
        all_records(self.words).count()
    }

    /// Takes the first `used` words.
    #[inline(always)]
    pub(crate) fn advance(&mut self, used: usize) {
        self.words = &self.words[used..];
    }

    /// The records not yet taken.
    pub(crate) fn words(&self) -> &'a [u64] {
        self.words
    }

    /// The tensor records not yet taken.
    pub(crate) fn records(&self) -> impl Iterator<Item = TensorRecord<'a>> + use<'a> {
        tensor_records(self.words)
    }

    #[inline]
    pub(crate) fn next_scalar(&mut self, dtype: DType) -> Result<u64, KernelError> {
        let wanted = KIND_SCALAR | (dtype as u64) << DTYPE_SHIFT;
        match self.words {
            [head, bits, rest @ ..] if *head == wanted => {
                self.words = rest;
                Ok(*bits)
            }
            _ => Err(mismatch("a scalar", dtype)),
        }
    }

    #[inline]
    pub(crate) fn next_tensor(
        &mut self,
        dtype: DType,
        contiguous: bool,
        wants: Wants,
    ) -> Result<Part, KernelError> {
        let head = *self.words.first().ok_or_else(|| mismatch("a tensor", dtype))?;
        if head & KIND_AND_DTYPE != KIND_TENSOR | (dtype as u64) << DTYPE_SHIFT {
            return Err(mismatch("a tensor", dtype));
        }
        let (Record::Tensor(record), used) = decode(self.words) else {
            return Err(mismatch("a tensor", dtype));
        };
        if contiguous && head & FLAG_CONTIGUOUS == 0 {
            return Err(mismatch("a contiguous tensor", dtype));
        }
        if wants != Wants::Read && (record.access() == Access::Input || head & FLAG_READ_ONLY != 0) {
            return Err(mismatch("a written tensor", dtype));
        }
        if wants == Wants::Alone && self.blocks > 1 && record.split() == NO_SPLIT {
            return Err(mismatch("a part of its own", dtype));
        }
        self.words = &self.words[used..];
        Ok(self.part(&record))
    }

    /// Where this block's part of a split dimension starts, and how long it is: equal parts, the last ones shorter or empty.
    #[inline]
    pub(crate) fn part_of(&self, len: u32) -> (u32, u32) {
        let each = len.div_ceil(self.blocks);
        let start = each.saturating_mul(self.block.0).min(len);
        (start, each.min(len - start))
    }

    /// This block's part of a tensor record.
    #[inline]
    pub(crate) fn part(&self, record: &TensorRecord<'_>) -> Part {
        let rank = record.dims.len();
        let mut dims = [Dim::default(); MAX_RANK];
        dims[..rank].copy_from_slice(record.dims);
        let mut offset = record.offset;
        if record.split() != NO_SPLIT {
            let dim = &mut dims[record.split() as usize];
            let (start, len) = self.part_of(dim.len);
            // An empty part is at the view's own start: one past its last row may be outside of the space.
            let start = if len == 0 { 0 } else { start };
            offset += start as u64 * dim.stride as u64 * record.dtype().size_bytes() as u64;
            dim.len = len;
        }
        let space = self.spaces.0[record.space as usize];
        // The view was checked against its tensor at submit and the tensor is inside the space; the part's first element
        // (of an empty part the view's) is one of the view's. Not `add`: the host may not see an allocation there.
        Part { base: space.base.wrapping_add(offset as usize), dims, rank }
    }
}

#[cold]
fn mismatch(wanted: &str, dtype: DType) -> KernelError {
    KernelError::new(format_args!(
        "the kernel takes {wanted} of {dtype} here, the argument is something else"
    ))
}
