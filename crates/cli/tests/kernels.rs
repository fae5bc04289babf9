//! `ringlane kernels`: what is listed, what each kernel takes on a GPU, what is refused.

mod common;

use std::path::Path;
use std::process::Command;

use common::Sandbox;
use ringlane_engine::api::kernel::registered_kernels;
use ringlane_scenes as _;

#[test]
fn the_list_has_every_kernel_with_its_core_its_scenes_and_whether_it_has_a_cuda_body() {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&["kernels"]);
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
    let cells = |name: &str| {
        let line =
            answer.stdout.lines().find(|line| line.split(' ').next() == Some(name)).expect("it is listed");
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(cells("kernel"), ["kernel", "core", "arguments", "CUDA body", "scenes"]);
    assert_eq!(cells("VECTOR_ADD"), ["VECTOR_ADD", "aiv", "3", "yes", "vector"]);
    assert_eq!(cells("GEMM"), ["GEMM", "aic", "3", "yes", "cholesky"]);
    assert!(registered_kernels().iter().all(|kernel| !cells(kernel.name()).is_empty()));
    assert!(sandbox.files().is_empty());
}

#[test]
fn the_list_as_json_names_the_place_of_each_body_and_compiles_nothing() {
    let list = Sandbox::new().ringlane(&["kernels", "--json"]).json();
    let kernels = list["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), registered_kernels().len());
    assert!(list.get("target").is_none());
    let matmul = kernels.iter().find(|kernel| kernel["name"] == "MATMUL").unwrap();
    assert_eq!((&matmul["core"], &matmul["scenes"]), (&"aic".into(), &serde_json::json!(["matmul"])));
    assert!(matmul["cuda"]["file"].as_str().unwrap().ends_with(".rs"));
    assert!(matmul["cuda"]["line"].as_u64() > Some(0) && matmul["cuda"].get("registers").is_none());
}

#[test]
fn the_kernels_of_a_plugin_follow_and_have_no_cuda_body() {
    let sandbox = Sandbox::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-shared", "-fPIC", "-I"]).arg(root.join("crates/capi/include"));
    gcc.arg(root.join("examples/c/plugin.c")).arg("-o").arg(sandbox.path().join("libmine.so"));
    assert!(gcc.status().expect("gcc is installed").success());
    let list = sandbox.ringlane(&["kernels", "--load", "libmine.so", "--json"]).json();
    let kernels = list["kernels"].as_array().unwrap();
    assert!(kernels.len() > registered_kernels().len());
    let own = kernels.iter().find(|kernel| kernel["name"] == "SQUARE_C").expect("it is listed");
    assert_eq!((&own["cuda"], &own["scenes"]), (&serde_json::Value::Null, &serde_json::json!(["squares"])));
}

#[test]
fn every_body_has_its_registers_and_spills_or_nvrtc_is_missing() {
    let sandbox = Sandbox::new();
    let answer = sandbox.ringlane(&["kernels", "-p", "cuda", "--arch", "sm_90", "--json"]);
    if answer.status == 2 {
        assert_eq!(answer.line("error: "), "DeviceUnavailable: the device is not available");
        assert!(answer.line("detail: ").contains("NVRTC is not installed"), "{}", answer.stderr);
        assert!(answer.line("hint: ").contains("LD_LIBRARY_PATH") && answer.stdout.is_empty());
        return;
    }
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let list = answer.json();
    assert_eq!(
        (&list["target"]["architecture"], &list["target"]["chosen_by"]),
        (&"sm_90".into(), &"option".into())
    );
    let kernels = list["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), registered_kernels().len());
    let registers = |kernel: &serde_json::Value| kernel["cuda"]["registers"].as_u64().unwrap();
    assert!(kernels.iter().all(|kernel| (1..=255).contains(&registers(kernel))));
    assert!(kernels.is_sorted_by_key(|kernel| core::cmp::Reverse(registers(kernel))));
    assert_eq!(list["most_registers"], kernels[0]["name"]);
}

#[test]
fn another_platform_and_another_architecture_are_refused_with_what_is_allowed() {
    let sandbox = Sandbox::new();
    for (arguments, detail) in [
        (&["kernels", "-p", "cpu"][..], "--platform \"cpu\"; allowed: cuda"),
        (&["kernels", "-p", "cuda", "--arch", "90"], "--arch \"90\"; allowed: sm_80 or newer, such as sm_90"),
        (
            &["kernels", "-p", "cuda", "--arch", "sm_70"],
            "--arch \"sm_70\"; allowed: sm_80 or newer, such as sm_90",
        ),
    ] {
        let answer = sandbox.ringlane(arguments);
        assert_eq!((answer.status, answer.line("detail: ")), (2, detail));
        assert!(answer.line("error: ").starts_with("BadValue: "), "{}", answer.stderr);
    }
    let alone = sandbox.ringlane(&["kernels", "--arch", "sm_90"]);
    assert_eq!(alone.status, 2);
    assert!(alone.line("detail: ").contains("--platform"), "{}", alone.stderr);
}
