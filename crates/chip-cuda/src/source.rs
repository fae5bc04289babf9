//! The program that a set of kernels becomes: the device runtime, their bodies, and a `switch` over them.
//!
//! ```text
//! platform.h  memory operations, threads, time       ┐
//! tensors.h   what a body sees of its arguments      ├─ the same for a GPU and for this machine's threads (RL_HOST)
//! body.h      what else it can use                   │
//! rows.h      products with rows of bf16 weights
//! attention.h attention over pages of keys and values
//! tensor_cores.h  products of bf16 matrices
//! worker.h    the lists of entries                   │
//! node.h      a launch for each task, to compare     ┘ only if asked for
//! bodies      one function for each kernel, with #line back to the Rust file
//! rl_dispatch a switch over their numbers
//! ```

#![forbid(unsafe_code)]

use std::fmt::Write as _;

use ringlane_engine::api::kernel::{CudaBody, Kernel, ParamCount, ParamKind, ParamSpec};
use ringlane_task::DType;

use crate::planted;

/// The files that bodies use, in the order in which they include each other.
const BODIES: [(&str, &str); 6] = [
    ("platform.h", include_str!("../device/platform.h")),
    ("tensors.h", include_str!("../device/tensors.h")),
    ("body.h", include_str!("../device/body.h")),
    ("rows.h", include_str!("../device/rows.h")),
    ("attention.h", include_str!("../device/attention.h")),
    ("tensor_cores.h", include_str!("../device/tensor_cores.h")),
];
/// What lists need besides.
const WORKER: (&str, &str) = ("worker.h", include_str!("../device/worker.h"));
/// What a launch for each task needs besides.
const NODE: (&str, &str) = ("node.h", include_str!("../device/node.h"));

/// What a program is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// A GPU.
    Gpu,
    /// Threads of this machine, each of which is a block.
    HostThreads,
}

/// What can be launched. The compiler for GPUs compiles every body once for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// `rl_main`, which works off lists.
    Lists,
    /// `rl_node` as well, which runs one task: only comparisons use it.
    ListsAndNodes,
}

/// Whether indices of views are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// An index that is out of bounds fails the task.
    Checked,
    /// An index that is out of bounds reads or writes other memory.
    Unchecked,
}

impl Bounds {
    /// As the environment variable `RL_CHECK` asks for.
    pub fn from_environment() -> Self {
        let checked = std::env::var_os("RL_CHECK").is_some_and(|value| !value.is_empty() && value != "0");
        if checked { Bounds::Checked } else { Bounds::Unchecked }
    }
}

/// The source of a program with these kernels; the number of a kernel in it is its place. A kernel without a body for GPUs
/// has no case: nothing is sent to the device for it.
pub fn program(kernels: &[&Kernel], machine: Machine, bounds: Bounds, entries: Entries) -> String {
    let mut text = String::new();
    if machine == Machine::HostThreads {
        text.push_str("#define RL_HOST 1\n");
    }
    if bounds == Bounds::Checked {
        text.push_str("#define RL_CHECK 1\n");
    }
    BODIES.into_iter().chain([WORKER]).for_each(|file| include(&mut text, file));
    if entries == Entries::ListsAndNodes {
        include(&mut text, NODE);
    }
    for (number, kernel) in kernels.iter().enumerate() {
        if let Some(body) = kernel.cuda() {
            text.push_str(&function(number, kernel, body));
        }
    }
    text.push_str(
        "#line 1 \"dispatch\"\nRL_BODY void rl_dispatch(u32 kernel, rl_args a) {\n    switch (kernel) {\n",
    );
    for (number, kernel) in kernels.iter().enumerate().filter(|(_, kernel)| kernel.cuda().is_some()) {
        let _ = writeln!(text, "    case {number}: rl_kernel_{number}(a); return;  // {}", kernel.name());
    }
    text.push_str("    }\n}\n");
    planted::rewritten(text)
}

/// The source, with the cycles of blocks counted up to a mark if the environment variable `RL_MARK` names one.
pub(crate) fn marked(source: String) -> String {
    let mark = std::env::var("RL_MARK").ok().and_then(|text| text.parse::<u32>().ok());
    mark.map(|mark| format!("#define RL_MARK {mark}\n{source}")).unwrap_or(source)
}

/// The source of a program for a GPU whose only entry runs the body of this kernel; none without a body. It is compiled, and never run.
pub(crate) fn alone(kernel: &Kernel, bounds: Bounds) -> Option<String> {
    let body = kernel.cuda()?;
    let mut text = String::new();
    if bounds == Bounds::Checked {
        text.push_str("#define RL_CHECK 1\n");
    }
    BODIES.into_iter().for_each(|file| include(&mut text, file));
    text.push_str(&function(0, kernel, body));
    // The threads of a block are those of `rl_main`: they limit the registers.
    text.push_str(
        "extern \"C\" __global__ void __launch_bounds__(256, 1) rl_entry(rl_args a) { rl_kernel_0(a); }\n",
    );
    Some(text)
}

