//! What a stranger can make the hub hold by posting to the sign-in pages.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::*;

const CONNECTIONS: u64 = 300;
/// Generous: an idle connection has its buffers too, and the test build needs more than the one that ships.
const MAX_KIB_PER_CONNECTION: u64 = 64;

/// Resident memory in KiB.
fn memory(hub: &Hub) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", hub.process().id())).expect("the hub runs");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .expect("its memory");
    line.split_whitespace()
        .nth(1)
        .and_then(|number| number.parse().ok())
        .expect("a number")
}

/// A form that never ends: all but the last byte is sent, or as much as the hub takes.
async fn post_most(hub: &Hub, path: &str, headers: &str, length: usize) -> TcpStream {
    let address = hub.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.expect("the hub listens");
    let head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\n{headers}content-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("the head is sent");
    // A refused body may be cut off in the middle.
    let _ = within("the body is sent or refused", stream.write_all(&vec![b'x'; length - 1])).await;
    stream
}

/// A cookie of the right form, which a stranger can make up.
fn form_cookie(hub: &Hub) -> String {
    let port = hub.url.rsplit(':').next().expect("a port");
    format!("cookie: countersign_{port}_form={}\r\n", "a".repeat(43))
}

/// The reply of a connection, until the hub closes it.
async fn reply(stream: &mut TcpStream) -> String {
    let mut reply = Vec::new();
    let _ = within("the hub answers and hangs up", stream.read_to_end(&mut reply)).await;
    String::from_utf8_lossy(&reply).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_sign_in_forms_hold_little_memory() {
    let hub = Hub::start().await;
    let cookie = form_cookie(&hub);
    let json = "content-type: application/json\r\n";
    for (path, headers, length) in [
        ("/signin", "", 256 * 1024),
        ("/signin/css_guess", "", 256 * 1024),
        ("/signin", cookie.as_str(), 256 * 1024),
        ("/signin", cookie.as_str(), 4 * 1024),
        ("/signin/passkey/finish", json, 64 * 1024),
    ] {
        let before = memory(&hub);
        let mut held = Vec::new();
        for _ in 0..CONNECTIONS {
            held.push(post_most(&hub, path, headers, length).await);
        }
        hub.anonymous().healthy().await;
        let grown = memory(&hub).saturating_sub(before) / CONNECTIONS;
        assert!(
            grown < MAX_KIB_PER_CONNECTION,
            "{grown} KiB for each connection that sends {length} bytes to {path} with {headers:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_without_its_cookie_is_refused_before_its_body() {
    let hub = Hub::start().await;
    for path in ["/signin", "/signin/css_guess"] {
        let mut stream = post_most(&hub, path, "", 4096).await;
        let refused = reply(&mut stream).await;
        assert!(refused.starts_with("HTTP/1.1 403"), "{path}: {refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_form_has_at_most_four_kibibytes() {
    let hub = Hub::start().await;
    let mut stream = post_most(&hub, "/signin", &form_cookie(&hub), 4097).await;
    let refused = reply(&mut stream).await;
    assert!(
        refused.starts_with("HTTP/1.1 422") && refused.contains("4096 bytes"),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_sign_in_fits() {
    let hub = Hub::start().await;
    let alice = crate::web::WebClient::as_person(&hub, "alice", "resolver").await;
    let password: String = "é☃🔑".chars().cycle().take(200).collect();
    super::set_password(&alice, &password).await.expect(200);
    let client = crate::web::WebClient::anonymous(&hub);
    for (query, next) in [("q".repeat(490), "/inbox/search?q="), ("q".repeat(4000), "/inbox")] {
        let from = format!("/signin?next=/inbox/search%3Fq={query}");
        let page = super::sign_in(&client, &from, "alice", &password).await.expect(200);
        assert!(page.url.starts_with(next), "{}", page.url);
        super::sign_out(&client).await.expect(200);
    }
}
