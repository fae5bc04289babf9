//! What a submit gives back: the task, and the tensors it makes.

use core::mem::MaybeUninit;

use super::tensor::{Task, TaskHandle, Tensor};

/// A submitted task and the tensors it makes.
pub struct Submitted<'s, const N: usize> {
    pub(super) task: TaskHandle,
    pub(super) outs: [MaybeUninit<Tensor<'s>>; N],
    pub(super) made: usize,
}

impl<'s, const N: usize> Submitted<'s, N> {
    /// The tensor of output `index` of the submit, outputs counted from 0.
    /// Panics if the submit has fewer.
    #[track_caller]
    pub fn out(&self, index: usize) -> Tensor<'s> {
        assert!(index < self.made, "output {index} of a submit that makes {}", self.made);
        // SAFETY: the first `made` elements were written.
        unsafe { self.outs[index].assume_init() }
    }

    /// The task itself, for explicit edges.
    pub fn task(&self) -> Task<'s> {
        Task::new(self.task)
    }
}

/// A submitted task with arguments from a slice, and the tensors it makes.
pub struct SubmittedSlice<'s> {
    pub(super) task: TaskHandle,
    pub(super) outs: Vec<Tensor<'s>>,
}

impl<'s> SubmittedSlice<'s> {
    /// The tensor of output `index` of the submit, outputs counted from 0.
    /// Panics if the submit has fewer.
    #[track_caller]
    pub fn out(&self, index: usize) -> Tensor<'s> {
        assert!(index < self.outs.len(), "output {index} of a submit that makes {}", self.outs.len());
        self.outs[index]
    }

    /// The task itself, for explicit edges.
    pub fn task(&self) -> Task<'s> {
        Task::new(self.task)
    }
}
