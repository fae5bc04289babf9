//! Chips for tests.

use ringlane_chip_sim::spec;
use ringlane_task::ChipSpec;

pub fn a2a3() -> ChipSpec {
    spec::builtin("a2a3sim").unwrap()
}
