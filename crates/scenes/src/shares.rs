//! Programs that several chips run together, each with its share of every step.
//!
//! The [parts](crate::Parts) of a program need nothing of each other. Shares do: a step needs what all chips computed in the
//! one before it. So a step either runs on every chip, with the chip's own rows of some tensors, or on one chip, or adds up
//! what every chip computed. This is how models too large for one chip are run (tensor parallelism).

use ringlane_engine::prelude::*;

use crate::error::SceneResult;

/// What chips run together with: the program's data, laid out for a number of chips.
#[derive(Debug)]
pub struct SharedData {
    /// The buffers of the tensors.
    pub buffers: Buffers<'static>,
    /// The tensors, in the order in which steps name them.
    pub tensors: Vec<SharedTensor>,
}

/// One of these tensors.
#[derive(Clone, Copy, Debug)]
pub struct SharedTensor {
    /// Its buffer.
    pub buffer: BufferId,
    /// Whether it has one row for each chip, along its first axis.
    pub is_divided: bool,
}

/// Numbers of tensors in [`SharedData`].
pub type Numbers = &'static [usize];

/// A step of a program that chips run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Every chip runs its share: it gets its own row of each divided tensor, and writes some tensors.
    Each {
        /// What is written: divided tensors only.
        written: Numbers,
    },
    /// One chip runs it, with whole tensors.
    One {
        /// What is written.
        written: Numbers,
    },
    /// `total` += the sum over the rows of `partial`, in their order, all of f32. Then `partial` is zero.
    AllReduce {
        /// The divided tensor.
        partial: usize,
        /// The sum.
        total: usize,
    },
}

/// Which share of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The chip's number.
    pub chip: u32,
    /// How many chips there are.
    pub chips: u32,
}

/// A program that several chips run together.
pub trait Shares {
    /// Refuses a number of chips that the program cannot be divided among.
    fn check(&self, chips: u32) -> SceneResult<()>;
    /// Lays the program's data out for this many chips.
    fn divide(&self, chips: u32, data: &Buffers<'_>) -> Result<SharedData>;
    /// The number of steps.
    fn steps(&self) -> u32;
    /// A step.
    fn step(&self, step: u32) -> Step;
    /// What a step is called in recordings.
    fn label(&self, step: u32) -> String;
    /// Submits the tasks of a step. In a step of [`Step::Each`], `tensors` has the chip's own row of each divided tensor.
    fn orchestrate_share<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        step: u32,
        share: Share,
        tensors: &[Tensor<'s>],
    ) -> Result<()>;
    /// Copies the results back to where a run on one chip leaves them.
    fn collect(&self, chips: u32, shared: &SharedData, data: &mut Buffers<'_>) -> Result<()>;
}
