//! What a submit is checked for before anything happens: arguments against parameters, and against each other.

use ringlane_task::{Access, TensorView};

use crate::api::arg::{ArgKind, NO_SPLIT};
use crate::api::backend::Call;
use crate::api::kernel::{CoreType, Kernel, ParamCount, ParamKind, ParamSpec};
use crate::fault::{Fault, Result};
use crate::limits::{BLOCKS_MAX, SCALARS_MAX, TENSORS_MAX};
use crate::overlap::{Region, Relation, relation_within_a_task};

/// Checks a submit; on `Ok` its views, accesses and splits can be trusted.
#[inline]
pub(crate) fn check_call(call: &Call<'_>) -> Result<()> {
    if call.launch.kernels().any(|kernel| kernel.is_stand_in()) {
        return check_stand_in(call);
    }
    let mut next = 0;
    let (mut written, mut tensors) = (false, 0);
    for kernel in call.launch.kernels() {
        if kernel.is_variadic() && call.launch.single().is_none() {
            return Err(variadic_lane(kernel));
        }
        let end = if kernel.is_variadic() { call.args.len() } else { next + kernel.arity() };
        if end > call.args.len() || end < next + kernel.arity() {
            return Err(arg_count(call));
        }
        for (i, param) in (next..end).zip(params_of(kernel, end - next)) {
            let access = check_arg(call, kernel, i, param)?;
            written |= access.is_some_and(|access| param.writes(access));
            tensors += access.is_some() as usize;
        }
        next = end;
    }
    if next != call.args.len() {
        return Err(arg_count(call));
    }
    if tensors > TENSORS_MAX || next - tensors > SCALARS_MAX {
        return Err(too_many(tensors, next - tensors));
    }
    if next == 0 && call.launch.kernels().next().is_none() || !(1..=BLOCKS_MAX).contains(&call.launch.blocks)
    {
        return Err(bad_launch(call));
    }
    if call.launch.single().is_none() {
        check_lanes(call)?;
    }
    if written && tensors > 1 { check_overlaps(call) } else { Ok(()) }
}

/// The check of a task that does nothing with its arguments: their number, and the shape of the launch.
fn check_stand_in(call: &Call<'_>) -> Result<()> {
    let scalars = call.args.iter().filter(|arg| matches!(arg.kind, ArgKind::Scalar(_))).count();
    let tensors = call.args.len() - scalars;
    if tensors > TENSORS_MAX || scalars > SCALARS_MAX {
        return Err(too_many(tensors, scalars));
    }
    if !(1..=BLOCKS_MAX).contains(&call.launch.blocks) {
        return Err(bad_launch(call));
    }
    if call.launch.single().is_none() { check_lanes(call) } else { Ok(()) }
}

