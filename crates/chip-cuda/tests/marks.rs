//! Marks in bodies: up to which of them the cycles of a block are counted.

#[path = "common/mod.rs"]
mod common;

use std::panic::Location;

use common::{in_child, runtime};
use ringlane_engine::chip_runtime::ChipRuntime as _;
use ringlane_engine::prelude::*;
use ringlane_task::CallConfig;

kernel! {
    /// Stores 2 if its cycles end at mark 2, and 1 if they end with the block although there are marks.
    static MARKED = any fn(y: &mut [u32]) { y[0] += 1; }
    cuda "rl_mark(2);
#ifdef RL_MARK
rl_one y[0] = rl_marked != 0 && rl_cycles_at_end() == rl_marked ? 2 : 1;
#endif
"
}

fn stored() -> Option<u32> {
    let mut runtime = runtime(&CallConfig::default())?;
    let mut data = Buffers::new();
    let y = data.add(&[1], &[0u32]).unwrap();
    let run = runtime.run_at(Location::caller(), &mut data, &(), |o| {
        let y = o.external(y)?;
        o.submit(&MARKED, [y.inout()]).map(drop)
    });
    run.result.unwrap();
    Some(data.get::<u32>(y).unwrap()[0])
}

#[test]
fn without_a_mark_there_is_nothing_of_them_in_a_program() {
    assert!(stored().is_none_or(|stored| stored == 0));
}

#[test]
fn cycles_end_at_the_mark_that_the_environment_names() {
    in_child("cycles_end_at_the_mark_that_the_environment_names", &[("RL_MARK", "2")], || {
        assert!(stored().is_none_or(|stored| stored == 2));
    });
}

#[test]
fn cycles_end_with_a_block_that_does_not_come_to_the_mark() {
    in_child("cycles_end_with_a_block_that_does_not_come_to_the_mark", &[("RL_MARK", "3")], || {
        assert!(stored().is_none_or(|stored| stored == 1));
    });
}
