//! Reads a table from its first row to its last.

use super::checksum::{TableChecksum, TableHasher};
use super::endpoints::{BatchSize, CopySource};
use super::error::CopyError;
use super::location::StoreLocation;
use super::table::TableSchema;
use crate::exec::{Row, Value};

/// `each` gets every batch, and the number of rows up to its end.
pub async fn checksum<S: CopySource>(
    side: &mut S,
    location: &StoreLocation,
    table: &TableSchema,
    batch_size: BatchSize,
    mut each: impl FnMut(&[Row], u64) -> Result<(), CopyError>,
) -> Result<TableChecksum, CopyError> {
    let mut summing = TableHasher::of(table);
    let mut count = 0;
    side.start_reading(table, None)
        .await
        .map_err(|error| location.store_error(error))?;
    loop {
        let rows = side
            .next_rows(batch_size)
            .await
            .map_err(|error| location.store_error(error))?;
        if rows.is_empty() {
            return summing.end().map_err(|error| location.store_error(error));
        }
        rows.iter().for_each(|row| summing.add(row));
        count += rows.len() as u64;
        each(&rows, count)?;
    }
}

/// SQLite stores any value in any column. The hub never writes a wrong type, but a manual edit may.
pub fn check_rows(
    location: &StoreLocation,
    table: &TableSchema,
    rows: &[Row],
    allows_nul: bool,
) -> Result<(), CopyError> {
    let found = rows
        .iter()
        .find_map(|row| Some((row, find_fault(table, row, allows_nul)?)));
    found.map_or(Ok(()), |(row, what)| {
        let (location, table, key) = (location.to_string(), &table.name, table.describe_key(row));
        Err(CopyError::InvalidRow {
            location,
            table: table.clone(),
            key,
            what,
        })
    })
}

fn find_fault(table: &TableSchema, row: &Row, allows_nul: bool) -> Option<String> {
    for (column, value) in table.columns.iter().zip(&row.0) {
        let name = &column.name;
        if !column.kind.fits(value) {
            return Some(format!("the value in {name} does not have the type of its column"));
        }
        if !allows_nul && matches!(value, Value::Text(text) if text.contains('\0')) {
            return Some(format!(
                "the text in {name} has a NUL character, which PostgreSQL cannot store"
            ));
        }
    }
    let key_has_null = table.key_of(row).0.contains(&Value::Null);
    key_has_null.then(|| "its primary key is NULL".to_owned())
}
