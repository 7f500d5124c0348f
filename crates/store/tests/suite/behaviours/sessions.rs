use countersign_core::access::{Principal, Role};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::account::credential::{
    Authenticate, CredentialKind, EndCredential, EndOtherSessions, EndSessionsOfOtherPlace, ListCredentials,
    NewSession, StartSession,
};
use countersign_store::ops::admin::people::{AddPersonToken, ListPeople};

use super::audit::events_about;
use super::credentials::{add_person, authenticate, credential, person};
use crate::scene::*;

pub fn session(token: &str, expires_at: i64) -> NewSession {
    NewSession {
        hash: hash_of(token),
        label: format!("browser of {token}"),
        expires_at: at(expires_at),
    }
}

async fn start(store: &Store, name: &str, token: &str, expires_at: i64) -> bool {
    store
        .run(StartSession {
            person: name.to_owned(),
            session: session(token, expires_at),
        })
        .await
        .unwrap()
}

async fn end(store: &Store, name: &str, kind: CredentialKind, id: &str) -> bool {
    let end = EndCredential {
        person: name.to_owned(),
        kind,
        id: id.to_owned(),
        actor: OWNER.to_owned(),
    };
    store.run(end).await.unwrap()
}

/// Labels and ids, as listed.
async fn held(store: &Store, name: &str, kind: CredentialKind) -> Vec<(String, String)> {
    let list = store
        .run(ListCredentials {
            person: name.to_owned(),
            kind,
        })
        .await
        .unwrap();
    list.into_iter().map(|held| (held.label, held.id)).collect()
}

async fn labels(store: &Store, name: &str, kind: CredentialKind) -> Vec<String> {
    held(store, name, kind)
        .await
        .into_iter()
        .map(|(label, _)| label)
        .collect()
}

pub async fn a_session_stands_for_its_person(store: &Store, clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    assert!(start(store, "alice", "cookie", 10).await);
    clock.set(at(10));
    let known = store
        .run(Authenticate {
            hash: hash_of("cookie"),
        })
        .await
        .unwrap()
        .expect("it is valid");
    assert_eq!(
        (Some(known.principal), known.kind),
        (person("alice", Role::Resolver), CredentialKind::Session)
    );
    assert_eq!(known.expires_at, Some(at(10)));
    clock.set(at(11));
    assert_eq!(authenticate(store, "cookie").await, None, "until it ends");
    assert_eq!(events_about(store, "alice").await, ["person.added", "person.signed_in"]);
}

pub async fn a_session_needs_a_person(store: &Store, _clock: &ManualClock) {
    assert!(!start(store, "ghost", "cookie", 10).await);
    assert!(add_person(store, "ghost", Role::Viewer, "token").await);
    assert_eq!(authenticate(store, "cookie").await, None);
}

