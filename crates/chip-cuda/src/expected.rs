//! The kernels that a program is expected to use: those of its last run. Their code is compiled and loaded before a run begins, so
//! that its times contain neither.

#![forbid(unsafe_code)]

use ringlane_engine::api::backend::Site;
use ringlane_engine::api::kernel::{Kernel, registered_kernels};

use crate::cache::Cached;
use crate::launcher::Launcher;

/// What is known of the program at one place in the source.
pub(crate) struct Expected {
    file: Cached,
    /// A line for each kernel.
    lines: String,
}

impl Expected {
    pub(crate) fn at(site: Site) -> Self {
        let file = Cached::of(&[&site.to_string()], "kernels");
        let lines = file.read().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        Expected { file, lines }
    }

    /// Loads the code of kernels that are still declared. Nothing runs.
    pub(crate) fn load(&self, launcher: &mut Launcher) {
        let declared = registered_kernels();
        // In the order of the last run: their numbers are in the source of the program.
        let find = |line| declared.iter().find(|kernel| line == line_of(kernel));
        let numbers = self.lines.lines().filter_map(find).map(|kernel| launcher.number_of(kernel));
        if numbers.filter(Result::is_ok).count() > 0 {
            // A body that does not compile is an error of the run that uses it.
            let _ = launcher.load();
        }
    }

    /// The program has used these, or others of the same process have.
    pub(crate) fn update(&self, used: &[&Kernel]) {
        let lines: String = used.iter().map(|kernel| line_of(kernel) + "\n").collect();
        if lines != self.lines {
            self.file.write(lines.as_bytes());
        }
    }
}

/// A kernel by its name and place.
fn line_of(kernel: &Kernel) -> String {
    let (file, line) = kernel.cuda().map_or(("", 0), |body| (body.file, body.line));
    format!("{} {file}:{line}", kernel.name())
}
