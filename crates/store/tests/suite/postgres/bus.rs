//! Messages between hubs on one database.

use std::sync::Arc;

use countersign_store::{Notification, NotifyBus, Store};
use tokio::sync::mpsc;

use super::fresh::{Database, Fresh};
use super::within_timeout;

/// A hub that runs the bus and subscribes to it, until it is dropped.
struct Hub {
    store: Arc<Store>,
    received: mpsc::Receiver<Notification>,
    listening: tokio::task::JoinHandle<()>,
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

fn message(text: &str) -> Notification {
    Notification::Message(text.to_owned())
}

impl Hub {
    fn start(store: Store) -> Self {
        let store = Arc::new(store);
        let (sender, received) = mpsc::channel(16);
        let bus = Arc::clone(&store);
        let listening = tokio::spawn(async move { bus.bus().expect("the store is shared").run(&sender).await });
        Self {
            store,
            received,
            listening,
        }
    }

    fn bus(&self) -> &NotifyBus {
        self.store.bus().expect("the store is shared")
    }

    fn publish(&self, text: &str) {
        self.bus().publish(text.to_owned());
    }

    async fn receive(&mut self) -> Notification {
        within_timeout(self.received.recv()).await.expect("the bus runs")
    }

    /// All notifications up to this message.
    async fn receive_until(&mut self, last: &str) -> Vec<Notification> {
        let mut texts = Vec::new();
        while texts.last() != Some(&message(last)) {
            texts.push(self.receive().await);
        }
        texts
    }

    /// The same as texts; panics on a gap.
    async fn texts_until(&mut self, last: &str) -> Vec<String> {
        let found = self.receive_until(last).await.into_iter().map(|text| match text {
            Notification::Message(text) => text,
            Notification::Gap => panic!("a gap before {last:.20}"),
        });
        found.collect()
    }
}

/// Two connected hubs with no notifications pending.
async fn two(fresh: &Fresh) -> [Hub; 2] {
    let stores = [fresh.neighbour().await, fresh.neighbour().await];
    let mut hubs = stores.map(Hub::start);
    for hub in &mut hubs {
        assert_eq!(
            hub.receive().await,
            Notification::Gap,
            "messages sent before it connected may be lost"
        );
    }
    settle(&mut hubs, "begin").await;
    hubs
}

/// Both hubs publish, and wait until both have received both messages; earlier gap notifications are skipped.
async fn settle(hubs: &mut [Hub; 2], text: &str) {
    for number in [0, 1] {
        let text = format!("{text} {number}");
        hubs[number].publish(&text);
        for hub in &mut *hubs {
            hub.receive_until(&text).await;
        }
    }
}

/// Ends all listening connections at once, and no others: one that ended later would receive the reconnect messages of
/// the others. Returns how many were ended.
async fn end_listeners(database: &Database) -> usize {
    let listening = "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND query NOT LIKE '%pg_terminate%' AND application_name = 'countersign' \
         AND (query LIKE 'LISTEN%' OR query LIKE '%pg_notify%' OR query = '')";
    let operator = database.connect().await;
    let ended: Vec<i32> = operator
        .query(listening, &[])
        .await
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect();
    let left = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY($1)";
    within_timeout(async { while operator.query_one(left, &[&ended]).await.unwrap().get::<_, i64>(0) > 0 {} }).await;
    ended.len()
}

#[tokio::test]
async fn hubs_receive_all_messages_in_order_including_their_own() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    for number in 0..20 {
        let texts = ["one", "two", "three"].map(|text| format!("{text} {number}"));
        for text in &texts {
            hubs[number % 2].publish(text);
        }
        for hub in &mut hubs {
            assert_eq!(hub.texts_until(&texts[2]).await, texts);
        }
    }
}

#[tokio::test]
async fn messages_published_together_all_arrive() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    let texts: Vec<_> = (0..3_000)
        .map(|number| format!("word {number} {}", "é".repeat(number % 50)))
        .collect();
    for text in &texts {
        hubs[0].publish(text);
    }
    let last = texts.last().expect("there are some");
    for hub in &mut hubs {
        assert_eq!(hub.texts_until(last).await, texts);
    }
}

/// More notifications than a connection buffers.
#[tokio::test]
async fn long_messages_published_together_all_arrive() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    let texts: Vec<_> = (0..1_000)
        .map(|number| format!("{number} {}", "x".repeat(7_000)))
        .collect();
    for text in &texts {
        hubs[0].publish(text);
    }
    let last = texts.last().expect("there are some");
    for hub in &mut hubs {
        assert!(hub.texts_until(last).await == texts);
    }
}

#[tokio::test]
async fn oversized_message_becomes_a_gap_for_every_hub() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    let longest = "x".repeat(7_900);
    hubs[0].publish(&longest);
    for hub in &mut hubs {
        assert_eq!(
            hub.texts_until(&longest).await,
            [longest.as_str()],
            "the longest message still fits"
        );
    }
    hubs[0].publish(&"x".repeat(7_901));
    for hub in &mut hubs {
        assert_eq!(hub.receive().await, Notification::Gap);
    }
    hubs[0].publish("end");
    for hub in &mut hubs {
        assert_eq!(hub.texts_until("end").await, ["end"], "once");
    }
}

#[tokio::test]
async fn queue_overflow_becomes_a_gap() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    // No other task runs between these calls, so none is sent before the last one is queued.
    for number in 0..10_000 {
        hubs[0].publish(&format!("{number}"));
    }
    for hub in &mut hubs {
        let received: Vec<_> = hub.receive_until("8191").await;
        let kept: Vec<_> = received
            .iter()
            .filter(|text| **text != Notification::Gap)
            .cloned()
            .collect();
        assert_eq!(
            kept,
            (0..8_192)
                .map(|number| message(&number.to_string()))
                .collect::<Vec<_>>()
        );
        if kept.len() == received.len() {
            assert_eq!(hub.receive().await, Notification::Gap);
        }
    }
}

#[tokio::test]
async fn reconnect_signals_a_gap_and_duplicates_nothing() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    for round in 0..3 {
        hubs[0].publish(&format!("before {round}"));
        for hub in &mut hubs {
            assert_eq!(hub.texts_until(&format!("before {round}")).await.len(), 1);
        }
        assert_eq!(end_listeners(&fresh.database).await, 2, "both are cut off");
        for hub in &mut hubs {
            assert_eq!(hub.receive().await, Notification::Gap);
        }
        hubs[1].publish(&format!("after {round}"));
        for hub in &mut hubs {
            let received = hub.receive_until(&format!("after {round}")).await;
            let texts = received
                .into_iter()
                .filter(|text| *text != Notification::Gap)
                .collect::<Vec<_>>();
            assert_eq!(texts, [message(&format!("after {round}"))]);
        }
        settle(&mut hubs, &format!("round {round}")).await;
    }
}

#[tokio::test]
async fn messages_published_before_the_bus_runs_are_sent_when_it_does() {
    let fresh = Fresh::open().await;
    let mut other = Hub::start(fresh.neighbour().await);
    assert_eq!(other.receive().await, Notification::Gap);
    let early = fresh.neighbour().await;
    early.bus().expect("the store is shared").publish("early".to_owned());
    let mut early = Hub::start(early);
    for hub in [&mut early, &mut other] {
        hub.receive_until("early").await;
    }
}
