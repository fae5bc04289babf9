//! The in-order oracle: runs every submit at once, one after another, on the calling thread.
//!
//! It is what the one-sentence promise is measured against: the engine must leave the same bytes, fail and skip
//! the same tasks. It shares nothing with the engine but the kernels and the argument records, keeps every
//! tensor for ever and tracks poison byte by byte.
//!
//! ```
//! use ringlane_engine::prelude::*;
//! kernel! { static ONE = any fn(x: &mut [f32]) { x.fill(1.0); } }
//! let mut data = Buffers::new();
//! let x = data.add(&[2], &[0.0f32; 2])?;
//! ringlane_engine::oracle::run(&mut data, |o| { let x = o.external(x)?; o.submit(&ONE, [x.write()]).map(drop) })?;
//! assert_eq!(data.get::<f32>(x)?, [1.0, 1.0]);
//! # Ok::<(), ringlane_engine::Error>(())
//! ```

use ringlane_task::{Access, BlockIndex, RingIndex, TaskId, TensorView};

use crate::api::arg::ArgKind;
use crate::api::args::{Placed, encode_scalar, encode_tensor, make_read_only, tensor_words};
use crate::api::backend::{Backend, Call, Contents, Inference, Reading, Site};
use crate::api::buffers::{BufferId, Buffers, Permission};
use crate::api::kernel::KernelError;
use crate::api::orch::Orch;
use crate::api::tensor::{RunNumber, TaskHandle, TensorRef, TensorTag};
use crate::block::BlockRun;
use crate::fault::{Fault, Result, TaskFailure};
use crate::limits::SCOPE_DEPTH_MAX;
use crate::live_runs::LiveRun;
use crate::memory::{DirectMemory, RunMemory, Space, Spaces};
use crate::submit::check::{check_call, writes};

/// What became of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It ran.
    Done,
    /// Its kernel failed.
    Failed(String),
    /// It needed bytes that a failed task would have written.
    Skipped,
}

/// Runs an orchestration in order.
pub fn run<'e, R>(
    buffers: &'e mut Buffers<'_>,
    f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
) -> Result<R> {
    run_with_fates(buffers, f).0
}

/// Runs an orchestration in order and reports what became of each task, in submission order.
pub fn run_with_fates<'e, R>(
    buffers: &'e mut Buffers<'_>,
    f: impl for<'r> FnOnce(&mut Orch<'r, 'e>) -> Result<R>,
) -> (Result<R>, Vec<Fate>) {
    crate::panics::note_panics();
    let mut oracle = match Oracle::new(buffers) {
        Ok(oracle) => oracle,
        Err(error) => return (Err(error), Vec::new()),
    };
    let result = Orch::on(&mut oracle, f);
    let failure = oracle.failure.take();
    (result.and_then(|value| failure.map_or(Ok(value), |f| Err(Fault::TaskFailed(f).into()))), oracle.fates)
}

struct OracleTensor {
    view: TensorView,
    permission: Permission,
    poisoned: Vec<bool>,
}

struct Oracle<'e, 'd> {
    run: LiveRun,
    buffers: &'e Buffers<'d>,
    spaces: Spaces,
    tensors: Vec<OracleTensor>,
    owned: Vec<Box<[u128]>>,
    fates: Vec<Fate>,
    failure: Option<TaskFailure>,
    sites: Vec<Site>,
}

impl<'e, 'd> Oracle<'e, 'd> {
    fn new(buffers: &'e mut Buffers<'d>) -> Result<Self> {
        buffers.begin_run();
        let tensors = (0..buffers.len()).map(|i| {
            let (view, permission) = buffers.entry(i);
            OracleTensor { view, permission, poisoned: vec![false; view.span_bytes() as usize] }
        });
        Ok(Oracle {
            run: LiveRun::begin()?,
            spaces: Spaces(buffers.spaces().collect()),
            tensors: tensors.collect(),
            buffers,
            owned: Vec::new(),
            fates: Vec::new(),
            failure: None,
            sites: Vec::new(),
        })
    }

    fn make(&mut self, view: TensorView) -> TensorRef {
        let mut memory = vec![0u128; view.bytes().div_ceil(16) as usize + 4].into_boxed_slice();
        let base = memory.as_mut_ptr().cast::<u8>();
        let base = base.wrapping_add(base.align_offset(64));
        self.owned.push(memory);
        self.spaces.0.push(Space { base, bytes: view.bytes() });
        let poisoned = vec![false; view.bytes() as usize];
        self.tensors.push(OracleTensor { view, permission: Permission::ReadWrite, poisoned });
        self.tensor(self.tensors.len() - 1)
    }

