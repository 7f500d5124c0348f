use countersign_core::message::Outcome;
use countersign_core::{Command, State};
use countersign_store::clock::ManualClock;
use countersign_store::ops::list::Counts;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::pull::Pull;
use countersign_store::ops::message::sweep::Purge;
use countersign_store::ops::run::{Advance, AskInRun, BeginOutcome, BeginRun, NewAsk, PurgeRuns, RunOfAsk, StoredAsk};
use countersign_store::{Store, StoreError};

use super::audit::assert_chained;
use crate::runs::*;
use crate::scene::*;

async fn open(store: &Store) -> i64 {
    store
        .run(Counts {
            person: "alice".to_owned(),
        })
        .await
        .unwrap()
        .open
}

fn waits(asks: &[StoredAsk]) -> Vec<(String, u64, State)> {
    asks.iter()
        .map(|ask| (ask.message_id.to_string(), ask.number, ask.state.clone()))
        .collect()
}

async fn run_of(store: &Store, number: u64) -> Option<String> {
    store
        .run(RunOfAsk {
            message_id: message_id(number),
        })
        .await
        .unwrap()
}

pub async fn ask_stores_message_and_event_together(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    let advance = Advance {
        events: vec![event(1)],
        last_seq: 1,
        machine: "asks".to_owned(),
        ..step(RUN)
    };
    let asks = vec![NewAsk { number: 4, ..ask(2) }, NewAsk { number: 4, ..ask(1) }];
    assert!(store.run(AskInRun { advance, asks }).await.unwrap());
    let found = found_run(store, RUN).await.run;
    assert_eq!((found.machine.as_str(), found.summary.last_seq), ("asks", 1));
    assert_eq!(numbers(&events_after(store, RUN, 0).await), [1]);
    assert_eq!(
        ids(&store.run(inbox(None, 10)).await.unwrap().items),
        [2, 1].map(message_id)
    );

    let waiting = waiting_for(store, RUN).await;
    let expected = [2, 1].map(|number| (message_id(number).to_string(), 4, State::Open));
    assert_eq!(waits(&waiting), expected);
    assert_eq!(waiting[0].body, ask(2).body);
    assert_eq!(agent_view(store, &message_id(1)).await.agent_id, WRITER);
    assert_eq!(
        (run_of(store, 1).await.as_deref(), run_of(store, 3).await),
        (Some(RUN), None)
    );
}

