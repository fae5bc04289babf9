//! Draws groups of tasks that belong together: very many of them, and those that answer for what is `unsafe`.
#![forbid(unsafe_code)]

use ringlane_engine::overlap::{Region, Relation, relation};
use ringlane_task::{Access, DType, TensorView};

use super::draw::{DEPTH_MAX, DTYPES, Draw};
use super::draw_args::Known;
use super::program::{ArgSpec, Notes, Op, Place, Step, Submit, walk};

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

    /// Many tasks on one matrix, in views of every kind at once: the tensor map keeps them filed while the tasks wait, in cells
    /// and in trees, and changes its mind about them.
    pub(crate) fn mosaic(&mut self, known: &Known, depth: u32) -> Option<Op> {
        if depth == DEPTH_MAX {
            return None;
        }
        let shape = [self.rng.within(4, 20), 2 * self.rng.within(2, 10)];
        let (tensor, dtype, upload) = (self.tensor_name(), DType::UInt32, Some(self.rng.next()));
        let mut body = vec![Op::Alloc { name: tensor, dtype, shape: shape.to_vec(), upload }];
        let (write, pass) = (self.kernel_named("TILE_U32"), self.kernel_named("VM_U32"));
        let writes = *self.rng.pick(&[20, 50, 80]);
        let tile = shape.map(|len| self.rng.within(1, len));
        let arg = |steps, access| ArgSpec::Tensor { place: Place { tensor, steps }, access, split: None };
        for _ in 0..self.rng.within(8, 60) {
            let name = self.task_name();
            let [to, from] = [(); 2].map(|()| self.mosaic_steps(shape, tile));
            let meta = ArgSpec::Meta(self.meta(name));
            let only_writes = self.rng.percent(writes) || !are_disjoint(shape, &to, &from);
            body.push(if only_writes {
                plain(name, write, vec![arg(to, Access::InOut), meta])
            } else {
                plain(name, pass, vec![arg(from, Access::Input), arg(to, Access::OutputExisting), meta])
            });
        }
        // What became of it is seen outside.
        let name = self.task_name();
        let mut args = self.args(&mut known.clone(), &[pass], 1, name);
        args[0] = arg(Vec::new(), Access::Input);
        body.push(plain(name, pass, args));
        Some(Op::Scope { body })
    }

    /// The way to a view of two dimensions of a matrix.
    fn mosaic_steps(&mut self, [rows, columns]: [u32; 2], tile: [u32; 2]) -> Vec<Step> {
        let window = |(r, h): (u32, u32), (c, w): (u32, u32)| {
            vec![Step::Slice(0, r, h.min(rows - r)), Step::Slice(1, c, w.min(columns - c))]
        };
        let rng = &mut self.rng;
        let corner =
            (rng.below(rows.div_ceil(tile[0])) * tile[0], rng.below(columns.div_ceil(tile[1])) * tile[1]);
        match rng.below(9) {
            0..=2 => window((corner.0, tile[0]), (corner.1, tile[1])),
            // With a halo of one element.
            3 => {
                let grown = |at: u32, len: u32| (at.saturating_sub(1), len + 1 + u32::from(at > 0));
                window(grown(corner.0, tile[0]), grown(corner.1, tile[1]))
            }
            4 => window((rng.below(rows), 1), (0, columns)),
            5 => window((0, rows), (rng.below(columns), 1)),
            // A prefix.
            6 => window((0, rng.within(1, rows)), (0, columns)),
            // Any window, turned or not.
            7 => {
                let (r, c) = (rng.below(rows), rng.below(columns));
                let mut steps = window((r, rng.within(1, rows)), (c, rng.within(1, columns)));
                if rng.percent(50) {
                    steps.push(Step::Transpose(0, 1));
                }
                steps
            }
            // Every so manyth element from some place on: other strides than the matrix has.
            _ => {
                let all = rows * columns;
                let steps: Vec<u32> = (2..=7).filter(|step| all.is_multiple_of(*step)).collect();
                let step = *rng.pick(&steps);
                let (first, count) = (rng.below(all / step), rng.within(1, all / step));
                vec![
                    Step::Reshape(vec![all / step, step]),
                    Step::Slice(1, rng.below(step), 1),
                    Step::Slice(0, first, count.min(all / step - first)),
                ]
            }
        }
    }
}

/// Whether two views of a matrix share no byte, so that one task may have both.
fn are_disjoint(shape: [u32; 2], a: &[Step], b: &[Step]) -> bool {
    let matrix = TensorView::contiguous(DType::UInt32, &shape).expect("the shape is small");
    let view = |steps: &[Step]| walk!(matrix, steps).expect("the steps fit the matrix");
    relation(&Region::of(&view(a)), &Region::of(&view(b))) == Relation::Disjoint
}

/// A task of one kernel and one block, without edges.
fn plain(name: u32, kernel: usize, args: Vec<ArgSpec>) -> Op {
    let (kernels, after, notes) = (vec![kernel], Vec::new(), Notes::default());
    Op::Submit(Submit { name, kernels, blocks: 1, args, after, as_slice: false, notes })
}
