//! Status of the hub with its warnings, and the audit trail.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_config::LegacyPush;
use countersign_core::delivery::DeliveryState;
use countersign_protocol::api::admin::{AuditTrail, HubFaults, HubStatus};
use countersign_store::SCHEMA_VERSION;
use countersign_store::faults::Fault;
use countersign_store::model::{AuditRow, InboxOrder};
use countersign_store::ops::admin::callbacks::ListHosts;
use countersign_store::ops::deliver::Deliveries;
use countersign_store::ops::list::{Counts, Inbox, ListFilter};
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::node::LiveNodes;
use serde::Deserialize;

use crate::Hub;
use crate::admin::health::NO_PERSON;
use crate::http::callers::OwnerCaller;
use crate::http::extract::Params;
use crate::problem::Problem;

const MAX_CHECKED_OPEN: i64 = 200;
const MAX_NAMED_STRANDED: usize = 10;

pub async fn status(State(hub): State<Arc<Hub>>, _owner: OwnerCaller) -> Result<Json<HubStatus>, Problem> {
    let open = hub
        .store
        .run(Counts {
            person: NO_PERSON.to_owned(),
        })
        .await?
        .open;
    Ok(Json(HubStatus {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: Some(hub.process.started_at.into()),
        now: Some(hub.store.clock().now().into()),
        url: hub.process.url().to_owned(),
        public_url: hub.config.public_url.clone(),
        schema_version: SCHEMA_VERSION,
        open,
        nodes: hub.store.run(LiveNodes).await?.len(),
        faults: faults(&hub),
        warnings: warnings(&hub).await?,
    }))
}

/// Damaged data met since the start of this process.
fn faults(hub: &Hub) -> HubFaults {
    let mut faults = HubFaults::default();
    for fault in hub.store.faults().all() {
        match fault {
            Fault::Unreadable(id) => faults.unreadable.push(id),
            Fault::AuditBroken(subject) => faults.audit_broken.push(subject),
        }
    }
    faults
}

/// Risky settings, pending approvals, failed deliveries, and open messages that no person can answer.
async fn warnings(hub: &Hub) -> Result<Vec<String>, Problem> {
    let config = &hub.config;
    let mut warnings = Vec::new();
    if config.push.allow_loopback {
        warnings
            .push("callbacks to this machine are allowed (--allow-loopback-callbacks): development only".to_owned());
    }
    if config
        .public_url
        .as_deref()
        .is_some_and(|url| url.starts_with("http://"))
    {
        warnings.push("the public URL is plain HTTP: tokens and answers can be read on the way".to_owned());
    }
    if config.tls.is_none() && !config.listen.ip().is_loopback() {
        warnings.push(format!("{} serves plain HTTP beyond this machine", config.listen));
    }
    if config.push.legacy == LegacyPush::Negotiate {
        warnings.push(
            "A2H 0.2 push is accepted; its signature does not cover the answer (push.legacy = \"reject\" refuses it)"
                .to_owned(),
        );
    }
    let hosts = hub.store.run(ListHosts { agent_id: None }).await?;
    let pending = hosts.iter().filter(|host| host.state == "pending").count();
    if pending > 0 {
        warnings.push(format!(
            "callback hosts that wait for approval: {pending} (`countersign agent callback list`)"
        ));
    }
    let failed = hub
        .store
        .run(Deliveries {
            state: Some(DeliveryState::Failed),
            limit: 1000,
        })
        .await?
        .len();
    if failed > 0 {
        warnings.push(format!(
            "deliveries that have failed: {failed} (`countersign delivery list`)"
        ));
    }
    let stranded = stranded(hub).await?;
    if !stranded.is_empty() {
        warnings.push(format!(
            "no account but their own agent can answer these open messages, because allowed_resolvers names no other that \
             exists: {}",
            stranded.join(", ")
        ));
    }
    Ok(warnings)
}

/// Open messages that no account can resolve, among the first of the inbox.
async fn stranded(hub: &Hub) -> Result<Vec<String>, Problem> {
    let inbox = Inbox {
        viewer: None,
        filter: ListFilter::default(),
        order: InboxOrder::Smart,
        waiting: Vec::new(),
        after: None,
        limit: MAX_CHECKED_OPEN,
    };
    let mut stranded = Vec::new();
    for item in hub.store.run(inbox).await?.items.iter().flatten() {
        if stranded.len() < MAX_NAMED_STRANDED
            && hub
                .auth
                .resolvers
                .unknown(&hub.store, &item.message.content)
                .await?
                .is_stranded
        {
            stranded.push(item.message.id.to_string());
        }
    }
    Ok(stranded)
}

#[derive(Deserialize)]
pub struct AuditSubject {
    id: String,
}

pub async fn audit(
    State(hub): State<Arc<Hub>>,
    _owner: OwnerCaller,
    Params(subject): Params<AuditSubject>,
) -> Result<Json<AuditTrail<AuditRow>>, Problem> {
    let subject = subject.id;
    Ok(Json(AuditTrail {
        entries: hub.store.run(Trail { subject }).await?,
    }))
}