/// The parameter of each of `args` arguments of a kernel.
fn params_of(kernel: &'static Kernel, args: usize) -> impl Iterator<Item = &'static ParamSpec> {
    let mut fixed =
        kernel.params().iter().filter(|p| p.kind != ParamKind::Context && p.count == ParamCount::One);
    let extra = args.saturating_sub(kernel.arity());
    let extra = kernel.more().map(|more| (more.at..more.at + extra, &more.spec));
    (0..args).map_while(move |i| match extra {
        Some((ref places, spec)) if places.contains(&i) => Some(spec),
        _ => fixed.next(),
    })
}

/// A kernel of a mixed task wants the kind of core that its lane has.
fn check_lanes(call: &Call<'_>) -> Result<()> {
    for (lane, kernel) in call.launch.lanes.iter().enumerate() {
        let (has, wants) = (if lane == 0 { CoreType::Aic } else { CoreType::Aiv }, kernel.map(|k| k.core()));
        if let (Some(kernel), Some(wants)) = (kernel, wants)
            && wants != CoreType::Any
            && wants != has
        {
            let (name, wants, has) = (kernel.name(), wants.as_str(), has.as_str());
            let detail = format!("{name} wants an {wants} core, and lane {lane} of a mixed task is {has}");
            return Err(Fault::BadLaunch { detail }.into());
        }
    }
    Ok(())
}

#[cold]
fn variadic_lane(kernel: &Kernel) -> crate::Error {
    let detail =
        format!("{} takes any number of arguments, which a mixed task cannot share out", kernel.name());
    Fault::BadLaunch { detail }.into()
}

#[cold]
fn arg_count(call: &Call<'_>) -> crate::Error {
    let names: Vec<_> = call.launch.kernels().map(Kernel::name).collect();
    let wanted = call.launch.kernels().map(Kernel::arity).sum();
    let or_more = call.launch.kernels().any(Kernel::is_variadic);
    Fault::ArgCount { kernel: names.join(" + "), given: call.args.len(), wanted, or_more }.into()
}

#[cold]
fn too_many(tensors: usize, scalars: usize) -> crate::Error {
    let (what, given, limit) = if tensors > TENSORS_MAX {
        ("tensors", tensors, TENSORS_MAX)
    } else {
        ("scalars", scalars, SCALARS_MAX)
    };
    Fault::TooManyArgs { what, given, limit }.into()
}

#[cold]
fn bad_launch(call: &Call<'_>) -> crate::Error {
    let (kernels, blocks) = (call.launch.kernels().count(), call.launch.blocks);
    Fault::BadLaunch { detail: format!("{kernels} kernels × {blocks} blocks; blocks 1..={BLOCKS_MAX}") }
        .into()
}

/// Checks one argument against its parameter; gives the access of a tensor.
#[inline]
fn check_arg(call: &Call<'_>, kernel: &Kernel, i: usize, param: &ParamSpec) -> Result<Option<Access>> {
    let (view, access, split) = match &call.args[i].kind {
        ArgKind::Tensor { view, access, split, .. } => (view, *access, *split),
        ArgKind::Output { view, split } => (view, Access::Output, *split),
        ArgKind::Bad(bad) => return Err(bad.refused(kernel.name(), i)),
        ArgKind::Scalar(scalar) | ArgKind::Param(scalar, _) => {
            if param.kind != ParamKind::Scalar {
                return Err(wrong_kind(kernel, i, "a scalar", param));
            }
            if scalar.dtype() != param.dtype {
                return Err(wrong_dtype(kernel, i, scalar.dtype(), param));
            }
            return Ok(None);
        }
    };
    let kind = param.kind.with(access);
    let fits = match kind {
        ParamKind::Read => matches!(access, Access::Input | Access::NoDep),
        ParamKind::Write | ParamKind::Shared => access != Access::Input,
        ParamKind::Tensor | ParamKind::Scalar | ParamKind::Context => false,
    };
    if !fits {
        return Err(wrong_kind(kernel, i, access.as_str(), param));
    }
    if param.kind != ParamKind::Tensor && view.dtype() != param.dtype {
        return Err(wrong_dtype(kernel, i, view.dtype(), param));
    }
    if param.rank.is_some_and(|rank| rank as usize != view.rank()) {
        return Err(wrong_rank(kernel, i, view, param));
    }
    if split != NO_SPLIT || param.writes(access) {
        check_write(call, kernel, i, kind, view, split)?;
    }
    let whole_rows = split == NO_SPLIT || view.dims()[..split as usize].iter().all(|d| d.len == 1);
    if param.contiguous && !(whole_rows && view.is_contiguous()) {
        return Err(not_contiguous(kernel, i, view));
    }
    Ok(Some(access))
}

fn check_write(
    call: &Call<'_>,
    kernel: &Kernel,
    arg: usize,
    kind: ParamKind,
    view: &TensorView,
    split: u8,
) -> Result<()> {
    let blocks = call.launch.blocks;
    if split != NO_SPLIT && (split as usize >= view.rank() || kind == ParamKind::Shared) {
        let (kernel, rank) = (kernel.name().to_string(), view.rank());
        return Err(Fault::BadSplit { kernel, arg, axis: split, rank }.into());
    }
    if kind == ParamKind::Read {
        return Ok(());
    }
    if kind == ParamKind::Write && blocks > 1 && split == NO_SPLIT {
        return Err(Fault::UnsplitWrite { kernel: kernel.name().to_string(), arg, blocks }.into());
    }
    if view.repeats() {
        return Err(Fault::WriteRepeats { kernel: kernel.name().to_string(), arg }.into());
    }
    Ok(())
}

#[cold]
fn wrong_kind(kernel: &Kernel, arg: usize, given: &'static str, param: &ParamSpec) -> crate::Error {
    let wanted = match param.kind {
        ParamKind::Read => "a tensor to read",
        ParamKind::Write | ParamKind::Shared => "a tensor to write",
        ParamKind::Tensor => "a tensor",
        ParamKind::Scalar => "a scalar",
        ParamKind::Context => "no argument",
    };
    Fault::ArgKind { kernel: kernel.name().to_string(), arg, given, wanted }.into()
}

#[cold]
fn wrong_dtype(kernel: &Kernel, arg: usize, given: ringlane_task::DType, param: &ParamSpec) -> crate::Error {
    Fault::ArgDType { kernel: kernel.name().to_string(), arg, given, wanted: param.dtype }.into()
}

#[cold]
fn wrong_rank(kernel: &Kernel, arg: usize, view: &TensorView, param: &ParamSpec) -> crate::Error {
    let wanted = param.rank.unwrap_or_default();
    Fault::ArgRank { kernel: kernel.name().to_string(), arg, given: view.rank(), wanted }.into()
}

#[cold]
fn not_contiguous(kernel: &Kernel, arg: usize, view: &TensorView) -> crate::Error {
    let strides = view.dims().iter().map(|d| d.stride).collect();
    Fault::NotContiguous { kernel: kernel.name().to_string(), arg, shape: view.shape(), strides }.into()
}

/// Refuses a written argument that shares bytes, or may share bytes, with another of the same task. An argument that is
/// not followed (`no_dep`) counts like any other: the kernel would get two references to one byte.
fn check_overlaps(call: &Call<'_>) -> Result<()> {
    for (i, arg) in call.args.iter().enumerate() {
        let ArgKind::Tensor { tensor, view, access, .. } = &arg.kind else { continue };
        if !writes(call, i, *access) {
            continue;
        }
        for (j, other) in call.args.iter().enumerate() {
            let ArgKind::Tensor { tensor: same, view: other, .. } = &other.kind else { continue };
            if j == i || same != tensor {
                continue;
            }
            let relation = relation_within_a_task(&Region::of(view), &Region::of(other));
            if relation != Relation::Disjoint {
                let (kernel, is_certain) = (kernel_of(call, i), relation != Relation::Possible);
                return Err(Fault::ArgsOverlap { kernel, written: i, other: j, is_certain }.into());
            }
        }
    }
    Ok(())
}

/// Whether the kernel may write a tensor argument of a checked submit.
pub(crate) fn writes(call: &Call<'_>, arg: usize, access: Access) -> bool {
    let param = || param_of(call, arg).is_some_and(|(_, param)| param.writes(access));
    access.writes() || access == Access::NoDep && param()
}

/// The kernel that takes an argument, and its parameter.
fn param_of(call: &Call<'_>, arg: usize) -> Option<(&'static Kernel, &'static ParamSpec)> {
    let mut first = 0;
    for kernel in call.launch.kernels() {
        let count = if kernel.is_variadic() { call.args.len() - first } else { kernel.arity() };
        if arg < first + count {
            return params_of(kernel, count).nth(arg - first).map(|param| (kernel, param));
        }
        first += count;
    }
    None
}

#[cold]
fn kernel_of(call: &Call<'_>, arg: usize) -> String {
    param_of(call, arg).map_or_else(String::new, |(kernel, _)| kernel.name().to_string())
}
