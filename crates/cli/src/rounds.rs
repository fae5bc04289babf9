//! The rounds of a run whose rounds were all observed: directories `round_1`, `round_2`, … below its own, each a run by itself.

use std::path::{Path, PathBuf};

/// The rounds below a run directory, in order; none unless all were observed.
pub fn rounds_of(dir: &Path) -> Vec<PathBuf> {
    let rounds = (1u32..).map(|round| dir.join(format!("round_{round}")));
    rounds.take_while(|round| round.join("run.json").is_file()).collect()
}

/// The rounds of a run, or the run itself where there are none.
pub fn observed(dir: &Path) -> Vec<PathBuf> {
    match rounds_of(dir) {
        rounds if rounds.is_empty() => vec![dir.to_path_buf()],
        rounds => rounds,
    }
}
