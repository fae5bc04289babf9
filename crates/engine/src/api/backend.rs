//! The narrow door between a user's orchestration and whatever runs it.
//!
//! [`Orch`](super::orch::Orch) has no type parameters, so that scenes can be plain function pointers; the one
//! indirect call per submit is this trait. Everything below it is generic over chip and probe.

#![forbid(unsafe_code)]

use core::panic::Location;

use ringlane_task::TensorView;

use super::arg::Arg;
use super::buffers::BufferId;
use super::launch::Launch;
use super::tensor::{TaskHandle, TensorRef};
use crate::fault::Result;

/// Where in the user's source something was asked for.
pub type Site = &'static Location<'static>;

/// Whether a scope's tasks get their dependencies inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inference {
    /// As outside of it.
    Inherit,
    /// Off: only explicit edges order the tasks inside.
    Off,
}

/// What an orchestration can ask of the runtime that runs it.
pub trait Backend {
    /// Submits a task; `outs[i]` receives the tensor of its output `i`, outputs counted from 0.
    fn submit(&mut self, submission: &Call<'_>, outs: &mut [TensorRef]) -> Result<TaskHandle>;
    /// Makes a tensor that lives as long as the current scope.
    fn alloc(&mut self, view: TensorView, contents: Contents<'_>, site: Site) -> Result<TensorRef>;
    /// A task that runs after everything submitted so far in the scope and before everything after it.
    fn barrier(&mut self, site: Site) -> Result<TaskHandle>;
    /// Opens a scope.
    fn enter_scope(&mut self, site: Site, inference: Inference) -> Result<()>;
    /// Ends the innermost scope. Never fails to end it; an error is one that the scope's code must see.
    fn exit_scope(&mut self) -> Result<()>;
    /// Gives the innermost scope a label.
    fn label_scope(&mut self, label: &str);
    /// Asks for arguments of the next submit, by index, to be captured.
    fn mark(&mut self, args: &[u16]);
    /// Waits for the writers of a view, then hands its bytes to `sink`: to be copied, in logical order and in pieces, or where
    /// they are, in one piece.
    fn read(
        &mut self,
        tensor: TensorRef,
        view: &TensorView,
        how: Reading,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()>;
    /// The orchestration's own work takes `ticks` ticks of a modelled chip.
    fn advance_time(&mut self, _ticks: u64) {}
    /// The tensor of an external buffer.
    fn external(&mut self, buffer: BufferId) -> Result<(TensorRef, TensorView)>;
}

/// What a tensor that no kernel makes holds at first.
#[derive(Clone, Copy, Debug)]
pub enum Contents<'a> {
    /// Zeros.
    Zeros,
    /// The orchestration's own bytes, as many as the tensor has.
    Host(&'a [u8]),
}

/// How the orchestration gets at values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// They are copied out.
    Copy,
    /// It reads them where they are.
    InPlace,
}

/// One submit, as the backend sees it.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// What to run.
    pub launch: &'a Launch<'a>,
    /// Its arguments, in order.
    pub args: &'a [Arg<'a>],
    /// Tasks it follows by explicit edges.
    pub after: &'a [TaskHandle],
    /// Where it was asked for.
    pub site: Site,
}
