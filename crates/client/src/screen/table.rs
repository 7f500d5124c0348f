//! A small aligned table, by the width that text has on screen. Cells are escaped here, so that no caller can forget it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{escape, terminal_width};

/// Space between two columns.
const GAP: usize = 2;
/// Prose is not cut below this, so that a narrow terminal shows its beginning.
const MIN_PROSE_WIDTH: usize = 8;

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

    /// The table, or `empty` when it has no rows. On a terminal it is cut to the width of the terminal.
    pub fn render_or(&self, empty: &str) -> String {
        if self.rows.len() == 1 {
            format!("{empty}\n")
        } else {
            self.render(terminal_width())
        }
    }

    fn render(&self, terminal: Option<usize>) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..columns).map(|column| self.width(column)).collect();
        if let Some(terminal) = terminal {
            self.fit(&mut widths, terminal);
        }
        self.rows.iter().map(|row| render_row(row, &widths)).collect()
    }

    fn cells(&self, column: usize) -> impl Iterator<Item = &String> {
        self.rows.iter().filter_map(move |row| row.get(column))
    }

    fn width(&self, column: usize) -> usize {
        self.cells(column).map(|cell| cell.width()).max().unwrap_or(0)
    }

    /// Takes the missing space from the widest columns of prose. An id or an address that is cut is of no use, so a
    /// column without spaces keeps its width.
    fn fit(&self, widths: &mut [usize], terminal: usize) {
        let is_prose: Vec<bool> = (0..widths.len())
            .map(|column| self.cells(column).skip(1).any(|cell| cell.contains(' ')))
            .collect();
        let total: usize = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        for _ in 0..total.saturating_sub(terminal) {
            let widest = (0..widths.len())
                .filter(|column| is_prose[*column] && widths[*column] > MIN_PROSE_WIDTH)
                .max_by_key(|column| widths[*column]);
            let Some(widest) = widest else { return };
            widths[widest] -= 1;
        }
    }
}

fn render_row(row: &[String], widths: &[usize]) -> String {
    let cells: Vec<String> = row
        .iter()
        .zip(widths)
        .map(|(cell, width)| padded(cut(cell, *width), *width))
        .collect();
    cells.join(&" ".repeat(GAP)).trim_end().to_owned() + "\n"
}

fn padded(cell: String, width: usize) -> String {
    let missing = width.saturating_sub(cell.width());
    cell + &" ".repeat(missing)
}

fn cut(cell: &str, width: usize) -> String {
    if cell.width() <= width {
        return cell.to_owned();
    }
    let mut used = 0;
    let fits = |letter: &char| {
        used += letter.width().unwrap_or(0);
        used < width
    };
    cell.chars().take_while(fits).chain(['…']).collect()
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
    fn prose_is_cut_to_the_terminal_and_ids_are_not() {
        let mut table = TextTable::new(&["ID", "TITLE", "NOTE"]);
        table.row(["msg_0123456789", "Ship the new release today?", "in 5m"].map(str::to_owned));
        let text = table.render(Some(40));
        assert_eq!(
            text,
            "ID              TITLE              NOTE\nmsg_0123456789  Ship the new rel…  in 5m\n"
        );
        assert_eq!(text.lines().map(|line| line.chars().count()).max(), Some(40));
        assert!(
            table.render(Some(10)).contains("msg_0123456789  Ship th…"),
            "never less"
        );
        assert!(table.render(None).contains("Ship the new release today?"));
    }

    #[test]
    fn wide_letters_count_with_their_width_on_screen() {
        let mut table = TextTable::new(&["TITLE", "NOTE"]);
        table.row(["新しいリリース を出す".to_owned(), "in 5m".to_owned()]);
        table.row(["x".to_owned(), "y".to_owned()]);
        assert_eq!(
            table.render(None),
            "TITLE                  NOTE\n新しいリリース を出す  in 5m\nx                      y\n"
        );
        let narrow = "TITLE         NOTE\n新しいリリ…   in 5m\nx             y\n";
        assert_eq!(table.render(Some(19)), narrow);
    }

    #[test]
    fn an_empty_table_says_so_in_words() {
        assert_eq!(TextTable::new(&["A"]).render_or("No agents yet."), "No agents yet.\n");
    }
}
