//! What executes on the machine's own cores: threads, stealing, parking.
//!
//! ```text
//! take = kept successor → own queue → steal a batch of another's → park
//! ```
//! Each thread completes its own tasks and keeps one successor that just became ready, so that a chain stays on the
//! core whose caches hold its data. The submitting thread is thread 0: it submits, and works while it waits.
//!
//! ```
//! use ringlane_chip_cpu::CpuRuntime;
//! use ringlane_engine::prelude::*;
//! use ringlane_task::CallConfig;
//! kernel! { static INC = aiv fn(x: &mut [f32]) { x.iter_mut().for_each(|x| *x += 1.0); } }
//! let mut data = Buffers::new();
//! let x = data.add(&[3], &[1.0f32, 2.0, 3.0])?;
//! let mut runtime = CpuRuntime::new(&CallConfig::default().with_threads(2))?;
//! runtime.run(&mut data, |o| {
//!     let x = o.external(x)?;
//!     o.submit(&INC, [x.inout()])?;
//!     o.submit(&INC, [x.inout()])?;
//!     Ok(())
//! }).result?;
//! assert_eq!(data.get::<f32>(x)?, [3.0, 4.0, 5.0]);
//! # Ok::<(), ringlane_engine::Error>(())
//! ```

mod clock;
mod cpu_thread;
mod fence;
mod grain;
#[cfg(all(test, loom))]
mod loom_tests;
mod machine;
mod mode;
mod platform;
mod ready;
mod replay;
mod runtime;
mod search;
mod sleep;
mod sync;
mod topology;

pub use clock::{CpuClock, TickSource};
pub use fence::prepare_process;
pub use machine::usable_cpus;
pub use runtime::CpuRuntime;
