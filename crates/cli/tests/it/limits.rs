//! Rate limit and open-message quota per agent.

use crate::harness::*;

#[track_caller]
fn assert_rate_limited(reply: &Reply) {
    reply.refused("rate_limited");
    let seconds: u64 = reply
        .header("retry-after")
        .parse()
        .expect("whole seconds in Retry-After");
    assert!((1..=120).contains(&seconds), "{seconds}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_over_its_rate_limit_gets_retry_after() {
    let hub = Setup::default()
        .config("[limits]\nrequests_per_minute = 5\n")
        .start()
        .await;
    let bot = hub.agent("bot").await;
    let other = hub.agent("other").await;
    for _ in 0..5 {
        bot.accepted(&notify("bot")).await;
    }
    assert_rate_limited(&bot.submit(&notify("bot")).await);
    other.accepted(&notify("other")).await;
    hub.owner.get("/v1/inbox").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_at_its_open_message_quota_waits_for_an_answer() {
    let hub = Setup::default().config("[limits]\ninbox_depth = 3\n").start().await;
    let bot = hub.agent("bot").await;
    let other = hub.agent("other").await;
    let first = ask("bot");
    let id = bot.accepted(&first).await;
    let task_id = bot.accepted(&task("bot")).await;
    let third = bot.accepted(&ask("bot")).await;
    assert_rate_limited(&bot.submit(&ask("bot")).await);
    assert_rate_limited(&bot.submit(&task("bot")).await);
    bot.accepted(&notify("bot")).await;
    assert_eq!(bot.accepted(&first).await, id, "a replay is not a new message");
    other.accepted(&ask("other")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    bot.accepted(&ask("bot")).await;
    assert_rate_limited(&bot.submit(&ask("bot")).await);
    hub.owner
        .resolve(&task_id, serde_json::json!({"resolution": "dismissed"}))
        .await
        .expect(200);
    bot.cancel(&third).await.expect(200);
    bot.accepted(&ask("bot")).await;
    bot.accepted(&expiring(task("bot"), 60_000)).await;
    assert_rate_limited(&bot.submit(&ask("bot")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn open_message_quota_is_counted_from_the_store_after_a_restart() {
    let mut hub = Setup::default().config("[limits]\ninbox_depth = 2\n").start().await;
    let bot = hub.agent("bot").await;
    bot.accepted(&ask("bot")).await;
    let expiring_id = bot.accepted(&expiring(ask("bot"), 15_000)).await;
    hub.kill();
    hub.restart().await;
    assert_rate_limited(&bot.submit(&ask("bot")).await);
    bot.outcome(&expiring_id).await;
    bot.accepted(&ask("bot")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn zero_means_no_limit() {
    let hub = Setup::default()
        .config("[limits]\nrequests_per_minute = 0\ninbox_depth = 0\n")
        .start()
        .await;
    let bot = hub.agent("bot").await;
    for _ in 0..50 {
        bot.accepted(&ask("bot")).await;
    }
}
