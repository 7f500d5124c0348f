use countersign_core::access::Role;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::Passkey;
use countersign_store::ops::account::passkey::{
    AddPasskey, AddPasskeyOutcome, FindPasskey, MAX_PASSKEYS, Passkeys, RemovePasskey, UsePasskey,
};
use countersign_store::ops::admin::people::ListPeople;
use futures_util::future::join_all;

use super::audit::events_about;
use super::credentials::add_person;
use crate::scene::*;

async fn adding(store: &Store, name: &str, id: &[u8]) -> AddPasskeyOutcome {
    let person = name.to_owned();
    let name = format!("key of {name}");
    let body = r#"{"counter":0}"#.to_owned();
    store
        .run(AddPasskey {
            person,
            id: id.to_vec(),
            name,
            body,
        })
        .await
        .unwrap()
}

async fn add(store: &Store, name: &str, id: &[u8]) -> bool {
    adding(store, name, id).await == AddPasskeyOutcome::Added
}

async fn of(store: &Store, name: &str) -> Vec<Passkey> {
    store
        .run(Passkeys {
            person: name.to_owned(),
        })
        .await
        .unwrap()
}

async fn find(store: &Store, id: &[u8]) -> Option<Passkey> {
    store.run(FindPasskey { id: id.to_vec() }).await.unwrap()
}

async fn remove(store: &Store, name: &str, id: &[u8]) -> bool {
    let person = name.to_owned();
    let actor = OWNER.to_owned();
    store
        .run(RemovePasskey {
            person,
            id: id.to_vec(),
            actor,
        })
        .await
        .unwrap()
}

pub async fn passkey_is_read_back_as_it_was_added(store: &Store, clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    clock.set(at(1));
    assert!(add(store, "alice", &[0, 255, 1]).await);
    clock.set(at(2));
    assert!(add(store, "alice", b"second").await);
    let first = Passkey {
        id: vec![0, 255, 1],
        person: "alice".to_owned(),
        name: "key of alice".to_owned(),
        body: r#"{"counter":0}"#.to_owned(),
        created_at: at(1),
        used_at: None,
    };
    assert_eq!(find(store, &[0, 255, 1]).await, Some(first.clone()));
    let second = Passkey {
        id: b"second".to_vec(),
        created_at: at(2),
        ..first.clone()
    };
    assert_eq!(of(store, "alice").await, [first, second]);
    assert_eq!(store.run(ListPeople).await.unwrap()[0].passkeys, 2);
    let added = "person.passkey_added";
    assert_eq!(events_about(store, "alice").await, ["person.added", added, added]);
}

pub async fn an_id_belongs_to_one_person(store: &Store, _clock: &ManualClock) {
    for name in ["alice", "bob"] {
        assert!(add_person(store, name, Role::Resolver, &format!("{name} token")).await);
    }
    assert!(add(store, "alice", b"id").await);
    assert!(!add(store, "bob", b"id").await);
    assert!(!add(store, "alice", b"id").await);
    assert_eq!(
        find(store, b"id").await.map(|passkey| passkey.person).as_deref(),
        Some("alice")
    );
    assert!(!add(store, "ghost", b"other").await, "and a passkey needs a person");
    assert_eq!(find(store, b"other").await, None);
}

pub async fn passkeys_are_limited_per_person(store: &Store, _clock: &ManualClock) {
    for name in ["alice", "bob"] {
        assert!(add_person(store, name, Role::Resolver, &format!("{name} token")).await);
    }
    let ids: Vec<_> = (0..MAX_PASSKEYS + 4).map(|number| format!("key {number}")).collect();
    let answers = join_all(ids.iter().map(|id| adding(store, "alice", id.as_bytes()))).await;
    assert_eq!(
        answers
            .iter()
            .filter(|answer| **answer == AddPasskeyOutcome::Added)
            .count(),
        MAX_PASSKEYS
    );
    assert_eq!(
        answers
            .iter()
            .filter(|answer| **answer == AddPasskeyOutcome::TooManyPasskeys)
            .count(),
        4
    );
    assert!(add(store, "bob", b"his").await, "what others have does not count");
    let first = &of(store, "alice").await[0].id;
    assert!(remove(store, "alice", first).await);
    assert!(add(store, "alice", b"another").await);
}

pub async fn use_stores_the_counter_and_the_time(store: &Store, clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    assert!(add(store, "alice", b"id").await);
    clock.set(at(7));
    let used = |id: &[u8]| UsePasskey {
        id: id.to_vec(),
        body: r#"{"counter":1}"#.to_owned(),
    };
    assert!(store.run(used(b"id")).await.unwrap());
    let passkey = find(store, b"id").await.expect("it is there");
    assert_eq!(
        (passkey.body.as_str(), passkey.used_at),
        (r#"{"counter":1}"#, Some(at(7)))
    );
    assert!(!store.run(used(b"unknown")).await.unwrap());
}

pub async fn a_person_removes_only_their_own(store: &Store, _clock: &ManualClock) {
    for name in ["alice", "bob"] {
        assert!(add_person(store, name, Role::Resolver, &format!("{name} token")).await);
    }
    assert!(add(store, "alice", b"id").await);
    assert!(!remove(store, "bob", b"id").await);
    assert!(remove(store, "alice", b"id").await);
    assert!(!remove(store, "alice", b"id").await);
    assert_eq!(find(store, b"id").await, None);
    assert_eq!(
        events_about(store, "alice").await.last().unwrap(),
        "person.passkey_removed"
    );
}
