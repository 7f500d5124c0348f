use std::collections::HashMap;

use crate::error::StoreError;
use crate::exec::Exec;
use crate::model::ListEntry;
use crate::ops::rows;

/// The messages with these seqs, without those that were purged.
pub async fn items_by_seq<X: Exec>(
    x: &mut X,
    seqs: impl Iterator<Item = i64>,
) -> Result<HashMap<i64, ListEntry>, StoreError> {
    let seqs: Vec<String> = seqs.map(|seq| seq.to_string()).collect();
    let seqs = format!("[{}]", seqs.join(","));
    let found = x.rows(X::DIALECT.items_by_seq, &[(&seqs).into()]).await?;
    let mut entries = HashMap::with_capacity(found.len());
    for mut row in found {
        entries.insert(row.int(rows::SEQ)?, rows::entry(row, rows::item)?);
    }
    Ok(entries)
}
