//! The expiry during a hold.

use super::{LONG, hold, response, time, undo, with_undo};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_ends_with_the_expiry_and_the_answer_counts() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&expiring(ask("bot"), 6000)).await;
    let held = hold(&hub.owner, &id, "approve").await;
    let expires_at = time(&bot.pull(&id).await["expires_at"]);
    assert_eq!(time(&held["until"]), expires_at, "{held}");
    let outcome = bot.outcome(&id).await;
    assert_eq!(
        (&outcome["status"], &response(&outcome)["value"]),
        (&"answered".into(), &"approve".into())
    );
    undo(&hub.owner, &id).await.refused("already_terminal");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_taken_back_in_time_expires_as_declared() {
    let hub = with_undo(LONG).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&expiring(ask("bot"), 6000)).await;
    hold(&hub.owner, &id, "approve").await;
    undo(&hub.owner, &id).await.expect(200);
    assert_eq!(bot.outcome(&id).await["status"], "expired");
}
