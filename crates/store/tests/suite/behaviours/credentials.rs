use countersign_core::access::{Principal, Role};
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::account::credential::{Authenticate, CredentialKind, NewCredential, ReplaceCredential};
use countersign_store::ops::admin::AddOutcome;
use countersign_store::ops::admin::people::AddPerson;

use crate::scene::*;

pub fn credential(kind: CredentialKind, subject: &str, token: &str, expires_at: Option<Timestamp>) -> NewCredential {
    let hash = hash_of(token);
    let subject = subject.to_owned();
    let label = "laptop".to_owned();
    NewCredential {
        hash,
        kind,
        subject,
        label,
        expires_at,
    }
}

pub async fn authenticate(store: &Store, token: &str) -> Option<Principal> {
    store
        .run(Authenticate { hash: hash_of(token) })
        .await
        .unwrap()
        .map(|credential| credential.principal)
}

/// Adds a person, or adds them again. Returns whether the name was free.
pub async fn add_person(store: &Store, name: &str, role: Role, token: &str) -> bool {
    let token = Some(credential(CredentialKind::Person, name, token, None));
    store
        .run(AddPerson {
            name: name.to_owned(),
            reuse: true,
            role,
            token,
            actor: OWNER.to_owned(),
        })
        .await
        .unwrap()
        == AddOutcome::Added
}

pub fn person(name: &str, role: Role) -> Option<Principal> {
    Some(Principal::Person {
        name: name.to_owned(),
        role,
    })
}

pub async fn a_token_stands_for_its_agent(store: &Store, _clock: &ManualClock) {
    for id in [BUILDER, TESTER] {
        add_agent(store, id).await;
    }
    for id in [BUILDER, TESTER] {
        let principal = authenticate(store, &format!("{id} token")).await;
        assert_eq!(principal, Some(Principal::Agent { id: id.to_owned() }));
    }
}

pub async fn a_token_stands_for_its_person(store: &Store, _clock: &ManualClock) {
    let people = [("olga", Role::Owner), ("rob", Role::Resolver), ("vera", Role::Viewer)];
    for (name, role) in people {
        assert!(add_person(store, name, role, &format!("{name} token")).await);
    }
    // An agent may have a person's name and is still not that person.
    add_agent(store, "olga's").await;
    for (name, role) in people {
        assert_eq!(authenticate(store, &format!("{name} token")).await, person(name, role));
    }
    assert_eq!(
        authenticate(store, "olga's token").await,
        Some(Principal::Agent {
            id: "olga's".to_owned()
        })
    );
}

pub async fn unknown_token_has_no_principal(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    assert_eq!(authenticate(store, "guess").await, None);
    store
        .run(ReplaceCredential(credential(
            CredentialKind::Person,
            "ghost",
            "ghost token",
            None,
        )))
        .await
        .unwrap();
    assert_eq!(
        authenticate(store, "ghost token").await,
        None,
        "a token of an unknown person has no principal"
    );
}

pub async fn a_token_ends_after_its_last_millisecond(store: &Store, clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Resolver, "first token").await);
    store
        .run(ReplaceCredential(credential(
            CredentialKind::Person,
            "alice",
            "brief token",
            Some(at(10)),
        )))
        .await
        .unwrap();
    clock.set(at(10));
    assert_eq!(
        authenticate(store, "brief token").await,
        person("alice", Role::Resolver)
    );
    let brief = store
        .run(Authenticate {
            hash: hash_of("brief token"),
        })
        .await
        .unwrap();
    let found = brief.map(|credential| (credential.kind, credential.expires_at));
    assert_eq!(
        found,
        Some((CredentialKind::Person, Some(at(10)))),
        "and says what it is and when"
    );
    clock.set(at(11));
    assert_eq!(authenticate(store, "brief token").await, None);
}

pub async fn a_label_holds_one_credential(store: &Store, _clock: &ManualClock) {
    assert!(add_person(store, "owner", Role::Owner, "owner token").await);
    for token in ["laptop token", "newer laptop token"] {
        store
            .run(ReplaceCredential(credential(
                CredentialKind::Person,
                "owner",
                token,
                None,
            )))
            .await
            .unwrap();
    }
    assert_eq!(
        authenticate(store, "laptop token").await,
        None,
        "the newer one took its place"
    );
    assert_eq!(
        authenticate(store, "newer laptop token").await,
        person("owner", Role::Owner)
    );
    store
        .run(ReplaceCredential(credential(
            CredentialKind::SignIn,
            "owner",
            "link",
            Some(at(10)),
        )))
        .await
        .unwrap();
    assert_eq!(
        authenticate(store, "newer laptop token").await,
        person("owner", Role::Owner),
        "another kind is its own"
    );
}
