//! Reading a table from its first row to its last.

use super::error::CopyError;
use super::place::Place;
use super::side::{Portion, Source};
use super::sum::{Sum, Summing};
use super::table::Table;
use crate::exec::{Row, Value};

/// `each` sees every portion, and how many rows there were up to its end.
pub async fn sum_up<S: Source>(
    side: &mut S,
    place: &Place,
    table: &Table,
    portion: Portion,
    mut each: impl FnMut(&[Row], u64) -> Result<(), CopyError>,
) -> Result<Sum, CopyError> {
    let mut summing = Summing::of(table);
    let mut count = 0;
    side.start_reading(table, None)
        .await
        .map_err(|error| place.refused(error))?;
    loop {
        let rows = side.next_rows(portion).await.map_err(|error| place.refused(error))?;
        if rows.is_empty() {
            return summing.end().map_err(|error| place.refused(error));
        }
        rows.iter().for_each(|row| summing.add(row));
        count += rows.len() as u64;
        each(&rows, count)?;
    }
}

/// SQLite keeps what it is given, whatever the column was declared as. The hub never gives it anything else; a hand may.
pub fn check(place: &Place, table: &Table, rows: &[Row], takes_nul: bool) -> Result<(), CopyError> {
    let found = rows.iter().find_map(|row| Some((row, fault(table, row, takes_nul)?)));
    found.map_or(Ok(()), |(row, what)| {
        let (place, table, key) = (place.to_string(), &table.name, table.key_in_words(row));
        Err(CopyError::Unfit {
            place,
            table: table.clone(),
            key,
            what,
        })
    })
}

fn fault(table: &Table, row: &Row, takes_nul: bool) -> Option<String> {
    for (column, value) in table.columns.iter().zip(&row.0) {
        let name = &column.name;
        if !column.kind.fits(value) {
            return Some(format!("what stands in {name} is not of the kind of its column"));
        }
        if !takes_nul && matches!(value, Value::Text(text) if text.contains('\0')) {
            return Some(format!(
                "the text in {name} has a NUL character, which PostgreSQL cannot store"
            ));
        }
    }
    let has_hole = table.key_of(row).0.contains(&Value::Null);
    has_hole.then(|| "its primary key is NULL".to_owned())
}
