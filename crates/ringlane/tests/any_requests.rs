//! What is true of every request: it arrives as it was sent, and bytes that are none are refused with a name.

use proptest::prelude::*;
use ringlane::chip_sim::cost::{BlockTimes, TableRecorder};
use ringlane::chip_sim::spec;
use ringlane::prelude::*;
use ringlane::task::{HostMemory, TaskId};
use ringlane::{
    CostTable, DumpSelection, Model, PolicyName, RequestError, RunRequest, SelectedKernel, SimOptions,
};

fn config() -> impl Strategy<Value = CallConfig> {
    (any::<u64>(), 0..5i32, 0..256u64, ".{0,40}").prop_map(|(seed, threads, flags, dir)| {
        let mut config = CallConfig::default().with_seed(seed).with_threads(threads);
        config.dfx_flags = DfxFlags::from_bits(flags).expect("used bits");
        config.set_output_prefix(&dir.replace('\0', "")).expect("a short path");
        config
    })
}

fn dump() -> impl Strategy<Value = DumpSelection> {
    let kernel = (".{0,12}", any::<Option<u16>>()).prop_map(|(name, arg)| SelectedKernel { name, arg });
    prop_oneof![
        Just(DumpSelection::Everything),
        Just(DumpSelection::Marked),
        prop::collection::vec(kernel, 1..4).prop_map(DumpSelection::Kernels),
    ]
}

fn costs() -> impl Strategy<Value = CostTable> {
    prop::collection::vec(("[A-Z]{1,6}", 1..1000u64), 0..4).prop_map(|kernels| {
        let mut recorder = TableRecorder::new("cpu");
        for (task, (kernel, ticks)) in (0..).zip(kernels) {
            let mut times = BlockTimes::default();
            times.add_block(TaskId(task), 0, 0, ticks);
            recorder.add(&kernel, times, 1_000_000_000);
        }
        recorder.finish()
    })
}

fn model() -> impl Strategy<Value = Model> {
    let chip = (any::<bool>(), 1..1024u32, any::<u64>(), any::<f64>(), "\\PC{0,20}").prop_map(
        |(is_copied, clusters, time, rate, name)| {
            let mut chip = spec::builtin("a5sim").expect("it comes with the program");
            chip.host_memory = if is_copied { HostMemory::Copied } else { HostMemory::Mapped };
            (chip.clusters, chip.costs.wire, chip.mailbox[1], chip.rates.aiv_flops) =
                (clusters, time, time / 2, rate);
            chip.name = name;
            chip
        },
    );
    let options =
        (prop::sample::select(&PolicyName::ALL[..]), any::<Option<u64>>(), prop::option::of(costs()));
    let options = options.prop_map(|(policy, chaos, costs)| SimOptions { policy, chaos, costs });
    (prop::option::of(chip), options).prop_map(|(chip, options)| Model { chip, options })
}

fn request() -> impl Strategy<Value = RunRequest> {
    let platform = prop::sample::select(Platform::all());
    (platform, config(), dump(), model()).prop_map(|(platform, config, dump, model)| {
        let mut request = RunRequest::on(platform).with_config(config).with_dump(dump).with_options(model);
        // Of the platform's own; one is of no account where there are none.
        let policies = platform.capabilities().policies;
        request.options.policy =
            request.options.policy.and_then(|name| policies.get(name.len() % policies.len().max(1)).copied());
        request
    })
}

/// A request as it can be compared: rates may be no numbers.
fn shown(request: &RunRequest) -> String {
    format!("{request:?}")
}

fn is_named(error: &RequestError) -> bool {
    [error.name().to_string(), error.summary(), error.detail(), error.hint()]
        .iter()
        .all(|text| !text.is_empty())
}

