//! Test fixtures: deliveries.

use std::time::Duration;

use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::model::{Claim, Delivery, Settlement};
use countersign_store::ops::deliver::{ClaimDue, Settle};

use crate::nodes::{NODE, enter};
use crate::scene::*;

pub const LEASE: Duration = Duration::from_millis(100);

pub async fn enqueue_deliveries(store: &Store, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        submitted_and_resolved(store, &Draft::pushed(number)).await;
    }
}

pub fn claim_of(node: &str) -> ClaimDue {
    ClaimDue {
        node: node.to_owned(),
        host: HOST.to_owned(),
        limit: 100,
        lease: LEASE,
    }
}

/// Sorted by id.
pub async fn take(store: &Store, claim: ClaimDue) -> Vec<Claim> {
    let mut claims = store.run(claim).await.unwrap();
    claims.sort_by(|one, other| one.message_id.cmp(&other.message_id));
    claims
}

pub async fn claims_of(store: &Store, node: &str) -> Vec<Claim> {
    take(store, claim_of(node)).await
}

/// Claims everything that is due for `NODE`, which is registered.
pub async fn claims(store: &Store) -> Vec<Claim> {
    enter(store, &[NODE]).await;
    claims_of(store, NODE).await
}

pub async fn claim(store: &Store) -> Vec<MessageId> {
    claims(store).await.into_iter().map(|claim| claim.message_id).collect()
}

/// The only due delivery.
pub async fn only_claim(store: &Store) -> Claim {
    let claims = claims(store).await;
    let [claim] = claims.as_slice() else {
        panic!("one is due, not {claims:?}")
    };
    claim.clone()
}

/// Returns whether it counted.
pub async fn settle(store: &Store, claim: &Claim, settlement: Settlement) -> bool {
    store
        .run(Settle {
            claim: claim.clone(),
            settlement,
        })
        .await
        .unwrap()
}

pub fn failed() -> Settlement {
    Settlement::Failed {
        reason: "answered 404".to_owned(),
    }
}

pub fn retry(millis: i64) -> Settlement {
    Settlement::Retry {
        at: at(millis),
        reason: "answered 503".to_owned(),
    }
}

pub async fn delivery(store: &Store, number: u64) -> Delivery {
    viewed(store, &message_id(number))
        .await
        .delivery
        .expect("it has to be brought")
}
