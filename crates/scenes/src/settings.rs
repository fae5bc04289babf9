//! The parameters and the seed of a scene for one run, with range checks.

use core::fmt::Display;
use core::ops::RangeInclusive;
use core::str::FromStr;
use std::collections::BTreeMap;

use crate::error::{SceneError, SceneResult};

/// The parameters and the seed of a scene for one run.
///
/// ```
/// use ringlane_engine::prelude::Explain;
/// use ringlane_scenes::Settings;
/// let settings = Settings { seed: 7, params: [("tile".to_string(), "32".to_string())].into() };
/// assert_eq!(settings.u32("tile", 1..=64)?, 32);
/// let error = settings.u32("tile", 1..=16).unwrap_err();
/// assert_eq!(error.summary(), "the parameter `tile` cannot be `32`");
/// # Ok::<(), ringlane_scenes::SceneError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Seed of the inputs.
    pub seed: u64,
    /// Values by name: defaults, overridden by the case, overridden by the user.
    pub params: BTreeMap<String, String>,
}

impl Settings {
    /// A parameter as text; empty if the scene has no such parameter.
    pub fn text(&self, name: &str) -> &str {
        self.params.get(name).map_or("", String::as_str)
    }

    /// A parameter as an integer within limits.
    pub fn u32(&self, name: &str, allowed: RangeInclusive<u32>) -> SceneResult<u32> {
        self.number(name, allowed)
    }

    /// A parameter as a large integer within limits.
    pub fn u64(&self, name: &str, allowed: RangeInclusive<u64>) -> SceneResult<u64> {
        self.number(name, allowed)
    }

    /// A parameter as one of several numbers.
    pub fn u32_of(&self, name: &str, allowed: &[u32]) -> SceneResult<u32> {
        let found = self.text(name).parse().ok().filter(|value| allowed.contains(value));
        found.ok_or_else(|| {
            let allowed: Vec<_> = allowed.iter().map(u32::to_string).collect();
            self.refuse(name, format!("one of {}", allowed.join(", ")))
        })
    }

    /// A parameter as one of several words.
    ///
    /// ```
    /// use ringlane_engine::prelude::Explain;
    /// use ringlane_scenes::Settings;
    /// let settings = Settings { seed: 0, params: [("dtype".to_string(), "bf16".to_string())].into() };
    /// assert_eq!(settings.one_of("dtype", &["f32", "bf16"])?, "bf16");
    /// assert_eq!(settings.one_of("dtype", &["f32", "f64"]).unwrap_err().detail(), "dtype=bf16; allowed: one of f32, f64");
    /// # Ok::<(), ringlane_scenes::SceneError>(())
    /// ```
    pub fn one_of<'a>(&self, name: &str, allowed: &[&'a str]) -> SceneResult<&'a str> {
        let found = allowed.iter().find(|word| **word == self.text(name)).copied();
        found.ok_or_else(|| self.refuse(name, format!("one of {}", allowed.join(", "))))
    }

    /// The bytes of the file that a parameter names; the error contains the reason if it cannot be read.
    ///
    /// ```
    /// use ringlane_engine::prelude::Explain;
    /// use ringlane_scenes::Settings;
    /// let settings = Settings { seed: 0, params: [("weights".to_string(), "no/such/file".to_string())].into() };
    /// let error = settings.file("weights").unwrap_err();
    /// assert_eq!(error.name(), "UnreadableFile");
    /// assert_eq!(error.detail(), "weights=no/such/file: No such file or directory (os error 2)");
    /// ```
    pub fn file(&self, name: &str) -> SceneResult<Vec<u8>> {
        let path = self.text(name);
        std::fs::read(path).map_err(|error| SceneError::UnreadableFile {
            name: name.to_string(),
            path: path.to_string(),
            reason: error.to_string(),
        })
    }

    /// The error for a value that is impossible because of other parameters.
    pub fn refuse(&self, name: &str, allowed: impl Display) -> SceneError {
        let (name, value) = (name.to_string(), self.text(name).to_string());
        SceneError::BadParam { name, value, allowed: allowed.to_string() }
    }

    fn number<T: FromStr + PartialOrd + Display>(
        &self,
        name: &str,
        allowed: RangeInclusive<T>,
    ) -> SceneResult<T> {
        let found = self.text(name).parse().ok().filter(|value| allowed.contains(value));
        found.ok_or_else(|| {
            self.refuse(name, format_args!("a whole number from {} to {}", allowed.start(), allowed.end()))
        })
    }
}
