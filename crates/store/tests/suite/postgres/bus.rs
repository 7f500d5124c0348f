//! What hubs on one database tell each other.

use std::sync::Arc;

use countersign_store::{Bus, Store, Word};
use tokio::sync::mpsc;

use super::ends;
use super::fresh::{Database, Fresh};

/// A hub with its ear at the bus. Both end with it.
struct Hub {
    store: Arc<Store>,
    heard: mpsc::Receiver<Word>,
    listening: tokio::task::JoinHandle<()>,
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

fn said(word: &str) -> Word {
    Word::Said(word.to_owned())
}

impl Hub {
    fn start(store: Store) -> Self {
        let store = Arc::new(store);
        let (hears, heard) = mpsc::channel(16);
        let bus = Arc::clone(&store);
        let listening = tokio::spawn(async move { bus.bus().expect("the store is shared").run(&hears).await });
        Self {
            store,
            heard,
            listening,
        }
    }

    fn bus(&self) -> &Bus {
        self.store.bus().expect("the store is shared")
    }

    fn say(&self, word: &str) {
        self.bus().say(word.to_owned());
    }

    async fn hear(&mut self) -> Word {
        ends(self.heard.recv()).await.expect("the bus runs")
    }

    /// All that comes up to this word.
    async fn hear_until(&mut self, last: &str) -> Vec<Word> {
        let mut words = Vec::new();
        while words.last() != Some(&said(last)) {
            words.push(self.hear().await);
        }
        words
    }

    /// The same, if nothing was missed on the way.
    async fn told_until(&mut self, last: &str) -> Vec<String> {
        let told = self.hear_until(last).await.into_iter().map(|word| match word {
            Word::Said(word) => word,
            Word::Missed => panic!("something was missed before {last:.20}"),
        });
        told.collect()
    }
}

/// Two hubs that hear each other and have nothing left to hear.
async fn two(fresh: &Fresh) -> [Hub; 2] {
    let stores = [fresh.neighbour().await, fresh.neighbour().await];
    let mut hubs = stores.map(Hub::start);
    for hub in &mut hubs {
        assert_eq!(hub.hear().await, Word::Missed, "what was said before it came");
    }
    settle(&mut hubs, "begin").await;
    hubs
}

/// Each has said something, in the order in which both then heard it; what a connection says at its begin came before.
async fn settle(hubs: &mut [Hub; 2], word: &str) {
    for number in [0, 1] {
        let word = format!("{word} {number}");
        hubs[number].say(&word);
        for hub in &mut *hubs {
            hub.hear_until(&word).await;
        }
    }
}

/// Ends what listens, and nothing else, all at once: one that lived on for a moment would hear the others come back. Says how
/// many did.
async fn cut(database: &Database) -> usize {
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
    ends(async { while operator.query_one(left, &[&ended]).await.unwrap().get::<_, i64>(0) > 0 {} }).await;
    ended.len()
}

#[tokio::test]
async fn hubs_hear_each_other_and_themselves_in_order() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    for number in 0..20 {
        let words = ["one", "two", "three"].map(|word| format!("{word} {number}"));
        for word in &words {
            hubs[number % 2].say(word);
        }
        for hub in &mut hubs {
            assert_eq!(hub.told_until(&words[2]).await, words);
        }
    }
}

#[tokio::test]
async fn words_said_together_all_arrive() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    let words: Vec<_> = (0..3_000)
        .map(|number| format!("word {number} {}", "é".repeat(number % 50)))
        .collect();
    for word in &words {
        hubs[0].say(word);
    }
    let last = words.last().expect("there are some");
    for hub in &mut hubs {
        assert_eq!(hub.told_until(last).await, words);
    }
}

/// More notifications than a connection keeps for a hub that has not heard them yet.
#[tokio::test]
async fn long_words_said_together_all_arrive() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    let words: Vec<_> = (0..1_000)
        .map(|number| format!("{number} {}", "x".repeat(7_000)))
        .collect();
    for word in &words {
        hubs[0].say(word);
    }
    let last = words.last().expect("there are some");
    for hub in &mut hubs {
        assert!(hub.told_until(last).await == words);
    }
}

#[tokio::test]
async fn a_word_that_is_too_long_is_missed_by_everybody() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    let longest = "x".repeat(7_900);
    hubs[0].say(&longest);
    for hub in &mut hubs {
        assert_eq!(
            hub.told_until(&longest).await,
            [longest.as_str()],
            "up to there it is said"
        );
    }
    hubs[0].say(&"x".repeat(7_901));
    for hub in &mut hubs {
        assert_eq!(hub.hear().await, Word::Missed);
    }
    hubs[0].say("end");
    for hub in &mut hubs {
        assert_eq!(hub.told_until("end").await, ["end"], "once");
    }
}

#[tokio::test]
async fn what_there_is_no_room_for_is_missed() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    // Nobody else runs between these words, so none is sent before the last is said.
    for number in 0..10_000 {
        hubs[0].say(&format!("{number}"));
    }
    for hub in &mut hubs {
        let heard: Vec<_> = hub.hear_until("8191").await;
        let kept: Vec<_> = heard.iter().filter(|word| **word != Word::Missed).cloned().collect();
        assert_eq!(
            kept,
            (0..8_192).map(|number| said(&number.to_string())).collect::<Vec<_>>()
        );
        if kept.len() == heard.len() {
            assert_eq!(hub.hear().await, Word::Missed);
        }
    }
}

#[tokio::test]
async fn after_a_break_something_was_missed_and_nothing_comes_twice() {
    let fresh = Fresh::open().await;
    let mut hubs = two(&fresh).await;
    for round in 0..3 {
        hubs[0].say(&format!("before {round}"));
        for hub in &mut hubs {
            assert_eq!(hub.told_until(&format!("before {round}")).await.len(), 1);
        }
        assert_eq!(cut(&fresh.database).await, 2, "both are cut off");
        for hub in &mut hubs {
            assert_eq!(hub.hear().await, Word::Missed);
        }
        hubs[1].say(&format!("after {round}"));
        for hub in &mut hubs {
            let heard = hub.hear_until(&format!("after {round}")).await;
            let words = heard
                .into_iter()
                .filter(|word| *word != Word::Missed)
                .collect::<Vec<_>>();
            assert_eq!(words, [said(&format!("after {round}"))]);
        }
        settle(&mut hubs, &format!("round {round}")).await;
    }
}

#[tokio::test]
async fn what_is_said_before_the_bus_runs_is_said_when_it_does() {
    let fresh = Fresh::open().await;
    let mut other = Hub::start(fresh.neighbour().await);
    assert_eq!(other.hear().await, Word::Missed);
    let early = fresh.neighbour().await;
    early.bus().expect("the store is shared").say("early".to_owned());
    let mut early = Hub::start(early);
    for hub in [&mut early, &mut other] {
        hub.hear_until("early").await;
    }
}