proptest! {
    #[test]
    fn every_request_arrives_as_it_was_sent(request in request()) {
        let bytes = request.encode();
        let there = RunRequest::decode(&bytes).unwrap();
        prop_assert_eq!(shown(&there), shown(&request));
        prop_assert_eq!((bytes.len() % 8, there.encode()), (0, bytes));
    }

    #[test]
    fn a_request_that_is_cut_off_says_where(request in request(), at in any::<prop::sample::Index>()) {
        let bytes = request.encode();
        let cut = &bytes[..at.index(bytes.len())];
        prop_assert_eq!(RunRequest::decode(cut).unwrap_err().name(), "RequestTruncated");
    }

    #[test]
    fn a_field_that_is_cut_off_inside_a_whole_request_is_refused(request in request(), at in any::<prop::sample::Index>()) {
        let mut bytes = request.encode();
        bytes.truncate(24 + at.index(bytes.len() - 24));
        let length = (bytes.len() as u64).to_le_bytes();
        bytes[16..24].copy_from_slice(&length);
        prop_assert_eq!(RunRequest::decode(&bytes).unwrap_err().name(), "RequestTruncated");
    }

    #[test]
    fn a_byte_that_changed_is_refused_with_a_name_or_makes_another_request(
        request in request(), at in any::<prop::sample::Index>(), flip in 1..=u8::MAX,
    ) {
        let mut bytes = request.encode();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        match RunRequest::decode(&bytes) {
            Ok(other) => {
                let again = RunRequest::decode(&other.encode()).unwrap();
                prop_assert_eq!(shown(&again), shown(&other));
            }
            Err(error) => prop_assert!(is_named(&error), "{error}"),
        }
    }

    #[test]
    fn any_bytes_are_refused_with_a_name(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(is_named(&RunRequest::decode(&bytes).unwrap_err()));
    }
}

#[test]
fn another_version_an_unknown_field_and_a_missing_one_are_refused_by_name() {
    let bytes = RunRequest::on(Platform::Cpu).encode();
    let changed = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        RunRequest::decode(&bytes).unwrap_err()
    };
    let error = changed(8, 9);
    assert_eq!(
        (error.name(), &*error.detail()),
        ("UnknownRequestVersion", "version 9; this build reads version 1")
    );
    let error = changed(24, 99);
    assert_eq!((error.name(), &*error.detail()), ("UnknownRequestField", "field 99, of 1152 bytes"));
    // The config as a field of another kind: then there is none.
    assert_eq!(changed(0, b'R').name(), "CorruptRequest");
    let mut platform_only = bytes.clone();
    platform_only.drain(24..24 + 16 + 1152);
    platform_only[12] = 1;
    let length = (platform_only.len() as u64).to_le_bytes();
    platform_only[16..24].copy_from_slice(&length);
    let error = RunRequest::decode(&platform_only).unwrap_err();
    assert_eq!((error.name(), &*error.detail()), ("MissingRequestField", "the field config"));
}

#[test]
fn a_platform_that_this_build_does_not_have_is_refused_with_those_it_has() {
    let mut bytes = RunRequest::on(Platform::Cpu).encode();
    let at = bytes.len() - 8;
    bytes[at] = b'x';
    let error = RunRequest::decode(&bytes).unwrap_err();
    assert_eq!(error.name(), "UnknownRequestName");
    assert_eq!(error.detail(), "platform `xpu`; this build has cpu, a2a3sim, a5sim, cuda");
}

#[test]
fn what_the_configuration_and_the_costs_of_a_request_get_wrong_keeps_its_name() {
    let config = CallConfig::default().with_ring_task_window([20; 4]);
    let error = RunRequest::decode(&RunRequest::default().with_config(config).encode()).unwrap_err();
    assert_eq!(error.name(), "CapacityNotPowerOfTwo");
    let mut bytes = RunRequest::default()
        .with_options(Model::default().with_costs(TableRecorder::new("cpu").finish()))
        .encode();
    let at = bytes.windows(9).position(|window| window == b"\"version\"").expect("a table");
    bytes[at] = b'?';
    assert_eq!(RunRequest::decode(&bytes).unwrap_err().name(), "DamagedCosts");
}

#[test]
fn a_diagnostic_may_wait_for_its_directory_but_does_not_run_without() {
    let config = CallConfig::default().with_dfx_flags(DfxFlags::DEPS);
    let request = RunRequest::decode(&RunRequest::default().with_config(config).encode()).unwrap();
    assert_eq!(request.config.dfx_flags, DfxFlags::DEPS);
    assert_eq!(Runtime::request(&request).unwrap_err().name(), "MissingOutputPrefix");
}
