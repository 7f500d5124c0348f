use std::collections::BTreeSet;
use std::time::Duration;

use countersign_core::access::Role;
use countersign_core::hold::Hold;
use countersign_core::message::Outcome;
use countersign_core::{Actor, Command, Rejection, Resolution, State, Verdict};
use countersign_protocol::id::MessageId;
use countersign_store::clock::ManualClock;
use countersign_store::model::{ApplyOutcome, HoldOutcome, ResolveRequest, ResolvedMessage, TakeBackOutcome};
use countersign_store::ops::admin::people::AddPerson;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::hold::{
    BeginHold, HeldDecision, NextRelease, ReleaseDue, SetUndoSeconds, TakeBack, UndoSeconds,
};
use countersign_store::ops::message::sweep::NextExpiry;
use countersign_store::ops::terminal::{CueOutcome, SubmitCue};
use countersign_store::{Store, StoreError};
use futures_util::future::join_all;
use serde_json::json;

use super::audit::assert_chained;
use super::files::{attachment, bodies, notes};
use super::sweep::expired;
use crate::cues::{NO_QUOTA, add_people, created, cue};
use crate::outbox::delivery;
use crate::scene::*;

const UNDO_SECONDS: u32 = 4;

async fn hold_with(store: &Store, request: ResolveRequest) -> HoldOutcome {
    let begin = BeginHold {
        request,
        default_undo_seconds: UNDO_SECONDS,
    };
    store.run(begin).await.unwrap()
}

/// Answers, with a hold.
async fn hold(store: &Store, id: &MessageId, value: &str) -> Hold {
    match hold_with(store, resolve_request(id, answer(value))).await {
        HoldOutcome::Held(hold) => hold,
        HoldOutcome::Applied(other) => panic!("expected a hold, got {other:?}"),
    }
}

async fn try_take_back(store: &Store, id: &MessageId, actor: Actor) -> Result<TakeBackOutcome, StoreError> {
    let take_back = TakeBack {
        message_id: id.clone(),
        actor,
    };
    store.run(take_back).await
}

async fn take_back(store: &Store, id: &MessageId) {
    match try_take_back(store, id, alice()).await.unwrap() {
        TakeBackOutcome::TakenBack { .. } => {}
        other => panic!("expected to take it back, got {other:?}"),
    }
}

async fn refused_take_back(store: &Store, id: &MessageId, actor: Actor) -> Rejection {
    match try_take_back(store, id, actor).await.unwrap() {
        TakeBackOutcome::Rejected(rejection) => rejection,
        other => panic!("expected a rejection, got {other:?}"),
    }
}

async fn release(store: &Store) -> Vec<ResolvedMessage> {
    let swept = store
        .run(ReleaseDue {
            limit: 10,
            skipped: Vec::new(),
        })
        .await
        .unwrap();
    assert!(swept.unreadable.is_empty());
    swept.applied
}

async fn released(store: &Store) -> Vec<Resolution> {
    release(store)
        .await
        .into_iter()
        .map(|applied| applied.resolution)
        .collect()
}

async fn trail_length(store: &Store, id: &MessageId) -> usize {
    let trail = store
        .run(Trail {
            subject: id.to_string(),
        })
        .await
        .unwrap();
    assert_chained(&trail);
    trail.len()
}

fn expiring(number: u64, millis: i64) -> Draft {
    Draft {
        expires_at: Some(at(millis)),
        ..Draft::ask(number)
    }
}

pub async fn decision_on_hold_is_open_for_its_agent_until_the_end(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::pushed(1)).await;
    let before = agent_view(store, &id).await;
    let held = hold(store, &id, "approve").await;
    assert_eq!((&held.by, held.until), (&alice(), at(4000)));
    let during = agent_view(store, &id).await;
    assert_eq!((during.state, during.rev), (State::Open, before.rev));
    assert_eq!(viewed(store, &id).await.message.hold, Some(held));
    assert_eq!(
        (trail_length(store, &id).await, open_count(store, BUILDER).await),
        (1, 1)
    );
    let decision = store.run(HeldDecision(id.clone())).await.unwrap().expect("a decision");
    assert_eq!(decision.value, Some(json!("approve")));

    clock.set(at(3999));
    assert_eq!(released(store).await, []);
    assert_eq!(store.run(NextRelease::default()).await.unwrap(), Some(at(4000)));
    clock.set(at(4000));
    let resolution = Resolution {
        resolved_at: at(4000),
        ..decision
    };
    assert_eq!(released(store).await, std::slice::from_ref(&resolution));
    assert_eq!(released(store).await, [], "once");
    assert_eq!(agent_view(store, &id).await.state, State::Resolved(resolution));
    assert_eq!(viewed(store, &id).await.message.hold, None);
    assert_eq!(
        (trail_length(store, &id).await, open_count(store, BUILDER).await),
        (2, 0)
    );
    assert_eq!(delivery(store, 1).await.created_at, at(4000));
    assert_eq!(store.run(NextRelease::default()).await.unwrap(), None);
    assert_eq!(store.run(HeldDecision(id)).await.unwrap(), None);
}

