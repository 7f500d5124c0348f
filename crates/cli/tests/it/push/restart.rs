use std::collections::BTreeSet;

use super::stage;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_push_is_delivered_after_a_kill() {
    let (mut hub, receiver, bot) = stage().await;
    receiver.default_reply(PushReply::Status(503));
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/owed"))).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let refused = receiver.at("/owed", 2).await;
    hub.kill();
    receiver.default_reply(PushReply::Status(200));
    hub.restart().await;
    let all = receiver.at("/owed", refused.len() + 1).await;
    let resolutions: BTreeSet<String> = all.iter().map(Push::resolution_id).collect();
    assert_eq!(resolutions.len(), 1);
    assert!(signed(all.last().unwrap(), "a2h", &receiver.url("/owed")).holds(&bot.signing_key));
    hub.delivery(&id, "delivered").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pushes_in_flight_at_a_kill_are_retried() {
    let (mut hub, receiver, bot) = stage().await;
    receiver.default_reply(PushReply::Hang);
    let mut ids = BTreeSet::new();
    for nth in 0..10 {
        let id = bot
            .accepted(&push_to(ask("bot"), &receiver.url(&format!("/{nth}"))))
            .await;
        hub.owner.answer(&id, "approve").await.expect(200);
        ids.insert(id);
    }
    receiver.until("some are in flight", |pushes| pushes.len() >= 4).await;
    hub.kill();
    receiver.default_reply(PushReply::Status(200));
    hub.restart().await;
    for id in &ids {
        hub.delivery(id, "delivered").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivered_push_is_not_repeated_after_a_restart() {
    let (mut hub, receiver, bot) = stage().await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/once"))).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    hub.delivery(&id, "delivered").await;
    hub.kill();
    hub.restart().await;
    // A later push by the restarted hub shows that its worker has scanned the pending deliveries.
    let later = bot.accepted(&push_to(ask("bot"), &receiver.url("/later"))).await;
    hub.owner.answer(&later, "approve").await.expect(200);
    receiver.at("/later", 1).await;
    assert_eq!(receiver.at("/once", 1).await.len(), 1);
}
