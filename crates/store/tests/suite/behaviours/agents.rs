use std::time::Duration;

use countersign_core::State;
use countersign_core::access::Principal;
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{AgentSummary, SignatureAlg, Submission};
use countersign_store::ops::admin::AddOutcome;
use countersign_store::ops::admin::agents::{AddAgent, ListAgents, RemoveAgent, RotateAgent};
use countersign_store::ops::admin::callbacks::{ListHosts, PutHost};
use countersign_store::ops::admin::secrets::{ListSecrets, PutSecret};

use super::audit::{events, trail};
use super::credentials::authenticate;
use crate::scene::*;

async fn summary(store: &Store, agent: &str) -> AgentSummary {
    let agents = store.run(ListAgents).await.unwrap();
    agents
        .into_iter()
        .find(|summary| summary.agent_id == agent)
        .expect("the agent is there")
}

async fn rotate(store: &Store, agent: &str, token: &str, overlap: u64) -> Option<Timestamp> {
    let rotation = RotateAgent {
        id: agent.to_owned(),
        token_hash: hash_of(token),
        signing_key: format!("{token} key"),
        overlap: Duration::from_millis(overlap),
        actor: OWNER.to_owned(),
    };
    store.run(rotation).await.unwrap()
}

async fn remove(store: &Store, agent: &str) -> bool {
    store
        .run(RemoveAgent {
            id: agent.to_owned(),
            actor: OWNER.to_owned(),
        })
        .await
        .unwrap()
}

async fn is_known(store: &Store, token: &str) -> bool {
    match authenticate(store, token).await {
        Some(Principal::Agent { id }) => id == BUILDER,
        Some(Principal::Person { .. } | Principal::Terminal { .. }) | None => false,
    }
}

async fn add_usurper(store: &Store, reuse: bool) -> AddOutcome {
    let agent = AddAgent {
        id: BUILDER.to_owned(),
        reuse,
        signature_alg: SignatureAlg::Ed25519,
        token_hash: hash_of("usurper"),
        signing_key: "usurper key".to_owned(),
        actor: OWNER.to_owned(),
    };
    store.run(agent).await.unwrap()
}

pub async fn an_id_is_taken_once(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    clock.set(at(5));
    for reuse in [false, true] {
        assert_eq!(add_usurper(store, reuse).await, AddOutcome::Exists);
    }
    assert!(!is_known(store, "usurper").await);
    let first = summary(store, BUILDER).await;
    assert_eq!(
        (first.signature_alg, first.created_at),
        (SignatureAlg::HmacSha256, at(0))
    );
    assert_eq!((first.tokens, first.signing_keys), (1, 1));
}

pub async fn list_counts_valid_tokens_and_keys(store: &Store, clock: &ManualClock) {
    add_agent(store, TESTER).await;
    add_agent(store, BUILDER).await;
    submitted(store, &Draft::ask(1)).await;
    rotate(store, BUILDER, "second", 100).await;
    let ids: Vec<_> = store
        .run(ListAgents)
        .await
        .unwrap()
        .into_iter()
        .map(|summary| summary.agent_id)
        .collect();
    assert_eq!(ids, [BUILDER, TESTER]);
    let during = summary(store, BUILDER).await;
    assert_eq!((during.tokens, during.signing_keys, during.open), (2, 2, 1));
    clock.set(at(101));
    let after = summary(store, BUILDER).await;
    assert_eq!((after.tokens, after.signing_keys, after.open), (1, 1, 1));
    let other = summary(store, TESTER).await;
    assert_eq!((other.tokens, other.signing_keys, other.open), (1, 1, 0));
}

pub async fn list_is_sorted_by_bytes(store: &Store, _clock: &ManualClock) {
    let ids = ["Zoe", "a-b", "a1", "aB", "ab", "b", "é"];
    for id in ids.iter().rev() {
        add_agent(store, id).await;
    }
    let listed = store.run(ListAgents).await.unwrap();
    assert_eq!(
        listed.iter().map(|agent| agent.agent_id.as_str()).collect::<Vec<_>>(),
        ids
    );
}

