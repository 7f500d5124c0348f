//! Metrics for the operator. They hold no ids and no payloads, because loopback serves them without a token. Every label
//! has a fixed set of values: kinds, outcomes, doors, states, route templates and status classes.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

const PREFIX: &str = "countersign";
const MINUTE: f64 = 60.0;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;
/// Up to the longest long-poll.
const REQUEST_BUCKETS: [f64; 13] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 20.0, MINUTE,
];
const COMMIT_BUCKETS: [f64; 12] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 10.0,
];
/// Up to the end of all attempts.
const DELIVERY_BUCKETS: [f64; 11] = [
    0.01,
    0.05,
    0.1,
    0.5,
    1.0,
    5.0,
    30.0,
    5.0 * MINUTE,
    HOUR,
    6.0 * HOUR,
    DAY,
];
/// People answer within seconds or within days.
const DECISION_BUCKETS: [f64; 12] = [
    1.0,
    5.0,
    15.0,
    MINUTE,
    5.0 * MINUTE,
    15.0 * MINUTE,
    HOUR,
    4.0 * HOUR,
    12.0 * HOUR,
    DAY,
    3.0 * DAY,
    7.0 * DAY,
];

/// A distribution of durations, shared by its clones: the part that measures has one, the metrics have another.
#[derive(Debug, Clone)]
pub struct DurationHistogram(Histogram);

impl DurationHistogram {
    pub fn of_commits() -> Self {
        Self(Histogram::new(COMMIT_BUCKETS))
    }

    pub fn of_deliveries() -> Self {
        Self(Histogram::new(DELIVERY_BUCKETS))
    }

    pub fn observe(&self, duration: Duration) {
        self.0.observe(duration.as_secs_f64());
    }
}

/// The durations that other parts measure.
pub struct Durations {
    pub commits: DurationHistogram,
    pub deliveries: DurationHistogram,
}

impl Default for Durations {
    fn default() -> Self {
        Self {
            commits: DurationHistogram::of_commits(),
            deliveries: DurationHistogram::of_deliveries(),
        }
    }
}

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

pub struct Metrics {
    registry: Registry,
    submitted: Family<KindLabel, Counter>,
    resolved: Family<KindLabel, Counter>,
    defaults: Counter,
    denied: Counter,
    pub(crate) requests: Histograms<RequestLabels>,
    decisions: Histograms<DecisionLabels>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RequestLabels {
    pub method: &'static str,
    pub route: Cow<'static, str>,
    /// Its class, such as `2xx`.
    pub status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DecisionLabels {
    door: &'static str,
    outcome: &'static str,
}

/// A resolved message, as far as it is counted.
pub struct Decision {
    pub door: &'static str,
    pub outcome: &'static str,
    /// From accepted to resolved.
    pub took: Duration,
    /// The declared default became the answer.
    pub is_default: bool,
    /// A person said no.
    pub is_denied: bool,
}

impl Metrics {
    pub fn new(durations: Durations) -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix(PREFIX),
            submitted: Family::default(),
            resolved: Family::default(),
            defaults: Counter::default(),
            denied: Counter::default(),
            requests: Family::new_with_constructor(|| Histogram::new(REQUEST_BUCKETS)),
            decisions: Family::new_with_constructor(|| Histogram::new(DECISION_BUCKETS)),
        };
        metrics.register_counters();
        metrics.register_durations(durations);
        metrics
    }

