//! Draws groups of tasks that belong together: very many of them, and those that answer for what is `unsafe`.
#![forbid(unsafe_code)]

use ringlane_task::{Access, DType};

use super::draw::{DEPTH_MAX, DTYPES, Draw};
use super::draw_args::Known;
use super::program::{ArgSpec, Notes, Op, Place, Submit};

impl Draw {
    /// Very many tasks: small scopes that turn the rings around often, or readers that one writer waits for.
    pub(crate) fn long(&mut self, known: &Known) -> Vec<Op> {
        let (fail, spin) = (core::mem::take(&mut self.fail), core::mem::take(&mut self.spin));
        let times = self.rng.within(200, 1500);
        let mut inner = known.clone();
        let ops = if self.rng.percent(50) {
            let body = (0..self.rng.within(1, 3)).map(|_| self.submit(&mut inner)).collect();
            vec![Op::Repeat { times, body: vec![Op::Scope { body }] }]
        } else {
            let (read, write) = (self.kernel_named("READER"), self.kernel_named("W_U32"));
            let name = [self.task_name(), self.task_name()];
            let reads = self.args(&mut inner, &[read], 1, name[0]);
            let writes = self.args(&mut inner, &[write], 1, name[1]);
            vec![Op::Repeat { times, body: vec![plain(name[0], read, reads)] }, plain(name[1], write, writes)]
        };
        (self.fail, self.spin) = (fail, spin);
        ops
    }

    /// A scope without inference. Its tasks follow each other by explicit edges. In the root scope, after a barrier,
    /// they touch anything; elsewhere only buffers that nobody writes and tensors of their own.
    pub(crate) fn manual(&mut self, known: &Known, depth: u32) -> Option<Op> {
        if depth == DEPTH_MAX {
            return None;
        }
        let mut inner = known.clone();
        inner.tasks.clear();
        let fence = (depth == 0).then(|| self.task_name());
        if fence.is_none() {
            inner.keep_read_only();
        }
        let mut body: Vec<Op> = DTYPES.map(|dtype| self.alloc_of(&mut inner, dtype)).into();
        let edges = core::mem::take(&mut self.edges);
        let mut before = None;
        for _ in 0..self.rng.within(1, 5) {
            let Op::Submit(mut submit) = self.submit(&mut inner) else { unreachable!("it is a submit") };
            submit.after.extend(before.replace(submit.name));
            body.push(Op::Submit(submit));
        }
        self.edges = edges;
        Some(Op::Manual { fence, body })
    }

    fn alloc_of(&mut self, known: &mut Known, dtype: DType) -> Op {
        let (shape, name) = (self.shape(3), self.tensor_name());
        self.budget -= self.repeats;
        known.add(name, dtype, &shape, false);
        Op::Alloc { name, dtype, shape, upload: None }
    }

    /// A tensor that only tasks chained by explicit edges touch, and that the inference does not follow.
    pub(crate) fn hidden(&mut self, known: &mut Known) -> Vec<Op> {
        let mut own = Known::default();
        let mut ops = vec![self.alloc_of(&mut own, DType::UInt32)];
        let tensor = own.tensors[0].name;
        let mut before = None;
        for _ in 0..self.rng.within(2, 4) {
            let name = self.task_name();
            let arg = |place: Place| ArgSpec::Tensor { place, access: Access::NoDep, split: None };
            let hidden = arg(Place { tensor, steps: Vec::new() });
            let (kernels, mut args) = match before {
                None => (vec![self.kernel_named("W_U32")], vec![hidden]),
                Some(_) => {
                    let kernel = self.kernel_named("RW_U32");
                    let mut args = self.args(known, &[kernel], 1, name);
                    args.pop();
                    args[0] = hidden;
                    (vec![kernel], args)
                }
            };
            args.push(ArgSpec::Meta(self.meta(name)));
            let after = before.replace(name).into_iter().collect();
            ops.push(Op::Submit(Submit {
                name,
                kernels,
                blocks: 1,
                args,
                after,
                as_slice: false,
                notes: Notes::default(),
            }));
        }
        ops
    }

    /// Scope after scope makes a tensor that slow tasks of a scope inside still read when the outer one has ended and
    /// the next one begins: its memory must wait for them.
    pub(crate) fn relay(&mut self, known: &Known, depth: u32) -> Option<Op> {
        if depth + 2 > DEPTH_MAX {
            return None;
        }
        let times = self.rng.within(4, 24);
        let before = self.repeats;
        self.repeats *= times as i32;
        let mut inner = known.clone();
        let (make, pass) = (self.kernel_named("W_U32"), self.kernel_named("RW_U32"));
        let (name, tensor) = (self.task_name(), self.tensor_name());
        let shape = vec![self.rng.within(1, 32)];
        let fresh = ArgSpec::Out { name: tensor, dtype: DType::UInt32, shape: shape.clone(), split: None };
        let mut quick = self.meta(name);
        quick.spin = 0;
        let made = plain(name, make, vec![fresh, ArgSpec::Meta(quick)]);
        inner.add(tensor, DType::UInt32, &shape, false);
        let mut readers = Vec::new();
        for _ in 0..self.rng.within(1, 2) {
            let name = self.task_name();
            let mut args = self.args(&mut inner, &[pass], 1, name);
            let place = Place { tensor, steps: Vec::new() };
            args[0] = ArgSpec::Tensor { place, access: Access::Input, split: None };
            if let Some(ArgSpec::Meta(meta)) = args.last_mut() {
                (meta.spin, meta.spin_first) = (511, true);
            }
            readers.push(plain(name, pass, args));
        }
        self.repeats = before;
        let body = vec![made, Op::Scope { body: readers }];
        Some(Op::Repeat { times, body: vec![Op::Scope { body }] })
    }
}

/// A task of one kernel and one block, without edges.
fn plain(name: u32, kernel: usize, args: Vec<ArgSpec>) -> Op {
    let (kernels, after, notes) = (vec![kernel], Vec::new(), Notes::default());
    Op::Submit(Submit { name, kernels, blocks: 1, args, after, as_slice: false, notes })
}
