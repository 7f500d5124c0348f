//! Public endpoints: discovery, health, readiness, metrics and the API description.

use serde_json::json;

use crate::harness::{Hub, Setup, http_client};

#[tokio::test(flavor = "multi_thread")]
async fn both_protocol_families_see_the_same_limits() {
    let config = "retention_days = 7\n[limits]\nrequests_per_minute = 120\ninbox_depth = 9\nmax_context_parts = 4\n";
    let hub = Setup::default().config(config).start().await;
    let anyone = hub.anonymous();
    let mut a2h = anyone.get("/.well-known/a2h").await.expect(200);
    let mut ma2h = anyone.get("/.well-known/ma2h").await.expect(200);
    assert_eq!(ma2h, anyone.get("/.well-known/ma2h-capability").await.expect(200));
    assert_eq!(a2h["a2h_version"], "0.3");
    assert_eq!(ma2h["ma2h_version"], "0.6");
    assert_eq!(a2h["rate_limit"], json!({"requests_per_minute": 120, "inbox_depth": 9}));
    assert_eq!(a2h["retention_days"], 7);
    assert_eq!(a2h["max_context_parts"], 4);
    assert_eq!(a2h["max_body_bytes"], 65536);
    assert_eq!(a2h["max_part_bytes"], 262_144);
    assert_eq!(a2h["replay_window_seconds"], 120);
    assert!(
        a2h["callback_retry"]["max_attempts"]
            .as_u64()
            .is_some_and(|attempts| attempts >= 5),
        "{a2h}"
    );
    assert!(a2h["callback_retry"]["max_duration_seconds"].is_u64(), "{a2h}");
    for list in ["auth_schemes", "callback_auth_schemes", "signature_algs"] {
        assert!(
            a2h[list].as_array().is_some_and(|list| !list.is_empty()),
            "{list}: {a2h}"
        );
    }
    a2h.as_object_mut().expect("an object").remove("a2h_version");
    ma2h.as_object_mut().expect("an object").remove("ma2h_version");
    for leg in ["inbound", "ack", "presence", "sessions", "inter_agent"] {
        let offered = ma2h.as_object_mut().expect("an object").remove(leg);
        assert_eq!(offered, Some(json!({"enabled": false})), "{leg} is not served");
    }
    assert_eq!(a2h, ma2h);
}

#[tokio::test(flavor = "multi_thread")]
async fn health_readiness_metrics_and_the_api_description_are_public() {
    let hub = Hub::start().await;
    let anyone = hub.anonymous();
    anyone.healthy().await;
    assert_eq!(anyone.get("/ready").await.status, 200);
    let metrics = anyone.get("/metrics").await;
    assert_eq!(metrics.status, 200);
    assert!(metrics.text().contains("# EOF"), "OpenMetrics text: {}", metrics.text());
    let openapi = anyone.get("/openapi.json").await.expect(200);
    assert!(
        openapi["openapi"]
            .as_str()
            .is_some_and(|version| version.starts_with("3.1")),
        "{openapi}"
    );
    for path in [
        "/v1/messages",
        "/v1/messages/{id}",
        "/v1/messages/{id}/resolve",
        "/v1/inbox",
        "/v1/admin/agents",
    ] {
        assert!(openapi["paths"][path].is_object(), "{path} is described");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_path_and_a_wrong_method_get_a_json_error() {
    let hub = Hub::start().await;
    hub.owner.get("/v1/nonsense").await.refused("not_found");
    let reply = hub.owner.post("/health", &json!({})).await;
    assert_eq!(reply.status, 405);
    assert!(reply.json()["error"]["code"].is_string(), "{}", reply.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn http_2_works_with_prior_knowledge() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&crate::harness::ask("bot")).await;
    let client = http_client().http2_prior_knowledge().build().expect("a client");
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let url = format!("{}/v1/messages/{id}?wait=30", hub.url);
            tokio::spawn(client.get(url).bearer_auth(&bot.token).send())
        })
        .collect();
    let health = client.get(format!("{}/health", hub.url)).send().await.expect("a reply");
    assert_eq!(health.version(), reqwest::Version::HTTP_2);
    hub.owner.answer(&id, "approve").await.expect(200);
    for waiter in waiting {
        let reply = crate::harness::within("a waiter", waiter)
            .await
            .expect("no panic")
            .expect("a reply");
        assert!(reply.text().await.expect("a body").contains("\"answered\""));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_in_an_ack_use_the_public_url() {
    let hub = Setup::default()
        .args(&["--public-url", "https://hub.example"])
        .start()
        .await;
    let bot = hub.agent("bot").await;
    let ack = bot.submit(&crate::harness::ask("bot")).await.expect(202);
    let id = ack["id"].as_str().expect("an id");
    assert_eq!(ack["poll_url"], format!("https://hub.example/v1/messages/{id}"));
    assert_eq!(ack["review_url"], format!("https://hub.example/inbox/items/{id}"));
}
