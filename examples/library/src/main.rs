//! A plain program that uses Ringlane as a library: it smooths an image, records the run, writes its page and prints its
//! critical path.
//!
//! ```text
//! image ──▶ BLUR (a stripe of rows, with the rows beside it) ──▶ smooth ──▶ SUM ──▶ brightness
//! ```
//! Stripes of one step run side by side; a stripe of the next step waits only for those that it overlaps.

use std::error::Error;

use ringlane::insight::critical_path::Cause;
use ringlane::insight::units::{microseconds, percent_text, time_text};
use ringlane::prelude::*;

const WIDTH: u32 = 512;
const HEIGHT: u32 = 512;
const STRIPE: u32 = 64;
const STEPS: usize = 4;

kernel! {
    /// Each pixel of `to` is the mean of itself and its neighbours above and below in `from`, which has a row more on each
    /// side where the image goes on.
    static BLUR = any fn(from: &[f32], to: &mut [f32], first: u32) {
        let (width, rows) = (WIDTH as usize, from.len() / WIDTH as usize);
        for (row, line) in to.chunks_exact_mut(width).enumerate() {
            let at = row + first as usize;
            let near = at.saturating_sub(1)..(at + 2).min(rows);
            for (x, pixel) in line.iter_mut().enumerate() {
                *pixel = near.clone().map(|row| from[row * width + x]).sum::<f32>() / near.len() as f32;
            }
        }
    }
}

kernel! {
    /// sum = sum + all pixels
    static SUM = any fn(pixels: &[f32], sum: &mut [f32]) {
        sum[0] += pixels.iter().sum::<f32>();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let pixels: Vec<f32> = (0..WIDTH * HEIGHT).map(|i| ((i * 7919) % 256) as f32).collect();
    let mut data = Buffers::new();
    let image = data.add(&[HEIGHT, WIDTH], &pixels)?;
    let smooth = data.add(&[HEIGHT, WIDTH], &pixels)?;
    let brightness = data.add(&[1], &[0.0f32])?;

    let dir = std::env::args().nth(1).unwrap_or_else(|| format!("outputs/library_{}", std::process::id()));
    let mut runtime = Runtime::on(Platform::Cpu).with(&CallConfig::default())?;
    runtime.set_title("library", "blur");
    let run = runtime.record(&dir)?.run(&mut data, |o| {
        let (mut from, mut to) = (o.external(image)?, o.external(smooth)?);
        for _ in 0..STEPS {
            for first in (0..HEIGHT).step_by(STRIPE as usize) {
                let (top, bottom) = (first.saturating_sub(1), (first + STRIPE + 1).min(HEIGHT));
                let near = from.slice(0, top, bottom - top)?;
                o.submit(&BLUR, [near.read(), to.slice(0, first, STRIPE)?.write(), scalar(first - top)])?;
            }
            (from, to) = (to, from);
        }
        let brightness = o.external(brightness)?;
        for first in (0..HEIGHT).step_by(STRIPE as usize) {
            o.submit(&SUM, [from.slice(0, first, STRIPE)?.read(), brightness.inout()])?;
        }
        Ok(())
    });
    run.result?;

    let mean = data.get::<f32>(brightness)?[0] / (WIDTH * HEIGHT) as f32;
    println!("mean brightness {mean:.2} after {STEPS} steps, {} tasks", run.report.tasks);
    let recording = runtime.recording().expect("the run was recorded");
    let path = recording.critical_path()?;
    let time = |ticks: u64| time_text(microseconds(ticks as f64, run.report.clock_freq_hz));
    println!("critical path: {} in {} segments", time(path.whole().0), path.segments.len());
    for cause in Cause::ALL.into_iter().filter(|&cause| path.total(cause).0 > 0) {
        println!("  {:<24} {:>10} {:>7}", cause.as_str(), time(path.total(cause).0), percent_text(path.share(cause)));
    }
    if let Some(verdict) = recording.verdict()? {
        println!("verdict: {}", verdict.sentence);
    }
    println!("page: {}", recording.report()?.display());
    Ok(())
}
