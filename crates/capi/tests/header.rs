//! `include/ringlane.h` is what cbindgen makes of this crate. `RINGLANE_WRITE_HEADER=1 cargo test -p ringlane-capi --test header`
//! writes it.

use std::path::Path;

use cbindgen::{Builder, Config, DocumentationStyle, Language, Style};

const INTRODUCTION: &str = "\
/* Ringlane's C ABI, version 1. Generated from crates/capi; docs/from-c.md shows how to use it.
 *
 * Every function returns RL_OK or another status; then rl_error_name(), rl_error_detail() and rl_error_hint() describe the
 * last error of the thread. Structs begin with struct_size, which the caller sets to sizeof. Pointers must be true: to
 * objects that live during the call, with as many elements as is said. A kernel's user data lives as long as the process. */
";

const SOURCES: [&str; 10] = [
    "lib.rs",
    "abi.rs",
    "plugin/abi.rs",
    "error.rs",
    "kernel.rs",
    "runtime.rs",
    "orch.rs",
    "view.rs",
    "submit.rs",
    "graph.rs",
];

fn generated() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut config = Config::default();
    config.language = Language::C;
    config.cpp_compat = true;
    config.style = Style::Type;
    config.documentation_style = DocumentationStyle::C99;
    config.include_guard = Some("RINGLANE_H".to_string());
    config.header = Some(INTRODUCTION.to_string());
    config.no_includes = true;
    config.sys_includes = vec!["stddef.h".to_string(), "stdint.h".to_string()];
    config.trailer = Some(include_str!("../src/helpers.h").to_string() + &asserts());
    // No function mentions them: a plugin exports the one, and is given the other.
    config.export.include = ["rl_plugin", "rl_api"].map(str::to_string).to_vec();
    config.line_length = 110;
    let builder = SOURCES
        .iter()
        .fold(Builder::new().with_config(config), |builder, file| builder.with_src(root.join(file)));
    let mut header = Vec::new();
    builder.generate().expect("the sources are parsed").write(&mut header);
    String::from_utf8(header).expect("a header is text")
}

/// The layouts that the library has, asserted in C and C++.
fn asserts() -> String {
    use ringlane_capi::abi::*;
    use ringlane_capi::plugin::abi::*;
    let mut text = String::from(
        "\n/* The layouts of the library. */\n#ifdef __cplusplus\n#define RL_LAYOUT(condition) static_assert(condition, #condition)\n\
         #else\n#define RL_LAYOUT(condition) _Static_assert(condition, #condition)\n#endif\n",
    );
    macro_rules! layouts {
        ($($ty:ident: $($field:ident),*;)*) => {$(
            text += &format!("RL_LAYOUT(sizeof({}) == {});\n", stringify!($ty), size_of::<$ty>());
            $(text += &format!(
                "RL_LAYOUT(offsetof({0}, {1}) == {2});\n",
                stringify!($ty), stringify!($field), std::mem::offset_of!($ty, $field),
            );)*
        )*};
    }
    layouts! {
        rl_tensor: opaque;
        rl_task: opaque;
        rl_view: data, device, ndim, dtype, shape, strides, byte_offset;
        rl_scalar: bits;
        rl_buffer: struct_size, permission, view;
        rl_runtime_options: struct_size, platform, dfx_flags, ring_heap, ring_args, tensormap, drop_records;
        rl_param: kind, dtype, rank, flags, name;
        rl_value: kind, dtype, writable, elements, tensor, scalar;
        rl_call: struct_size, value_size, block, block_count, args, arg_count;
        rl_cost: kind, amount, flops, bytes;
        rl_kernel_info: core, name, params, param_count, function, cost, user, cuda_source;
        rl_arg: kind, access, split, tensor, dtype, ndim, shape, value, name;
        rl_launch: blocks, kernel, aiv, label, after, after_count, duration_ns, marks, mark_count;
        rl_scene_param: name, default_value, about;
        rl_scene_case: name, about, set, set_count;
        rl_scene: name, params, cases, case_count, user, inputs, orchestrate, golden;
        rl_plugin: abi_version, kernels, kernel_count, scenes, scene_count;
        rl_api: abi_version, error_name, param_u32, expect, external, submit, tile, broadcast;
        rl_report: cores, tasks, blocks, scopes, failed, skipped, peak_heap_bytes, makespan_ticks, clock_freq_hz;
    }
    text
}

#[test]
fn the_committed_header_is_the_generated_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/ringlane.h");
    let header = generated();
    if std::env::var_os("RINGLANE_WRITE_HEADER").is_some() {
        std::fs::write(&path, &header).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("the header is committed");
    assert!(
        committed == header,
        "run `RINGLANE_WRITE_HEADER=1 cargo test -p ringlane-capi --test header`, and commit it"
    );
}
