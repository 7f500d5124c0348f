//! Table descriptions that are comparable between the engines.

use std::collections::BTreeSet;
use std::fmt;

use crate::exec::{Row, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSchema {
    pub name: String,
    /// Sorted by name: the position of a column depends on the migration that added it.
    pub columns: Vec<Column>,
    /// The indexes of the primary key's columns, in key order.
    pub key: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: ColumnKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    Int,
    Text,
    Bytes,
}

impl ColumnKind {
    pub fn parse(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "bigint" | "integer" => Some(Self::Int),
            "text" => Some(Self::Text),
            "blob" | "bytea" => Some(Self::Bytes),
            _ => None,
        }
    }

    pub fn fits(self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Int(_) => self == Self::Int,
            Value::Text(_) => self == Self::Text,
            Value::Blob(_) => self == Self::Bytes,
        }
    }
}

impl TableSchema {
    pub fn key_columns(&self) -> impl Iterator<Item = &Column> {
        self.key.iter().map(|index| &self.columns[*index])
    }

    pub fn key_of(&self, row: &Row) -> Row {
        Row(self.key.iter().map(|index| row.0[*index].clone()).collect())
    }

    /// The row's key, for error messages.
    pub fn describe_key(&self, row: &Row) -> String {
        let parts = self
            .key
            .iter()
            .map(|index| format!("{} {}", self.columns[*index].name, describe_value(&row.0[*index])));
        parts.collect::<Vec<_>>().join(", ")
    }
}

fn describe_value(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// The first difference between two lists of tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    OnlyInSource(String),
    OnlyInTarget(String),
    Columns(String),
    /// Without a primary key the rows have no defined order.
    NoKey(String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlyInSource(table) => write!(f, "{table} is in the source only"),
            Self::OnlyInTarget(table) => write!(f, "{table} is in the target only"),
            Self::Columns(table) => write!(f, "{table} does not have the same columns on both"),
            Self::NoKey(table) => write!(f, "{table} has no primary key"),
        }
    }
}

pub fn difference(source: &[TableSchema], target: &[TableSchema]) -> Option<Difference> {
    let names = |tables: &[TableSchema]| tables.iter().map(|table| table.name.clone()).collect::<BTreeSet<_>>();
    let left = names(source);
    let right = names(target);
    if let Some(table) = left.difference(&right).next() {
        return Some(Difference::OnlyInSource(table.clone()));
    }
    if let Some(table) = right.difference(&left).next() {
        return Some(Difference::OnlyInTarget(table.clone()));
    }
    let unlike = source.iter().zip(target).find(|(one, other)| one != other);
    unlike
        .map(|(table, _)| Difference::Columns(table.name.clone()))
        .or_else(|| keyless(source))
}

pub fn keyless(tables: &[TableSchema]) -> Option<Difference> {
    tables
        .iter()
        .find(|table| table.key.is_empty())
        .map(|table| Difference::NoKey(table.name.clone()))
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;

    fn table(name: &str, columns: &[&str], key: &[usize]) -> TableSchema {
        let column = |name: &&str| Column {
            name: (*name).to_owned(),
            kind: ColumnKind::Int,
        };
        TableSchema {
            name: name.to_owned(),
            columns: columns.iter().map(column).collect(),
            key: key.to_vec(),
        }
    }

    #[test]
    fn first_difference_is_named() {
        let a = table("a", &["x", "y"], &[0]);
        let b = table("b", &["x"], &[0]);
        let both = [a.clone(), b.clone()];
        assert_eq!(difference(&both, &both), None);
        assert_eq!(
            difference(&both, slice::from_ref(&a)),
            Some(Difference::OnlyInSource("b".to_owned()))
        );
        assert_eq!(
            difference(slice::from_ref(&b), &both),
            Some(Difference::OnlyInTarget("a".to_owned()))
        );
        let other = [a.clone(), table("b", &["z"], &[0])];
        assert_eq!(difference(&both, &other), Some(Difference::Columns("b".to_owned())));
        let other = [table("a", &["x", "y"], &[1]), b];
        assert_eq!(difference(&both, &other), Some(Difference::Columns("a".to_owned())));
        let loose = [table("a", &["x"], &[])];
        assert_eq!(difference(&loose, &loose), Some(Difference::NoKey("a".to_owned())));
    }

    #[test]
    fn row_is_described_by_its_key() {
        let table = table("shelf", &["person", "seq", "until"], &[1, 0]);
        let row = Row(vec![Value::Text("ann\n".to_owned()), Value::Int(7), Value::Null]);
        assert_eq!(table.describe_key(&row), r#"seq 7, person "ann\n""#);
        assert_eq!(
            table.key_of(&row),
            Row(vec![Value::Int(7), Value::Text("ann\n".to_owned())])
        );
    }
}
