//! Many at once, and still one outcome.

use countersign_core::message::Status;
use countersign_core::{Command, Rejection, State, Verdict};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{Application, Submission};
use countersign_store::ops::audit::Trail;
use countersign_store::ops::deliver::Deliveries;
use futures_util::future::join_all;

use crate::scene::*;

fn rival(number: usize) -> Command {
    match number % 4 {
        0 => answer("approve"),
        1 => answer("deny"),
        2 => by_alice(Verdict::Declined),
        _ => Command::Cancel,
    }
}

pub async fn sixty_four_rivals_have_one_winner(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::pushed(1)).await;
    let outcomes = join_all((0..64).map(|number| apply(store, &id, rival(number)))).await;

    let winners = outcomes.iter().filter_map(|outcome| match outcome {
        Application::Resolved(applied) => Some(applied.resolution.clone()),
        Application::Rejected(_) | Application::NotFound | Application::Gone => None,
    });
    let winners: Vec<_> = winners.collect();
    let [winner] = winners.as_slice() else { panic!("one winner, not {winners:?}") };
    let told = Rejection::already(&id, winner);
    let losers = outcomes.iter().filter(|outcome| matches!(outcome, Application::Rejected(why) if *why == told));
    assert_eq!(losers.count(), 63, "everybody else hears of the one outcome");

    assert_eq!(pulled(store, &id).await.state, State::Resolved(winner.clone()));
    assert_eq!(store.run(Trail { subject: id.to_string() }).await.unwrap().len(), 2);
    assert_eq!(store.run(Deliveries { track: None, limit: 10 }).await.unwrap().len(), 1);
    assert_eq!(open_count(store, BUILDER).await, 0);
}

pub async fn submits_under_one_key_make_one_message(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let drafts: Vec<_> = (1..=32).map(|number| Draft { key: Some("deploy"), ..Draft::ask(number) }).collect();
    let answers = join_all(drafts.iter().map(|draft| submit(store, draft))).await;
    let first = answers.iter().position(|answer| *answer == Submission::Created).expect("one is new");
    let taken = drafts[first].taken(Status::Open);
    assert_eq!(answers.iter().filter(|answer| **answer == taken).count(), 31);
    assert_eq!(open_count(store, BUILDER).await, 1);
}

pub async fn submits_at_once_keep_to_the_depth(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let drafts: Vec<_> = (1..=32).map(Draft::ask).collect();
    let answers = join_all(drafts.iter().map(|draft| submit_within(store, draft, 5))).await;
    assert_eq!(answers.iter().filter(|answer| **answer == Submission::Created).count(), 5);
    assert_eq!(answers.iter().filter(|answer| **answer == Submission::TooManyOpen).count(), 27);
    assert_eq!(open_count(store, BUILDER).await, 5);
}
