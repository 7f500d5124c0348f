//! The result of a copy.

use countersign_client::screen::{self, TextTable, escape};
use countersign_store::copy::{CopyReport, StoreLocation, TableComparison};
use serde_json::{Value, json};

use crate::commands::Finished;

/// The hash prefix shown to compare tables by eye; `--json` has the full hash.
const SHOWN_HASH_CHARS: usize = 16;

pub fn finished(report: &CopyReport, from: &StoreLocation, to: &StoreLocation, is_json: bool) -> Finished {
    let text = if is_json {
        screen::json(&in_json(report, from, to))
    } else {
        report_text(report, from, to)
    };
    if report.is_same() {
        Finished::ok(text)
    } else {
        Finished::failed(text)
    }
}

fn report_text(report: &CopyReport, from: &StoreLocation, to: &StoreLocation) -> String {
    let mut table = TextTable::new(&["TABLE", "ROWS", "SHA-256", "COPY"]);
    for compared in &report.tables {
        let TableComparison {
            table: name, source, ..
        } = compared;
        table.row([
            name.clone(),
            source.rows.to_string(),
            short(&source.digest.to_string()),
            verdict(compared),
        ]);
    }
    let from = escape(&from.to_string());
    let to = escape(&to.to_string());
    let rows = report.rows();
    let end = if report.is_same() {
        format!("{rows} rows of {from} are in {to}, the same on both sides. The hub rebuilds its search index.\n")
    } else {
        format!(
            "{to} is not the same as {from}, and no hub will start on it. Empty it, or name another target, and copy \
             again.\n"
        )
    };
    format!("{}\n{end}", table.render_or("There are no tables."))
}

fn verdict(compared: &TableComparison) -> String {
    if compared.is_same() {
        return "same".to_owned();
    }
    format!(
        "DIFFERENT: {} rows, {}",
        compared.target.rows,
        short(&compared.target.digest.to_string())
    )
}

fn short(hash: &str) -> String {
    hash.chars().take(SHOWN_HASH_CHARS).collect()
}

fn in_json(report: &CopyReport, from: &StoreLocation, to: &StoreLocation) -> Value {
    let table = |compared: &TableComparison| {
        json!({
            "table": compared.table,
            "rows": compared.source.rows,
            "sha256": compared.source.digest.to_string(),
            "copy_rows": compared.target.rows,
            "copy_sha256": compared.target.digest.to_string(),
            "same": compared.is_same(),
        })
    };
    json!({
        "from": from.to_string(),
        "to": to.to_string(),
        "resumed": report.resumed,
        "same": report.is_same(),
        "tables": report.tables.iter().map(table).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use countersign_core::Digest;
    use countersign_store::copy::TableChecksum;

    use super::*;

    fn report(copied: &[u8]) -> CopyReport {
        let sum = |bytes: &[u8]| TableChecksum {
            rows: bytes.len() as u64,
            digest: Digest::of(bytes),
        };
        let tables = vec![TableComparison {
            table: "agent".to_owned(),
            source: sum(b"ab"),
            target: sum(copied),
        }];
        CopyReport { tables, resumed: true }
    }

    #[test]
    fn a_copy_that_differs_fails_as_text_and_as_json() {
        let from = StoreLocation::file(Path::new("/one/hub.db"));
        let to = StoreLocation::file(Path::new("/two/hub.db"));
        let same = finished(&report(b"ab"), &from, &to, false);
        assert_eq!(same.code, 0);
        assert!(
            same.text.contains("agent  2     fb8e20fc2e4c3f24  same\n"),
            "{}",
            same.text
        );
        let other = finished(&report(b"abc"), &from, &to, false);
        assert_eq!(other.code, 1);
        assert!(
            other.text.contains("DIFFERENT: 3 rows, ba7816bf8f01cfea\n"),
            "{}",
            other.text
        );
        let other = finished(&report(b"abc"), &from, &to, true);
        assert!(
            other.code == 1 && other.text.contains(r#""same":false"#),
            "{}",
            other.text
        );
    }
}
