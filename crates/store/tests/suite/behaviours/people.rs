use countersign_core::access::{Principal, Role};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::admin::people::{AddPerson, AddPersonToken, ListPeople};
use countersign_store::ops::audit::Trail;
use countersign_store::ops::credential::Kind;

use super::credentials::{add_person, authenticate, credential};
use crate::scene::*;

pub async fn a_name_is_taken_once(store: &Store, _clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    assert!(!add_person(store, "alice", Role::Owner, "usurper").await);
    assert_eq!(authenticate(store, "usurper").await, None);
    let first = Principal::Person { name: "alice".to_owned(), role: Role::Resolver };
    assert_eq!(authenticate(store, "alice token").await, Some(first));
    let trail = store.run(Trail { subject: "human:alice".to_owned() }).await.unwrap();
    assert_eq!((trail.len(), trail[0].entry.event.as_str()), (1, "person.added"));
}

pub async fn a_person_may_hold_several_tokens(store: &Store, clock: &ManualClock) {
    let token = |text, expires_at| AddPersonToken {
        name: "alice".to_owned(),
        token: credential(Kind::Person, "alice", text, expires_at),
        actor: OWNER.to_owned(),
    };
    assert!(!store.run(token("early", None)).await.unwrap(), "nobody is there yet");
    assert_eq!(authenticate(store, "early").await, None);
    assert!(add_person(store, "alice", Role::Resolver, "first").await);
    assert!(store.run(token("second", None)).await.unwrap());
    assert!(store.run(token("brief", Some(at(10)))).await.unwrap());
    for text in ["first", "second", "brief"] {
        assert!(authenticate(store, text).await.is_some(), "{text}");
    }
    assert_eq!(store.run(ListPeople).await.unwrap()[0].tokens, 3);
    clock.set(at(11));
    assert_eq!(store.run(ListPeople).await.unwrap()[0].tokens, 2);
}

pub async fn the_list_names_actor_and_role(store: &Store, clock: &ManualClock) {
    assert!(add_person(store, "vera", Role::Viewer, "vera token").await);
    clock.set(at(5));
    let olga = AddPerson { name: "olga".to_owned(), role: Role::Owner, token: None, actor: OWNER.to_owned() };
    assert!(store.run(olga).await.unwrap());
    let people = store.run(ListPeople).await.unwrap();
    let told: Vec<_> = people
        .iter()
        .map(|person| (person.name.as_str(), person.actor.as_str(), person.role, person.created_at, person.tokens))
        .collect();
    assert_eq!(told, [("olga", "human:olga", Role::Owner, at(5), 0), ("vera", "human:vera", Role::Viewer, at(0), 1)]);
}
