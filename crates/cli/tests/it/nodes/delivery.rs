//! Push deliveries survive the death, freeze or shutdown of the hub that sends them.

use std::collections::BTreeSet;

use super::Cluster;
use crate::harness::*;

async fn stage(count: usize) -> (Cluster, Receiver, Agent) {
    stage_with(count, Setup::pushing).await
}

async fn stage_with(count: usize, setup: impl Fn() -> Setup) -> (Cluster, Receiver, Agent) {
    let cluster = Cluster::with_setup(count, setup).await;
    let receiver = Receiver::start().await;
    let bot = cluster.agent("bot").await;
    cluster.hubs[0].approve(&bot, &receiver.host()).await;
    (cluster, receiver, bot)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_is_pushed_once_without_failures() {
    let (cluster, receiver, bot) = stage(3).await;
    let mut ids = BTreeSet::new();
    for number in 0..30 {
        let id = bot
            .at(&cluster.hubs[number % 3])
            .accepted(&push_to(ask("bot"), &receiver.url("/all")))
            .await;
        cluster.hubs[(number + 1) % 3]
            .owner
            .answer(&id, "approve")
            .await
            .expect(200);
        ids.insert(id);
    }
    let pushes = receiver.at("/all", 30).await;
    for id in &ids {
        assert_eq!(cluster.hubs[2].delivery(id, "delivered").await["attempts"], 1);
    }
    assert_eq!(
        pushes.iter().map(Push::resolution_id).collect::<BTreeSet<_>>().len(),
        30
    );
    assert_eq!(receiver.seen().len(), 30, "no push was repeated");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_hub_takes_over_the_push_of_a_killed_hub() {
    // The delivery's own lease outlasts the test, so only the lease of the killed node can free it.
    let long_timeout = || Setup::pushing().config("[push]\nattempt_timeout_ms = 60000\n");
    let (mut cluster, receiver, bot) = stage_with(3, long_timeout).await;
    receiver.script("/held", &[PushReply::Hang]);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/held"))).await;
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    receiver.at("/held", 1).await;
    let pusher = cluster.pusher(&id).await;
    cluster.hubs[pusher].kill();
    let pushes = receiver.at("/held", 2).await;
    assert_eq!(pushes[0].resolution_id(), pushes[1].resolution_id());
    let delivery = cluster.hubs[(pusher + 1) % 3].delivery(&id, "delivered").await;
    assert_eq!(
        delivery["attempts"], 1,
        "the interrupted attempt does not count: {delivery}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_pushes_of_a_killed_hub_are_delivered_by_another() {
    // One push at a time and a receiver that hangs: the hub never gets to its second push.
    let narrow = "[push]\nper_host_concurrency = 1\nattempt_timeout_ms = 60000\nfirst_retry_ms = 20\n";
    let (mut cluster, receiver, bot) = stage_with(2, || Setup::pushing().config(narrow)).await;
    receiver.default_reply(PushReply::Hang);
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(bot.accepted(&push_to(ask("bot"), &receiver.url("/many"))).await);
    }
    for id in &ids {
        cluster.hubs[0].owner.answer(id, "approve").await.expect(200);
    }
    receiver.at("/many", 1).await;
    cluster.hubs[0].kill();
    let pending = "SELECT count(*) FROM delivery WHERE track = 'pending'";
    assert_eq!(
        cluster.database.number(pending).await,
        20,
        "all are still pending for the other hub"
    );
    receiver.default_reply(PushReply::Status(200));
    receiver.hang_up();
    for id in &ids {
        cluster.hubs[1].delivery(id, "delivered").await;
    }
    let resolutions: BTreeSet<String> = receiver.seen().iter().map(Push::resolution_id).collect();
    assert_eq!(
        resolutions.len(),
        20,
        "one resolution each, even if pushed more than once"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_is_recorded_once_the_database_accepts_writes_again() {
    let (cluster, receiver, bot) = stage(1).await;
    // A sequence is not rolled back, so it counts failed transactions too.
    let refuse = "CREATE SEQUENCE tries; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM nextval('tries'); RAISE disk_full; END $$; \
         CREATE TRIGGER refuse BEFORE UPDATE ON delivery FOR EACH ROW WHEN (NEW.track = 'delivered') \
         EXECUTE FUNCTION refuse()";
    cluster.database.execute(refuse).await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/one"))).await;
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    let tries = "SELECT last_value FROM tries";
    eventually("the update is retried", async || {
        (cluster.database.number(tries).await > 2).then_some(())
    })
    .await;
    cluster.database.execute("DROP TRIGGER refuse ON delivery").await;
    assert_eq!(cluster.hubs[0].delivery(&id, "delivered").await["attempts"], 1);
    assert_eq!(receiver.seen().len(), 1, "the retry did not push again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_interrupted_by_shutdown_is_released_and_not_counted() {
    let long_timeout = || Setup::pushing().config("[push]\nattempt_timeout_ms = 60000\n");
    let (mut cluster, receiver, bot) = stage_with(2, long_timeout).await;
    receiver.script("/held", &[PushReply::Hang]);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/held"))).await;
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    receiver.at("/held", 1).await;
    let pusher = cluster.pusher(&id).await;
    assert!(cluster.hubs[pusher].interrupt().success());
    receiver.at("/held", 2).await;
    assert_eq!(cluster.hubs[1 - pusher].delivery(&id, "delivered").await["attempts"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_frozen_during_a_push_changes_nothing_when_it_thaws() {
    let (cluster, receiver, bot) = stage_with(2, || Setup::pushing().env("RUST_LOG", "info")).await;
    receiver.script("/held", &[PushReply::Hang]);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/held"))).await;
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    receiver.at("/held", 1).await;
    let pusher = cluster.pusher(&id).await;
    cluster.hubs[pusher].freeze();
    receiver.at("/held", 2).await;
    let delivery = cluster.hubs[1 - pusher].delivery(&id, "delivered").await;
    cluster.hubs[pusher].thaw();
    // The frozen hub's own attempt now fails, and it would reschedule the push.
    receiver.hang_up();
    cluster.hubs[pusher]
        .process()
        .stderr_with("push claim was taken over before it was settled")
        .await;
    eventually("both nodes are live", async || {
        (cluster.nodes().await == 2).then_some(())
    })
    .await;
    let after = cluster.hubs[pusher].delivery(&id, "delivered").await;
    assert_eq!(after, delivery);
    assert_eq!(receiver.seen().len(), 2);
}
