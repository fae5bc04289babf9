//! Draws the arguments of a task: for each parameter of its kernels a view that fits, of something visible.
#![forbid(unsafe_code)]

use ringlane_engine::api::kernel::ParamCount;
use ringlane_engine::overlap::{Region, Relation, relation};
use ringlane_engine::prelude::{CoreType, Kernel, ParamKind, ParamSpec};
use ringlane_task::{Access, DType, TensorView};

use super::draw::{DTYPES, Draw};
use super::kernels::{FIRST_REST, LARGE, PLAIN, kernel};
use super::program::{ArgSpec, Place, Step, walk};
use super::raw::SHARED;

/// Elements of the largest view that is drawn.
const ELEMENTS_MAX: u64 = 512;
/// Views tried for one argument before it is taken as it comes (and perhaps refused at submit).
const TRIES: usize = 6;

/// What is visible at one place of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) tensors: Vec<KnownTensor>,
    pub(crate) tasks: Vec<u32>,
}

/// A visible tensor.
#[derive(Clone, Debug)]
pub(crate) struct KnownTensor {
    pub(crate) name: u32,
    view: TensorView,
    read_only: bool,
}

impl Known {
    pub(crate) fn add(&mut self, name: u32, dtype: DType, shape: &[u32], read_only: bool) {
        let view = TensorView::contiguous(dtype, shape).expect("shapes are small and not empty");
        self.tensors.push(KnownTensor { name, view, read_only });
    }

    pub(crate) fn keep_read_only(&mut self) {
        self.tensors.retain(|t| t.read_only);
    }
}

/// An argument on its way: the tensor it is of, what it shows, and the argument.
struct Candidate {
    tensor: Option<(u32, TensorView, Access)>,
    arg: ArgSpec,
}

impl Candidate {
    /// Whether a task that has both would be refused.
    fn clashes(&self, other: &Candidate) -> bool {
        let (Some((a, av, aa)), Some((b, bv, ba))) = (&self.tensor, &other.tensor) else { return false };
        a == b
            && (aa.writes() || ba.writes())
            && relation(&Region::of(av), &Region::of(bv)) != Relation::Disjoint
    }
}

impl Draw {
    /// A shape of up to three dimensions of up to `side`.
    pub(crate) fn shape(&mut self, side: u32) -> Vec<u32> {
        if self.bulky && self.rng.percent(30) {
            return vec![self.rng.within(1, 16), 64, 128];
        }
        let rank = *self.rng.pick(&[1, 1, 2, 2, 2, 3]);
        let mut shape: Vec<u32> = (0..rank).map(|_| self.rng.within(1, side)).collect();
        if rank == 1 {
            shape[0] *= self.rng.within(1, side);
        }
        shape
    }

    pub(crate) fn kernel_named(&self, name: &str) -> usize {
        PLAIN.iter().position(|k| k.name() == name).expect("a kernel of the list")
    }

    pub(crate) fn large_kernel(&mut self) -> usize {
        PLAIN.len() + self.rng.below(LARGE.len() as u32) as usize
    }

    /// A plain kernel that can run on this kind of core.
    fn kernel_on(&mut self, core: CoreType) -> usize {
        let fits = |kernel: &&Kernel| [core, CoreType::Any].contains(&kernel.core());
        let places: Vec<_> = (0..PLAIN.len()).filter(|&place| fits(&PLAIN[place])).collect();
        *self.rng.pick(&places)
    }

    /// Kernels and blocks: mostly one and one.
    pub(crate) fn launch(&mut self) -> (Vec<usize>, u32) {
        let plain = |draw: &mut Draw| draw.rng.below(PLAIN.len() as u32) as usize;
        match self.rng.below(100) {
            0..=70 => (vec![plain(self)], 1),
            71..=74 => {
                let rest = self.rng.within(FIRST_REST as u32, LARGE.len() as u32 - 1) as usize;
                (vec![PLAIN.len() + rest], self.rng.within(1, 3))
            }
            75..=86 => (vec![plain(self)], self.rng.within(2, 5)),
            87..=91 => {
                let shared = PLAIN.len() + LARGE.len() + self.rng.below(SHARED.len() as u32) as usize;
                (vec![shared], self.rng.within(1, 4))
            }
            _ => {
                let vector = self.rng.within(1, 2);
                let others = (0..vector).map(|_| self.kernel_on(CoreType::Aiv)).collect::<Vec<_>>();
                let kernels = [self.kernel_on(CoreType::Aic)].into_iter().chain(others).collect();
                (kernels, if self.rng.percent(70) { 1 } else { self.rng.within(2, 3) })
            }
        }
    }

