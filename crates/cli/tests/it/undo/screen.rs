//! Undo in the terminal inbox.

use super::{LONG, SHORT, response, with_undo};
use crate::harness::*;
use crate::tui::Pane;

#[tokio::test(flavor = "multi_thread")]
async fn z_takes_a_decision_back() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let pane = Pane::start(&hub);
    pane.open("Deploy build 42?").await;
    pane.press(&["a"]);
    pane.shows("z takes it back").await;
    assert_eq!(bot.pull(&id).await["status"], "open");
    pane.press(&["z"]);
    pane.shows_all(&["taken back; nothing was sent", "Approve"]).await;
    let item = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
    assert!(item.get("held").is_none(), "{item}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_sent_when_its_hold_ends() {
    let hub = with_undo(SHORT).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let pane = Pane::start(&hub);
    pane.open("Deploy build 42?").await;
    pane.press(&["a"]);
    assert_eq!(response(&bot.outcome(&id).await)["value"], "approve");
    pane.shows("✓ approved by owner").await;
}
