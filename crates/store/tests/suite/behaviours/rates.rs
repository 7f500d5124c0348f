use std::time::Duration;

use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::account::rate_limit::{Admission, Admit, ForgetRates};
use futures_util::future::join_all;

use crate::scene::*;

/// A burst of three, then one every 10 ms.
pub fn three(key: &str) -> Admit {
    Admit {
        key: key.to_owned(),
        burst: 3,
        interval: Duration::from_millis(10),
    }
}

async fn admit(store: &Store, key: &str) -> Admission {
    store.run(three(key)).await.unwrap()
}

async fn granted(store: &Store, key: &str, times: usize) {
    for time in 1..=times {
        assert_eq!(admit(store, key).await, Admission::Granted, "{time} of {times}");
    }
}

fn after(micros: u64) -> Admission {
    Admission::After(Duration::from_micros(micros))
}

async fn forget(store: &Store, limit: i64) -> u64 {
    store.run(ForgetRates { limit }).await.unwrap()
}

pub async fn burst_is_granted_then_one_per_interval(store: &Store, clock: &ManualClock) {
    granted(store, "a", 3).await;
    assert_ne!(admit(store, "a").await, Admission::Granted);
    for millis in [10, 20, 30] {
        clock.set(at(millis - 1));
        assert_ne!(
            admit(store, "a").await,
            Admission::Granted,
            "not before its period is over"
        );
        clock.set(at(millis));
        granted(store, "a", 1).await;
        assert_ne!(admit(store, "a").await, Admission::Granted, "one in each");
    }
    let once = || Admit {
        burst: 1,
        ..three("once")
    };
    assert_eq!(store.run(once()).await.unwrap(), Admission::Granted);
    assert_eq!(store.run(once()).await.unwrap(), after(10_000));
}

pub async fn a_refusal_says_how_long_to_wait(store: &Store, clock: &ManualClock) {
    granted(store, "a", 3).await;
    for _ in 0..3 {
        assert_eq!(admit(store, "a").await, after(10_000), "a refusal costs nothing");
    }
    clock.set(at(4));
    assert_eq!(admit(store, "a").await, after(6_000));
    clock.set(at(10));
    granted(store, "a", 1).await;

    // Thousands per second: an interval is shorter than the clock's resolution.
    let many = || Admit {
        key: "many".to_owned(),
        burst: 2,
        interval: Duration::from_micros(250),
    };
    for _ in 0..2 {
        assert_eq!(store.run(many()).await.unwrap(), Admission::Granted);
    }
    assert_eq!(store.run(many()).await.unwrap(), after(250));
}

pub async fn rest_refills_the_burst_and_no_more(store: &Store, clock: &ManualClock) {
    granted(store, "a", 3).await;
    clock.set(at(20));
    granted(store, "a", 2).await;
    assert_ne!(admit(store, "a").await, Admission::Granted, "as much as came back");
    for millis in [50, 1_000_000] {
        clock.set(at(millis));
        granted(store, "a", 3).await;
        assert_eq!(admit(store, "a").await, after(10_000), "a longer rest gives no more");
    }
}

pub async fn keys_are_independent(store: &Store, _clock: &ManualClock) {
    for key in ["a", "A", "a ", ""] {
        granted(store, key, 3).await;
    }
    for key in ["a", "A", "a ", ""] {
        assert_ne!(admit(store, key).await, Admission::Granted, "{key:?}");
    }
}

pub async fn concurrent_callers_never_exceed_the_limit(store: &Store, clock: &ManualClock) {
    for (millis, there) in [(0, 3), (20, 2), (1_000, 3)] {
        clock.set(at(millis));
        let admitted = join_all((0..32).map(|_| admit(store, "a"))).await;
        assert_eq!(
            admitted
                .into_iter()
                .filter(|admitted| *admitted == Admission::Granted)
                .count(),
            there
        );
    }
}

pub async fn refilled_keys_are_deleted(store: &Store, clock: &ManualClock) {
    for (key, times) in [("a", 1), ("b", 2), ("c", 3)] {
        granted(store, key, times).await;
    }
    clock.set(at(9));
    assert_eq!(forget(store, 10).await, 0);
    clock.set(at(20));
    assert_eq!(
        (forget(store, 1).await, forget(store, 10).await, forget(store, 10).await),
        (1, 1, 0)
    );
    granted(store, "c", 2).await;
    assert_ne!(
        admit(store, "c").await,
        Admission::Granted,
        "what is in use is not forgotten"
    );
    granted(store, "a", 3).await;
    assert_ne!(
        admit(store, "a").await,
        Admission::Granted,
        "and to have been forgotten gives nothing more"
    );
}
