//! Acknowledged writes survive a restart.

use std::time::Duration;

use countersign_core::State;
use countersign_core::access::{Principal, Role};
use countersign_core::delivery::DeliveryState;
use countersign_core::message::Status;
use countersign_store::model::{Lookup, Settlement};
use countersign_store::ops::admin::callbacks::{IsApproved, PutHost};
use countersign_store::ops::admin::keys::{AddHubKey, HubKeys};
use countersign_store::ops::admin::secrets::{HasSecret, PutSecret};
use countersign_store::ops::deliver::Deliveries;
use countersign_store::ops::list::Counts;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::pull::Pull;
use countersign_store::ops::message::sweep::{NextExpiry, Purge};
use countersign_store::ops::run::{Advance, AskInRun, BeginOutcome, Run};

use super::fresh::Fresh;
use crate::behaviours::credentials::{add_person, authenticate};
use crate::nodes::{enter, start_alone, take_over};
use crate::outbox::{claims_of, retry, settle};
use crate::runs;
use crate::scene::*;

#[tokio::test]
async fn messages_and_outcomes_survive_a_restart() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    let open = Draft {
        key: Some("deploy"),
        expires_at: Some(at(900)),
        ..Draft::ask(1)
    };
    submitted(&fresh.store, &open).await;
    let resolution = submitted_and_resolved(&fresh.store, &Draft::task(2)).await;
    let trail = || Trail {
        subject: message_id(2).to_string(),
    };
    let found = fresh.store.run(trail()).await.unwrap();

    let fresh = fresh.reopen();
    assert_eq!(agent_view(&fresh.store, &message_id(1)).await.wire, open.wire());
    assert_eq!(
        agent_view(&fresh.store, &message_id(2)).await.state,
        State::Resolved(resolution)
    );
    assert_eq!(
        format!("{:?}", fresh.store.run(trail()).await.unwrap()),
        format!("{found:?}")
    );
    assert_eq!(fresh.store.run(NextExpiry::default()).await.unwrap(), Some(at(900)));
    assert_eq!(fresh.store.run(inbox(None, 10)).await.unwrap().items.len(), 1);
    assert_eq!(open_count(&fresh.store, BUILDER).await, 1);
    let taken = open.taken(Status::Open);
    assert_eq!(submit(&fresh.store, &Draft { number: 3, ..open }).await, taken);
    resolved(&fresh.store, &message_id(1), answer("approve")).await;
}

#[tokio::test]
async fn deliveries_survive_a_restart() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    for number in 1..=3 {
        submitted_and_resolved(&fresh.store, &Draft::pushed(number)).await;
    }
    enter(&fresh.store, &[&fresh.store.node()]).await;
    let claims = claims_of(&fresh.store, &fresh.store.node()).await;
    assert!(settle(&fresh.store, &claims[0], Settlement::Delivered).await);
    assert!(settle(&fresh.store, &claims[1], retry(500)).await);

    let before = fresh.store.node();
    let fresh = fresh.reopen();
    let node = &*fresh.store.node();
    assert_ne!(node, before, "what it had before is not its own any more");
    enter(&fresh.store, &[node]).await;
    assert!(
        claims_of(&fresh.store, node).await.is_empty(),
        "one is leased, one waits for its time"
    );
    assert_eq!(take_over(&fresh.store, start_alone(node)).await.hosts, [HOST]);
    assert_eq!(claims_of(&fresh.store, node).await[0].message_id, message_id(3));
    let waiting = fresh
        .store
        .run(Deliveries {
            state: Some(DeliveryState::Pending),
            limit: 10,
        })
        .await
        .unwrap();
    assert_eq!(waiting.len(), 2);
    assert_eq!(waiting.iter().map(|delivery| delivery.attempts).max(), Some(1));
}

