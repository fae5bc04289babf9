//! Runs a program's operations on an orchestrator, that of the oracle or that of the engine.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use ringlane_engine::prelude::*;
use ringlane_task::{Access, Scalar};

use super::dispatch::{dispatch, take};
use super::kernels::Value;
use super::ledger::{Ledger, Take};
use super::program::{ArgSpec, Meta, Op, Place, Step, Submit, walk};
use super::raw::{manual_scope, no_dep};
use super::rng::scramble;

/// What is bound at one place of a program.
#[derive(Clone, Default)]
pub(crate) struct Env<'s> {
    pub(crate) tensors: Vec<(u32, Tensor<'s>)>,
    tasks: Vec<(u32, Task<'s>)>,
}

/// The newest thing of this name.
fn named<T: Copy>(list: &[(u32, T)], name: u32) -> Option<T> {
    list.iter().rev().find(|(n, _)| *n == name).map(|(_, thing)| *thing)
}

/// At which submit a run is interrupted, and how.
pub(crate) type Interrupt = (u32, Box<dyn Fn()>);

/// One interpretation.
pub(crate) struct Interpreter<'i> {
    /// Every value read back and every refusal, in order.
    pub(crate) log: Vec<String>,
    /// Submits, allocs and barriers tried so far, refused ones too.
    pub(crate) attempts: u32,
    /// Attempts to leave out: those that the engine refused.
    pub(crate) leave_out: &'i BTreeSet<u32>,
    /// Attempts that did not fit, if the program goes on without them.
    pub(crate) refused: BTreeSet<u32>,
    pub(crate) tolerant: bool,
    /// The refusal that ended the program; a task that failed earlier outranks it in the run's own answer.
    pub(crate) refusal: Option<Error>,
    /// Interrupts the run at this attempt.
    pub(crate) interrupt: Option<Interrupt>,
    pub(crate) ledger: Ledger,
    /// Mixed into every salt: what was read so far.
    salt: u64,
}

impl<'i> Interpreter<'i> {
    pub(crate) fn new(tolerant: bool, leave_out: &'i BTreeSet<u32>) -> Self {
        Interpreter {
            log: Vec::new(),
            attempts: 0,
            leave_out,
            refused: BTreeSet::new(),
            tolerant,
            refusal: None,
            interrupt: None,
            ledger: Ledger::new(),
            salt: 0,
        }
    }

