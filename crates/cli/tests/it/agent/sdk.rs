//! The SDK as docs/agents.md shows it, against the real hub.

#[expect(clippy::disallowed_methods, reason = "an agent has no other clock")]
#[path = "quick_start.rs"]
mod quick_start;

use std::sync::atomic::{AtomicUsize, Ordering};

use countersign_agent::{Client as AgentClient, Journal};

use super::messages;
use crate::harness::*;

const GUIDE: &str = include_str!("../../../../../docs/agents.md");

#[test]
fn the_guide_shows_the_tested_quick_start() {
    assert!(
        GUIDE.contains(include_str!("quick_start.rs")),
        "docs/agents.md and quick_start.rs differ"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_quick_start_ships_once() {
    let hub = Hub::start().await;
    let bot = hub.agent("acme/deployer").await;
    let upstream = AgentClient::new(hub.url.parse().expect("a URL"), bot.token.clone()).expect("a hub");
    let journal = Journal::open(&hub.scratch().path("journal.db")).expect("a journal");
    let shipped = AtomicUsize::new(0);
    let go = || {
        quick_start::ask_and_ship(&upstream, &journal, "1.7", async || {
            shipped.fetch_add(1, Ordering::Relaxed) == 0
        })
    };
    let answering = async {
        let id = eventually("the ask is in the inbox", async || {
            let inbox = hub.owner.get("/v1/inbox").await.expect(200);
            inbox["items"][0]["id"].as_str().map(str::to_owned)
        })
        .await;
        hub.owner.answer(&id, "approve").await.expect(200);
    };
    let (first, ()) = within("the answer", async { tokio::join!(go(), answering) }).await;
    assert!(first.expect("asked and answered"));
    for _ in 0..3 {
        assert!(
            within("the answer again", go()).await.expect("answered"),
            "it has been shipped"
        );
    }
    assert_eq!(shipped.load(Ordering::Relaxed), 1);
    assert_eq!(messages(&bot).await, 1);
}
