//! The database file of the data directory: whether it is sound, and whether it has lost entries.

use std::path::Path;

use countersign_store::inspect::{QuickCheck, inspect};
use countersign_store::{DataLoss, StoreError};

use super::Finding;

/// No finding without a `hub.db`: no hub has started yet, or it uses PostgreSQL.
pub fn check(data: &Path) -> Vec<Finding> {
    let file = data.join("hub.db");
    if !file.is_file() {
        return Vec::new();
    }
    match inspect(&file) {
        Ok(found) => vec![soundness(&file, found.check), completeness(&file, found.loss)],
        Err(error) => vec![Finding::fail(
            "store",
            format!("{} cannot be checked: {error}", file.display()),
            "run as the user of the hub; if the file is damaged, restore a backup",
        )],
    }
}

fn soundness(file: &Path, check: QuickCheck) -> Finding {
    let shown = file.display();
    match check {
        QuickCheck::Sound => Finding::ok("store", format!("{shown} is sound")),
        QuickCheck::Damaged(faults) => Finding::fail(
            "store",
            format!("{shown} is damaged: {}", faults.join("; ")),
            "stop the hub, keep a copy of the directory, and restore a backup",
        ),
        QuickCheck::Unfinished => Finding::warn(
            "store",
            format!("{shown} is too large to check here"),
            "run `sqlite3 hub.db \"PRAGMA quick_check\"`",
        ),
    }
}

fn completeness(file: &Path, loss: Result<Option<DataLoss>, StoreError>) -> Finding {
    let shown = file.display();
    match loss {
        Ok(None) => Finding::ok("mark", format!("{shown} has every entry that it had")),
        Ok(Some(loss)) => Finding::fail(
            "mark",
            format!("{shown} has lost data: {loss}"),
            "put the newer files back, or start the hub once with --accept-data-loss",
        ),
        Err(error) => Finding::fail(
            "mark",
            format!("{shown} cannot be compared with hub.mark: {error}"),
            "restore a backup",
        ),
    }
}
