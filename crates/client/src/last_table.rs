//! The ids of the inbox table that was printed last in a terminal, so that a row number always means the item that was
//! printed beside it, also after new items have arrived.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

const DIRECTORY: &str = "inbox-tables";
const MAX_ROWS: usize = 1_000;
/// Tables that are kept when another one is stored; the oldest are removed.
const MAX_TABLES: usize = 32;
/// The system reuses session ids, so an old table may be that of another terminal.
const TABLE_TTL_MS: i64 = 12 * 3600 * 1000;

#[derive(Serialize, Deserialize)]
pub struct LastTable {
    /// Milliseconds since 1970.
    printed_at: i64,
    ids: Vec<String>,
}

impl LastTable {
    /// Stores the ids for this terminal, in the order of their rows.
    pub fn store(data: &Path, ids: impl IntoIterator<Item = String>, now: Timestamp) -> Result<()> {
        let directory = data.join(DIRECTORY);
        DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
        remove_oldest(&directory);
        let table = Self {
            printed_at: now.as_millisecond(),
            ids: ids.into_iter().take(MAX_ROWS).collect(),
        };
        let path = path(data)?;
        let temporary = path.with_extension("new");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        file.write_all(&serde_json::to_vec(&table)?)?;
        fs::rename(&temporary, &path)?;
        Ok(())
    }

    /// The id in row `number`, counted from one.
    pub fn row(data: &Path, number: usize, now: Timestamp) -> Result<String> {
        let table = path(data).ok().and_then(|path| fs::read(path).ok());
        let table: Option<Self> = table.and_then(|text| serde_json::from_slice(&text).ok());
        let table = table.filter(|table| now.as_millisecond() - table.printed_at < TABLE_TTL_MS);
        let hint = "`countersign inbox --table` prints the rows with their numbers";
        let Some(table) = table else {
            bail!("row {number}: no table was printed in this terminal in the last 12 hours; {hint}");
        };
        let id = number.checked_sub(1).and_then(|index| table.ids.get(index));
        let rows = table.ids.len();
        id.cloned()
            .with_context(|| format!("row {number}: the last table had {rows} rows; {hint}"))
    }
}

/// The file of this terminal session, so that a table printed elsewhere does not change the numbers here.
fn path(data: &Path) -> Result<PathBuf> {
    let session = nix::unistd::getsid(None)?;
    Ok(data.join(DIRECTORY).join(format!("{session}.json")))
}

fn remove_oldest(directory: &Path) {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<_> = files
        .filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path())))
        .collect();
    files.sort_unstable();
    let surplus = files.len().saturating_sub(MAX_TABLES);
    for (_, path) in files.drain(..surplus) {
        // Another process may have removed it.
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_the_item_that_was_printed_there() {
        let data = std::env::temp_dir().join(format!("countersign-last-table-{}", std::process::id()));
        let now: Timestamp = "2026-06-04T15:00:00Z".parse().unwrap();
        let error = LastTable::row(&data, 1, now).unwrap_err().to_string();
        assert!(error.contains("inbox --table"), "{error}");
        LastTable::store(&data, ["a", "b"].map(str::to_owned), now).unwrap();
        assert_eq!(LastTable::row(&data, 2, now).unwrap(), "b");
        for number in [0, 3] {
            let error = LastTable::row(&data, number, now).unwrap_err().to_string();
            assert!(error.contains("had 2 rows"), "{error}");
        }
        LastTable::store(&data, ["c".to_owned()], now).unwrap();
        assert_eq!(LastTable::row(&data, 1, now).unwrap(), "c");
        let next_day = "2026-06-05T04:00:00Z".parse().unwrap();
        assert!(
            LastTable::row(&data, 1, next_day).is_err(),
            "the session id may be reused"
        );
        fs::remove_dir_all(&data).unwrap();
    }
}