/// Adds a file of the device runtime, without what it says of other files.
fn include(text: &mut String, (name, file): (&str, &str)) {
    let lines =
        file.lines().filter(|line| !line.starts_with("#pragma once") && !line.starts_with("#include \""));
    // A line that is left out keeps its number.
    let _ = writeln!(text, "#line 1 \"{name}\"");
    let kept: Vec<&str> = lines.collect();
    text.push_str(&kept.join("\n"));
    text.push('\n');
}

/// The function of one kernel: takes its arguments, and runs its body.
fn function(number: usize, kernel: &Kernel, body: &CudaBody) -> String {
    let mut text =
        format!("#line 1 \"{}\"\nRL_BODY void rl_kernel_{number}(rl_args rl_given) {{\n", kernel.name());
    for (name, spec) in body.params.iter().zip(kernel.params()) {
        let ty = type_of(spec);
        let _ = writeln!(text, "    {ty} {name} = rl_take<{ty}>::from(rl_given); (void){name};");
    }
    let file = body.file.replace('\\', "/");
    text.push_str("    rl_mark(1);\n");
    let _ = write!(text, "#line {} \"{file}\"\n    {{ {} }}\n}}\n", body.line, body.source);
    text
}

/// The type of a parameter in a body.
fn type_of(spec: &ParamSpec) -> String {
    let element = element(spec.dtype);
    let one = match (spec.kind, spec.rank) {
        (ParamKind::Context, _) => "rl_block".to_string(),
        (ParamKind::Scalar, _) => element.to_string(),
        (ParamKind::Read, Some(rank)) => format!("rl_view<const {element}, {rank}>"),
        (ParamKind::Read, None) => format!("rl_slice<const {element}>"),
        (ParamKind::Write | ParamKind::Shared, Some(rank)) => format!("rl_view<{element}, {rank}>"),
        (ParamKind::Write | ParamKind::Shared, None) => format!("rl_slice<{element}>"),
        (ParamKind::Tensor, _) => "rl_slice<char>".to_string(),
    };
    match spec.count {
        ParamCount::One => one,
        ParamCount::Rest => format!("rl_rest<{one}>"),
    }
}

/// The type of an element in a body.
fn element(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::Int8 => "int8_t",
        DType::UInt8 => "uint8_t",
        DType::Int16 => "int16_t",
        DType::UInt16 => "uint16_t",
        DType::Int32 => "int32_t",
        DType::UInt32 => "uint32_t",
        DType::Int64 => "int64_t",
        DType::UInt64 => "uint64_t",
        DType::Float16 => "rl_bits16",
        DType::BFloat16 => "rl_bf16",
        DType::Float32 => "float",
        DType::Float64 => "double",
        DType::Float8E4M3 | DType::Float8E5M2 => "rl_bits8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_engine::prelude::*;

    kernel! {
        static MIX = aiv fn(x: &[f32], m: View<i32, 2>, y: &mut [u8], s: f64, block: Block, rest: Rest<&[f32]>) {
            let _ = (x, m, y, s, block, rest.count());
        } cuda "y[0] = (uint8_t)(x.len() + m.shape(1) + rest.len() + block.index); (void)s;"
    }
    kernel! { static WITHOUT = any fn(_x: &mut [u8]) {} }

    #[test]
    fn a_body_becomes_a_function_with_the_parameters_of_its_kernel_at_its_own_line() {
        let text = program(&[&WITHOUT, &MIX], Machine::Gpu, Bounds::Unchecked, Entries::Lists);
        for part in [
            "rl_slice<const float> x = rl_take<rl_slice<const float>>::from(rl_given);",
            "rl_view<const int32_t, 2> m =",
            "rl_slice<uint8_t> y =",
            "double s =",
            "rl_block block =",
            "rl_rest<rl_slice<const float>> rest =",
            "case 1: rl_kernel_1(a); return;  // MIX",
            &format!("#line {} \"{}\"", MIX.cuda().unwrap().line, file!()),
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("rl_kernel_0") && !text.contains("RL_HOST 1") && !text.contains("RL_CHECK 1"));
        assert!(!text.contains("#include \""), "one translation unit, without files");
        assert!(!text.contains("rl_node"), "nothing that only comparisons use");
        let compared = program(&[&MIX], Machine::Gpu, Bounds::Unchecked, Entries::ListsAndNodes);
        assert!(compared.contains("void __launch_bounds__(256) rl_node("));
        assert!(
            program(&[], Machine::HostThreads, Bounds::Checked, Entries::Lists)
                .starts_with("#define RL_HOST 1\n#define RL_CHECK 1\n")
        );
    }
}