pub async fn failed_ask_leaves_nothing(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    asked(store, &[1]).await;
    let before = found_run(store, RUN).await;
    // The last one has an id that is taken.
    let advance = Advance {
        events: vec![event(1)],
        records: vec!["lost".to_owned()],
        asks_done: vec![message_id(1)],
        machine: "lost".to_owned(),
        body: Some("lost".to_owned()),
        ..step(RUN)
    };
    let refused = store
        .run(AskInRun {
            advance,
            asks: vec![ask(2), ask(1)],
        })
        .await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert_eq!(found_run(store, RUN).await, before);
    assert!(events_after(store, RUN, 0).await.is_empty());
    assert!(store.run(Pull(message_id(2))).await.unwrap().is_none());
    assert!(
        store
            .run(Trail {
                subject: message_id(2).to_string()
            })
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!((waiting_for(store, RUN).await.len(), open(store).await), (1, 1));
}

pub async fn asks_are_counted_until_they_are_resolved(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted(store, &Draft::ask(9)).await;
    begun(store).await;
    assert_eq!(open(store).await, 1);
    asked(store, &[1, 2]).await;
    asked(store, &[3]).await;
    assert_eq!((open(store).await, open_count(store, BUILDER).await), (4, 1));
    let resolution = resolved(store, &message_id(1), answer("approve")).await;
    assert_eq!((resolution.outcome, open(store).await), (Outcome::Answered, 3));
    resolved(store, &message_id(2), Command::Cancel).await;
    rejected(store, &message_id(2), answer("approve")).await;
    assert_eq!(open(store).await, 2, "each gives its place back once");
    resolved(store, &message_id(9), answer("approve")).await;
    resolved(store, &message_id(3), answer("deny")).await;
    assert_eq!(open(store).await, 0);
    assert_chained(
        &store
            .run(Trail {
                subject: message_id(3).to_string(),
            })
            .await
            .unwrap(),
    );
    asked(store, &[]).await;
    assert_eq!(open(store).await, 0);
}

pub async fn answer_stays_pending_until_the_run_consumes_it(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    asked(store, &[1, 2]).await;
    let resolution = resolved(store, &message_id(1), answer("approve")).await;
    let first = message_id(1).to_string();
    let second = message_id(2).to_string();
    let waiting = waits(&waiting_for(store, RUN).await);
    assert_eq!(
        waiting,
        [
            (first, 0, State::Resolved(resolution)),
            (second.clone(), 0, State::Open)
        ]
    );

    assert!(
        !advance(
            store,
            Advance {
                asks_done: vec![message_id(1)],
                ..step("nobody")
            }
        )
        .await
    );
    assert_eq!(begin(store, segment("other", 1)).await, BeginOutcome::New);
    assert!(
        advance(
            store,
            Advance {
                asks_done: vec![message_id(1)],
                ..step("other")
            }
        )
        .await
    );
    assert_eq!(waiting_for(store, RUN).await.len(), 2, "another run takes nothing away");

    let asks_done = vec![message_id(1), message_id(3)];
    assert!(advance(store, Advance { asks_done, ..step(RUN) }).await);
    assert_eq!(waits(&waiting_for(store, RUN).await), [(second, 0, State::Open)]);
    assert_eq!(
        run_of(store, 1).await.as_deref(),
        Some(RUN),
        "whose it was is still known"
    );
}

pub async fn ended_segment_has_no_pending_asks(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    asked(store, &[1]).await;
    resolved(store, &message_id(1), Command::Cancel).await;
    assert!(end(store, RUN, 5).await);
    assert!(waiting_for(store, RUN).await.is_empty());
    let next = BeginRun {
        run: segment(RUN, 2),
        events: Vec::new(),
    };
    assert_eq!(store.run(next).await.unwrap(), BeginOutcome::New);
    assert!(waiting_for(store, RUN).await.is_empty());
    let advance = Advance {
        segment: 2,
        ..step(RUN)
    };
    assert!(
        store
            .run(AskInRun {
                advance,
                asks: vec![ask(2)]
            })
            .await
            .unwrap()
    );
    assert_eq!(waiting_for(store, RUN).await.len(), 1);
    assert!(waiting_for(store, "nobody").await.is_empty());
}

pub async fn ask_with_a_nul_can_be_asked_and_answered(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    let message = Draft {
        agent: WRITER,
        body: "a\0b",
        title: Some("a\0b"),
        ..Draft::ask(1)
    }
    .render();
    let asks = vec![NewAsk {
        message,
        number: 0,
        body: "a\0b".to_owned(),
    }];
    assert!(
        store
            .run(AskInRun {
                advance: step(RUN),
                asks
            })
            .await
            .unwrap()
    );
    assert_eq!(
        viewed(store, &message_id(1)).await.message.content.body.as_deref(),
        Some("a\0b")
    );
    assert_eq!(waiting_for(store, RUN).await[0].body, "a\u{2400}b");
    resolved(store, &message_id(1), answer("approve")).await;
}

pub async fn purged_message_is_not_a_pending_ask(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    asked(store, &[1, 2]).await;
    resolved(store, &message_id(1), answer("approve")).await;
    assert_eq!(
        store
            .run(Purge {
                resolved_before: at(1),
                limit: 10
            })
            .await
            .unwrap(),
        1
    );
    let left = waiting_for(store, RUN).await;
    assert_eq!(
        left.iter().map(|ask| ask.message_id.clone()).collect::<Vec<_>>(),
        [2].map(message_id)
    );
    assert_eq!(run_of(store, 1).await, None);
}

pub async fn a_message_outlives_its_run(store: &Store, _clock: &ManualClock) {
    begun(store).await;
    asked(store, &[1, 2]).await;
    resolved(store, &message_id(1), answer("approve")).await;
    assert!(end(store, RUN, 5).await);
    assert_eq!(
        store
            .run(PurgeRuns {
                ended_before: at(6),
                limit: 10
            })
            .await
            .unwrap(),
        1
    );
    assert_eq!(run_of(store, 1).await, None);
    assert!(matches!(
        agent_view(store, &message_id(1)).await.state,
        State::Resolved(_)
    ));
    // An ask should not be left open; if it is, it can still be decided.
    resolved(store, &message_id(2), answer("approve")).await;
    assert_eq!(open(store).await, 0);
}