    /// The handle of a tensor.
    fn tensor(&self, index: usize) -> TensorRef {
        TensorRef { id: index as u32, tag: TensorTag::first(self.run.number()) }
    }

    fn poisoned(&self, tensor: u32, view: &TensorView) -> bool {
        let poison = &self.tensors[tensor as usize].poisoned;
        let mut found = false;
        view.for_each_run(|start, bytes| {
            found |= poison[start as usize..(start + bytes) as usize].contains(&true)
        });
        found
    }

    fn set_poison(&mut self, tensor: u32, view: &TensorView, value: bool) {
        let poison = &mut self.tensors[tensor as usize].poisoned;
        view.for_each_run(|start, bytes| poison[start as usize..(start + bytes) as usize].fill(value));
    }

    /// Writes the argument records; gives them and, per tensor, what the task does to which bytes.
    fn encode(
        &mut self,
        call: &Call<'_>,
        outs: &mut [TensorRef],
    ) -> (Vec<u64>, Vec<(u32, TensorView, Access)>) {
        let (mut words, mut touched, mut made) = (Vec::new(), Vec::new(), 0);
        for (i, arg) in call.args.iter().enumerate() {
            let (tensor, view, access, split) = match arg.kind {
                ArgKind::Tensor { tensor, view, access, split } => (tensor, view, access, split),
                ArgKind::Output { view, split } => {
                    outs[made] = self.make(view);
                    made += 1;
                    (outs[made - 1], view, Access::Output, split)
                }
                ArgKind::Bad(_) => unreachable!("check_call refuses it"),
                ArgKind::Scalar(scalar) | ArgKind::Param(scalar, _) => {
                    let mut record = [0; 2];
                    encode_scalar(&mut record, scalar);
                    words.extend(record);
                    continue;
                }
            };
            let mut record = vec![0; tensor_words(view.rank())];
            let offset = view.offset_bytes();
            encode_tensor(&mut record, &view, Placed { access, split, space: tensor.id, base: 0, offset });
            if access == Access::NoDep && !writes(call, i, access) {
                make_read_only(&mut record);
            }
            words.extend(record);
            touched.push((tensor.id, view, access));
        }
        (words, touched)
    }

    fn execute(&self, call: &Call<'_>, words: &[u64]) -> Fate {
        let blocks = call.launch.block_count();
        let has_outputs = call.args.iter().any(|arg| matches!(arg.kind, ArgKind::Output { .. }));
        let (mixed, mut skip) = (call.launch.single().is_none(), 0);
        let mut fate = Fate::Done;
        for kernel in call.launch.kernels() {
            for block in (0..blocks).map(BlockIndex) {
                let memory = RunMemory { memory: DirectMemory, spaces: &self.spaces };
                let run = BlockRun { kernel, words, memory, mixed, skip, block, blocks, has_outputs };
                // SAFETY: the records were just written from checked arguments, and nothing else runs.
                if let (Err(error), Fate::Done) = (unsafe { run.run(KernelError::new) }, &fate) {
                    fate = Fate::Failed(error.0);
                }
            }
            skip += kernel.arity();
        }
        fate
    }

    fn settle(&mut self, call: &Call<'_>, fate: Fate, touched: &[(u32, TensorView, Access)]) {
        for (tensor, view, access) in touched.iter().filter(|t| t.2.writes()) {
            match (&fate, access) {
                (Fate::Done, Access::InOut) => {}
                (Fate::Done, _) => self.set_poison(*tensor, view, false),
                _ => self.set_poison(*tensor, view, true),
            }
        }
        if let (Fate::Failed(cause), None) = (&fate, &self.failure) {
            let scope_site = self.sites.last().map_or("run", |s| s.file()).to_string();
            self.failure = Some(TaskFailure {
                task: TaskId::new(RingIndex(0), self.fates.len() as u32),
                kernel: call.launch.kernels().map(|k| k.name()).collect::<Vec<_>>().join(" + "),
                label: call.launch.annotations.label().map(str::to_string),
                site: call.site.to_string(),
                scope_site,
                cause: cause.clone(),
                failed: 1,
                skipped: 0,
            });
        }
        self.fates.push(fate);
    }

