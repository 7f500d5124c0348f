//! The expiry during a hold.

use super::{LONG, hold, response, time, undo, with_undo};
use crate::harness::*;

/// Submits an ask, holds an answer, and returns the id when the expiry has passed.
async fn held_past_the_expiry(hub: &Hub, bot: &Agent) -> String {
    let id = bot.accepted_briefly(&ask("bot")).await;
    hold(&hub.owner, &id, "approve").await;
    let expires_at = time(&bot.pull(&id).await["expires_at"]);
    eventually("the expiry", async || {
        (jiff::Timestamp::now() > expires_at).then_some(())
    })
    .await;
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_on_hold_wins_over_the_expiry() {
    let hub = with_undo(10).start().await;
    let bot = hub.agent("bot").await;
    let id = held_past_the_expiry(&hub, &bot).await;
    assert_eq!(bot.pull(&id).await["status"], "open");
    let outcome = bot.outcome(&id).await;
    assert_eq!(
        (&outcome["status"], &response(&outcome)["value"]),
        (&"answered".into(), &"approve".into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_taken_back_after_the_expiry_expires_at_once() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let id = held_past_the_expiry(&hub, &bot).await;
    undo(&hub.owner, &id).await.expect(200);
    assert_eq!(bot.pull(&id).await["status"], "expired");
}