    /// Arguments for these kernels; fresh outputs become visible.
    pub(crate) fn args(
        &mut self,
        known: &mut Known,
        kernels: &[usize],
        blocks: u32,
        task: u32,
    ) -> Vec<ArgSpec> {
        let mut chosen: Vec<Candidate> = Vec::new();
        for &index in kernels {
            let params: Vec<_> =
                kernel(index).params().iter().filter(|p| p.kind != ParamKind::Context).collect();
            let meta = params.iter().rposition(|p| p.kind == ParamKind::Scalar);
            let any_number = |draw: &mut Draw, param: &ParamSpec| match param.count {
                ParamCount::One => 1,
                ParamCount::Rest => *draw.rng.pick(&[0, 1, 2, 3, 5, 9]),
            };
            let mut each = Vec::new();
            for (i, param) in params.iter().enumerate() {
                each.extend(core::iter::repeat_n((Some(i) == meta, *param), any_number(self, param)));
            }
            for (is_meta, param) in each {
                let candidate = match param.kind {
                    ParamKind::Scalar if is_meta => {
                        Candidate { tensor: None, arg: ArgSpec::Meta(self.meta(task)) }
                    }
                    ParamKind::Scalar => {
                        let bits = self.rng.next() >> 40;
                        Candidate { tensor: None, arg: ArgSpec::Scalar { dtype: param.dtype, bits } }
                    }
                    _ => self.tensor_arg(known, param, blocks, &chosen),
                };
                chosen.push(candidate);
            }
        }
        for candidate in &chosen {
            if let ArgSpec::Out { name, dtype, shape, .. } = &candidate.arg {
                known.add(*name, *dtype, shape, false);
            }
        }
        chosen.into_iter().map(|c| c.arg).collect()
    }

    fn tensor_arg(
        &mut self,
        known: &Known,
        param: &ParamSpec,
        blocks: u32,
        chosen: &[Candidate],
    ) -> Candidate {
        let reads = param.kind == ParamKind::Read;
        let mut found = None;
        for _ in 0..TRIES {
            let fresh = !reads && self.rng.percent(30);
            let candidate = if fresh { None } else { self.existing(known, param, blocks) };
            let candidate = match candidate {
                Some(candidate) => candidate,
                None if reads => self.dull(known, param),
                None => self.fresh(param, blocks),
            };
            let clash = chosen.iter().any(|other| candidate.clashes(other));
            found = Some(candidate);
            if !clash {
                break;
            }
        }
        found.expect("at least one try")
    }

    /// A view of a visible tensor that the parameter takes; `None` if chance finds none.
    fn existing(&mut self, known: &Known, param: &ParamSpec, blocks: u32) -> Option<Candidate> {
        let reads = param.kind == ParamKind::Read;
        let fits = |t: &&KnownTensor| t.view.dtype() == param.dtype && (reads || !t.read_only);
        let fitting: Vec<_> = known.tensors.iter().filter(fits).collect();
        // The newest tensors are the likeliest: they are what scopes are about.
        let recent = self.rng.percent(50) && fitting.len() > 3;
        let tensor = *self.rng.pick(if recent { &fitting[fitting.len() - 3..] } else { &fitting[..] });
        let mut steps = self.steps(&tensor.view, reads);
        let view = walk!(tensor.view, &steps).ok()?;
        let view = self.fit(view, param, reads, &mut steps)?;
        let access = match self.rng.percent(50) {
            _ if reads && tensor.read_only && self.rng.percent(20) => Access::NoDep,
            _ if reads => Access::Input,
            true => Access::OutputExisting,
            false => Access::InOut,
        };
        let split = self.split(&view, param, blocks)?;
        let place = Place { tensor: tensor.name, steps };
        Some(Candidate {
            tensor: Some((tensor.name, view, access)),
            arg: ArgSpec::Tensor { place, access, split },
        })
    }

    /// A few random steps away from a tensor.
    fn steps(&mut self, from: &TensorView, reads: bool) -> Vec<Step> {
        let (mut view, mut steps) = (*from, Vec::new());
        for _ in 0..*self.rng.pick(&[0, 1, 1, 2, 2, 3]) {
            let Some(step) = self.step(&view, reads) else { continue };
            match walk!(view, std::slice::from_ref(&step)) {
                Ok(next) if next.elements() <= ELEMENTS_MAX => view = next,
                _ => continue,
            }
            steps.push(step);
        }
        steps
    }

