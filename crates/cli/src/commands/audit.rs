//! `audit verify`: checks the audit trail of a store, and the store against it.

use std::env;
use std::fmt::Write;

use anyhow::{Context, Result};
use countersign_client::{data_dir, screen};
use countersign_store::copy::{StoreLocation, read_only};
use countersign_store::ops::message::audit_report::AuditReport;
use countersign_store::ops::message::verify::VerifyAudit;

use super::Finished;
use super::store::copy_end;
use crate::args::{AuditCommand, Globals, VerifyAuditArgs};

pub async fn run(command: AuditCommand, globals: &Globals) -> Result<Finished> {
    let AuditCommand::Verify(VerifyAuditArgs { store, expect }) = command;
    let location = location(store, globals).context("--store")?;
    let verify = VerifyAudit {
        expected: expect,
        deadline: None,
    };
    let report = read_only(&location, &verify).await?;
    let text = if globals.json {
        screen::json(&serde_json::to_value(&report)?)
    } else {
        report_text(&report, &location)?
    };
    Ok(if report.is_intact() {
        Finished::ok(text)
    } else {
        Finished::failed(text)
    })
}

fn location(store: Option<String>, globals: &Globals) -> Result<StoreLocation> {
    match store.or_else(|| env::var("COUNTERSIGN_DATABASE_URL").ok()) {
        Some(what) => copy_end::location(&what),
        None => Ok(StoreLocation::file(
            &data_dir::resolve(globals.data.as_deref())?.join("hub.db"),
        )),
    }
}

fn report_text(report: &AuditReport, location: &StoreLocation) -> Result<String> {
    let mut text = String::new();
    for fault in &report.faults {
        writeln!(text, "fault  {}", screen::escape(&fault.to_string()))?;
    }
    if report.more_faults > 0 {
        writeln!(text, "fault  and {} more", report.more_faults)?;
    }
    writeln!(
        text,
        "{location}: {} entries, {} messages, {} other trails, {} unused numbers",
        report.entries, report.messages, report.other_trails, report.unused_numbers
    )?;
    match &report.checkpoint {
        Some(checkpoint) => writeln!(text, "checkpoint {checkpoint}")?,
        None => writeln!(
            text,
            "no checkpoint: other transactions were running; try again for one"
        )?,
    }
    let end = if report.is_intact() {
        "the audit trail is intact"
    } else {
        "the audit trail is broken: keep this database as evidence, and restore a backup that verifies"
    };
    writeln!(text, "{end}")?;
    Ok(text)
}
