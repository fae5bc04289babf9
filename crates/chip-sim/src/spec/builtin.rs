//! The built-in chips: their files are compiled into the program.

use ringlane_task::ChipSpec;

use super::chip::parse;

/// The chips that can be selected as a platform.
pub const NAMES: [&str; 2] = ["a2a3sim", "a5sim"];

/// Chip files that are not platforms, but useful as a start: `a2a3-free` is a2a3sim whose control costs nothing.
pub const EXAMPLES: [&str; 1] = ["a2a3-free"];

/// The text of the file of one of [`NAMES`] or [`EXAMPLES`], including its comments.
///
/// ```
/// use ringlane_chip_sim::spec::builtin_text;
///
/// assert!(builtin_text("a5sim").unwrap().contains("clusters = 36"));
/// assert!(builtin_text("a6").is_none());
/// ```
pub fn builtin_text(name: &str) -> Option<&'static str> {
    match name {
        "a2a3sim" => Some(include_str!("../../chips/a2a3sim.toml")),
        "a5sim" => Some(include_str!("../../chips/a5sim.toml")),
        "a2a3-free" => Some(include_str!("../../chips/a2a3-free.toml")),
        _ => None,
    }
}

/// One of [`NAMES`] or [`EXAMPLES`], read from its file.
///
/// ```
/// use ringlane_chip_sim::spec::builtin;
///
/// assert_eq!(builtin("a5sim").unwrap().cores(), 108);
/// ```
pub fn builtin(name: &str) -> Option<ChipSpec> {
    // A test parses every built-in file, so parsing never fails here.
    parse(builtin_text(name)?, name).ok()
}
