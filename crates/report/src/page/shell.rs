//! The page around the data: styles, scripts and the frame that scripts fill.
//!
//! Everything that comes from a run is stored as JSON or base64, so that no name can be markup; the only text in the
//! frame itself is the title, which is escaped.

use std::io::{self, Write};

use super::data::Page;

/// Styles, in the order in which they apply.
const STYLES: [&str; 4] = [
    include_str!("assets/tokens.css"),
    include_str!("assets/layout.css"),
    include_str!("assets/panels.css"),
    include_str!("assets/swimlane.css"),
];

/// Scripts, each after those it uses; they share one scope.
const SCRIPTS: [&str; 31] = [
    include_str!("assets/dom.js"),
    include_str!("assets/format.js"),
    include_str!("assets/colors.js"),
    include_str!("assets/theme.js"),
    include_str!("assets/columns.js"),
    include_str!("assets/lane.js"),
    include_str!("assets/model.js"),
    include_str!("assets/lanes.js"),
    include_str!("assets/node.js"),
    include_str!("assets/state.js"),
    include_str!("assets/header.js"),
    include_str!("assets/findings.js"),
    include_str!("assets/time.js"),
    include_str!("assets/gains.js"),
    include_str!("assets/overview.js"),
    include_str!("assets/layout.js"),
    include_str!("assets/draw.js"),
    include_str!("assets/marks.js"),
    include_str!("assets/swimlane.js"),
    include_str!("assets/tooltip.js"),
    include_str!("assets/search.js"),
    include_str!("assets/card.js"),
    include_str!("assets/workers.js"),
    include_str!("assets/kernels.js"),
    include_str!("assets/counters.js"),
    include_str!("assets/scopes.js"),
    include_str!("assets/arguments.js"),
    include_str!("assets/compare.js"),
    include_str!("assets/reproduce.js"),
    include_str!("assets/keys.js"),
    include_str!("assets/main.js"),
];

/// What the page may do: run what it holds, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

/// A mark with the colours of the page, so that a browser does not request one.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath \
                    d='M2 4h7M5 8h9M2 12h5' stroke='%233b6fd8' stroke-width='2.4' stroke-linecap='round'/%3E%3C/svg%3E";

/// Writes the page.
pub fn write(page: &Page, out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"ringlane {}\">\n<link rel=\"icon\" href=\"{ICON}\">\n<title>",
        env!("CARGO_PKG_VERSION"),
    )?;
    escape(&page.title, out)?;
    out.write_all(b" \xc2\xb7 ringlane</title>\n<style>\n")?;
    STYLES.iter().try_for_each(|style| out.write_all(style.as_bytes()))?;
    out.write_all(b"</style>\n</head>\n<body>\n<noscript>This page needs JavaScript.</noscript>\n")?;
    out.write_all(include_bytes!("assets/frame.html"))?;
    out.write_all(b"<script type=\"application/json\" id=\"run\">")?;
    out.write_all(json(&page.run).as_bytes())?;
    out.write_all(b"</script>\n<script>\n(() => {\n\"use strict\";\n")?;
    SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?;
    out.write_all(b"})();\n</script>\n")?;
    // Last, so that what is above is seen before they are read.
    for column in &page.columns {
        write!(
            out,
            "<script type=\"text/plain\" data-column=\"{}\" data-rows=\"{}\" data-coding=\"{}\">",
            column.name,
            column.rows,
            format!("{:?}", column.coding).to_lowercase()
        )?;
        column.write(out)?;
        out.write_all(b"</script>\n")?;
    }
    out.write_all(b"</body>\n</html>\n")
}

/// JSON that is safe in a script element: nothing in it can end the element or begin a comment.
fn json(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).expect("strings, numbers and lists");
    text.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn escape(text: &str, out: &mut impl Write) -> io::Result<()> {
    for letter in text.chars() {
        match letter {
            '<' => out.write_all(b"&lt;")?,
            '>' => out.write_all(b"&gt;")?,
            '&' => out.write_all(b"&amp;")?,
            '"' => out.write_all(b"&quot;")?,
            '\'' => out.write_all(b"&#39;")?,
            letter if letter.is_control() => out.write_all(b" ")?,
            letter => write!(out, "{letter}")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_end_the_script_that_contains_it() {
        let text = json(&["</script><!--<script>", "\u{2028}"]);
        assert_eq!(text, "[\"\\u003c/script>\\u003c!--\\u003cscript>\",\"\\u2028\"]");
        let mut out = Vec::new();
        escape("<b title='x'>&\"\n", &mut out).unwrap();
        assert_eq!(out, b"&lt;b title=&#39;x&#39;&gt;&amp;&quot; ");
    }

    #[test]
    fn scripts_and_styles_cannot_end_their_element() {
        for asset in STYLES.iter().chain(&SCRIPTS) {
            assert!(!asset.contains("</s") && !asset.contains("<!--"));
        }
    }
}
