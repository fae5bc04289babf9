//! The layouts that the header asserts in C and C++ are those of the library.
//! `RINGLANE_WRITE_HEADER=1 cargo test -p ringlane-capi --test layouts` writes them to `src/layouts.h`, and `tests/c/run` compares
//! the header with what cbindgen makes of the crate.

use std::path::Path;

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
        rl_rows: access, first, count;
        rl_parts: buffer_count, units, rows, orchestrate;
        rl_scene: name, params, cases, case_count, user, inputs, orchestrate, golden, parts;
        rl_plugin: abi_version, kernels, kernel_count, scenes, scene_count;
        rl_api: abi_version, error_name, param_u32, expect, external, submit, tile, broadcast;
        rl_report: cores, tasks, blocks, scopes, failed, skipped, peak_heap_bytes, makespan_ticks, clock_freq_hz;
    }
    text
}

#[test]
fn the_layouts_in_the_header_are_those_of_the_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (path, layouts) = (root.join("src/layouts.h"), asserts());
    if std::env::var_os("RINGLANE_WRITE_HEADER").is_some() {
        std::fs::write(&path, &layouts).expect("the file can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("the layouts are committed");
    assert!(
        committed == layouts,
        "write them as the first lines of this file say, then run tests/c/run --write"
    );
    let header = std::fs::read_to_string(root.join("include/ringlane.h")).expect("the header is committed");
    assert!(header.contains(layouts.trim_end()), "run tests/c/run --write, and commit the header");
}
