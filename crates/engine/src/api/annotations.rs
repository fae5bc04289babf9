//! What a submit says about one task beside its work: a name, and how long it takes on a modelled chip.
//!
//! Annotations are stored after the task's argument records and live as long as these, so that an error of the task still
//! has its name. A task without annotations stores nothing.
//!
//! ```text
//! header: bytes of the label, whether there is a duration │ picoseconds, if there is one │ label, padded to whole words │
//! ```

#![forbid(unsafe_code)]

use core::num::NonZeroU64;
use core::time::Duration;

use super::values::bytes_of;
use crate::limits::LABEL_BYTES_MAX;

/// Set in the header if a duration follows.
const HAS_DURATION: u64 = 1 << 16;
const _: () = assert!((LABEL_BYTES_MAX as u64) < HAS_DURATION);

/// The name and the duration that a submit gave to its task.
///
/// ```
/// use ringlane_engine::api::annotations::Annotations;
/// let none = Annotations::default();
/// assert_eq!((none.label(), none.duration_ps()), (None, None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations<'a> {
    label: Option<&'a str>,
    duration_ps: Option<NonZeroU64>,
}

impl<'a> Annotations<'a> {
    /// The task's name.
    #[inline]
    pub fn label(&self) -> Option<&'a str> {
        self.label
    }

    /// What each of its blocks takes on a modelled chip, in picoseconds.
    #[inline]
    pub fn duration_ps(&self) -> Option<u64> {
        self.duration_ps.map(NonZeroU64::get)
    }

    /// The same with this name, cut to [`LABEL_BYTES_MAX`] bytes. An empty name is none.
    pub(crate) fn with_label(self, label: &'a str) -> Self {
        let label = &label[..label.floor_char_boundary(LABEL_BYTES_MAX)];
        Annotations { label: Some(label).filter(|label| !label.is_empty()), ..self }
    }

    /// The same with this duration: at least a picosecond.
    pub(crate) fn with_duration(self, duration: Duration) -> Self {
        let picoseconds = u64::try_from(duration.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX);
        Annotations { duration_ps: NonZeroU64::new(picoseconds.max(1)), ..self }
    }

    /// Whether there is neither a name nor a duration.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.label.is_none() && self.duration_ps.is_none()
    }

    /// Words that they take after the argument records, if there are any.
    #[cold]
    pub(crate) fn words(&self) -> usize {
        let label = self.label.unwrap_or_default();
        1 + usize::from(self.duration_ps.is_some()) + label.len().div_ceil(8)
    }

    /// Writes them into [`words`](Self::words) words.
    pub(crate) fn encode(&self, words: &mut [u64]) {
        let label = self.label.unwrap_or_default().as_bytes();
        words[0] = label.len() as u64;
        let mut at = 1;
        if let Some(duration) = self.duration_ps {
            words[0] |= HAS_DURATION;
            words[1] = duration.get();
            at = 2;
        }
        for (word, bytes) in words[at..].iter_mut().zip(label.chunks(8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(padded);
        }
    }

    /// Words that annotations with this first word take.
    pub(crate) fn words_from(header: u64) -> usize {
        label_at(header) + label_bytes(header).div_ceil(8)
    }

    /// Reads what [`encode`](Self::encode) wrote.
    pub(crate) fn decode(words: &'a [u64]) -> Self {
        let header = words[0];
        let duration_ps = if header & HAS_DURATION != 0 { NonZeroU64::new(words[1]) } else { None };
        let label = &bytes_of(&words[label_at(header)..])[..label_bytes(header)];
        let label = core::str::from_utf8(label).ok().filter(|label| !label.is_empty());
        Annotations { label, duration_ps }
    }
}

/// The word in which the label begins.
fn label_at(header: u64) -> usize {
    if header & HAS_DURATION != 0 { 2 } else { 1 }
}

fn label_bytes(header: u64) -> usize {
    (header & (HAS_DURATION - 1)) as usize
}

/// A kernel and the task's name, as errors show them: the name is quoted, and control characters are escaped.
pub(crate) fn kernel_and_label(kernel: &str, label: Option<&str>) -> String {
    match label {
        Some(label) => format!("{kernel} {label:?}"),
        None => kernel.to_string(),
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn round_trip(annotations: Annotations<'_>) {
        if annotations.is_empty() {
            return;
        }
        let mut words = vec![u64::MAX; annotations.words()];
        annotations.encode(&mut words);
        assert_eq!(Annotations::words_from(words[0]), words.len());
        assert_eq!(Annotations::decode(&words), annotations);
    }

    #[test]
    fn what_is_stored_is_read_again() {
        let none = Annotations::default();
        assert!(none.is_empty() && none.with_label("").is_empty());
        for label in ["", "a", "layer 3", "12345678", "123456789", "größe\n"] {
            round_trip(none.with_label(label));
            round_trip(none.with_label(label).with_duration(Duration::from_nanos(7)));
        }
        assert_eq!(none.with_label("").label(), None);
    }

    #[test]
    fn a_long_label_is_cut_between_characters_and_a_duration_fits_64_bits() {
        let long = "ä".repeat(LABEL_BYTES_MAX);
        let annotations = Annotations::default().with_label(&long).with_duration(Duration::MAX);
        assert_eq!(annotations.label().map(str::len), Some(LABEL_BYTES_MAX));
        let odd = format!("x{long}");
        let cut = Annotations::default().with_label(&odd);
        assert_eq!(cut.label().map(str::len), Some(LABEL_BYTES_MAX - 1));
        assert_eq!(annotations.duration_ps(), Some(u64::MAX));
        assert_eq!(Annotations::default().with_duration(Duration::ZERO).duration_ps(), Some(1));
        round_trip(annotations);
    }

    #[test]
    fn a_label_in_an_error_is_quoted_and_its_control_characters_are_escaped() {
        assert_eq!(kernel_and_label("QK", None), "QK");
        assert_eq!(kernel_and_label("QK", Some("layer \u{1b}[31m3")), r#"QK "layer \u{1b}[31m3""#);
    }
}
