//! `show`: everything needed to decide on one message, then its audit trail.

mod sections;

use std::path::PathBuf;

use anyhow::Result;
use countersign_client::hub::{ClientError, HubClient, typed};
use countersign_client::item::ClientItem;
use countersign_client::screen::{self, TextTable};
use countersign_protocol::api::admin::AuditEntry;
use serde_json::Value;

use super::ItemRef;

pub async fn run(word: &str, client: &HubClient, data: impl Fn() -> Result<PathBuf>, json: bool) -> Result<String> {
    let id = &match ItemRef::read(word) {
        Some(named) => named.id(client, data).await?,
        None => word.to_owned(),
    };
    let mut item = client.get(&["v1", "inbox", id], &[]).await?;
    let audit = audit_trail(id, client).await?;
    if json {
        if let (Some(fields), Some(audit)) = (item.as_object_mut(), audit) {
            fields.insert("audit".to_owned(), audit);
        }
        return Ok(screen::json(&item));
    }
    let item: ClientItem = typed(&item)?;
    let mut text = sections::render(&item, jiff::Timestamp::now());
    if let Some(audit) = audit {
        text.push_str("\nAudit trail\n");
        text.push_str(&audit_table(typed(&audit)?));
    }
    Ok(text)
}

/// Only an owner may read the trail; for others the page ends before it.
async fn audit_trail(id: &str, client: &HubClient) -> Result<Option<Value>, ClientError> {
    match client
        .get_field(&["v1", "admin", "audit"], &[("id", id)], "entries")
        .await
    {
        Ok(entries) => Ok(Some(entries)),
        Err(error) if error.is_forbidden() => Ok(None),
        Err(error) => Err(error),
    }
}

fn audit_table(entries: Vec<AuditEntry>) -> String {
    let mut table = TextTable::new(&["AT", "WHO", "WHAT", "ON CONTENT", "HASH"]);
    let short = |hash: &str| hash.chars().take(12).collect();
    for entry in entries {
        let content = short(entry.content_sha256.as_deref().unwrap_or_default());
        let hash = short(&entry.hash);
        table.row([entry.at.to_string(), entry.actor, entry.event, content, hash]);
    }
    table.render_or("Nothing is recorded.")
}
