use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::harness::*;

const PREFIX: &str = "countersign_";

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let is_name = |byte: char| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == '_';
    let name = |(at, _): (usize, &str)| text[at..].chars().take_while(|byte| is_name(*byte)).collect();
    text.match_indices(PREFIX).map(name).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn dashboard_uses_only_metrics_that_a_hub_has() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/done"))).await;
    hub.owner.answer(&id, "deny").await.expect(200);
    receiver.at("/done", 1).await;
    let scraped = eventually("the delivery is counted", async || {
        let text = hub.anonymous().get("/metrics").await.text();
        text.contains("countersign_delivery_duration_seconds_count 1\n")
            .then_some(text)
    })
    .await;
    for line in [
        "countersign_messages_denied_total 1\n",
        "countersign_decision_duration_seconds_count{door=\"a2h\",outcome=\"answered\"} 1\n",
        "countersign_http_request_duration_seconds_count{method=\"POST\",route=\"/v1/messages\",status=\"2xx\"} 1\n",
    ] {
        assert!(scraped.contains(line), "{line} in {scraped}");
    }
    let samples = names(
        &scraped
            .lines()
            .filter(|line| !line.starts_with('#'))
            .collect::<Vec<_>>()
            .join("\n"),
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/grafana/countersign.json");
    let dashboard = std::fs::read_to_string(path).expect("the dashboard");
    let parsed: Value = serde_json::from_str(&dashboard).expect("the dashboard is JSON");
    assert!(
        parsed["panels"].as_array().is_some_and(|panels| panels.len() > 8),
        "panels"
    );
    let used = names(&dashboard);
    let unknown: Vec<_> = used.difference(&samples).collect();
    assert!(
        !used.is_empty() && unknown.is_empty(),
        "{unknown:?} are not in {samples:?}"
    );
}
