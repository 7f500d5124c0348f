use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::admin::secrets::{HasSecret, ListSecrets, PutSecret, RemoveSecret};

use crate::scene::*;

async fn put(store: &Store, agent: &str, name: &str, value: &str) -> bool {
    let agent_id = agent.to_owned();
    let name = name.to_owned();
    let value = value.to_owned();
    let actor = OWNER.to_owned();
    store
        .run(PutSecret {
            agent_id,
            name,
            value,
            actor,
        })
        .await
        .unwrap()
}

async fn has(store: &Store, agent: &str, name: &str) -> bool {
    store
        .run(HasSecret {
            agent_id: agent.to_owned(),
            name: name.to_owned(),
        })
        .await
        .unwrap()
}

pub async fn a_secret_is_listed_by_name_only(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    for (agent, name) in [(TESTER, "hook"), (BUILDER, "hook"), (BUILDER, "bell")] {
        assert!(put(store, agent, name, "s3cret").await);
    }
    let all = store.run(ListSecrets { agent_id: None }).await.unwrap();
    let names: Vec<_> = all
        .iter()
        .map(|secret| (secret.agent_id.as_str(), secret.name.as_str()))
        .collect();
    assert_eq!(names, [(BUILDER, "bell"), (BUILDER, "hook"), (TESTER, "hook")]);
    assert!(!format!("{all:?}").contains("s3cret"));
    assert_eq!(
        store
            .run(ListSecrets {
                agent_id: Some(TESTER.to_owned())
            })
            .await
            .unwrap()
            .len(),
        1
    );
    assert!(has(store, BUILDER, "bell").await && !has(store, TESTER, "bell").await);
}

pub async fn a_secret_is_replaced(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    assert!(put(store, BUILDER, "hook", "old").await);
    clock.set(at(5));
    assert!(put(store, BUILDER, "hook", "new").await);
    let all = store.run(ListSecrets { agent_id: None }).await.unwrap();
    assert_eq!((all.len(), all[0].created_at), (1, at(5)));
}

pub async fn a_removed_secret_is_gone(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    assert!(put(store, BUILDER, "hook", "s3cret").await);
    let removal = || RemoveSecret {
        agent_id: BUILDER.to_owned(),
        name: "hook".to_owned(),
        actor: OWNER.to_owned(),
    };
    assert!(store.run(removal()).await.unwrap());
    assert!(!has(store, BUILDER, "hook").await);
    assert!(!store.run(removal()).await.unwrap());
}

pub async fn a_secret_needs_an_agent(store: &Store, _clock: &ManualClock) {
    assert!(!put(store, BUILDER, "hook", "s3cret").await);
    assert!(!has(store, BUILDER, "hook").await);
}