pub async fn list_shows_valid_credentials_newest_first(store: &Store, clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    assert!(add_person(store, "bob", Role::Resolver, "bob token").await);
    for (token, millis, expires_at) in [("first", 1, 100), ("brief", 2, 3), ("last", 3, 100)] {
        clock.set(at(millis));
        assert!(start(store, "alice", token, expires_at).await);
    }
    assert!(start(store, "bob", "other", 100).await);
    clock.set(at(4));
    assert_eq!(
        labels(store, "alice", CredentialKind::Session).await,
        ["browser of last", "browser of first"]
    );
    assert_eq!(labels(store, "alice", CredentialKind::Person).await, ["laptop"]);
    assert!(held(store, "nobody", CredentialKind::Session).await.is_empty());
    let first = &store
        .run(ListCredentials {
            person: "bob".to_owned(),
            kind: CredentialKind::Session,
        })
        .await
        .unwrap()[0];
    assert_eq!((first.created_at, first.expires_at), (at(3), Some(at(100))));
    let hash = hash_of("other");
    assert_eq!(
        first.id,
        hash[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    );
    let people = store.run(ListPeople).await.unwrap();
    assert_eq!(
        people
            .iter()
            .map(|person| (person.tokens, person.sessions))
            .collect::<Vec<_>>(),
        [(1, 2), (1, 1)]
    );
}

pub async fn expired_sessions_do_not_pile_up(store: &Store, clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    assert!(start(store, "alice", "old", 10).await);
    clock.set(at(11));
    assert!(start(store, "alice", "new", 20).await);
    clock.set(at(10));
    assert_eq!(
        authenticate(store, "old").await,
        None,
        "it was dropped, not only too old"
    );
    assert_eq!(authenticate(store, "new").await, person("alice", Role::Resolver));
}

pub async fn one_credential_is_ended_by_its_id(store: &Store, _clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    assert!(add_person(store, "bob", Role::Resolver, "bob token").await);
    for token in ["desk", "phone"] {
        assert!(start(store, "alice", token, 100).await);
    }
    let (_, desk) = held(store, "alice", CredentialKind::Session)
        .await
        .into_iter()
        .find(|(l, _)| l == "browser of desk")
        .unwrap();
    assert!(
        !end(store, "bob", CredentialKind::Session, &desk).await,
        "it is not bob's"
    );
    assert!(!end(store, "alice", CredentialKind::Person, &desk).await, "nor a token");
    assert!(!end(store, "alice", CredentialKind::Agent, &desk).await);
    assert!(!end(store, "alice", CredentialKind::Session, "desk").await);
    assert!(end(store, "alice", CredentialKind::Session, &desk).await);
    assert!(!end(store, "alice", CredentialKind::Session, &desk).await, "once");
    assert_eq!(authenticate(store, "desk").await, None);
    assert_eq!(
        labels(store, "alice", CredentialKind::Session).await,
        ["browser of phone"]
    );

    let (_, token) = held(store, "alice", CredentialKind::Person).await.remove(0);
    assert!(end(store, "alice", CredentialKind::Person, &token).await);
    assert_eq!(authenticate(store, "alice token").await, None);
    let events = events_about(store, "alice").await;
    assert_eq!(events[3..], ["person.session_ended", "person.token_ended"]);
}

pub async fn all_other_sessions_are_ended_at_once(store: &Store, _clock: &ManualClock) {
    for name in ["alice", "bob"] {
        assert!(add_person(store, name, Role::Resolver, &format!("{name} token")).await);
    }
    for (name, token) in [
        ("alice", "desk"),
        ("alice", "phone"),
        ("alice", "lost"),
        ("bob", "other"),
    ] {
        assert!(start(store, name, token, 100).await);
    }
    let end = |person: &str| EndOtherSessions {
        person: person.to_owned(),
        keep: hash_of("desk"),
        actor: "human:alice".to_owned(),
    };
    assert_eq!(store.run(end("alice")).await.unwrap(), 2);
    assert_eq!(store.run(end("alice")).await.unwrap(), 0);
    for (token, stays) in [
        ("desk", true),
        ("phone", false),
        ("lost", false),
        ("other", true),
        ("alice token", true),
    ] {
        assert_eq!(authenticate(store, token).await.is_some(), stays, "{token}");
    }
    assert_eq!(
        events_about(store, "alice").await.last().unwrap(),
        "person.sessions_ended"
    );
}

pub async fn sessions_end_when_the_place_of_the_hub_changes(store: &Store, _clock: &ManualClock) {
    for name in ["alice", "bob"] {
        assert!(add_person(store, name, Role::Resolver, &format!("{name} token")).await);
        assert!(start(store, name, &format!("{name} cookie"), 100).await);
    }
    let end_unless_at = async |place: &str| {
        let place = place.to_owned();
        let actor = "system:hub".to_owned();
        store.run(EndSessionsOfOtherPlace { place, actor }).await.unwrap()
    };
    assert_eq!(
        end_unless_at("http:7422").await,
        2,
        "sessions from before places were noted"
    );
    assert!(start(store, "alice", "new cookie", 100).await);
    assert_eq!(
        end_unless_at("http:7422").await,
        0,
        "a restart at the same place ends none"
    );
    assert!(authenticate(store, "new cookie").await.is_some());
    assert_eq!(end_unless_at("http:7423").await, 1);
    assert_eq!(authenticate(store, "new cookie").await, None);
    assert!(authenticate(store, "alice token").await.is_some(), "tokens stay");
    assert_eq!(
        events_about(store, "alice").await[1..],
        [
            "person.signed_in",
            "person.sessions_ended",
            "person.signed_in",
            "person.sessions_ended"
        ]
    );
    assert_eq!(events_about(store, "bob").await.len(), 3, "only people with sessions");
}

pub async fn token_and_session_authenticate_with_their_own_kind(store: &Store, _clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Owner, "alice token").await);
    assert!(start(store, "alice", "desk", 100).await);
    let token = credential(CredentialKind::Person, "alice", "script", None);
    assert!(
        store
            .run(AddPersonToken {
                name: "alice".to_owned(),
                token,
                actor: OWNER.to_owned()
            })
            .await
            .unwrap()
    );
    let owner = Principal::Person {
        name: "alice".to_owned(),
        role: Role::Owner,
    };
    for (token, kind) in [
        ("script", CredentialKind::Person),
        ("desk", CredentialKind::Session),
        ("alice token", CredentialKind::Person),
    ] {
        let known = store
            .run(Authenticate { hash: hash_of(token) })
            .await
            .unwrap()
            .expect("it is valid");
        assert_eq!((&known.principal, known.kind), (&owner, kind), "{token}");
    }
}
