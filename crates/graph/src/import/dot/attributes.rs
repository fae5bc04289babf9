//! The attributes of a node that say something about its task.

/// What is known of a node's attributes.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    /// What the node shows, with its escapes.
    pub label: Option<String>,
    pub kind: Option<String>,
    /// As the file has it: a number of µs, or with a unit.
    pub duration: Option<String>,
}

impl Attributes {
    /// Takes an attribute, if it says something. Where there are several for one thing, the first of these names counts.
    pub(super) fn set(&mut self, name: &str, value: &str, has_duration: &mut bool) {
        let value = || Some(value.to_string());
        match name.to_ascii_lowercase().as_str() {
            "label" => self.label = value(),
            "kind" | "category" | "type" | "kernel" => self.kind = value(),
            "duration" => (self.duration, *has_duration) = (value(), true),
            "weight" if !*has_duration => self.duration = value(),
            _ => {}
        }
    }
}

/// What a label shows: `\N` is the node's id, `\n`, `\l` and `\r` end a line, and any other character stays as it is.
pub(super) fn label_text(label: &str, id: &str) -> String {
    let mut text = String::with_capacity(label.len());
    let mut rest = label.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match rest.next() {
            Some('N') => text.push_str(id),
            Some('n' | 'l' | 'r') => text.push('\n'),
            Some(c) => text.push(c),
            None => text.push('\\'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_shown_as_graphviz_does() {
        assert_eq!(label_text(r"\N: a\nb\\c", "n1"), "n1: a\nb\\c");
        assert_eq!(label_text("\\", "n1"), "\\");
    }
}
