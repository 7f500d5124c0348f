//! The checksum of a table: the number of rows, and a hash over all of them.

use aws_lc_rs::digest::{Context, SHA256};
use countersign_core::Digest;

use super::table::TableSchema;
use crate::error::StoreError;
use crate::exec::{Row, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableChecksum {
    pub rows: u64,
    pub digest: Digest,
}

/// Hashes rows in key order. The encoding is unambiguous: every value is prefixed with its type, and text and bytes
/// with their length, so two different tables never hash the same input.
pub struct TableHasher {
    context: Context,
    rows: u64,
}

impl TableHasher {
    pub fn of(table: &TableSchema) -> Self {
        let mut summing = Self {
            context: Context::new(&SHA256),
            rows: 0,
        };
        summing.bytes(table.name.as_bytes());
        table
            .columns
            .iter()
            .for_each(|column| summing.bytes(column.name.as_bytes()));
        summing
    }

    pub fn add(&mut self, row: &Row) {
        self.rows += 1;
        for value in &row.0 {
            match value {
                Value::Null => self.context.update(&[0]),
                Value::Int(number) => {
                    self.context.update(&[1]);
                    self.context.update(&number.to_be_bytes());
                }
                Value::Text(text) => {
                    self.context.update(&[2]);
                    self.bytes(text.as_bytes());
                }
                Value::Blob(bytes) => {
                    self.context.update(&[3]);
                    self.bytes(bytes);
                }
            }
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.context.update(&(bytes.len() as u64).to_be_bytes());
        self.context.update(bytes);
    }

    pub fn end(self) -> Result<TableChecksum, StoreError> {
        Ok(TableChecksum {
            rows: self.rows,
            digest: finish_digest(self.context)?,
        })
    }
}

pub fn finish_digest(context: Context) -> Result<Digest, StoreError> {
    let short = || StoreError::Corrupt("a SHA-256 digest is not 32 bytes long".to_owned());
    Digest::from_bytes(context.finish().as_ref()).ok_or_else(short)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copy::table::{Column, ColumnKind};

    fn sum(rows: &[&[Value]]) -> TableChecksum {
        let column = |name: &str| Column {
            name: name.to_owned(),
            kind: ColumnKind::Text,
        };
        let table = TableSchema {
            name: "t".to_owned(),
            columns: vec![column("a"), column("b")],
            key: vec![0],
        };
        let mut summing = TableHasher::of(&table);
        rows.iter().for_each(|row| summing.add(&Row(row.to_vec())));
        summing.end().unwrap()
    }

    #[test]
    fn different_tables_have_different_checksums() {
        let text = |text: &str| Value::Text(text.to_owned());
        let tables: [&[&[Value]]; 9] = [
            &[],
            &[&[text("ab"), text("c")]],
            &[&[text("a"), text("bc")]],
            &[&[text("a"), Value::Blob(b"bc".to_vec())]],
            &[&[text("a"), Value::Null]],
            &[&[text("a"), text("")]],
            &[&[text("a"), Value::Int(0)]],
            &[&[text("a"), text("")], &[text("b"), text("")]],
            &[&[text("b"), text("")], &[text("a"), text("")]],
        ];
        for (index, one) in tables.iter().enumerate() {
            assert_eq!(sum(one), sum(one));
            assert!(
                tables[..index].iter().all(|other| sum(other).digest != sum(one).digest),
                "{one:?}"
            );
        }
    }
}
