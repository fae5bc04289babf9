//! A table of text: a line of names, a rule, and rows; numbers are aligned right.

/// The side of its column that a cell is aligned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Rows under named columns.
pub struct Table {
    columns: Vec<(String, Side)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: Vec<(&'static str, Side)>) -> Self {
        Table::named(columns.into_iter().map(|(name, side)| (name.to_string(), side)).collect())
    }

    /// The same where the names are known only when it is made.
    pub fn named(columns: Vec<(String, Side)>) -> Self {
        Table { columns, rows: Vec::new() }
    }

    /// Adds a row; it has as many cells as there are columns.
    pub fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.columns.len(), "one cell for each column");
        self.rows.push(row);
    }

    /// The whole text, a newline at its end.
    pub fn render(&self) -> String {
        let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let widths: Vec<usize> = (0..names.len())
            .map(|i| self.rows.iter().chain([&names]).map(|row| width(&row[i])).max().unwrap_or(0))
            .collect();
        let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
        [&names, &rule].into_iter().chain(&self.rows).map(|row| self.line(row, &widths)).collect()
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, (_, side)), &wide) in row.iter().zip(&self.columns).zip(widths) {
            let space = " ".repeat(wide - width(cell));
            match side {
                Side::Left => line += &format!("{cell}{space}  "),
                Side::Right => line += &format!("{space}{cell}  "),
            }
        }
        format!("{}\n", line.trim_end())
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_without_space() {
        let mut table = Table::new(vec![("case", Side::Left), ("wall", Side::Right), ("golden", Side::Left)]);
        table.push(vec!["small".into(), "8.0 µs".into(), "pass".into()]);
        table.push(vec!["x".into(), "120.5 ms".into(), "".into()]);
        let expected = "\
case       wall  golden
─────  ────────  ──────
small    8.0 µs  pass
x      120.5 ms
";
        assert_eq!(table.render(), expected);
    }
}
