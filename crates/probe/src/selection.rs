//! Which arguments the dump captures.

use core::fmt;

use ringlane_engine::api::kernel::Kernel;
use ringlane_engine::limits::{SCALARS_MAX, TENSORS_MAX};

/// Which arguments are captured. What the orchestration marks with `o.dump(…)` is captured with every choice.
///
/// ```
/// use ringlane_probe::{DumpSelection, SelectedKernel};
/// let pv = SelectedKernel { name: "PV".into(), arg: Some(2) };
/// assert_eq!(DumpSelection::Kernels(vec![pv]).to_string(), "PV:2");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DumpSelection {
    /// Every argument of every task.
    #[default]
    Everything,
    /// Only what the orchestration marks.
    Marked,
    /// The arguments of these kernels, and what is marked.
    Kernels(Vec<SelectedKernel>),
}

/// A kernel whose arguments are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedKernel {
    /// Its name.
    pub name: String,
    /// One of its arguments, by index; all if none is named.
    pub arg: Option<u16>,
}

impl DumpSelection {
    /// What was selected, in the command's words, unless that is everything.
    pub(crate) fn chosen(&self) -> Option<String> {
        (*self != DumpSelection::Everything).then(|| self.to_string())
    }
}

impl fmt::Display for DumpSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DumpSelection::Everything => f.write_str("@all"),
            DumpSelection::Marked => f.write_str("@marked"),
            DumpSelection::Kernels(kernels) => {
                for (i, SelectedKernel { name, arg }) in kernels.iter().enumerate() {
                    let comma = if i == 0 { "" } else { "," };
                    write!(f, "{comma}{name}")?;
                    arg.map_or(Ok(()), |arg| write!(f, ":{arg}"))?;
                }
                Ok(())
            }
        }
    }
}

/// Words of a mask.
pub(crate) const MASK_WORDS: usize = (TENSORS_MAX + SCALARS_MAX).div_ceil(64);

/// A set of argument indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArgMask(pub(crate) [u64; MASK_WORDS]);

impl ArgMask {
    pub(crate) const ALL: ArgMask = ArgMask([u64::MAX; MASK_WORDS]);

    pub(crate) fn insert(&mut self, arg: usize) {
        if let Some(word) = self.0.get_mut(arg / 64) {
            *word |= 1 << (arg % 64);
        }
    }

    pub(crate) fn contains(&self, arg: usize) -> bool {
        self.0.get(arg / 64).is_some_and(|word| word >> (arg % 64) & 1 == 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0 == [0; MASK_WORDS]
    }
}

impl DumpSelection {
    /// The arguments of a task with these kernels that are captured whatever is marked.
    pub(crate) fn mask(&self, kernels: impl Iterator<Item = &'static Kernel>) -> ArgMask {
        let selected = match self {
            DumpSelection::Everything => return ArgMask::ALL,
            DumpSelection::Marked => return ArgMask::default(),
            DumpSelection::Kernels(selected) => selected,
        };
        let (mut mask, mut first) = (ArgMask::default(), 0);
        for kernel in kernels {
            let last = first + kernel.args_max();
            for choice in selected.iter().filter(|choice| choice.name == kernel.name()) {
                match choice.arg {
                    Some(arg) if first + (arg as usize) < last => mask.insert(first + arg as usize),
                    Some(_) => {}
                    None => (first..last).for_each(|arg| mask.insert(arg)),
                }
            }
            first = last;
        }
        mask
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use ringlane_engine::prelude::*;

    kernel! { static FIRST = aic fn(_a: &[f32], _b: &mut [f32]) {} }
    kernel! { static SECOND = aiv fn(_a: &[f32], _b: &mut [f32], _c: f32) {} }

    fn mask(selection: &[(&str, Option<u16>)]) -> Vec<usize> {
        let kernels = selection.iter().map(|&(name, arg)| SelectedKernel { name: name.into(), arg });
        let mask = DumpSelection::Kernels(kernels.collect()).mask([&FIRST, &SECOND].into_iter());
        (0..TENSORS_MAX + SCALARS_MAX).filter(|&arg| mask.contains(arg)).collect()
    }

    #[test]
    fn a_kernels_arguments_are_found_after_those_of_the_kernels_before_it() {
        assert_eq!(mask(&[("SECOND", None)]), [2, 3, 4]);
        assert_eq!(mask(&[("SECOND", Some(2)), ("FIRST", Some(1))]), [1, 4]);
    }

    #[test]
    fn what_a_kernel_does_not_have_selects_nothing() {
        assert_eq!(mask(&[("FIRST", Some(2)), ("THIRD", None)]), [0usize; 0]);
    }
}
