//! What a submit costs from Rust: N tasks with three tensors and a scalar, in scopes of 1,000; the same as
//! `tests/c/submit_cost.c`.

use std::time::Instant;

use ringlane::prelude::*;

kernel! {
    static ADD = any fn(x: &[f32], y: &[f32], z: &mut [f32], a: f32) {
        z[0] = x[0] + a * y[0];
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tasks: u32 = std::env::args().nth(1).ok_or("a number of tasks")?.parse()?;
    let (mut x, mut z) = ([0f32; 16], [0f32; 16]);
    x[0] = 1.0;
    let y = x;
    let mut data = Buffers::new();
    let ids = (data.lend(&[16], &x)?, data.lend(&[16], &y)?, data.lend_mut(&[16], &mut z)?);
    let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default().with_threads(1))?;
    let start = Instant::now();
    let run = runtime.run(&mut data, |o| {
        let (x, y, z) = (o.external(ids.0)?, o.external(ids.1)?, o.external(ids.2)?);
        for _ in 0..tasks / 1000 {
            o.scope(|o| {
                let submit = |_| o.submit(&ADD, [x.read(), y.read(), z.inout(), scalar(2f32)]).map(drop);
                (0..1000).try_for_each(submit)
            })?;
        }
        Ok(())
    });
    run.result?;
    println!("Rust: {:.0} ns a task", start.elapsed().as_secs_f64() * 1e9 / f64::from(tasks / 1000 * 1000));
    drop(data);
    assert_eq!(z[0], 3.0);
    Ok(())
}
