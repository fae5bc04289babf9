//! Hints of the engine, which name what a program in Rust has, in the words of the header.

use ringlane::task::Explain;

/// The hint of an error for a program in C.
#[cold]
pub(crate) fn in_c(error: &dyn Explain) -> String {
    let hint = match error.name() {
        "ArgKind" => {
            "`rl_in` goes to RL_PARAM_READ, `rl_out`, `rl_inout` and `rl_new` to RL_PARAM_WRITE, `rl_f32` and the like to RL_PARAM_SCALAR"
        }
        "ArgRank" => "reshape the tensor, or set `rank` of the parameter to -1",
        "ArgsOverlap" => "pass the tensor once, with `rl_inout`",
        "BadMark" => "`marks` counts the arguments of this submit from 0",
        "BadSplit" => "split a tensor along one of its axes; shared parameters and scalars cannot be split",
        "ForeignHandle" => "read the tensor in its own run, and lend the values to the other one",
        "MissingOutputPrefix" => "name a directory in `output_prefix`, or use `rl_record`",
        "NoReplay" => "use `rl_run`",
        "NotContiguous" => {
            "leave RL_PARAM_CONTIGUOUS out of `flags`, and use the strides in the kernel; or tile along the first axis"
        }
        "NoThread" => "use fewer `threads`, or raise the limit (`ulimit -u`)",
        "OnlyOnSimulators" => "leave it at 0 and use `threads`, or run on a modelled chip",
        "PlatformNotAvailable" => "run on \"cpu\", which every machine has",
        "ReadInCapture" => "a captured graph has no values yet: use `rl_run`, or leave the read out",
        "ReadOnly" => "lend the buffer with RL_BUFFER_WRITE",
        "UnsplitWrite" => "pass `rl_split(argument, axis)`, or declare the parameter as RL_PARAM_SHARED",
        _ => return of_settings(error.hint()),
    };
    hint.to_string()
}

/// A hint that sets options of a runtime or begins scopes.
fn of_settings(mut hint: String) -> String {
    // `CallConfig::default().with_ring_heap([64; 4])` and `CallConfig::with_threads(8)`
    while let Some((before, method)) = hint.split_once("`CallConfig::") {
        let method = method.strip_prefix("default().").unwrap_or(method);
        let Some((method, after)) = method.split_once('`') else { break };
        let Some((option, values)) = method.trim_start_matches("with_").split_once('(') else { break };
        let values = values.trim_end_matches(')');
        let values = match values.trim_matches(['[', ']']).split_once(';') {
            Some((value, _)) => format!("{{{value}, {value}, {value}, {value}}}"),
            None => values.replace('[', "{").replace(']', "}"),
        };
        hint = format!("{before}{option} = {values} in rl_runtime_options{after}");
    }
    let hint = hint.replace("`param(\"name\", value)`", "`rl_named(rl_f32(…), \"name\")`");
    hint.replace("put `o.scope(|o| { …; Ok(()) })?` around", "put `rl_begin_scope` and `rl_end_scope` around")
}

#[cfg(test)]
mod tests {
    use super::of_settings;

    #[test]
    fn hints_set_fields_of_the_options() {
        let hint = "rerun with `CallConfig::default().with_ring_task_window([64; 4])` (counted to the end of the scope)";
        let expected = "rerun with ring_task_window = {64, 64, 64, 64} in rl_runtime_options (counted to the end of the scope)";
        assert_eq!(of_settings(hint.to_string()), expected);
        let hint =
            "`CallConfig::default().with_ring_heap([64, 1024, 64, 64])` and `CallConfig::with_threads(8)`";
        let expected =
            "ring_heap = {64, 1024, 64, 64} in rl_runtime_options and threads = 8 in rl_runtime_options";
        assert_eq!(of_settings(hint.to_string()), expected);
        assert_eq!(of_settings("axes count from 0".to_string()), "axes count from 0");
    }
}