    fn step(&mut self, view: &TensorView, reads: bool) -> Option<Step> {
        let (rank, dims) = (view.rank(), view.dims());
        if rank == 0 {
            return None;
        }
        let axis = self.rng.below(rank as u32) as usize;
        let len = dims[axis].len;
        Some(match self.rng.below(10) {
            0..=1 => {
                let start = self.rng.below(len);
                Step::Slice(axis, start, self.rng.within(1, len - start))
            }
            // Tiles of a regular grid: halves or thirds.
            2..=4 => {
                let tile = len.div_ceil(self.rng.within(2, 3));
                let index = self.rng.below(len.div_ceil(tile));
                Step::Slice(axis, index * tile, tile.min(len - index * tile))
            }
            5 if rank > 1 => Step::Select(axis, self.rng.below(len)),
            6 if rank > 1 => Step::Transpose(axis, (axis + 1) % rank),
            7 if view.is_contiguous() && view.elements() > 1 => {
                let n = view.elements() as u32;
                let factor = *self.rng.pick(&[2, 3, 4]);
                if !n.is_multiple_of(factor) {
                    return None;
                }
                Step::Reshape(vec![n / factor, factor])
            }
            8 if reads => Step::Broadcast(self.rng.within(1, 3)),
            _ => Step::Slice(0, 0, dims[0].len.div_ceil(2)),
        })
    }

    /// Brings a view to the rank and layout that a parameter takes.
    fn fit(
        &mut self,
        mut view: TensorView,
        param: &ParamSpec,
        reads: bool,
        steps: &mut Vec<Step>,
    ) -> Option<TensorView> {
        if param.contiguous && !view.is_contiguous() || !reads && view.repeats() {
            return None;
        }
        let Some(wanted) = param.rank else { return Some(view) };
        while view.rank() != wanted as usize {
            let step = if view.rank() < wanted as usize {
                Step::Broadcast(if reads { self.rng.within(1, 2) } else { 1 })
            } else {
                let axis = self.rng.below(view.rank() as u32) as usize;
                Step::Select(axis, self.rng.below(view.dims()[axis].len))
            };
            view = walk!(view, std::slice::from_ref(&step)).ok()?;
            steps.push(step);
        }
        Some(view)
    }

    /// How blocks share an argument out; `None` if they cannot.
    fn split(&mut self, view: &TensorView, param: &ParamSpec, blocks: u32) -> Option<Option<u8>> {
        let needed = param.kind == ParamKind::Write && blocks > 1;
        let wanted = needed || param.kind == ParamKind::Read && blocks > 1 && self.rng.percent(30);
        if !wanted {
            return Some(None);
        }
        let axes = if param.contiguous { 1 } else { view.rank() as u32 };
        (view.rank() > 0).then(|| Some(self.rng.below(axes) as u8))
    }

    /// A fresh output.
    fn fresh(&mut self, param: &ParamSpec, blocks: u32) -> Candidate {
        let mut shape = self.shape(4);
        if let Some(rank) = param.rank {
            shape.resize(rank as usize, 2);
        }
        let split = (param.kind == ParamKind::Write && blocks > 1).then_some(0);
        let arg = ArgSpec::Out { name: self.tensor_name(), dtype: param.dtype, shape, split };
        Candidate { tensor: None, arg }
    }

    /// A read of a whole tensor of the type, which always fits.
    fn dull(&mut self, known: &Known, param: &ParamSpec) -> Candidate {
        let tensor = known.tensors.iter().find(|t| t.view.dtype() == param.dtype).expect("one of each type");
        let mut shape = vec![1; param.rank.unwrap_or(1) as usize];
        *shape.last_mut().expect("ranks are at least 1") = tensor.view.elements() as u32;
        let view = tensor.view.reshape(&shape).expect("whole tensors are contiguous");
        let place = Place { tensor: tensor.name, steps: vec![Step::Reshape(shape)] };
        let arg = ArgSpec::Tensor { place, access: Access::Input, split: None };
        Candidate { tensor: Some((tensor.name, view, Access::Input)), arg }
    }

    /// Some view of some visible tensor, to be read back.
    pub(crate) fn any_place(&mut self, known: &Known) -> Place {
        let tensor = self.rng.pick(&known.tensors).clone();
        debug_assert!(DTYPES.contains(&tensor.view.dtype()));
        Place { tensor: tensor.name, steps: self.steps(&tensor.view, true) }
    }
}
