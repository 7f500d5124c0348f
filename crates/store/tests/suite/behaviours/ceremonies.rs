use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::account::ceremony::{
    BeginCeremony, Ceremony, HasCeremony, MAX_CEREMONIES_PER_PERSON, TakeCeremony,
};
use futures_util::future::join_all;

use crate::scene::*;

async fn begin(store: &Store, id: &str, person: Option<&str>, expires_at: i64) {
    let (id, person, body) = (id.to_owned(), person.map(str::to_owned), format!("challenge of {id}"));
    store
        .run(BeginCeremony {
            id,
            person,
            body,
            expires_at: at(expires_at),
        })
        .await
        .unwrap();
}

async fn take(store: &Store, id: &str) -> Option<Ceremony> {
    store.run(TakeCeremony { id: id.to_owned() }).await.unwrap()
}

async fn is_there(store: &Store, id: &str) -> bool {
    store.run(HasCeremony { id: id.to_owned() }).await.unwrap()
}

pub async fn checking_a_ceremony_does_not_take_it(store: &Store, clock: &ManualClock) {
    begin(store, "one", None, 10).await;
    clock.set(at(10));
    assert!(is_there(store, "one").await && is_there(store, "one").await && !is_there(store, "two").await);
    clock.set(at(11));
    assert!(!is_there(store, "one").await, "not after it has expired");
    clock.set(at(10));
    assert!(take(store, "one").await.is_some());
    assert!(!is_there(store, "one").await);
}

pub async fn ceremonies_are_limited_per_person_and_the_oldest_is_dropped(store: &Store, _clock: &ManualClock) {
    begin(store, "nobody's", None, 1).await;
    begin(store, "bob's", Some("bob"), 1).await;
    for number in 0..=MAX_CEREMONIES_PER_PERSON {
        begin(store, &format!("{number}"), Some("alice"), 10 + number).await;
    }
    assert!(!is_there(store, "0").await);
    for id in ["1", "5", "nobody's", "bob's"] {
        assert!(is_there(store, id).await, "{id}");
    }
}

pub async fn a_ceremony_is_taken_once(store: &Store, _clock: &ManualClock) {
    begin(store, "one", Some("alice"), 10).await;
    begin(store, "two", None, 10).await;
    let taken = join_all((0..8).map(|_| take(store, "one"))).await;
    let taken: Vec<_> = taken.into_iter().flatten().collect();
    assert_eq!(
        taken,
        [Ceremony {
            person: Some("alice".to_owned()),
            body: "challenge of one".to_owned()
        }]
    );
    assert_eq!(take(store, "two").await.map(|ceremony| ceremony.person), Some(None));
    assert_eq!(take(store, "three").await, None);
}

pub async fn ceremony_expires(store: &Store, clock: &ManualClock) {
    for id in ["in time", "late", "forgotten"] {
        begin(store, id, None, 10).await;
    }
    clock.set(at(10));
    assert!(take(store, "in time").await.is_some());
    clock.set(at(11));
    assert_eq!(take(store, "late").await, None);
    begin(store, "next", None, 20).await;
    clock.set(at(10));
    assert_eq!(
        take(store, "forgotten").await,
        None,
        "beginning a ceremony deletes expired ones"
    );
}
