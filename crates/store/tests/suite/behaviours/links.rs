use countersign_core::access::Role;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::account::credential::{
    AddLink, CredentialKind, PersonOfLink, RedeemLink, ReplaceCredential,
};
use futures_util::future::join_all;

use super::audit::events_about;
use super::credentials::{add_person, authenticate, credential, person};
use super::sessions::session;
use crate::scene::*;

async fn redeem(store: &Store, link: &str, token: &str) -> Option<String> {
    store
        .run(RedeemLink {
            link: hash_of(link),
            session: session(token, 1_000_000),
        })
        .await
        .unwrap()
}

async fn add_link(store: &Store, name: &str, link: &str) -> bool {
    let person = name.to_owned();
    let actor = OWNER.to_owned();
    store
        .run(AddLink {
            person,
            hash: hash_of(link),
            expires_at: at(10),
            actor,
        })
        .await
        .unwrap()
}

/// An owner with a link that expires at 10, like the one made when the hub starts.
async fn invite(store: &Store) {
    assert!(add_person(store, "owner", Role::Owner, "owner token").await);
    store
        .run(ReplaceCredential(credential(
            CredentialKind::SignIn,
            "owner",
            "link",
            Some(at(10)),
        )))
        .await
        .unwrap();
}

pub async fn a_link_works_once(store: &Store, _clock: &ManualClock) {
    invite(store).await;
    let tokens: Vec<_> = (0..16).map(|number| format!("cookie {number}")).collect();
    let answers = join_all(tokens.iter().map(|token| redeem(store, "link", token))).await;
    let won: Vec<_> = answers
        .iter()
        .zip(&tokens)
        .filter(|(answer, _)| answer.is_some())
        .collect();
    let [(Some(name), token)] = won.as_slice() else {
        panic!("one of sixteen gets in, not {won:?}")
    };
    assert_eq!(name, "owner");
    assert_eq!(authenticate(store, token).await, person("owner", Role::Owner));
    for lost in tokens.iter().filter(|other| other != token) {
        assert_eq!(authenticate(store, lost).await, None);
    }
    assert_eq!(redeem(store, "link", "once more").await, None);
}

pub async fn a_link_works_until_it_expires(store: &Store, clock: &ManualClock) {
    invite(store).await;
    clock.set(at(11));
    assert_eq!(redeem(store, "link", "late").await, None);
    assert_eq!(authenticate(store, "late").await, None);
    clock.set(at(10));
    assert_eq!(redeem(store, "link", "cookie").await.as_deref(), Some("owner"));
    clock.set(at(1_000_000));
    assert_eq!(
        authenticate(store, "cookie").await,
        person("owner", Role::Owner),
        "the session outlives the link"
    );
}

pub async fn checking_a_link_does_not_redeem_it(store: &Store, clock: &ManualClock) {
    let works = async |link: &str| store.run(PersonOfLink { link: hash_of(link) }).await.unwrap().is_some();
    invite(store).await;
    clock.set(at(10));
    assert!(works("link").await && works("link").await);
    assert!(!works("owner token").await && !works("nonsense").await);
    clock.set(at(11));
    assert!(!works("link").await, "not after it has expired");
    clock.set(at(10));
    assert!(redeem(store, "link", "cookie").await.is_some());
    assert!(!works("link").await);
}

pub async fn a_link_is_no_token(store: &Store, _clock: &ManualClock) {
    invite(store).await;
    assert_eq!(authenticate(store, "link").await, None);
    store
        .run(ReplaceCredential(credential(
            CredentialKind::Person,
            "owner",
            "brief token",
            Some(at(10)),
        )))
        .await
        .unwrap();
    assert_eq!(
        redeem(store, "brief token", "cookie").await,
        None,
        "and a token is no link"
    );
    assert_eq!(authenticate(store, "brief token").await, person("owner", Role::Owner));
}

pub async fn a_new_invitation_ends_the_one_before(store: &Store, _clock: &ManualClock) {
    invite(store).await;
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    for link in ["first", "second"] {
        assert!(add_link(store, "alice", link).await);
        assert!(add_link(store, "owner", &format!("owner's {link}")).await);
    }
    assert_eq!(redeem(store, "first", "cookie").await, None);
    assert_eq!(redeem(store, "second", "cookie").await.as_deref(), Some("alice"));
    assert_eq!(
        redeem(store, "owner's second", "owner's cookie").await.as_deref(),
        Some("owner")
    );
    assert_eq!(
        redeem(store, "link", "third").await.as_deref(),
        Some("owner"),
        "one that was printed is no invitation"
    );
    let made = "person.link_made";
    assert_eq!(
        events_about(store, "alice").await,
        ["person.added", made, made, "person.signed_in"]
    );
}

pub async fn a_link_needs_a_person(store: &Store, _clock: &ManualClock) {
    assert!(!add_link(store, "ghost", "link").await);
    assert!(add_person(store, "ghost", Role::Viewer, "token").await);
    assert_eq!(redeem(store, "link", "cookie").await, None);
}
