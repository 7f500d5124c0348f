//! Damaged messages and broken audit trails: those in the database file, and those that the hub has met.

use std::path::Path;
use std::time::{Duration, Instant};

use countersign_protocol::api::admin::HubFaults;
use countersign_store::copy::{StoreLocation, read_only};
use countersign_store::ops::message::audit_report::AuditReport;
use countersign_store::ops::message::verify::VerifyAudit;

use super::Finding;

const MAX_NAMED: usize = 20;
const TIME_LIMIT: Duration = Duration::from_secs(20);
const CHECK: &str = "records";
const ADVICE: &str = "`countersign audit verify` lists all of it; restore the database from a backup";

/// Checks the database in the data directory, if there is one; a hub may be using it.
pub async fn in_file(data: &Path) -> Option<Finding> {
    let file = data.join("hub.db");
    if !file.is_file() {
        return None;
    }
    let verify = VerifyAudit {
        expected: None,
        deadline: Some(Instant::now() + TIME_LIMIT),
    };
    Some(match read_only(&StoreLocation::file(&file), &verify).await {
        Ok(report) => judge(&report),
        Err(error) => Finding::fail(CHECK, error.to_string(), "nothing in the database was checked"),
    })
}

fn judge(report: &AuditReport) -> Finding {
    let checked = format!("{} messages and {} audit entries", report.messages, report.entries);
    if !report.is_intact() {
        let faults = report.faults.iter().map(ToString::to_string).collect();
        return Finding::fail(CHECK, format!("damaged data: {}", named(faults)), ADVICE);
    }
    if report.is_complete {
        return Finding::ok(CHECK, format!("all {checked} are intact"));
    }
    Finding::warn(
        CHECK,
        format!("the first {checked} are intact; there was no time for the rest"),
        "`countersign audit verify` checks everything",
    )
}

/// The damage that the hub has met since its start.
pub fn met_by_hub(faults: HubFaults) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (what, ids) in [
        ("the hub cannot read messages", faults.unreadable),
        ("the hub met broken audit trails", faults.audit_broken),
    ] {
        if !ids.is_empty() {
            findings.push(Finding::fail(CHECK, format!("{what}: {}", named(ids)), ADVICE));
        }
    }
    findings
}

fn named(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    let listed = names.join(", ");
    if more > 0 {
        format!("{listed} and {more} more")
    } else {
        listed
    }
}
