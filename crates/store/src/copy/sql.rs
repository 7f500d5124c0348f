//! SQL statements built from the catalogue. The names are quoted although they come from the catalogue.

use super::table::{Column, ColumnKind, TableSchema};

/// The differences between the two engines.
pub struct CopyDialect {
    parameter: char,
    /// Sorts text by its bytes, regardless of the database's collation.
    collation: &'static str,
}

pub const SQLITE: CopyDialect = CopyDialect {
    parameter: '?',
    collation: "",
};
pub const POSTGRES: CopyDialect = CopyDialect {
    parameter: '$',
    collation: " COLLATE \"C\"",
};

impl CopyDialect {
    pub fn select_all(&self, table: &TableSchema) -> String {
        format!(
            "SELECT {} FROM {} ORDER BY {}",
            columns(table),
            quoted(&table.name),
            self.key(table).join(", ")
        )
    }

    /// Selects the rows after the key given as parameters.
    pub fn select_rest(&self, table: &TableSchema) -> String {
        let all = columns(table);
        let name = quoted(&table.name);
        let key = self.key(table).join(", ");
        let after = self.parameters(table.key.len());
        format!("SELECT {all} FROM {name} WHERE ({key}) > ({after}) ORDER BY {key}")
    }

    pub fn last_key(&self, table: &TableSchema) -> String {
        let key = column_list(table.key_columns());
        let order: Vec<String> = self.key(table).into_iter().map(|column| column + " DESC").collect();
        format!(
            "SELECT {key} FROM {} ORDER BY {} LIMIT 1",
            quoted(&table.name),
            order.join(", ")
        )
    }

    pub fn insert(&self, table: &TableSchema) -> String {
        let values = self.parameters(table.columns.len());
        format!(
            "INSERT INTO {} ({}) VALUES ({values})",
            quoted(&table.name),
            columns(table)
        )
    }

    fn key(&self, table: &TableSchema) -> Vec<String> {
        let ordered = |column: &Column| match column.kind {
            ColumnKind::Text => quoted(&column.name) + self.collation,
            ColumnKind::Int | ColumnKind::Bytes => quoted(&column.name),
        };
        table.key_columns().map(ordered).collect()
    }

    fn parameters(&self, count: usize) -> String {
        let each: Vec<String> = (1..=count).map(|index| format!("{}{index}", self.parameter)).collect();
        each.join(", ")
    }
}

pub fn count(table: &TableSchema) -> String {
    format!("SELECT count(*) FROM {}", quoted(&table.name))
}

pub fn columns(table: &TableSchema) -> String {
    column_list(table.columns.iter())
}

fn column_list<'t>(columns: impl Iterator<Item = &'t Column>) -> String {
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

    fn shelf() -> TableSchema {
        let column = |name: &str, kind| Column {
            name: name.to_owned(),
            kind,
        };
        let columns = vec![
            column("person", ColumnKind::Text),
            column("seq", ColumnKind::Int),
            column("until", ColumnKind::Int),
        ];
        TableSchema {
            name: "shelf".to_owned(),
            columns,
            key: vec![0, 1],
        }
    }

    #[test]
    fn rows_are_in_key_order_with_text_sorted_by_bytes() {
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
    fn quotes_in_names_are_escaped() {
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