    /// Runs operations of one scope.
    pub(crate) fn body<'s>(&mut self, o: &mut Orch<'s, '_>, env: &mut Env<'s>, ops: &[Op]) -> Result<()> {
        for op in ops {
            match op {
                Op::Submit(submit) => self.submit(o, env, submit)?,
                Op::Alloc { name, dtype, shape, upload } => self.alloc(o, env, *name, |o| match upload {
                    None => o.alloc(*dtype, shape),
                    Some(salt) => uploaded(o, *dtype, shape, *salt),
                })?,
                Op::Barrier { name } => _ = self.barrier(o, env, *name)?,
                Op::Scope { body } => {
                    self.ledger.enter();
                    o.scope(|o| self.body(o, &mut env.clone(), body))?;
                    self.ledger.exit();
                }
                Op::Manual { fence, body } => self.manual(o, env, *fence, body)?,
                Op::Repeat { times, body } => {
                    for _ in 0..*times {
                        self.inline(o, env, body)?;
                    }
                }
                Op::Branch { from, strict, then, otherwise } => {
                    let Some(value) = self.read(o, env, from, *strict)? else { continue };
                    self.salt = scramble(self.salt ^ value);
                    self.inline(o, env, if value % 3 > 0 { then } else { otherwise })?;
                }
                Op::Stop => return Err(Error::user("planned stop")),
                Op::Panic => panic!("planned panic"),
            }
        }
        Ok(())
    }

    /// Runs operations in the same scope; what they name is forgotten afterwards.
    fn inline<'s>(&mut self, o: &mut Orch<'s, '_>, env: &mut Env<'s>, ops: &[Op]) -> Result<()> {
        let (tensors, tasks) = (env.tensors.len(), env.tasks.len());
        self.body(o, env, ops)?;
        env.tensors.truncate(tensors);
        env.tasks.truncate(tasks);
        Ok(())
    }

    fn manual<'s>(
        &mut self,
        o: &mut Orch<'s, '_>,
        env: &mut Env<'s>,
        fence: Option<u32>,
        body: &[Op],
    ) -> Result<()> {
        if let Some(fence) = fence
            && !self.barrier(o, env, fence)?
        {
            return Ok(());
        }
        self.ledger.enter();
        manual_scope(o, |o| self.body(o, &mut env.clone(), body))?;
        self.ledger.exit();
        Ok(())
    }

    /// Counts an attempt; false if it is to be left out.
    fn attempt(&mut self) -> bool {
        self.attempts += 1;
        if let Some((at, interrupt)) = &self.interrupt
            && *at + 1 == self.attempts
        {
            interrupt();
        }
        !self.leave_out.contains(&self.attempts)
    }

    /// What an attempt gave: `None` if it was refused and the program goes on.
    fn outcome<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        let error = match result {
            Ok(value) => return Ok(Some(value)),
            Err(error) => error,
        };
        match error.fault() {
            Fault::TaskTooLarge { .. } if self.tolerant => _ = self.refused.insert(self.attempts),
            Fault::TaskTooLarge { .. } => {
                self.refusal = Some(error.clone());
                return Err(error);
            }
            Fault::FlowControlDeadlock(_) | Fault::Interrupted { .. } => return Err(error),
            _ => self.log.push(format!("attempt {}: {}", self.attempts, error.name())),
        }
        Ok(None)
    }

    fn alloc<'s>(
        &mut self,
        o: &mut Orch<'s, '_>,
        env: &mut Env<'s>,
        name: u32,
        make: impl FnOnce(&mut Orch<'s, '_>) -> Result<Tensor<'s>>,
    ) -> Result<()> {
        if !self.attempt() {
            return Ok(());
        }
        let result = make(o);
        if let Some(tensor) = self.outcome(result)? {
            let mut take = Take { entries: 1, ..Take::default() };
            take.tensor(tensor.view().bytes());
            self.ledger.submit(take);
            env.tensors.push((name, tensor));
        }
        Ok(())
    }

    fn barrier<'s>(&mut self, o: &mut Orch<'s, '_>, env: &mut Env<'s>, name: u32) -> Result<bool> {
        if !self.attempt() {
            return Ok(false);
        }
        let result = o.barrier();
        let task = self.outcome(result)?;
        if task.is_some() {
            self.ledger.submit(Take::default());
        }
        env.tasks.extend(task.map(|task| (name, task)));
        Ok(task.is_some())
    }

    fn read<'s>(
        &mut self,
        o: &mut Orch<'s, '_>,
        env: &Env<'s>,
        from: &Place,
        strict: bool,
    ) -> Result<Option<u64>> {
        let Some(view) = view_of(env, from) else { return Ok(None) };
        let result = match view.dtype() {
            DType::UInt8 => hash::<u8>(o, view),
            DType::Int16 => hash::<i16>(o, view),
            DType::UInt32 => hash::<u32>(o, view),
            DType::UInt64 => hash::<u64>(o, view),
            _ => hash::<f32>(o, view),
        };
        match result {
            Ok(value) => {
                self.log.push(format!("read {value:x}"));
                Ok(Some(value))
            }
            Err(error) if matches!(error.fault(), Fault::TaskFailed(_)) && !strict => {
                self.log.push("read of what failed".to_string());
                Ok(Some(1))
            }
            Err(error) => Err(error),
        }
    }

    fn submit<'s>(&mut self, o: &mut Orch<'s, '_>, env: &mut Env<'s>, submit: &Submit) -> Result<()> {
        let after: Option<Vec<_>> = submit.after.iter().map(|&name| named(&env.tasks, name)).collect();
        let args: Option<Vec<_>> = submit.args.iter().map(|arg| self.arg(env, arg)).collect();
        let (Some(after), Some(args)) = (after, args) else { return Ok(()) };
        if !self.attempt() {
            return Ok(());
        }
        let result = dispatch(o, &after, submit, &args);
        let Some((task, outs)) = self.outcome(result)? else { return Ok(()) };
        self.ledger.submit(take(submit, env, &outs));
        let names = submit.args.iter().filter_map(|arg| match arg {
            ArgSpec::Out { name, .. } => Some(*name),
            _ => None,
        });
        env.tensors.extend(names.zip(outs));
        env.tasks.push((submit.name, task));
        Ok(())
    }

    fn arg<'s>(&self, env: &Env<'s>, arg: &ArgSpec) -> Option<Arg<'s>> {
        let (arg, split) = match arg {
            ArgSpec::Tensor { place, access, split } => {
                let view = view_of(env, place)?;
                let arg = match access {
                    Access::Input => view.read(),
                    Access::InOut => view.inout(),
                    Access::NoDep => no_dep(view),
                    _ => view.write(),
                };
                (arg, *split)
            }
            ArgSpec::Out { dtype, shape, split, .. } => (out(*dtype, shape), *split),
            ArgSpec::Scalar { dtype, bits } => (typed_scalar(*dtype, *bits), None),
            ArgSpec::Meta(meta) => {
                let salt = meta.salt ^ (self.salt as u32 & 0xff_ffff) ^ self.attempts;
                (scalar(Meta { salt: salt & 0xff_ffff, ..*meta }.pack()), None)
            }
        };
        Some(split.map_or(arg, |axis| arg.split(axis)))
    }
}

pub(crate) fn view_of<'s>(env: &Env<'s>, place: &Place) -> Option<Tensor<'s>> {
    walk!(named(&env.tensors, place.tensor)?, &place.steps).ok()
}

/// A scalar of one of the types that the kernels take.
fn typed_scalar<'s>(dtype: DType, bits: u64) -> Arg<'s> {
    match dtype {
        DType::Float32 => scalar(bits as f32),
        DType::Int8 => scalar(bits as i8),
        DType::Bool => scalar(bits & 1 == 1),
        _ => scalar(bits as u16),
    }
}

/// A tensor of values that follow from a salt.
fn uploaded<'s>(o: &mut Orch<'s, '_>, dtype: DType, shape: &[u32], salt: u64) -> Result<Tensor<'s>> {
    fn of<'s, T: Value>(o: &mut Orch<'s, '_>, shape: &[u32], salt: u64) -> Result<Tensor<'s>> {
        let count = shape.iter().map(|&length| u64::from(length)).product();
        let values: Vec<T> = (0..count).map(|i| T::of(scramble(salt ^ i))).collect();
        o.upload(&values, shape)
    }
    match dtype {
        DType::UInt8 => of::<u8>(o, shape, salt),
        DType::Int16 => of::<i16>(o, shape, salt),
        DType::UInt32 => of::<u32>(o, shape, salt),
        DType::UInt64 => of::<u64>(o, shape, salt),
        _ => of::<f32>(o, shape, salt),
    }
}

fn hash<'s, T: Value>(o: &mut Orch<'s, '_>, view: Tensor<'s>) -> Result<u64> {
    let values = o.read::<T>(view)?;
    Ok(values.iter().fold(0, |hash, v| scramble(hash ^ Scalar::new(*v).bits())))
}