#[tokio::test]
async fn people_agents_keys_and_secrets_survive_a_restart() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    assert!(add_person(&fresh.store, "owner", Role::Owner, "owner token").await);
    let agent_id = BUILDER.to_owned();
    let actor = OWNER.to_owned();
    let host = PutHost {
        agent_id: agent_id.clone(),
        host: HOST.to_owned(),
        approve: true,
        actor: actor.clone(),
    };
    fresh.store.run(host).await.unwrap().expect("the agent is there");
    let name = "hook".to_owned();
    let value = "s3cret".to_owned();
    assert!(
        fresh
            .store
            .run(PutSecret {
                agent_id: agent_id.clone(),
                name,
                value,
                actor: actor.clone()
            })
            .await
            .unwrap()
    );
    let key = AddHubKey {
        kid: "k1".to_owned(),
        seed: vec![7; 32],
        overlap: Duration::ZERO,
        actor,
    };
    fresh.store.run(key).await.unwrap();

    let fresh = fresh.reopen();
    let agent = Principal::Agent { id: agent_id.clone() };
    assert_eq!(authenticate(&fresh.store, "builder token").await, Some(agent));
    let owner = Principal::Person {
        name: "owner".to_owned(),
        role: Role::Owner,
    };
    assert_eq!(authenticate(&fresh.store, "owner token").await, Some(owner));
    assert!(
        fresh
            .store
            .run(IsApproved {
                agent_id: agent_id.clone(),
                host: HOST.to_owned()
            })
            .await
            .unwrap()
    );
    assert!(
        fresh
            .store
            .run(HasSecret {
                agent_id,
                name: "hook".to_owned()
            })
            .await
            .unwrap()
    );
    assert_eq!(fresh.store.run(HubKeys).await.unwrap()[0].seed, vec![7; 32]);
}

#[tokio::test]
async fn runs_continue_after_a_restart() {
    let fresh = Fresh::open();
    runs::begun(&fresh.store).await;
    assert_eq!(
        runs::begin(&fresh.store, runs::segment("other", 1)).await,
        BeginOutcome::New
    );
    assert!(runs::end(&fresh.store, "other", 5).await);
    let advance = Advance {
        events: vec![runs::event(1)],
        records: vec!["one".to_owned()],
        ..runs::step(runs::RUN)
    };
    assert!(
        fresh
            .store
            .run(AskInRun {
                advance,
                asks: vec![runs::ask(1), runs::ask(2)]
            })
            .await
            .unwrap()
    );
    let resolution = resolved(&fresh.store, &message_id(2), answer("approve")).await;
    let before = runs::found_run(&fresh.store, runs::RUN).await;

    let fresh = fresh.reopen();
    assert_eq!(runs::found_run(&fresh.store, runs::RUN).await, before);
    let node = &*fresh.store.node();
    enter(&fresh.store, &[node]).await;
    let unfinished = take_over(&fresh.store, start_alone(node)).await.runs;
    assert_eq!(
        unfinished,
        [Run {
            node: node.to_owned(),
            ..before.run
        }]
    );
    let waiting = runs::waiting_for(&fresh.store, runs::RUN).await;
    let states: Vec<_> = waiting.into_iter().map(|ask| ask.state).collect();
    assert_eq!(
        states,
        [State::Open, State::Resolved(resolution)],
        "the answer came before the stop"
    );
    let counted = fresh
        .store
        .run(Counts {
            person: "alice".to_owned(),
        })
        .await
        .unwrap();
    assert_eq!(counted.open, 1);
    resolved(&fresh.store, &message_id(1), answer("approve")).await;
    assert!(
        !runs::advance(&fresh.store, runs::step(runs::RUN)).await,
        "only by its new node"
    );
    assert!(
        runs::advance(
            &fresh.store,
            Advance {
                node: node.to_owned(),
                ..runs::step(runs::RUN)
            }
        )
        .await
    );
}

#[tokio::test]
async fn deletions_survive_a_restart() {
    let fresh = Fresh::open();
    add_agent(&fresh.store, BUILDER).await;
    submitted_and_resolved(&fresh.store, &Draft::ask(1)).await;
    assert_eq!(
        fresh
            .store
            .run(Purge {
                resolved_before: at(1),
                limit: 10
            })
            .await
            .unwrap(),
        1
    );
    let fresh = fresh.reopen();
    assert!(matches!(
        fresh.store.run(Pull(message_id(1))).await.unwrap(),
        Some(Lookup::Purged { .. })
    ));
}
