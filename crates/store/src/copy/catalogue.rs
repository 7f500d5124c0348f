//! Builds table descriptions from a database's own catalogue.

use std::collections::BTreeMap;

use super::skipped::is_skipped;
use super::table::{Column, ColumnKind, TableSchema};
use crate::error::StoreError;
use crate::exec::Row;

/// One column from the catalogue of either engine.
struct CatalogueColumn {
    column: Column,
    /// The position in the primary key, from 1; 0 for a column outside the key.
    in_key: i64,
}

/// Each row holds a table name, a column name, its type and its position in the primary key. The result is sorted by
/// name.
pub fn tables(rows: Vec<Row>) -> Result<Vec<TableSchema>, StoreError> {
    let mut found: BTreeMap<String, Vec<CatalogueColumn>> = BTreeMap::new();
    for mut row in rows {
        let table = row.text(0)?;
        let name = row.text(1)?;
        let word = row.text(2)?;
        let in_key = row.int(3)?;
        if is_skipped(&table) {
            continue;
        }
        let unsupported =
            || StoreError::Corrupt(format!("the column {name} of {table} has the unsupported type {word}"));
        let column = Column {
            kind: ColumnKind::parse(&word).ok_or_else(unsupported)?,
            name,
        };
        found.entry(table).or_default().push(CatalogueColumn { column, in_key });
    }
    Ok(found.into_iter().map(|(name, entries)| table(name, entries)).collect())
}

fn table(name: String, mut entries: Vec<CatalogueColumn>) -> TableSchema {
    entries.sort_by(|one, other| one.column.name.cmp(&other.column.name));
    let mut key: Vec<usize> = (0..entries.len()).filter(|index| entries[*index].in_key > 0).collect();
    key.sort_by_key(|index| entries[*index].in_key);
    TableSchema {
        name,
        columns: entries.into_iter().map(|entry| entry.column).collect(),
        key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Value;

    fn entry(table: &str, column: &str, kind: &str, in_key: i64) -> Row {
        let text = |text: &str| Value::Text(text.to_owned());
        Row(vec![text(table), text(column), text(kind), Value::Int(in_key)])
    }

    #[test]
    fn columns_are_sorted_by_name_and_the_key_keeps_its_order() {
        let rows = vec![
            entry("shelf", "seq", "BIGINT", 1),
            entry("shelf", "until", "bigint", 0),
            entry("shelf", "person", "TEXT", 2),
            entry("search_mark", "settled", "whatever", 0),
        ];
        let found = tables(rows).unwrap();
        assert_eq!(found.len(), 1, "what is left out is not looked at");
        let names: Vec<_> = found[0].columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["person", "seq", "until"]);
        assert_eq!(found[0].key, [1, 0]);
    }

    #[test]
    fn unsupported_column_type_is_refused() {
        assert!(matches!(
            tables(vec![entry("map", "place", "point", 0)]),
            Err(StoreError::Corrupt(_))
        ));
    }
}