pub async fn decision_on_hold_has_won(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::ask(1)).await;
    let held = hold(store, &id, "approve").await.rejection();
    for command in [
        answer("deny"),
        Command::Cancel,
        Command::Supersede { by: message_id(2) },
    ] {
        assert_eq!(rejected(store, &id, command).await, held);
    }
    let second = hold_with(store, resolve_request(&id, answer("deny"))).await;
    let HoldOutcome::Applied(ApplyOutcome::Rejected(second)) = second else {
        panic!("expected a rejection, got {second:?}")
    };
    assert_eq!(second, held);
}

pub async fn taken_back_decision_leaves_no_trace(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::pushed(1)).await;
    hold(store, &id, "approve").await;
    clock.set(at(3000));
    take_back(store, &id).await;
    let item = viewed(store, &id).await;
    assert_eq!((item.message.state, item.message.hold), (State::Open, None));
    assert_eq!(
        (trail_length(store, &id).await, open_count(store, BUILDER).await),
        (1, 1)
    );
    clock.set(at(9000));
    assert_eq!(released(store).await, []);
    assert_eq!(resolved(store, &id, answer("deny")).await.value, Some(json!("deny")));
}

pub async fn only_the_author_takes_back_and_only_during_the_hold(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::ask(1)).await;
    assert_eq!(refused_take_back(store, &id, alice()).await, Rejection::NotHeld);
    let held = hold(store, &id, "approve").await.rejection();
    assert_eq!(refused_take_back(store, &id, Actor::human("bob")).await, held);
    clock.set(at(4000));
    assert_eq!(released(store).await.len(), 1);
    let late = refused_take_back(store, &id, alice()).await;
    assert!(matches!(late, Rejection::AlreadyTerminal { .. }), "{late:?}");
    let missing = try_take_back(store, &message_id(2), alice()).await.unwrap();
    assert!(matches!(missing, TakeBackOutcome::NotFound), "{missing:?}");
}

pub async fn answer_on_hold_wins_over_the_expiry(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &expiring(1, 10)).await;
    assert_eq!(
        hold(store, &id, "approve").await.until,
        at(10),
        "the hold ends with the expiry"
    );
    clock.set(at(2000));
    assert!(expired(store, 5).await.is_empty());
    assert_eq!(store.run(NextExpiry::default()).await.unwrap(), None);
    let outcomes: Vec<_> = released(store).await.into_iter().map(|one| one.outcome).collect();
    assert_eq!(outcomes, [Outcome::Answered]);
}

pub async fn late_take_back_releases_the_decision(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &expiring(1, 10)).await;
    hold(store, &id, "approve").await;
    clock.set(at(11));
    let late = try_take_back(store, &id, alice()).await.unwrap();
    let TakeBackOutcome::Released(sent) = late else {
        panic!("expected a release, got {late:?}")
    };
    assert_eq!(
        (sent.resolution.outcome, sent.resolution.resolved_at),
        (Outcome::Answered, at(11))
    );
    assert_eq!(agent_view(store, &id).await.state, State::Resolved(sent.resolution));
    assert_eq!(
        (trail_length(store, &id).await, open_count(store, BUILDER).await),
        (2, 0)
    );
    let again = refused_take_back(store, &id, alice()).await;
    assert!(matches!(again, Rejection::AlreadyTerminal { .. }), "{again:?}");
    assert_eq!(released(store).await, []);
    assert_eq!(store.run(HeldDecision(id)).await.unwrap(), None);
}

