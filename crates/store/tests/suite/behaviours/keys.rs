//! The hub's own keys. Agents' keys are tested where they are used, in a push context.

use std::time::Duration;

use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::admin::keys::{AddHubKey, HubKeys};
use countersign_store::ops::message::audit::Trail;

use crate::scene::*;

async fn add(store: &Store, kid: &str, overlap: u64) {
    let (kid, seed, overlap) = (
        kid.to_owned(),
        kid.as_bytes().repeat(16),
        Duration::from_millis(overlap),
    );
    store
        .run(AddHubKey {
            kid,
            seed,
            overlap,
            actor: OWNER.to_owned(),
        })
        .await
        .unwrap();
}

async fn published(store: &Store) -> Vec<String> {
    store
        .run(HubKeys)
        .await
        .unwrap()
        .into_iter()
        .map(|key| key.kid)
        .collect()
}

pub async fn the_newest_hub_key_comes_first(store: &Store, clock: &ManualClock) {
    assert!(published(store).await.is_empty());
    for (kid, millis) in [("k2", 0), ("k3", 10), ("k1", 20), ("k4", 30)] {
        clock.set(at(millis));
        add(store, kid, 100).await;
    }
    let keys = store.run(HubKeys).await.unwrap();
    let found: Vec<_> = keys.iter().map(|key| (key.kid.as_str(), key.retires_at)).collect();
    assert_eq!(
        found,
        [
            ("k4", None),
            ("k1", Some(at(130))),
            ("k3", Some(at(120))),
            ("k2", Some(at(110)))
        ]
    );
    assert_eq!(keys[0].seed, b"k4".repeat(16));
    let trail = store
        .run(Trail {
            subject: "hub".to_owned(),
        })
        .await
        .unwrap();
    super::audit::assert_chained(&trail);
    assert_eq!(trail.len(), 4);
}

pub async fn a_hub_key_is_published_until_it_retires(store: &Store, clock: &ManualClock) {
    add(store, "k1", 0).await;
    clock.set(at(1_000_000));
    assert_eq!(
        published(store).await,
        ["k1"],
        "the current one never retires by itself"
    );
    add(store, "k2", 100).await;
    clock.set(at(1_000_100));
    assert_eq!(published(store).await, ["k2", "k1"]);
    clock.set(at(1_000_101));
    assert_eq!(published(store).await, ["k2"]);
}
