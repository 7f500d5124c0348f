//! Long-polls at one hub, answered at another.

use super::{Cluster, until_waiters, wait_for_answer};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_at_any_hub_reaches_waiters_at_any_other() {
    let cluster = Cluster::start(3).await;
    let agent = cluster.agent("bot").await;
    for asked in 0..3 {
        for (waits, answers) in [(0, 1), (1, 2), (2, 0), (1, 1)] {
            let id = agent.at(&cluster.hubs[asked]).accepted(&ask("bot")).await;
            let waiting = agent.at(&cluster.hubs[waits]);
            let waiting = tokio::spawn({
                let id = id.clone();
                async move { waiting.outcome(&id).await }
            });
            cluster.hubs[answers].owner.answer(&id, "approve").await.expect(200);
            let outcome = within("the long-poll", waiting).await.expect("no panic");
            assert_eq!(outcome["response"]["response"]["value"], "approve", "{outcome}");
        }
    }
}

/// Answers an hour old: reconciliation reads the last minute only.
const BACKDATE_ANSWERS: &str = "CREATE FUNCTION backdate() RETURNS trigger LANGUAGE plpgsql AS \
     $$ BEGIN NEW.resolved_at = NEW.resolved_at - 3600000; RETURN NEW; END $$; \
     CREATE TRIGGER backdate BEFORE UPDATE ON message FOR EACH ROW WHEN (OLD.resolved_at IS NULL) \
     EXECUTE FUNCTION backdate()";

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_alone_wakes_a_waiter_at_another_hub() {
    let cluster = Cluster::start(2).await;
    cluster.database.execute(BACKDATE_ANSWERS).await;
    let agent = cluster.agent("bot").await;
    for _ in 0..5 {
        let id = agent.accepted(&ask("bot")).await;
        let waiting = tokio::spawn(wait_for_answer(agent.at(&cluster.hubs[1]), id.clone()));
        // The hub's waiter count proves that the long-poll has begun.
        until_waiters(&cluster.hubs[1], 1).await;
        cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
        let outcome = waiting.await.expect("no panic");
        assert_eq!(outcome["response"]["response"]["value"], "approve", "{outcome}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_killed_right_after_an_answer_leaves_no_waiter_behind() {
    let mut cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    for _ in 0..5 {
        let id = agent.at(&cluster.hubs[1]).accepted(&ask("bot")).await;
        let waiting = agent.at(&cluster.hubs[1]);
        let waiting = tokio::spawn({
            let id = id.clone();
            async move { waiting.outcome(&id).await }
        });
        let answering = tokio::spawn({
            let owner = cluster.hubs[0].owner.clone();
            let id = id.clone();
            async move { owner.answer(&id, "approve").await.expect(200) }
        });
        answering.await.expect("no panic");
        cluster.hubs[0].kill();
        within("the long-poll", waiting).await.expect("no panic");
        cluster.hubs[0].restart().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_at_a_disconnected_hub_is_answered_on_reconnect() {
    let cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    let id = agent.accepted(&ask("bot")).await;
    let waiting = tokio::spawn(wait_for_answer(agent.at(&cluster.hubs[1]), id.clone()));
    until_waiters(&cluster.hubs[1], 1).await;
    cluster.wires[1].set_state(WireState::Cut);
    cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
    cluster.wires[1].set_state(WireState::Open);
    let outcome = within("the long-poll", waiting).await.expect("no panic");
    assert_eq!(outcome["response"]["response"]["value"], "approve");
}
