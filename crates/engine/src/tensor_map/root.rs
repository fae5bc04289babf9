//! A tensor as the map knows it: where it is, and the accesses to all of it.

#![forbid(unsafe_code)]

use super::whole::Readers;
use super::{NONE, Stamp};
use crate::api::args::{space_of, tensor_place};
use crate::api::buffers::Permission;
use crate::api::tensor::TensorTag;

/// A tensor.
#[derive(Clone, Copy, Debug)]
pub struct Root {
    pub(crate) tag: TensorTag,
    /// What the record of an argument says that is the whole tensor, after its first word: where the tensor is.
    pub(super) place: [u64; 2],
    pub(crate) permission: Permission,
    /// The last submit that had it as an argument, by its mark: a second argument of the same task shows.
    pub(super) submit: u32,
    /// The last task that wrote all of it, up to two that read all of it since, and more of those.
    pub(super) writer: Stamp,
    pub(super) readers: [Stamp; 2],
    pub(super) more: Readers,
    /// First access of each list: `[write, read] × [whole, part]`.
    pub(super) heads: [u32; 4],
    /// Where its parts are filed.
    pub(super) parts: u32,
    /// The next root of the same task.
    pub(super) next: u32,
}

impl Root {
    pub(super) fn new(tag: TensorTag, space: u32, base: u64, permission: Permission, next: u32) -> Self {
        Root {
            tag,
            place: [tensor_place(space, base), base],
            permission,
            submit: 0,
            writer: Stamp::NOBODY,
            readers: [Stamp::NOBODY; 2],
            more: Readers::NONE,
            heads: [NONE; 4],
            parts: NONE,
            next,
        }
    }
}

impl Root {
    /// The tensor's space.
    pub(crate) fn space(&self) -> u32 {
        space_of(self.place[0])
    }

    /// Where the tensor starts in its space.
    #[inline]
    pub(crate) fn base(&self) -> u64 {
        self.place[1]
    }
}
