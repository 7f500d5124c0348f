//! Converts texts and numbers for the run tables.

use std::borrow::Cow;

use crate::error::StoreError;
use crate::exec::Row;

/// Replaces U+0000, which PostgreSQL cannot store.
pub fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{2400}"))
    } else {
        Cow::Borrowed(text)
    }
}

pub fn bytes_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> i64 {
    texts.into_iter().map(|text| to_i64(text.len())).sum()
}

/// Saturates; no real count comes near `i64::MAX`.
pub fn to_i64(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

pub fn count(row: &mut Row, column: usize) -> Result<u64, StoreError> {
    let number = row.int(column)?;
    u64::try_from(number).map_err(|_| StoreError::Corrupt(format!("{number} is negative")))
}