    /// Refuses handles of other runs.
    fn check_handles(&self, call: &Call<'_>) -> Result<()> {
        for arg in call.args {
            if let ArgKind::Tensor { tensor, .. } = &arg.kind {
                self.check_run("a tensor", tensor.tag.run())?;
            }
        }
        call.after.iter().try_for_each(|task| self.check_run("a task", task.run()))
    }

    fn check_run(&self, what: &'static str, of: RunNumber) -> Result<()> {
        let run = self.run.number();
        if of == run { Ok(()) } else { Err(Fault::ForeignHandle { what, of, run }.into()) }
    }

    /// The handle of the task that was submitted last.
    fn last_task(&self) -> TaskHandle {
        TaskHandle::new(self.run.number(), TaskId(self.fates.len() as u64 - 1))
    }

    fn check_permissions(&self, call: &Call<'_>) -> Result<()> {
        for (arg, given) in call.args.iter().enumerate() {
            let ArgKind::Tensor { tensor, access, .. } = &given.kind else { continue };
            let permission = self.tensors[tensor.id as usize].permission;
            if permission == Permission::Read && writes(call, arg, *access) {
                let kernel = call.launch.first_name().to_string();
                return Err(Fault::ReadOnly { kernel, arg }.into());
            }
        }
        Ok(())
    }
}

impl Backend for Oracle<'_, '_> {
    fn submit(&mut self, call: &Call<'_>, outs: &mut [TensorRef]) -> Result<TaskHandle> {
        check_call(call)?;
        self.check_handles(call)?;
        self.check_permissions(call)?;
        let (words, touched) = self.encode(call, outs);
        let poisoned =
            touched.iter().any(|(tensor, view, access)| access.reads() && self.poisoned(*tensor, view));
        let follows_failed = call.after.iter().any(|t| self.fates[t.task().0 as usize] != Fate::Done);
        let fate = if poisoned || follows_failed { Fate::Skipped } else { self.execute(call, &words) };
        self.settle(call, fate, &touched);
        Ok(self.last_task())
    }

    fn alloc(&mut self, view: TensorView, contents: Contents<'_>, _site: Site) -> Result<TensorRef> {
        self.fates.push(Fate::Done);
        let tensor = self.make(view);
        if let Contents::Host(bytes) = contents {
            let Space { base, bytes: room } = self.spaces.0[tensor.id as usize];
            assert_eq!(bytes.len() as u64, room, "as many bytes as the tensor has");
            // SAFETY: the tensor was just made, as large as the bytes, and nothing else runs.
            unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), base, bytes.len()) };
        }
        Ok(tensor)
    }

    fn barrier(&mut self, _site: Site) -> Result<TaskHandle> {
        self.fates.push(Fate::Done);
        Ok(self.last_task())
    }

    fn enter_scope(&mut self, site: Site, _inference: Inference) -> Result<()> {
        // The root scope counts, and is not among them.
        if self.sites.len() + 1 == SCOPE_DEPTH_MAX {
            return Err(Fault::TooDeep { limit: SCOPE_DEPTH_MAX, site: site.to_string() }.into());
        }
        self.sites.push(site);
        Ok(())
    }

    fn label_scope(&mut self, _label: &str) {}

    fn exit_scope(&mut self) -> Result<()> {
        self.sites.pop();
        Ok(())
    }

    fn mark(&mut self, _args: &[u16]) {}

    fn read(
        &mut self,
        tensor: TensorRef,
        view: &TensorView,
        how: Reading,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        self.check_run("a tensor", tensor.tag.run())?;
        if self.poisoned(tensor.id, view) {
            let failure = self.failure.clone().expect("bytes are poisoned only by a failure");
            return Err(Fault::TaskFailed(failure).into());
        }
        let base = self.spaces.0[tensor.id as usize].base;
        if how == Reading::InPlace && !view.is_contiguous() {
            return Err(Fault::NotInOnePiece { bytes: view.bytes() }.into());
        }
        view.for_each_run(|start, len| {
            // SAFETY: the view was checked against its tensor; nothing else runs.
            sink(unsafe { core::slice::from_raw_parts(base.add(start as usize), len as usize) });
        });
        Ok(())
    }

    fn external(&mut self, buffer: BufferId) -> Result<(TensorRef, TensorView)> {
        let index = self.buffers.index_of(buffer)?;
        Ok((self.tensor(index), self.tensors[index].view))
    }
}
