//! Properties of whole programs against the in-order oracle; `cargo xtask swarm` draws many more.

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_program_gives_what_running_its_submits_one_after_another_gives(seed in any::<u64>(), size in 1u32..40) {
        xtask::swarm::check_seed(seed, size).map_err(TestCaseError::fail)?;
    }
}
