//! A small aligned table. Cells are escaped here, so that no caller can forget it.

use super::escape;

/// A longer cell pushes its own line out of alignment instead of every line.
const MAX_PADDING: usize = 60;

pub struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub fn new(header: &[&str]) -> Self {
        Self {
            rows: vec![header.iter().map(|name| (*name).to_owned()).collect()],
        }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| escape(&cell)).collect());
    }

    /// The table, or `empty` when it has no rows.
    pub fn render_or(&self, empty: &str) -> String {
        if self.rows.len() == 1 {
            format!("{empty}\n")
        } else {
            self.render()
        }
    }

    fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(|column| self.width(column)).collect();
        self.rows.iter().map(|row| render_row(row, &widths)).collect()
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
            .min(MAX_PADDING)
    }
}

fn render_row(row: &[String], widths: &[usize]) -> String {
    let cells: Vec<String> = row
        .iter()
        .zip(widths)
        .map(|(cell, width)| format!("{cell:width$}"))
        .collect();
    cells.join("  ").trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_cells_are_escaped() {
        let mut table = TextTable::new(&["AGENT", "TITLE"]);
        table.row(["a".to_owned(), "one\ntwo".to_owned()]);
        table.row(["longer-agent".to_owned(), "x".to_owned()]);
        let expected = "AGENT         TITLE\na             one\\ntwo\nlonger-agent  x\n";
        assert_eq!(table.render_or("nothing"), expected);
    }

    #[test]
    fn an_empty_table_says_so_in_words() {
        assert_eq!(TextTable::new(&["A"]).render_or("No agents yet."), "No agents yet.\n");
    }
}
