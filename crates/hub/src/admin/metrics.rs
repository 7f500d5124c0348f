//! GET /metrics

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use countersign_store::ops::list::{Counts, OldestOpen};
use countersign_store::ops::node::CountLeases;
use countersign_telemetry::metrics::Scrape;

use super::health::NO_PERSON;
use crate::Hub;
use crate::http::callers::OwnerCaller;
use crate::problem::Problem;
use crate::process::DROPPED_LOG_LINES;

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Open on loopback, where the hub belongs to its user; otherwise it needs an owner's token.
pub async fn metrics(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, Problem> {
    let is_exposed = !hub.config.listen.ip().is_loopback() || hub.config.public_url.is_some();
    if is_exposed {
        OwnerCaller::from_headers(&headers, &hub).await?;
    }
    let mut scrape = Scrape::default();
    scrape_store(&hub, &mut scrape).await?;
    scrape_process(&hub, &mut scrape);
    let text = hub.metrics.render(scrape).unwrap_or_default();
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}

/// What the store knows: on a shared one, the same at every node.
async fn scrape_store(hub: &Hub, scrape: &mut Scrape) -> Result<(), Problem> {
    let person = NO_PERSON.to_owned();
    let counts = hub.store.run(Counts { person }).await?;
    let leases = hub.store.run(CountLeases).await?;
    scrape.gauge("messages_open", "Open asks and tasks", counts.open);
    let oldest = hub.store.run(OldestOpen).await?;
    let now = hub.store.clock().now();
    scrape.gauge(
        "messages_oldest_seconds",
        "Age of the open ask or task that waits longest; 0 if none waits",
        oldest.map_or(0, |oldest| whole(now.since(oldest).as_secs())),
    );
    scrape.gauge("nodes", "Nodes with a valid lease", leases.nodes);
    scrape.gauge(
        "delivery_leases",
        "Deliveries that a node has claimed for an attempt",
        leases.claimed_deliveries,
    );
    Ok(())
}

/// What this process knows.
fn scrape_process(hub: &Hub, scrape: &mut Scrape) {
    let waiters = &hub.messages.waiters;
    scrape.gauge(
        "waiters",
        "Messages with a waiting long-poll",
        whole(waiters.message_count()),
    );
    scrape.gauge("long_polls_waiting", "Long-polls that wait", whole(waiters.count()));
    let attempts = hub.outbox.counts();
    scrape.gauges(
        "delivery_attempts",
        "Push attempts since the start, by how they ended",
        "kind",
        [
            ("delivered", whole(attempts.delivered)),
            ("refused", whole(attempts.refused)),
            ("failed", whole(attempts.failed)),
            ("retried", whole(attempts.retried)),
        ],
    );
    let faults = hub.store.faults().all();
    let broken_trails = faults.iter().filter(|fault| fault.is_audit()).count();
    let by_kind = [
        ("audit_broken", whole(broken_trails)),
        ("unreadable", whole(faults.len() - broken_trails)),
    ];
    scrape.gauges(
        "store_faults",
        "Damaged data met since the start, by kind",
        "kind",
        by_kind,
    );
    let runs = hub.runs.registry.live_by_state();
    let by_state = runs.map(|(state, count)| (state, whole(count)));
    scrape.gauges("runs", "Live runs of this node, by state", "state", by_state);
    let load = hub.store.load();
    scrape.gauge(
        "store_writer_queue",
        "Operations that wait for the writer thread of SQLite",
        whole(load.queued_writes),
    );
    scrape.gauge(
        "postgres_pool_size",
        "Open connections to PostgreSQL",
        whole(load.pool_size),
    );
    scrape.gauge(
        "postgres_pool_in_use",
        "Connections to PostgreSQL that an operation uses",
        whole(load.pool_in_use),
    );
    let dropped = DROPPED_LOG_LINES.load(Ordering::Relaxed);
    scrape.gauge(
        "log_lines_dropped",
        "Log lines that could not be written since the start",
        whole(dropped),
    );
}

fn whole(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}
