//! Writes `ringlane.h` as cbindgen makes it of crates/capi, to the file that is named. Not part of the workspace: nothing that is
//! built or shipped contains cbindgen, whose licence is not one that the workspace accepts.

use std::path::Path;

use cbindgen::{Builder, Config, DocumentationStyle, Language, Style};

const INTRODUCTION: &str = "\
/* Ringlane's C ABI, version 1. Generated from crates/capi; docs/from-c.md shows how to use it.
 *
 * Every function returns RL_OK or another status; then rl_error_name(), rl_error_detail() and rl_error_hint() describe the
 * last error of the thread. Structs begin with struct_size, which the caller sets to sizeof. Pointers must be true: to
 * objects that live during the call, with as many elements as is said. A kernel's user data lives as long as the process. */
";

fn generated() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../crates/capi/src");
    let mut config = Config::default();
    config.language = Language::C;
    config.cpp_compat = true;
    config.style = Style::Type;
    config.documentation_style = DocumentationStyle::C99;
    config.include_guard = Some("RINGLANE_H".to_string());
    config.header = Some(INTRODUCTION.to_string());
    config.no_includes = true;
    config.sys_includes = vec!["stddef.h".to_string(), "stdint.h".to_string()];
    config.trailer = Some(
        include_str!("../../../../crates/capi/src/helpers.h").to_string()
            + include_str!("../../../../crates/capi/src/layouts.h")
            + "\n#endif /* RINGLANE_HELPERS_H */\n",
    );
    // No function mentions them: a plugin exports the one, and is given the other.
    config.export.include = ["rl_plugin", "rl_api"].map(str::to_string).to_vec();
    config.line_length = 110;
    // The other files are modules of this one: naming them too would declare every function twice.
    let builder = Builder::new().with_config(config).with_src(root.join("lib.rs"));
    let mut header = Vec::new();
    builder.generate().expect("the sources are parsed").write(&mut header);
    String::from_utf8(header).expect("a header is text")
}

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).expect("usage: ringlane-header FILE");
    std::fs::write(path, generated())
}
