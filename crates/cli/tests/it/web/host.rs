//! The `Host` check against DNS rebinding.

use reqwest::Method;

use crate::harness::*;

/// The reply to a request that names this host.
async fn get(hub: &Hub, path: &str, host: &str) -> Reply {
    Api::send(hub.anonymous().request(Method::GET, path).header("host", host)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_host_name_is_refused_on_every_route() {
    let hub = Hub::start().await;
    for path in [
        "/",
        "/signin",
        "/inbox",
        "/metrics",
        "/health",
        "/ready",
        "/v1/inbox",
        "/openapi.json",
        "/nowhere",
    ] {
        for host in ["evil.example", "127.0.0.1.evil.example:7422", "localhost.evil.example"] {
            let refused = get(&hub, path, host).await;
            let error = refused.refused("misdirected_request");
            let message = error["error"]["message"].as_str().unwrap();
            assert!(
                message.contains(host) && message.contains("public_url") && message.contains("allowed_hosts"),
                "{message}"
            );
        }
    }
    for host in ["localhost", "localhost:9", "127.0.0.1", "[::1]:7422", "192.0.2.7"] {
        for path in ["/signin", "/metrics", "/health"] {
            assert_eq!(get(&hub, path, host).await.status, 200, "{host} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_answers_for_its_public_url_and_allowed_hosts() {
    let config = "public_url = \"https://hub.example\"\nallowed_hosts = [\"hub.lan\"]\n";
    let hub = Setup::default().config(config).start().await;
    for host in ["hub.example", "hub.example:443", "HUB.lan:7422", "localhost"] {
        assert_eq!(get(&hub, "/signin", host).await.status, 200, "{host}");
    }
    get(&hub, "/signin", "evil.example")
        .await
        .refused("misdirected_request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_beyond_loopback_answers_by_any_name_unless_its_names_are_set() {
    let beyond = |config: &str| {
        let config = format!("listen = \"0.0.0.0:0\"\nallow_plain_http = true\n{config}");
        Setup::default().on_the_default_address().config(&config)
    };
    let open = beyond("").start().await;
    assert_eq!(get(&open, "/signin", "box.lan:7422").await.status, 200);
    let named = beyond("allowed_hosts = [\"box.lan\"]\n").start().await;
    assert_eq!(get(&named, "/signin", "box.lan:7422").await.status, 200);
    get(&named, "/signin", "evil.example")
        .await
        .refused("misdirected_request");
}

#[test]
fn an_allowed_host_is_a_name_without_scheme_and_port() {
    for wrong in ["https://hub.lan", "hub.lan:7422", ""] {
        let config = format!("allowed_hosts = [\"{wrong}\"]\n");
        let output = Setup::default().config(&config).refused().fails(1);
        assert!(
            output.contains("allowed_hosts: ") && output.contains("without scheme and port"),
            "{output}"
        );
    }
}
