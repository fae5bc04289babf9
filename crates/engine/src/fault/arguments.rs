//! What errors about the arguments of a submit say.

#![forbid(unsafe_code)]

use super::Fault;

impl Fault {
    /// The numbers of an error about the arguments of a submit.
    pub(super) fn detail_of_arguments(&self) -> String {
        match self {
            Fault::ArgCount { kernel, given, wanted, or_more } => {
                let or_more = if *or_more { " or more" } else { "" };
                format!("{kernel} takes {wanted}{or_more} arguments, but the submit has {given}")
            }
            Fault::TooManyArgs { what, given, limit } => format!("{given} {what}, at most {limit}"),
            Fault::ArgDType { kernel, arg, given, wanted } => {
                format!("argument {arg} of {kernel} is {given}, the kernel takes {wanted}")
            }
            Fault::ArgRank { kernel, arg, given, wanted } => {
                format!("argument {arg} of {kernel} has rank {given}, the kernel takes {wanted}")
            }
            Fault::ArgKind { kernel, arg, given, wanted } => {
                format!("argument {arg} of {kernel} is {given}, the kernel takes {wanted}")
            }
            Fault::NotContiguous { kernel, arg, shape, strides } => {
                format!("argument {arg} of {kernel} has shape {shape:?} and strides {strides:?}")
            }
            Fault::ArgsOverlap { kernel, written, other, is_certain: true } => {
                format!("{kernel} writes argument {written}, which overlaps argument {other}")
            }
            Fault::ArgsOverlap { kernel, written, other, is_certain: false } => format!(
                "{kernel} writes argument {written}, which may overlap argument {other}: their strides are too irregular to decide"
            ),
            Fault::WriteRepeats { kernel, arg } | Fault::ReadOnly { kernel, arg } => {
                format!("{kernel} writes argument {arg}")
            }
            Fault::UnsplitWrite { kernel, arg, blocks } => {
                format!("{blocks} blocks write argument {arg} of {kernel}, which is not split")
            }
            Fault::BadSplit { kernel, arg, axis, rank: 0 } => {
                format!("argument {arg} of {kernel}: axis {axis} of a scalar")
            }
            Fault::BadSplit { kernel, arg, axis, rank } => {
                format!("argument {arg} of {kernel}: axis {axis} of a view with rank {rank}")
            }
            _ => String::new(),
        }
    }
}
