//! A program of one's own: two kernels, one scene with a known answer, and the whole `ringlane` command.
//!
//! ```text
//! x ──▶ SQUARE ──▶ squares (one tile) ──▶ ADD ──▶ sum (one number)        for each tile of x
//! ```
//! The squares of different tiles are computed side by side; the additions follow each other, because each
//! reads and writes `sum`. Nobody says so: it follows from the arguments.

use std::process::ExitCode;

use ringlane::prelude::*;

kernel! {
    /// y = x²
    static SQUARE = aiv fn(x: &[f32], y: &mut [f32]) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x * x);
    }
    cuda "rl_map(y.data(), rl_min(x.len(), y.len()), [&](u64 i) { return x[i] * x[i]; });"
}

kernel! {
    /// sum = sum + all of x
    static ADD = aiv fn(x: &[f32], sum: &mut [f32]) {
        sum[0] += x.iter().sum::<f32>();
    }
    cuda "float own = 0; rl_each(i, x.len()) own += x[i]; own = rl_sum(own); rl_one sum[0] += own;"
}

scene! {
    name: "hello",
    about: "the sum of the squares of a vector, tile by tile",
    params: {
        "n" = "4096": "elements of the vector",
        "tile" = "256": "elements that one task works on",
    },
    cases: {
        "small": "sixteen tiles",
        "ragged": "the last tile is smaller" { "n" = "1000" },
        "large": "a thousand tiles" { "n" = "262144" },
    },
    kernels: [SQUARE, ADD],
    build: |settings| {
        let (n, tile) = (settings.u32("n", 1..=1 << 24)?, settings.u32("tile", 1..=1 << 20)?);
        Ok(Box::new(Hello { n, tile, seed: settings.seed, ids: None }))
    },
}

struct Hello {
    n: u32,
    tile: u32,
    seed: u64,
    ids: Option<(BufferId, BufferId)>,
}

impl Hello {
    fn input(&self) -> Vec<f32> {
        Rng::new(self.seed).signed(self.n as usize)
    }

    fn ids(&self) -> Result<(BufferId, BufferId)> {
        self.ids.ok_or_else(|| Error::user("buffers() comes first"))
    }
}

impl Program for Hello {
    /// The inputs, and room for the results.
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        let mut data = Buffers::new();
        self.ids = Some((data.add(&[self.n], &self.input())?, data.add_zeroed(f32, &[1])?));
        Ok(data)
    }

    /// What is to be done: plain code that submits tasks.
    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let (x, sum) = self.ids()?;
        let (x, sum) = (o.external(x)?, o.external(sum)?);
        for start in (0..self.n).step_by(self.tile as usize) {
            let len = self.tile.min(self.n - start);
            // What is made in a scope is given back when it ends: memory stays bounded, however large n is.
            o.scope(|o| {
                let squares = o.submit(&SQUARE, [x.slice(0, start, len)?.read(), out(f32, [len])])?;
                o.submit(&ADD, [squares.out(0).read(), sum.inout()])?;
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The known answer, computed by other code and in higher precision.
    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        let (_, sum) = self.ids()?;
        let want: f64 = self.input().iter().map(|&x| f64::from(x).powi(2)).sum();
        let tolerance = Tolerance { absolute: 1e-6, relative: 1e-4 };
        Ok(Golden::compare(data.get::<f32>(sum)?, &[want], tolerance))
    }
}

fn main() -> ExitCode {
    ringlane_cli::main()
}
