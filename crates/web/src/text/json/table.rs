//! Arrays of alike objects: one row each, one column for each field.

use serde_json::{Map, Value};

/// Further fields are folded in a last column.
pub const MAX_COLUMNS: usize = 8;
/// Objects with more different fields are no table.
const MAX_FIELDS: usize = 24;
/// Only the first rows decide on the columns.
const MAX_ROWS_READ: usize = 200;

pub struct Table<'v> {
    pub columns: Vec<&'v str>,
    pub rows: Vec<&'v Map<String, Value>>,
}

impl<'v> Table<'v> {
    /// `None` if the entries are not at least two objects that share most of their fields.
    pub fn of(entries: &'v [Value]) -> Option<Self> {
        if entries.len() < 2 {
            return None;
        }
        let mut columns: Vec<&str> = Vec::new();
        let mut fields = 0;
        for entry in entries.iter().take(MAX_ROWS_READ) {
            let row = entry.as_object()?;
            if row.is_empty() || row.len() > MAX_FIELDS {
                return None;
            }
            let added: Vec<&str> = row
                .keys()
                .map(String::as_str)
                .filter(|key| !columns.contains(key))
                .collect();
            columns.extend(added);
            fields += row.len();
            if columns.len() > MAX_FIELDS {
                return None;
            }
        }
        let is_alike = fields * 3 >= entries.len().min(MAX_ROWS_READ) * columns.len() * 2;
        let rows: Vec<_> = entries.iter().map_while(Value::as_object).collect();
        (is_alike && rows.len() == entries.len()).then_some(Self { columns, rows })
    }

    /// The fields of all rows.
    pub fn fields(&self) -> usize {
        self.rows.iter().map(|row| row.len()).sum()
    }

    pub fn shown_columns(&self) -> &[&'v str] {
        &self.columns[..self.columns.len().min(MAX_COLUMNS)]
    }

    pub fn has_more_columns(&self) -> bool {
        self.columns.len() > MAX_COLUMNS || self.rows.len() > MAX_ROWS_READ
    }

    /// The fields of a row without a column of their own.
    pub fn other_fields(&self, row: &'v Map<String, Value>) -> Vec<(Option<&'v str>, &'v Value)> {
        let shown = self.shown_columns();
        row.iter()
            .filter(|(name, _)| !shown.contains(&name.as_str()))
            .map(|(name, value)| (Some(name.as_str()), value))
            .collect()
    }
}
