use countersign_core::access::{Principal, Role};
use countersign_protocol::time::Timestamp;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::admin::people::AddPerson;
use countersign_store::ops::credential::{Authenticate, Kind, NewCredential, RedeemSignIn, Relabel};
use futures_util::future::join_all;

use crate::scene::*;

pub fn credential(kind: Kind, subject: &str, token: &str, expires_at: Option<Timestamp>) -> NewCredential {
    let (hash, subject, label) = (hash_of(token), subject.to_owned(), "laptop".to_owned());
    NewCredential { hash, kind, subject, label, expires_at }
}

pub async fn authenticate(store: &Store, token: &str) -> Option<Principal> {
    store.run(Authenticate { hash: hash_of(token) }).await.unwrap().map(|credential| credential.principal)
}

pub async fn add_person(store: &Store, name: &str, role: Role, token: &str) -> bool {
    let token = Some(credential(Kind::Person, name, token, None));
    store.run(AddPerson { name: name.to_owned(), role, token, actor: OWNER.to_owned() }).await.unwrap()
}

fn person(name: &str, role: Role) -> Option<Principal> {
    Some(Principal::Person { name: name.to_owned(), role })
}

async fn redeem(store: &Store, link: &str, token: &str) -> Option<String> {
    store.run(RedeemSignIn { hash: hash_of(link), token_hash: hash_of(token) }).await.unwrap()
}

/// An owner with a sign-in link that expires at 10.
async fn invite(store: &Store) {
    assert!(add_person(store, "owner", Role::Owner, "owner token").await);
    store.run(Relabel(credential(Kind::SignIn, "owner", "link", Some(at(10))))).await.unwrap();
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
    // An agent may bear a person's name and is still not that person.
    add_agent(store, "olga's").await;
    for (name, role) in people {
        assert_eq!(authenticate(store, &format!("{name} token")).await, person(name, role));
    }
    assert_eq!(authenticate(store, "olga's token").await, Some(Principal::Agent { id: "olga's".to_owned() }));
}

pub async fn an_unknown_token_stands_for_nobody(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    assert_eq!(authenticate(store, "guess").await, None);
    store.run(Relabel(credential(Kind::Person, "ghost", "ghost token", None))).await.unwrap();
    assert_eq!(authenticate(store, "ghost token").await, None, "a token of nobody stands for nobody");
}

pub async fn a_token_ends_after_its_last_millisecond(store: &Store, clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Resolver, "first token").await);
    store.run(Relabel(credential(Kind::Person, "alice", "brief token", Some(at(10))))).await.unwrap();
    clock.set(at(10));
    assert_eq!(authenticate(store, "brief token").await, person("alice", Role::Resolver));
    let brief = store.run(Authenticate { hash: hash_of("brief token") }).await.unwrap();
    assert_eq!(brief.map(|credential| credential.expires_at), Some(Some(at(10))), "and says when");
    clock.set(at(11));
    assert_eq!(authenticate(store, "brief token").await, None);
}

pub async fn a_sign_in_link_works_once(store: &Store, _clock: &ManualClock) {
    invite(store).await;
    let tokens: Vec<_> = (0..16).map(|number| format!("token {number}")).collect();
    let answers = join_all(tokens.iter().map(|token| redeem(store, "link", token))).await;
    let won: Vec<_> = answers.iter().zip(&tokens).filter(|(answer, _)| answer.is_some()).collect();
    let [(Some(name), token)] = won.as_slice() else { panic!("one of sixteen gets in, not {won:?}") };
    assert_eq!(name, "owner");
    assert_eq!(authenticate(store, token).await, person("owner", Role::Owner));
    for lost in tokens.iter().filter(|other| other != token) {
        assert_eq!(authenticate(store, lost).await, None);
    }
    assert_eq!(redeem(store, "link", "once more").await, None);
}

pub async fn a_sign_in_link_works_until_it_expires(store: &Store, clock: &ManualClock) {
    invite(store).await;
    clock.set(at(11));
    assert_eq!(redeem(store, "link", "late token").await, None);
    assert_eq!(authenticate(store, "late token").await, None);
    clock.set(at(10));
    assert_eq!(redeem(store, "link", "token").await.as_deref(), Some("owner"));
    clock.set(at(1_000_000));
    assert_eq!(authenticate(store, "token").await, person("owner", Role::Owner), "the token outlives the link");
}

pub async fn a_sign_in_link_is_no_token(store: &Store, _clock: &ManualClock) {
    invite(store).await;
    assert_eq!(authenticate(store, "link").await, None);
    store.run(Relabel(credential(Kind::Person, "owner", "brief token", Some(at(10))))).await.unwrap();
    assert_eq!(redeem(store, "brief token", "token").await, None, "and a token is no link");
    assert_eq!(authenticate(store, "brief token").await, person("owner", Role::Owner));
}

pub async fn a_label_holds_one_credential(store: &Store, _clock: &ManualClock) {
    invite(store).await;
    store.run(Relabel(credential(Kind::SignIn, "owner", "newer link", Some(at(10))))).await.unwrap();
    assert_eq!(redeem(store, "link", "token").await, None, "the newer link took its place");
    assert_eq!(authenticate(store, "owner token").await, person("owner", Role::Owner), "another kind keeps its own");
    assert_eq!(redeem(store, "newer link", "token").await.as_deref(), Some("owner"));
}
