//! One submit: by which call it is made, and what it takes.
#![forbid(unsafe_code)]

use std::time::Duration;

use ringlane_engine::limits::LABEL_BYTES_MAX;
use ringlane_engine::prelude::*;
use ringlane_task::Access;

use super::interpret::{Env, view_of};
use super::kernels::kernel;
use super::ledger::Take;
use super::program::{ArgSpec, Submit};

/// What a submit takes of its ring, as the design says: 24 + 8 × rank bytes a tensor, 16 a scalar; for a name or a duration 8,
/// another 8 for the duration, and the name in whole words.
pub(crate) fn take<'s>(submit: &Submit, env: &Env<'s>, outs: &[Tensor<'s>]) -> Take {
    let mut take = Take::default();
    for arg in &submit.args {
        match arg {
            ArgSpec::Tensor { place, access, .. } => {
                let rank = view_of(env, place).map_or(0, |view| view.view().rank());
                take.args += 24 + 8 * rank as u64;
                take.entries += (*access != Access::NoDep) as u64;
            }
            ArgSpec::Out { shape, .. } => {
                take.args += 24 + 8 * shape.len() as u64;
                take.entries += 2;
            }
            ArgSpec::Scalar { .. } | ArgSpec::Meta(_) => take.args += 16,
        }
    }
    let (label, duration) = (submit.notes.label_of(submit.name), submit.notes.duration_ns);
    if label.is_some() || duration.is_some() {
        let cut = label.map_or(0, |label| label.floor_char_boundary(LABEL_BYTES_MAX));
        take.args += 8 + 8 * u64::from(duration.is_some()) + cut.next_multiple_of(8) as u64;
    }
    outs.iter().for_each(|tensor| take.tensor(tensor.view().bytes()));
    take
}

/// Submits by the call that fits: an array with or without edges, or a slice.
pub(crate) fn dispatch<'s>(
    o: &mut Orch<'s, '_>,
    after: &[Task<'s>],
    submit: &Submit,
    args: &[Arg<'s>],
) -> Result<(Task<'s>, Vec<Tensor<'s>>)> {
    let (first, rest) = submit.kernels.split_first().expect("a task has a kernel");
    let aiv: Vec<_> = rest.iter().map(|&index| kernel(index)).collect();
    let launch = if aiv.is_empty() { Launch::from(kernel(*first)) } else { kernel(*first).mixed(&aiv) };
    let label = submit.notes.label_of(submit.name);
    let launch = match &label {
        Some(label) => launch.blocks(submit.blocks).labelled(label),
        None => launch.blocks(submit.blocks),
    };
    let launch = match submit.notes.duration_ns {
        Some(ns) => launch.taking(Duration::from_nanos(ns.into())),
        None => launch,
    };
    let made = submit.args.iter().filter(|arg| matches!(arg, ArgSpec::Out { .. })).count();
    macro_rules! array {
        ($count:literal) => {{
            let args: [Arg<'s>; $count] = args.try_into().expect("the length was matched");
            let done =
                if after.is_empty() { o.submit(launch, args)? } else { o.submit_after(after, launch, args)? };
            Ok((done.task(), (0..made).map(|i| done.out(i)).collect()))
        }};
    }
    match args.len() {
        _ if submit.as_slice => {
            let done = o.submit_slice(after, launch, args)?;
            Ok((done.task(), (0..made).map(|i| done.out(i)).collect()))
        }
        1 => array!(1),
        2 => array!(2),
        3 => array!(3),
        4 => array!(4),
        5 => array!(5),
        6 => array!(6),
        7 => array!(7),
        _ => {
            let done = o.submit_slice(after, launch, args)?;
            Ok((done.task(), (0..made).map(|i| done.out(i)).collect()))
        }
    }
}
