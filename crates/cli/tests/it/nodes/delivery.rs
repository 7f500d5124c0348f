//! An answer reaches its receiver whatever becomes of the hub that was to bring it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::Cluster;
use crate::harness::*;

async fn stage(count: usize) -> (Cluster, Receiver, Agent) {
    stage_of(count, Setup::pushing).await
}

async fn stage_of(count: usize, setup: impl Fn() -> Setup) -> (Cluster, Receiver, Agent) {
    let cluster = Cluster::of(count, setup).await;
    let receiver = Receiver::start().await;
    let bot = cluster.agent("bot").await;
    cluster.hubs[0].approve(&bot, &receiver.host()).await;
    (cluster, receiver, bot)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_is_pushed_once_while_nothing_goes_wrong() {
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
    assert_eq!(receiver.seen().len(), 30, "none twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_killed_in_the_middle_of_a_push_is_taken_over_from() {
    let (mut cluster, receiver, bot) = stage(3).await;
    receiver.script("/held", &[Act::Hang]);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/held"))).await;
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    receiver.at("/held", 1).await;
    let pusher = cluster.pusher(&id).await;
    cluster.hubs[pusher].kill();
    let killed = Instant::now();
    let pushes = receiver.at("/held", 2).await;
    assert!(
        killed.elapsed() < Duration::from_secs(10),
        "{:?}: by its node's lease, not by its own",
        killed.elapsed()
    );
    assert_eq!(pushes[0].resolution_id(), pushes[1].resolution_id());
    let delivery = cluster.hubs[(pusher + 1) % 3].delivery(&id, "delivered").await;
    assert_eq!(delivery["attempts"], 1, "what was cut does not count: {delivery}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hub_resolved_and_did_not_get_to_is_brought_by_another() {
    // One at a time, and nobody answers: whoever pushes gets to no second one.
    let narrow = "[push]\nper_host_concurrency = 1\nattempt_timeout_ms = 60000\nfirst_retry_ms = 20\n";
    let (mut cluster, receiver, bot) = stage_of(2, || Setup::pushing().config(narrow)).await;
    receiver.otherwise(Act::Hang);
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(bot.accepted(&push_to(ask("bot"), &receiver.url("/many"))).await);
    }
    for id in &ids {
        cluster.hubs[0].owner.answer(id, "approve").await.expect(200);
    }
    receiver.at("/many", 1).await;
    cluster.hubs[0].kill();
    let left = "SELECT count(*) FROM delivery WHERE track = 'pending'";
    assert_eq!(
        cluster.database.number(left).await,
        20,
        "all of them are left to the other hub"
    );
    receiver.otherwise(Act::Status(200));
    receiver.hang_up();
    for id in &ids {
        cluster.hubs[1].delivery(id, "delivered").await;
    }
    let resolutions: BTreeSet<String> = receiver.seen().iter().map(Push::resolution_id).collect();
    assert_eq!(resolutions.len(), 20, "one resolution each, however often it came");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_is_settled_once_the_database_takes_it_again() {
    let (cluster, receiver, bot) = stage(1).await;
    // It counts even what is undone.
    let refuse = "CREATE SEQUENCE tries; CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM nextval('tries'); RAISE disk_full; END $$; \
         CREATE TRIGGER refuse BEFORE UPDATE ON delivery FOR EACH ROW WHEN (NEW.track = 'delivered') \
         EXECUTE FUNCTION refuse()";
    cluster.database.execute(refuse).await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/one"))).await;
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    let tries = "SELECT last_value FROM tries";
    eventually("it is tried again", async || {
        (cluster.database.number(tries).await > 2).then_some(())
    })
    .await;
    cluster.database.execute("DROP TRIGGER refuse ON delivery").await;
    assert_eq!(cluster.hubs[0].delivery(&id, "delivered").await["attempts"], 1);
    assert_eq!(receiver.seen().len(), 1, "it was not pushed again for that");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_cut_by_a_clean_stop_is_given_back_and_does_not_count() {
    let patient = || Setup::pushing().config("[push]\nattempt_timeout_ms = 60000\n");
    let (mut cluster, receiver, bot) = stage_of(2, patient).await;
    receiver.script("/held", &[Act::Hang]);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/held"))).await;
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    receiver.at("/held", 1).await;
    let pusher = cluster.pusher(&id).await;
    assert!(cluster.hubs[pusher].interrupt().success());
    receiver.at("/held", 2).await;
    assert_eq!(cluster.hubs[1 - pusher].delivery(&id, "delivered").await["attempts"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_frozen_in_the_middle_of_a_push_changes_nothing_when_it_wakes() {
    let (cluster, receiver, bot) = stage_of(2, || Setup::pushing().env("RUST_LOG", "info")).await;
    receiver.script("/held", &[Act::Hang]);
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/held"))).await;
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    receiver.at("/held", 1).await;
    let pusher = cluster.pusher(&id).await;
    cluster.hubs[pusher].freeze();
    receiver.at("/held", 2).await;
    let delivery = cluster.hubs[1 - pusher].delivery(&id, "delivered").await;
    cluster.hubs[pusher].thaw();
    // Its own attempt fails at last, and it would put the push off.
    receiver.hang_up();
    cluster.hubs[pusher]
        .process()
        .stderr_with("a push was taken over before it was settled")
        .await;
    eventually("both live", async || (cluster.nodes().await == 2).then_some(())).await;
    let after = cluster.hubs[pusher].delivery(&id, "delivered").await;
    assert_eq!(after, delivery);
    assert_eq!(receiver.seen().len(), 2);
}
