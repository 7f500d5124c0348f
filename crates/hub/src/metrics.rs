//! Metrics for the operator. They hold no ids and no payloads, because loopback serves them without a token.

use std::collections::BTreeSet;

use countersign_core::Outcome;
use countersign_protocol::a2h::Kind;
use countersign_store::faults::Fault;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::delivery::DeliveryCounts;

pub struct Metrics {
    registry: Registry,
    submitted: Family<Label, Counter>,
    resolved: Family<Label, Counter>,
    waiters: Gauge,
    open: Gauge,
    deliveries: Family<Label, Gauge>,
    faults: Family<Label, Gauge>,
    dropped_log_lines: Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Label {
    kind: &'static str,
}

/// Values read at scrape time instead of being counted continuously.
pub struct Snapshot {
    pub waiters: i64,
    pub open: i64,
    pub deliveries: DeliveryCounts,
    pub faults: BTreeSet<Fault>,
    pub dropped_log_lines: u64,
}

impl Metrics {
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("countersign");
        let submitted = Family::default();
        let resolved = Family::default();
        let waiters = Gauge::default();
        let open = Gauge::default();
        let deliveries = Family::default();
        let faults = Family::default();
        let dropped_log_lines = Gauge::default();
        registry.register("messages_submitted", "Messages accepted, by kind", submitted.clone());
        registry.register("messages_resolved", "Messages resolved, by outcome", resolved.clone());
        registry.register("waiters", "Messages with a waiting long-poll", waiters.clone());
        registry.register("messages_open", "Open asks and tasks", open.clone());
        registry.register(
            "delivery_attempts",
            "Push attempts since the start, by how they ended",
            deliveries.clone(),
        );
        registry.register(
            "store_faults",
            "Damaged data met since the start, by kind",
            faults.clone(),
        );
        registry.register(
            "log_lines_dropped",
            "Log lines that could not be written since the start",
            dropped_log_lines.clone(),
        );
        Self {
            registry,
            submitted,
            resolved,
            waiters,
            open,
            deliveries,
            faults,
            dropped_log_lines,
        }
    }

    pub fn submitted(&self, kind: Kind) {
        self.submitted.get_or_create(&Label { kind: kind.as_str() }).inc();
    }

    pub fn resolved(&self, outcome: Outcome) {
        self.resolved.get_or_create(&Label { kind: outcome.as_str() }).inc();
    }

    pub fn render(&self, snapshot: &Snapshot) -> Result<String, std::fmt::Error> {
        self.waiters.set(snapshot.waiters);
        self.open.set(snapshot.open);
        self.dropped_log_lines
            .set(i64::try_from(snapshot.dropped_log_lines).unwrap_or(i64::MAX));
        let counts = &snapshot.deliveries;
        let ended = [
            ("delivered", counts.delivered),
            ("refused", counts.refused),
            ("failed", counts.failed),
            ("retried", counts.retried),
        ];
        for (kind, count) in ended {
            let gauge = self.deliveries.get_or_create(&Label { kind });
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let broken_trails = snapshot.faults.iter().filter(|fault| fault.is_audit()).count();
        let unreadable = snapshot.faults.len() - broken_trails;
        for (kind, count) in [("audit_broken", broken_trails), ("unreadable", unreadable)] {
            let gauge = self.faults.get_or_create(&Label { kind });
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
