//! The whole command with scenes that misbehave, for the tests of the command and to see how each failure is reported.
//!
//! ```text
//! $ cargo run -p ringlane-cli --example odd_scenes -- run odd --case kernel_panics
//! $ cargo run -p ringlane-cli --example odd_scenes -- run flat --ring-task-window 16
//! ```

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use ringlane::prelude::*;

kernel! {
    /// x = x + 1, or not.
    static ODD = any fn(x: &mut [f32], how: u32) -> KernelResult {
        x[0] += 1.0;
        match how {
            1 | 13 => Err(KernelError::new("the kernel was asked to fail")),
            2 => panic!("the kernel was asked to panic"),
            8 => abort(),
            9 => {
                println!("a kernel printed this");
                Ok(())
            }
            10 => fault(),
            11 => {
                x[0] = overflow(0) as f32;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

kernel! {
    /// x = x + 1, after some milliseconds.
    static SLOW = any fn(x: &mut [f32], ms: u32) {
        sleep(Duration::from_millis(ms.into()));
        x[0] += 1.0;
    }
}

/// What each case does wrong; the kernel gets its position as an argument.
const WAYS: [&str; 14] = [
    "nothing",
    "kernel_fails",
    "kernel_panics",
    "orchestration_fails",
    "orchestration_panics",
    "buffers_panic",
    "golden_differs",
    "golden_panics",
    "kernel_aborts",
    "kernel_prints",
    "kernel_faults",
    "kernel_overflows",
    "golden_is_nan",
    "kernel_fails_and_orchestration_gives_up",
];

/// More than the heap of a ring holds by default.
const HEAP_BYTES_MAX: u32 = 1 << 29;

/// Prints a line and aborts the process.
fn abort() -> ! {
    eprintln!("the kernel was asked to abort");
    std::process::abort()
}

/// Writes to an address at which there is nothing.
fn fault() -> KernelResult {
    let nowhere = std::hint::black_box(8) as *mut u8;
    // SAFETY: none. The process ends here, which is what is tested.
    unsafe { nowhere.write_volatile(1) };
    Ok(())
}

/// Calls itself until there is no stack left.
fn overflow(depth: u64) -> u64 {
    let filled = std::hint::black_box([depth; 64]);
    if depth == u64::MAX { 0 } else { overflow(depth + 1) + filled[3] }
}

/// Adds one, `tasks` times, in one scope.
struct Counter {
    tasks: u32,
    ms: u32,
    way: &'static str,
    x: Option<BufferId>,
}

impl Counter {
    fn x(&self) -> Result<BufferId> {
        self.x.ok_or_else(|| Error::user("buffers() comes first"))
    }
}

impl Program for Counter {
    fn buffers(&mut self) -> Result<Buffers<'static>> {
        assert_ne!(self.way, "buffers_panic", "the inputs were asked to panic");
        let mut data = Buffers::new();
        self.x = Some(data.add(&[1], &[0.0f32])?);
        Ok(data)
    }

    fn orchestrate(&self, o: &mut Orch<'_, '_>) -> Result<()> {
        let x = o.external(self.x()?)?;
        let how = WAYS.iter().position(|way| *way == self.way).unwrap_or(0) as u32;
        o.scope(|o| {
            for _ in 0..self.tasks {
                match self.ms {
                    0 => o.submit(&ODD, [x.inout(), scalar(how)])?,
                    ms => o.submit(&SLOW, [x.inout(), scalar(ms)])?,
                };
            }
            Ok(())
        })?;
        match self.way {
            "orchestration_fails" => Err(Error::user("the orchestration was asked to fail")),
            "orchestration_panics" => panic!("the orchestration was asked to panic"),
            "kernel_fails_and_orchestration_gives_up" => {
                o.submit(&ODD, [out(f32, [HEAP_BYTES_MAX / 4]), scalar(0u32)]).map(drop)
            }
            _ => Ok(()),
        }
    }

    fn golden(&self, data: &Buffers<'_>) -> Result<Golden> {
        assert_ne!(self.way, "golden_panics", "the golden was asked to panic");
        let off = match self.way {
            "golden_differs" => 0.5,
            "golden_is_nan" => f64::NAN,
            _ => 0.0,
        };
        let want = [f64::from(self.tasks) + off];
        Ok(Golden::compare(data.get::<f32>(self.x()?)?, &want, Tolerance::EXACT))
    }
}

scene! {
    name: "odd",
    about: "fails in the way that its case names",
    params: { "way" = "nothing": "what goes wrong", "file" = "": "a file to read before" },
    cases: {
        "nothing": "nothing goes wrong",
        "kernel_fails": "a kernel returns an error" { "way" = "kernel_fails" },
        "kernel_panics": "a kernel panics" { "way" = "kernel_panics" },
        "orchestration_fails": "the orchestration returns an error" { "way" = "orchestration_fails" },
        "orchestration_panics": "the orchestration panics" { "way" = "orchestration_panics" },
        "buffers_panic": "the inputs panic" { "way" = "buffers_panic" },
        "golden_differs": "the golden has another answer" { "way" = "golden_differs" },
        "golden_panics": "the golden panics" { "way" = "golden_panics" },
        "kernel_prints": "a kernel prints to standard output" { "way" = "kernel_prints" },
        "kernel_aborts": "a kernel takes the process down" { "way" = "kernel_aborts" },
    },
    kernels: [ODD, SLOW],
    build: |settings| {
        if !settings.text("file").is_empty() {
            settings.file("file")?;
        }
        let way = settings.text("way");
        let way = WAYS.into_iter().find(|known| *known == way);
        let way = way.ok_or_else(|| settings.refuse("way", WAYS.join(", ")))?;
        Ok(Box::new(Counter { tasks: 3, ms: 0, way, x: None }))
    },
}

scene! {
    name: "flat",
    about: "many tasks in one scope",
    params: { "tasks" = "20": "how many" },
    cases: { "twenty": "20 tasks", "hundred": "100 tasks" { "tasks" = "100" } },
    kernels: [ODD, SLOW],
    build: |settings| {
        Ok(Box::new(Counter { tasks: settings.u32("tasks", 1..=1_000_000)?, ms: 0, way: "nothing", x: None }))
    },
}

scene! {
    name: "slow",
    about: "tasks that sleep, one after another",
    params: { "tasks" = "10": "how many", "ms" = "10": "milliseconds of each" },
    cases: { "short": "a tenth of a second" },
    kernels: [ODD, SLOW],
    build: |settings| {
        let (tasks, ms) = (settings.u32("tasks", 1..=1_000_000)?, settings.u32("ms", 1..=100_000)?);
        Ok(Box::new(Counter { tasks, ms, way: "nothing", x: None }))
    },
}

scene! {
    name: "sleepers",
    about: "the same, several times",
    params: { "tasks" = "10": "how many", "ms" = "10": "milliseconds of each" },
    cases: { "one": "the first", "two": "the second", "three": "the third", "four": "the fourth" },
    kernels: [ODD, SLOW],
    build: |settings| {
        let (tasks, ms) = (settings.u32("tasks", 1..=1_000_000)?, settings.u32("ms", 1..=100_000)?);
        Ok(Box::new(Counter { tasks, ms, way: "nothing", x: None }))
    },
}

fn main() -> ExitCode {
    ringlane_cli::main()
}
