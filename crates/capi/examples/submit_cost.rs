//! What a submit costs from Rust: N tasks with three tensors and a scalar, in batches of 50; the same as
//! `tests/c/submit_cost.c`, which says what is printed.

use std::time::Instant;

use ringlane::prelude::*;

kernel! {
    static ADD = any fn(x: &[f32], y: &[f32], z: &mut [f32], a: f32) {
        z[0] = x[0] + a * y[0];
    }
}

const BATCH: usize = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tasks: usize = std::env::args().nth(1).ok_or("a number of tasks")?.parse()?;
    let batches = (tasks / BATCH).max(1);
    let mut ns = Vec::with_capacity(batches);
    let (mut x, mut z) = ([0f32; 16], [0f32; 16]);
    x[0] = 1.0;
    let y = x;
    let mut data = Buffers::new();
    let ids = (data.lend(&[16], &x)?, data.lend(&[16], &y)?, data.lend_mut(&[16], &mut z)?);
    let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default().with_threads(1))?;
    let start = Instant::now();
    let run = runtime.run(&mut data, |o| {
        let (x, y, z) = (o.external(ids.0)?, o.external(ids.1)?, o.external(ids.2)?);
        for _ in 0..batches {
            o.scope(|o| {
                let start = Instant::now();
                let submit = |_| o.submit(&ADD, [x.read(), y.read(), z.inout(), scalar(2f32)]).map(drop);
                (0..BATCH).try_for_each(submit)?;
                ns.push(start.elapsed().as_secs_f64() * 1e9 / BATCH as f64);
                Ok(())
            })?;
            o.read::<f32>(z)?;
        }
        Ok(())
    });
    run.result?;
    let whole = start.elapsed().as_secs_f64() * 1e9 / (batches * BATCH) as f64;
    ns.sort_by(f64::total_cmp);
    println!("Rust: {:.0} ns a submit, {whole:.0} ns a task", ns[batches / 2]);
    drop(data);
    assert_eq!(z[0], 3.0);
    Ok(())
}