pub async fn undo_and_release_have_one_winner(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=8 {
        let id = submitted(store, &Draft::ask(number)).await;
        let until = hold(store, &id, "approve").await.until;
        let is_late = number > 4;
        clock.set(if is_late {
            until.plus(Duration::from_millis(1))
        } else {
            until
        });
        let undo = join_all((0..3).map(|_| try_take_back(store, &id, alice())));
        let releases = join_all((0..3).map(|_| released(store)));
        let (undone, sent) = tokio::join!(undo, releases);
        let count = |wanted: fn(&TakeBackOutcome) -> bool| undone.iter().flatten().filter(|one| wanted(one)).count();
        let taken_back = count(|one| matches!(one, TakeBackOutcome::TakenBack { .. }));
        let sent_by_undo = count(|one| matches!(one, TakeBackOutcome::Released(_)));
        let sent: usize = sent.iter().map(Vec::len).sum();
        // A release skips a row that an undo has locked; then it is due the next time.
        let left = released(store).await.len();
        assert_eq!(taken_back + sent_by_undo + sent + left, 1, "message {number}");
        assert!(
            if is_late { taken_back == 0 } else { sent_by_undo == 0 },
            "message {number}"
        );
        let is_open = agent_view(store, &id).await.state == State::Open;
        assert_eq!(is_open, taken_back == 1, "message {number}");
        assert_eq!(open_count(store, BUILDER).await, i64::from(is_open), "message {number}");
        if is_open {
            resolved(store, &id, answer("deny")).await;
        }
    }
}

pub async fn a_person_sets_their_own_undo_time(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let person = AddPerson {
        name: "alice".to_owned(),
        reuse: false,
        role: Role::Resolver,
        token: None,
        actor: OWNER.to_owned(),
    };
    store.run(person).await.unwrap();
    let person = "alice".to_owned();
    assert_eq!(store.run(UndoSeconds { person: person.clone() }).await.unwrap(), None);
    let set = |seconds| SetUndoSeconds {
        person: person.clone(),
        seconds,
    };
    store.run(set(9)).await.unwrap();
    let id = submitted(store, &Draft::ask(1)).await;
    assert_eq!(hold(store, &id, "approve").await.until, at(9000));
    store.run(set(0)).await.unwrap();
    let id = submitted(store, &Draft::ask(2)).await;
    let outcome = hold_with(store, resolve_request(&id, answer("approve"))).await;
    assert!(
        matches!(outcome, HoldOutcome::Applied(ApplyOutcome::Resolved(_))),
        "{outcome:?}"
    );
}

pub async fn files_of_a_decision_go_with_it(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "Ship it?")).await;
    let with_files = || ResolveRequest {
        files: bodies(),
        ..resolve_request(
            &message_id(1),
            by_alice(Verdict::AnsweredWith {
                value: json!("see there"),
                files: notes(),
            }),
        )
    };
    hold_with(store, with_files()).await;
    take_back(store, &message_id(1)).await;
    assert_eq!(attachment(store, 1, 0).await, None);
    hold_with(store, with_files()).await;
    clock.set(at(4000));
    assert_eq!(
        released(store).await.first().map(|one| one.files.clone()),
        Some(notes())
    );
    let stored: BTreeSet<_> = [attachment(store, 1, 0).await, attachment(store, 1, 2).await].into();
    assert_eq!(stored, [Some(bodies()[0].clone()), Some(bodies()[2].clone())].into());
}

pub async fn cue_on_hold_is_not_superseded(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "First?")).await;
    let held = hold(store, &message_id(1), "yes").await;
    let mut next = cue(2, "Second?");
    next.gone = vec![(message_id(1), resolution_id())];
    let submit = |cue| SubmitCue { cue, quota: NO_QUOTA };
    let waiting = store.run(submit(next)).await.unwrap();
    let CueOutcome::Held { until, cue: next } = waiting else {
        panic!("expected to wait for the hold, got {waiting:?}")
    };
    assert_eq!(until, held.until);
    clock.set(until);
    assert_eq!(released(store).await.len(), 1);
    let created = store.run(submit(*next)).await.unwrap();
    let CueOutcome::Created { superseded, .. } = created else {
        panic!("expected a new cue, got {created:?}")
    };
    assert!(superseded.is_empty(), "the first one was answered");
}