    fn register_counters(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "messages_submitted",
            "Messages accepted, by kind",
            self.submitted.clone(),
        );
        registry.register(
            "messages_resolved",
            "Messages resolved, by outcome",
            self.resolved.clone(),
        );
        registry.register(
            "messages_defaulted",
            "Asks that ended with their declared default",
            self.defaults.clone(),
        );
        registry.register(
            "messages_denied",
            "Confirms that a person denied, and tasks that cannot be done",
            self.denied.clone(),
        );
    }

    fn register_durations(&mut self, durations: Durations) {
        let mut register = |name, help, histogram| {
            self.registry.register_with_unit(name, help, Unit::Seconds, histogram);
        };
        register(
            "store_commit_duration",
            "Transactions that write, from their begin to their commit",
            durations.commits.0,
        );
        register(
            "delivery_duration",
            "Pushes that were delivered, from the decision on",
            durations.deliveries.0,
        );
        self.registry.register_with_unit(
            "http_request_duration",
            "Requests, from the head to the reply, by method, route and status class",
            Unit::Seconds,
            self.requests.clone(),
        );
        self.registry.register_with_unit(
            "decision_duration",
            "Asks and tasks, from accepted to resolved, by door and outcome",
            Unit::Seconds,
            self.decisions.clone(),
        );
    }

    pub fn submitted(&self, kind: &'static str) {
        self.submitted.get_or_create(&KindLabel { kind }).inc();
    }

    pub fn resolved(&self, decision: &Decision) {
        let Decision { door, outcome, .. } = *decision;
        self.resolved.get_or_create(&KindLabel { kind: outcome }).inc();
        let took = self.decisions.get_or_create(&DecisionLabels { door, outcome });
        took.observe(decision.took.as_secs_f64());
        self.defaults.inc_by(decision.is_default.into());
        self.denied.inc_by(decision.is_denied.into());
    }

    /// OpenMetrics text.
    pub fn render(&self, scrape: Scrape) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        encode_registry(&mut text, &scrape.0)?;
        encode_eof(&mut text)?;
        Ok(text)
    }
}

/// Gauges that are read when `/metrics` is, instead of being kept.
pub struct Scrape(Registry);

impl Default for Scrape {
    fn default() -> Self {
        Self(Registry::with_prefix(PREFIX))
    }
}

impl Scrape {
    pub fn gauge(&mut self, name: &str, help: &str, value: i64) {
        let gauge = Gauge::<i64>::default();
        gauge.set(value);
        self.0.register(name, help, gauge);
    }

    pub fn gauges<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        label: &'static str,
        values: [(&'static str, i64); N],
    ) {
        let gauges = Family::<[(&'static str, &'static str); 1], Gauge>::default();
        for (value, count) in values {
            gauges.get_or_create(&[(label, value)]).set(count);
        }
        self.0.register(name, help, gauges);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decision_is_counted_once_in_each_metric() {
        let metrics = Metrics::new(Durations::default());
        let decision = Decision {
            door: "a2h",
            outcome: "expired",
            took: Duration::from_secs(90),
            is_default: true,
            is_denied: false,
        };
        metrics.resolved(&decision);
        let denied = Decision {
            outcome: "answered",
            is_default: false,
            is_denied: true,
            ..decision
        };
        metrics.resolved(&denied);
        metrics.resolved(&denied);
        let text = metrics.render(Scrape::default()).unwrap();
        for line in [
            r#"countersign_messages_resolved_total{kind="expired"} 1"#,
            "countersign_messages_defaulted_total 1",
            "countersign_messages_denied_total 2",
            r#"countersign_decision_duration_seconds_bucket{le="60.0",door="a2h",outcome="expired"} 0"#,
            r#"countersign_decision_duration_seconds_bucket{le="300.0",door="a2h",outcome="expired"} 1"#,
            r#"countersign_decision_duration_seconds_sum{door="a2h",outcome="answered"} 180.0"#,
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn gauges_of_a_scrape_come_before_the_end() {
        let mut scrape = Scrape::default();
        scrape.gauge("nodes", "Nodes", 2);
        scrape.gauges("runs", "Runs", "state", [("running", 3), ("pending", 0)]);
        let text = Metrics::new(Durations::default()).render(scrape).unwrap();
        assert!(text.contains("\ncountersign_nodes 2\n"), "{text}");
        assert!(text.contains("\ncountersign_runs{state=\"running\"} 3\n"), "{text}");
        assert!(text.contains("\ncountersign_runs{state=\"pending\"} 0\n"), "{text}");
        assert_eq!(text.matches("# EOF").count(), 1, "{text}");
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
