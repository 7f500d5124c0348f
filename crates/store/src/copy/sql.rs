//! Statements, made of what the catalogue says. The names in them come from there and are quoted all the same.

use super::table::{Column, Kind, Table};

/// In what the two engines differ.
pub struct Dialect {
    parameter: char,
    /// Text in the order of its bytes, whatever the database was made with.
    by_bytes: &'static str,
}

pub const SQLITE: Dialect = Dialect {
    parameter: '?',
    by_bytes: "",
};
pub const POSTGRES: Dialect = Dialect {
    parameter: '$',
    by_bytes: " COLLATE \"C\"",
};

impl Dialect {
    pub fn select_all(&self, table: &Table) -> String {
        format!(
            "SELECT {} FROM {} ORDER BY {}",
            columns(table),
            quoted(&table.name),
            self.key(table).join(", ")
        )
    }

    /// What comes after the key in the parameters.
    pub fn select_rest(&self, table: &Table) -> String {
        let all = columns(table);
        let name = quoted(&table.name);
        let key = self.key(table).join(", ");
        let after = self.parameters(table.key.len());
        format!("SELECT {all} FROM {name} WHERE ({key}) > ({after}) ORDER BY {key}")
    }

    pub fn last_key(&self, table: &Table) -> String {
        let key = listed(table.key_columns());
        let order: Vec<String> = self.key(table).into_iter().map(|column| column + " DESC").collect();
        format!(
            "SELECT {key} FROM {} ORDER BY {} LIMIT 1",
            quoted(&table.name),
            order.join(", ")
        )
    }

    pub fn insert(&self, table: &Table) -> String {
        let values = self.parameters(table.columns.len());
        format!(
            "INSERT INTO {} ({}) VALUES ({values})",
            quoted(&table.name),
            columns(table)
        )
    }

    fn key(&self, table: &Table) -> Vec<String> {
        let ordered = |column: &Column| match column.kind {
            Kind::Text => quoted(&column.name) + self.by_bytes,
            Kind::Int | Kind::Bytes => quoted(&column.name),
        };
        table.key_columns().map(ordered).collect()
    }

    fn parameters(&self, count: usize) -> String {
        let each: Vec<String> = (1..=count).map(|place| format!("{}{place}", self.parameter)).collect();
        each.join(", ")
    }
}

pub fn count(table: &Table) -> String {
    format!("SELECT count(*) FROM {}", quoted(&table.name))
}

pub fn columns(table: &Table) -> String {
    listed(table.columns.iter())
}

fn listed<'t>(columns: impl Iterator<Item = &'t Column>) -> String {
    columns
        .map(|column| quoted(&column.name))
        .collect::<Vec<_>>()
        .join(", ")
}

pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf() -> Table {
        let column = |name: &str, kind| Column {
            name: name.to_owned(),
            kind,
        };
        let columns = vec![
            column("person", Kind::Text),
            column("seq", Kind::Int),
            column("until", Kind::Int),
        ];
        Table {
            name: "shelf".to_owned(),
            columns,
            key: vec![0, 1],
        }
    }

    #[test]
    fn rows_come_in_the_order_of_the_key_and_text_by_its_bytes() {
        assert_eq!(
            SQLITE.select_rest(&shelf()),
            r#"SELECT "person", "seq", "until" FROM "shelf" WHERE ("person", "seq") > (?1, ?2) ORDER BY "person", "seq""#
        );
        assert_eq!(
            POSTGRES.last_key(&shelf()),
            r#"SELECT "person", "seq" FROM "shelf" ORDER BY "person" COLLATE "C" DESC, "seq" DESC LIMIT 1"#
        );
    }

    #[test]
    fn a_name_cannot_end_its_quotes() {
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
