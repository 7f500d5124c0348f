use countersign_core::access::Role;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::account::password::{PasswordOf, SetPassword};
use countersign_store::ops::admin::people::ListPeople;

use super::audit::events_about;
use super::credentials::add_person;
use crate::scene::*;

async fn password(store: &Store, name: &str) -> Option<String> {
    store
        .run(PasswordOf {
            person: name.to_owned(),
        })
        .await
        .unwrap()
}

async fn set(store: &Store, name: &str, hash: Option<&str>) -> bool {
    let person = name.to_owned();
    let actor = OWNER.to_owned();
    store
        .run(SetPassword {
            person,
            hash: hash.map(str::to_owned),
            actor,
        })
        .await
        .unwrap()
}

pub async fn a_password_is_set_replaced_and_removed(store: &Store, _clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    assert!(add_person(store, "bob", Role::Resolver, "bob token").await);
    assert_eq!(password(store, "alice").await, None);
    for hash in ["$argon2id$first", "$argon2id$second"] {
        assert!(set(store, "alice", Some(hash)).await);
        assert_eq!(password(store, "alice").await.as_deref(), Some(hash));
    }
    assert_eq!(password(store, "bob").await, None);
    let has_one = || async {
        let people = store.run(ListPeople).await.unwrap();
        people.into_iter().map(|person| person.has_password).collect::<Vec<_>>()
    };
    assert_eq!(has_one().await, [true, false]);
    assert!(set(store, "alice", None).await);
    assert_eq!(password(store, "alice").await, None);
    assert_eq!(has_one().await, [false, false]);
    let set = "person.password_set";
    let removed = "person.password_removed";
    assert_eq!(events_about(store, "alice").await, ["person.added", set, set, removed]);
}

pub async fn a_password_needs_a_person(store: &Store, _clock: &ManualClock) {
    assert!(!set(store, "ghost", Some("$argon2id$first")).await);
    assert_eq!(password(store, "ghost").await, None);
}
