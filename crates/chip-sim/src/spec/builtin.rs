//! The chips that come with the program: their files are part of it.

use ringlane_task::ChipSpec;

use super::chip::parse;

/// The chips that can be named as a platform.
pub const NAMES: [&str; 2] = ["a2a3sim", "a5sim"];

/// Files that are no platform, but worth copying: `a2a3-free` is a2a3sim with control that costs nothing.
pub const EXAMPLES: [&str; 1] = ["a2a3-free"];

/// The file of one of [`NAMES`] or [`EXAMPLES`], comments and all.
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
    // A test reads every one of them, so that what is refused here is never one of ours.
    parse(builtin_text(name)?, name).ok()
}
