//! `vector`: the five-task diamond, `out = (f + 1)·(f + 2) + f` with `f = a + b`.
//!
//! ```text
//!        ┌─▶ g = f + 1 ─┐
//! a+b=f ─┤              ├─▶ i = g·h ─▶ out = i + f
//!        └─▶ h = f + 2 ─┘
//! ```
//! `f` is created in the root scope, the rest in an inner one; results leave through the external buffer. With
//! `chunks` above 1, each chunk of the vectors gets its own diamond.
//!
//! Golden: f64, absolute tolerance 1e-5 (the values stay below 15).

use core::ops::Range;

use ringlane_engine::prelude::*;

use crate::cost;
use crate::golden::{Golden, Tolerance};
use crate::parts::{PartArgument, Parts};
use crate::rng::Rng;
use crate::scene::{Case, Param, Program, Scene, made};
use crate::scopes::pieces;

const TOLERANCE: Tolerance = Tolerance::absolute(1e-5);

pub(crate) const SCENE: Scene = Scene {
    site: core::panic::Location::caller(),
    name: "vector",
    about: "a diamond of five tasks: f = a + b, then (f + 1)·(f + 2) + f",
    params: &[
        Param { name: "n", default: "16384", about: "elements of the vectors" },
        Param { name: "chunks", default: "1", about: "diamonds, each on its part of the vectors" },
    ],
    cases: &[
        Case { name: "small", about: "five tasks, two scopes", set: &[] },
        Case { name: "one", about: "vectors of one element", set: &[("n", "1")] },
        Case {
            name: "chunked",
            about: "several chunks of uneven size",
            set: &[("n", "100003"), ("chunks", "7")],
        },
        Case { name: "large", about: "memory-bound", set: &[("n", "8000000"), ("chunks", "48")] },
    ],
    kernels: &[&VECTOR_ADD, &VECTOR_SHIFT, &VECTOR_MUL],
    build: &|settings| {
        let n = settings.u32("n", 1..=1 << 28)?;
        let chunks = settings.u32("chunks", 1..=n.min(60))?;
        Ok(Box::new(Vector { n, chunks, seed: settings.seed, ids: None }))
    },
};

kernel! {
    /// c = a + b
    static VECTOR_ADD = aiv fn(a: &[f32], b: &[f32], c: &mut [f32]) {
        c.iter_mut().zip(a.iter().zip(b)).for_each(|(c, (a, b))| *c = a + b);
    }
    cuda "rl_map(c.data(), rl_min(a.len(), b.len(), c.len()), [&](u64 i) { return a[i] + b[i]; });"
    cost cost::PASS
}

kernel! {
    /// y = x + s
    static VECTOR_SHIFT = aiv fn(x: &[f32], y: &mut [f32], s: f32) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x + s);
    }
    cuda "rl_map(y.data(), rl_min(x.len(), y.len()), [&](u64 i) { return x[i] + s; });"
    cost cost::PASS
}

kernel! {
    /// c = a·b
    static VECTOR_MUL = aiv fn(a: &[f32], b: &[f32], c: &mut [f32]) {
        c.iter_mut().zip(a.iter().zip(b)).for_each(|(c, (a, b))| *c = a * b);
    }
    cuda "rl_map(c.data(), rl_min(a.len(), b.len(), c.len()), [&](u64 i) { return a[i] * b[i]; });"
    cost cost::PASS
}

#[derive(Clone, Copy)]
struct Ids {
    a: BufferId,
    b: BufferId,
    out: BufferId,
}

struct Vector {
    n: u32,
    chunks: u32,
    seed: u64,
    ids: Option<Ids>,
}

impl Vector {
    /// Elements of a chunk; the last may have fewer.
    fn chunk(&self) -> u32 {
        self.n.div_ceil(self.chunks)
    }

    /// The elements of a range of chunks.
    fn rows(&self, chunks: &Range<u32>) -> Range<u32> {
        let at = |chunk: u32| (u64::from(chunk) * u64::from(self.chunk())).min(self.n.into()) as u32;
        at(chunks.start)..at(chunks.end)
    }

    fn inputs(&self) -> (Vec<f32>, Vec<f32>) {
        let mut rng = Rng::new(self.seed);
        (rng.signed(self.n as usize), rng.signed(self.n as usize))
    }
}

impl Program for Vector {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        let (a, b) = self.inputs();
        let shape = [self.n];
        let out = data.add_zeroed(f32, &shape)?;
        self.ids = Some(Ids { a: data.add(&shape, &a)?, b: data.add(&shape, &b)?, out });
        Ok(data)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let ids = made(&self.ids)?;
        let tensors = [o.external(ids.a)?, o.external(ids.b)?, o.external(ids.out)?];
        self.orchestrate_part(o, 0..self.units(), &tensors)
    }

    fn parts(&self) -> Option<&dyn Parts> {
        Some(self)
    }

    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        let (a, b) = self.inputs();
        let sums = a.iter().zip(&b).map(|(&a, &b)| a as f64 + b as f64);
        // The diamond multiplied out: (f + 1)(f + 2) + f = f² + 4f + 2.
        let want: Vec<f64> = sums.map(|f| f * f + 4.0 * f + 2.0).collect();
        Ok(Golden::compare(data.get::<f32>(made(&self.ids)?.out)?, &want, TOLERANCE))
    }

    fn outputs(&self) -> Vec<BufferId> {
        self.ids.iter().map(|ids| ids.out).collect()
    }
}

/// A part is a range of chunks.
impl Parts for Vector {
    fn units(&self) -> u32 {
        self.n.div_ceil(self.chunk())
    }

    fn part_buffers(&self) -> Result<Vec<BufferId>> {
        made(&self.ids).map(|ids| vec![ids.a, ids.b, ids.out])
    }

    fn arguments(&self, chunks: Range<u32>) -> Result<Vec<PartArgument>> {
        let rows = &self.rows(&chunks);
        Ok(vec![PartArgument::rows(rows), PartArgument::rows(rows), PartArgument::rows(rows).written()])
    }

    fn orchestrate_part<'s>(
        &self,
        o: &mut Orch<'s, '_>,
        chunks: Range<u32>,
        tensors: &[Tensor<'s>],
    ) -> Result<()> {
        let &[a, b, result] = tensors else {
            return Err(Error::user(format!("a vector program has three tensors, not {}", tensors.len())));
        };
        for (start, len) in pieces(self.rows(&chunks).len() as u32, self.chunk()) {
            let shape = [len];
            let (a, b, result) =
                (a.slice(0, start, len)?, b.slice(0, start, len)?, result.slice(0, start, len)?);
            let f = o.submit(&VECTOR_ADD, [a.read(), b.read(), out(f32, shape)])?.out(0);
            o.scope(|o| {
                let g = o.submit(&VECTOR_SHIFT, [f.read(), out(f32, shape), scalar(1.0f32)])?.out(0);
                let h = o.submit(&VECTOR_SHIFT, [f.read(), out(f32, shape), scalar(2.0f32)])?.out(0);
                let i = o.submit(&VECTOR_MUL, [g.read(), h.read(), out(f32, shape)])?.out(0);
                o.submit(&VECTOR_ADD, [i.read(), f.read(), result.write()]).map(drop)
            })?;
        }
        Ok(())
    }
}
