//! The hub behind a proxy: rate limits by client address, and the public URL.

use reqwest::Method;

use super::client::{Page, WebClient};
use crate::harness::*;

const GUESSES_OVER_LIMIT: usize = 15;

/// Sends one password guess with this X-Forwarded-For header and returns the status.
async fn guess(client: &WebClient, page: &Page, forwarded_for: &str) -> u16 {
    let csrf = page.field("csrf").expect("a guarded form");
    let request = client
        .request(Method::POST, "/signin")
        .header("x-forwarded-for", forwarded_for);
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let request = request.body(format!("csrf={csrf}&name=alice&password=a+guess"));
    within("an answer to a guess", request.send())
        .await
        .expect("the hub replies")
        .status()
        .as_u16()
}

/// Whether the rate limit stops guesses whose header changes with `forwarded_for`.
async fn is_rate_limited(hub: &Hub, forwarded_for: impl Fn(usize) -> String) -> bool {
    let client = WebClient::anonymous(hub);
    let page = client.get("/signin").await.expect(200);
    for number in 0..GUESSES_OVER_LIMIT {
        match guess(&client, &page, &forwarded_for(number)).await {
            422 => {}
            429 => return true,
            other => panic!("guess {number} was answered with {other}"),
        }
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn two_clients_of_a_trusted_proxy_are_rate_limited_separately() {
    let hub = Setup::default()
        .config("trusted_proxies = [\"127.0.0.1\", \"10.0.3.0/24\"]\n")
        .start()
        .await;
    assert!(is_rate_limited(&hub, |_| "192.0.2.7".to_owned()).await);
    let client = WebClient::anonymous(&hub);
    let page = client.get("/signin").await.expect(200);
    assert_eq!(
        guess(&client, &page, "192.0.2.7, 10.0.3.9").await,
        429,
        "the same one through two proxies"
    );
    assert_eq!(
        guess(&client, &page, "192.0.2.8").await,
        422,
        "the other one is not held up"
    );
    let log = hub.process().stderr_with("from=192.0.2.8").await;
    assert!(
        log.contains("from=192.0.2.7") && !log.contains("from=127.0.0.1"),
        "{log}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_untrusted_client_cannot_evade_the_limit_with_the_header() {
    for config in ["", "trusted_proxies = [\"10.0.3.0/24\"]\n"] {
        let hub = Setup::default().config(config).start().await;
        assert!(
            is_rate_limited(&hub, |number| format!("192.0.2.{number}")).await,
            "{config:?}"
        );
        let log = hub.process().stderr_with("from=127.0.0.1").await;
        assert!(!log.contains("192.0.2."), "what a stranger claims is not logged: {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_a_trusted_proxy_cannot_evade_the_limit_with_the_header() {
    let hub = Setup::default()
        .args(&["--trusted-proxies", "10.0.3.0/24,127.0.0.1"])
        .start()
        .await;
    assert!(
        is_rate_limited(&hub, |number| format!("198.51.100.{number}, 192.0.2.7")).await,
        "its own address counts"
    );
    assert!(
        is_rate_limited(&hub, |number| format!("198.51.100.{number}, nobody-{number}")).await,
        "or else the proxy's"
    );
}

#[test]
fn a_public_url_with_a_path_is_refused() {
    for (config, args) in [
        ("", vec!["--public-url", "https://example.com/hub"]),
        ("public_url = \"https://example.com/hub\"\n", vec![]),
    ] {
        let output = Setup::default().config(config).args(&args).refused().fails(1);
        assert!(
            output.contains("public_url: https://example.com/hub has a path"),
            "{output}"
        );
        assert!(
            output.contains("a host name of its own") && output.contains("a port of its own"),
            "{output}"
        );
    }
}

#[test]
fn a_trusted_proxy_must_be_a_network() {
    let output = Setup::default()
        .args(&["--trusted-proxies", "127.0.0.1,proxy.example"])
        .refused()
        .fails(1);
    assert!(
        output.contains("trusted_proxies: \"proxy.example\" is not a network"),
        "{output}"
    );
}
