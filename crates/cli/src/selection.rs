//! Which arguments a dump captures: `--dump-tensor[=KERNEL[:ARG],…]`.
//!
//! ```text
//! --dump-tensor            everything                    (the same as --dump-tensor=@all)
//! --dump-tensor=QK,PV:2    all of QK, argument 2 of PV, and what the orchestration marks
//! --dump-tensor=@marked    only what the orchestration marks
//! ```
//! Names and indices are checked against the scene's kernels, so that a typing error is found before anything runs.

use ringlane_engine::prelude::Kernel;
use ringlane_probe::{DumpSelection, SelectedKernel};
use ringlane_scenes::Scene;

use crate::errors::CliError;

/// How everything is asked for.
pub const ALL: &str = "@all";
/// How only marked arguments are asked for.
const MARKED: &str = "@marked";
const OPTION: &str = "--dump-tensor";

/// Reads what the option says about the kernels of a scene.
pub fn parse(text: &str, scene: &Scene) -> Result<DumpSelection, CliError> {
    if text == ALL {
        return Ok(DumpSelection::Everything);
    }
    let named = text.split(',').filter(|item| *item != MARKED);
    let kernels: Vec<_> = named.map(|item| kernel(item, scene)).collect::<Result<_, _>>()?;
    Ok(if kernels.is_empty() { DumpSelection::Marked } else { DumpSelection::Kernels(kernels) })
}

fn kernel(item: &str, scene: &Scene) -> Result<SelectedKernel, CliError> {
    if item.is_empty() {
        let allowed = format!("KERNEL or KERNEL:ARG, several with commas, or {MARKED}, or {ALL}");
        return Err(CliError::bad_value(OPTION, item, allowed, OPTION));
    }
    // A name may hold a colon itself, so the whole is tried first.
    let whole = scene.kernel(item);
    match item.rsplit_once(':') {
        Some((name, index)) if whole.is_err() => {
            let arg = Some(argument(scene.kernel(name)?, index, item)?);
            Ok(SelectedKernel { name: name.to_string(), arg })
        }
        _ => Ok(SelectedKernel { name: whole?.name().to_string(), arg: None }),
    }
}

/// The index of one of a kernel's arguments.
fn argument(kernel: &Kernel, index: &str, item: &str) -> Result<u16, CliError> {
    let (name, arity) = (kernel.name(), kernel.args_max() as u16);
    let known = index.parse().ok().filter(|&index| index < arity);
    known.ok_or_else(|| match arity.checked_sub(1) {
        Some(last) => {
            let allowed = format!("arguments 0 to {last} of {name}");
            CliError::bad_value(OPTION, item, allowed, format!("{OPTION}={name}:{last}"))
        }
        None => CliError::bad_value(OPTION, item, format!("{name} has no arguments"), OPTION),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringlane_task::Explain;

    fn parse(text: &str) -> Result<DumpSelection, CliError> {
        super::parse(text, Scene::find("paged_attention").unwrap())
    }

    #[test]
    fn a_selection_is_everything_or_kernels_with_arguments_or_marks_alone() {
        let of = |name: &str, arg| SelectedKernel { name: name.to_string(), arg };
        assert_eq!(parse(ALL).unwrap(), DumpSelection::Everything);
        assert_eq!(parse("@marked").unwrap(), DumpSelection::Marked);
        let two = DumpSelection::Kernels(vec![of("QK", None), of("PV", Some(2))]);
        assert_eq!(parse("QK,PV:2").unwrap(), two);
        // Marks are always added, so that naming them as well changes nothing.
        assert_eq!(parse("QK,@marked,PV:2").unwrap(), two);
    }

    #[test]
    fn a_selection_is_shown_as_it_is_given() {
        for text in ["@all", "@marked", "QK,PV:2"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_unknown_kernel_is_refused_with_those_of_the_scene() {
        for text in ["KQ", "QK,GEMM", "KQ:1", "@al", "@all,QK"] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.name(), "UnknownKernel", "{text}");
            assert!(error.hint().contains("QK, SOFTMAX, PV, UPDATE, NORMALISE"), "{}", error.hint());
        }
        assert!(parse("SOFTMX").unwrap_err().hint().starts_with("did you mean --dump-tensor=SOFTMAX?"));
    }

    #[test]
    fn an_argument_that_the_kernel_does_not_have_is_refused_with_those_it_has() {
        for text in ["PV:3", "QK,PV:x", "PV:-1", "PV:"] {
            let error = parse(text).unwrap_err();
            assert_eq!((error.name(), error.hint().as_str()), ("BadValue", "--dump-tensor=PV:2"), "{text}");
            assert!(error.detail().contains("arguments 0 to 2 of PV"), "{}", error.detail());
        }
    }

    #[test]
    fn nothing_is_no_kernel() {
        for text in ["", "QK,", ",QK"] {
            assert_eq!(parse(text).unwrap_err().name(), "BadValue", "{text:?}");
        }
    }
}
