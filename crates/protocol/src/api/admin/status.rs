//! The state of the hub, and the audit trail.

use serde::{Deserialize, Serialize};

use crate::api::HubTime;

/// GET /v1/admin/status.
#[derive(Debug, Serialize, Deserialize)]
pub struct HubStatus {
    pub version: String,
    pub started_at: Option<HubTime>,
    pub now: Option<HubTime>,
    #[serde(default)]
    pub url: String,
    pub public_url: Option<String>,
    #[serde(default)]
    pub schema_version: i64,
    #[serde(default)]
    pub open: i64,
    #[serde(default)]
    pub nodes: usize,
    #[serde(default)]
    pub faults: HubFaults,
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Damaged data that the hub has met since its start.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HubFaults {
    pub unreadable: Vec<String>,
    pub audit_broken: Vec<String>,
}

/// GET /v1/admin/audit.
#[derive(Debug, Serialize, Deserialize)]
pub struct AuditTrail<E = AuditEntry> {
    pub entries: Vec<E>,
}

/// One entry of a trail; digests are hex.
#[derive(Debug, Serialize, Deserialize)]
pub struct AuditEntry {
    #[serde(default)]
    pub seq: i64,
    #[serde(default)]
    pub subject: String,
    pub at: HubTime,
    pub actor: String,
    pub event: String,
    pub content_sha256: Option<String>,
    pub resolution_sha256: Option<String>,
    pub prev_hash: Option<String>,
    pub hash: String,
}
