//! A process of its own, so that nothing has run before the oracle: its first panic has a place too.

use ringlane_engine::oracle;
use ringlane_engine::prelude::*;

kernel! { static PANIC = any fn(_x: &mut [u32]) { panic!("on purpose") } }

#[test]
fn the_first_panic_of_a_process_has_its_place_in_the_oracle_as_in_a_run() {
    let run = oracle::run(&mut Buffers::new(), |o| o.submit(&PANIC, [out(u32, [1])]).map(drop));
    let detail = run.unwrap_err().detail();
    assert!(detail.contains("panicked at ") && detail.contains("first_panic.rs:6"), "{detail}");
}