pub async fn a_rotation_keeps_the_old_token_for_the_overlap(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    clock.set(at(5));
    assert_eq!(rotate(store, BUILDER, "second", 100).await, Some(at(105)));
    clock.set(at(105));
    assert!(is_known(store, "builder token").await && is_known(store, "second").await);
    clock.set(at(106));
    assert!(!is_known(store, "builder token").await);
    assert!(is_known(store, "second").await);
}

pub async fn a_second_rotation_never_lengthens_the_first(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    rotate(store, BUILDER, "second", 100).await;
    rotate(store, BUILDER, "third", 1_000).await;
    clock.set(at(101));
    assert!(
        !is_known(store, "builder token").await,
        "the overlap it was given first"
    );
    assert!(is_known(store, "second").await && is_known(store, "third").await);
    // A shorter overlap ends all older tokens, as a leaked token requires.
    rotate(store, BUILDER, "fourth", 0).await;
    clock.set(at(102));
    assert!(!is_known(store, "second").await && !is_known(store, "third").await);
    assert!(is_known(store, "fourth").await);
    let left = summary(store, BUILDER).await;
    assert_eq!((left.tokens, left.signing_keys), (1, 1));
}

pub async fn rotating_an_unknown_agent_does_nothing(store: &Store, _clock: &ManualClock) {
    assert_eq!(rotate(store, BUILDER, "second", 100).await, None);
    assert!(!is_known(store, "second").await);
    assert!(!remove(store, BUILDER).await);
}

pub async fn a_removed_agent_can_do_nothing(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let agent_id = BUILDER.to_owned();
    let actor = OWNER.to_owned();
    let host = PutHost {
        agent_id: agent_id.clone(),
        host: HOST.to_owned(),
        approve: true,
        actor: actor.clone(),
    };
    store.run(host).await.unwrap().expect("the agent is there");
    let name = "hook".to_owned();
    let value = "s3cret".to_owned();
    assert!(
        store
            .run(PutSecret {
                agent_id,
                name,
                value,
                actor
            })
            .await
            .unwrap()
    );

    assert!(remove(store, BUILDER).await);
    assert!(!is_known(store, "builder token").await);
    assert!(store.run(ListAgents).await.unwrap().is_empty());
    assert!(!remove(store, BUILDER).await);

    add_agent(store, BUILDER).await;
    assert!(
        store.run(ListHosts { agent_id: None }).await.unwrap().is_empty(),
        "a namesake inherits no host"
    );
    assert!(
        store.run(ListSecrets { agent_id: None }).await.unwrap().is_empty(),
        "and no secret"
    );
    assert_eq!(summary(store, BUILDER).await.signing_keys, 1);
}

pub async fn id_of_a_removed_agent_is_given_again_only_on_purpose(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::ask(1)).await;
    assert!(remove(store, BUILDER).await);
    assert_eq!(add_usurper(store, false).await, AddOutcome::UsedBefore);
    assert!(!is_known(store, "usurper").await);
    assert!(
        store.run(ListAgents).await.unwrap().is_empty(),
        "nothing is left behind"
    );
    assert_eq!(add_usurper(store, true).await, AddOutcome::Added);
    assert!(is_known(store, "usurper").await);
    assert_eq!(agent_view(store, &id).await.agent_id, BUILDER);
    let trail = trail(store, "agent:builder").await;
    assert_eq!(events(&trail), ["agent.added", "agent.removed", "agent.readded"]);
}

pub async fn a_removed_agent_leaves_its_messages(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::pushed(1)).await;
    assert!(remove(store, BUILDER).await);
    assert_eq!(agent_view(store, &id).await.state, State::Open);
    let resolution = resolved(store, &id, answer("approve")).await;
    assert_eq!(agent_view(store, &id).await.state, State::Resolved(resolution));
}

pub async fn returning_agent_finds_its_open_messages_counted(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=3 {
        submitted(store, &Draft::ask(number)).await;
    }
    submitted(store, &Draft::notify(4)).await;
    assert!(remove(store, BUILDER).await);
    resolved(store, &message_id(1), answer("approve")).await;
    add_agent(store, BUILDER).await;
    assert_eq!(open_count(store, BUILDER).await, 2);
    assert_eq!(submit_within(store, &Draft::ask(5), 2).await, Submission::TooManyOpen);
    resolved(store, &message_id(2), answer("approve")).await;
    assert_eq!(submit_within(store, &Draft::ask(5), 2).await, Submission::Created);
}
