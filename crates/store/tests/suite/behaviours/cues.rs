use countersign_core::message::{Outcome, Source, Status};
use countersign_core::{Actor, Command, State, Verdict};
use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::pull::Pull;
use countersign_store::ops::message::sweep::Purge;
use countersign_store::ops::terminal::{CueOutcome, ExceededQuota, MAX_UNCOLLECTED, OpenCues};

use super::audit::assert_chained;
use crate::cues::*;
use crate::scene::*;

async fn status(store: &Store, number: u64) -> Status {
    agent_view(store, &message_id(number)).await.state.status()
}

/// The superseded cues that the person sees on this one.
async fn supersedes(store: &Store, number: u64) -> Option<String> {
    match agent_view(store, &message_id(number)).await.source {
        Source::Hap(source) => source.supersedes,
        other => panic!("{other:?} is not a cue"),
    }
}

pub async fn the_same_envelope_attaches_until_its_answer_is_collected(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "Ship it?")).await;
    assert_eq!(attached(store, cue(2, "Ship it?")).await, message_id(1));
    // Also after its process has ended: the same cue comes back.
    assert_eq!(attached(store, after(&[1], cue(2, "Ship it?"))).await, message_id(1));
    resolved(store, &message_id(1), answer("Monday")).await;
    assert_eq!(
        attached(store, cue(2, "Ship it?")).await,
        message_id(1),
        "the answer came meanwhile"
    );
    assert_eq!(collect(store, 1, "alice").await, Some(true));
    created(store, cue(2, "Ship it?")).await;
    resolved(store, &message_id(2), by_alice(Verdict::Declined)).await;
    assert_eq!(
        attached(store, cue(3, "Ship it?")).await,
        message_id(2),
        "a no is an answer too"
    );
    assert_eq!(collect(store, 2, "alice").await, Some(true));
    created(store, cue(3, "Ship it?")).await;
    let others = cue_of("bertold", "alice", 4, "Ship it?");
    created(store, others).await;
    assert_eq!(summary(store, ZOBAL).await.expect("it is there").open, 1);
}

pub async fn cue_supersedes_cues_of_gone_processes(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "Ship it?")).await;
    created(store, cue(2, "Ship that?")).await;
    clock.set(at(7));
    // In any order, and with a duplicate.
    let third = created(store, after(&[2, 1, 2], cue(3, "Stop?"))).await;
    let ended: Vec<_> = third.superseded.iter().map(|applied| applied.view.id.clone()).collect();
    assert_eq!(ended, [1, 2].map(message_id));
    for applied in &third.superseded {
        let resolution = &applied.resolution;
        assert_eq!(
            (resolution.outcome, resolution.resolved_at),
            (Outcome::Cancelled, at(7))
        );
        assert_eq!(resolution.actor, Actor::agent(ZOBAL));
        assert_eq!(resolution.comment, Some(format!("superseded by {}", message_id(3))));
        assert_eq!(
            agent_view(store, &applied.view.id).await.state,
            State::Resolved(resolution.clone())
        );
        let trail = store
            .run(Trail {
                subject: applied.view.id.to_string(),
            })
            .await
            .unwrap();
        assert_eq!(trail.len(), 2);
        assert_chained(&trail);
    }
    assert_eq!(
        supersedes(store, 3).await,
        Some(format!("{} {}", message_id(1), message_id(2)))
    );
    assert_eq!(summary(store, ZOBAL).await.expect("it is there").open, 1);
}

pub async fn superseded_cue_can_be_asked_again(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "Ship it?")).await;
    created(store, after(&[1], cue(2, "Ship that?"))).await;
    assert_eq!(
        created(store, after(&[2], cue(3, "Ship it?"))).await.superseded.len(),
        1
    );
    assert_eq!(attached(store, cue(4, "Ship it?")).await, message_id(3));
}

pub async fn while_its_process_waits_an_earlier_cue_stays_open(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "Ship it?")).await;
    let second = created(store, cue(2, "Ship that?")).await;
    assert!(second.superseded.is_empty());
    assert_eq!(
        (status(store, 1).await, status(store, 2).await),
        (Status::Open, Status::Open)
    );
    assert_eq!(supersedes(store, 2).await, None);
}

pub async fn only_open_cues_of_the_same_agent_are_superseded(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    created(store, cue(1, "Ship it?")).await;
    resolved(store, &message_id(1), answer("yes")).await;
    created(store, cue_of("bertold", "alice", 2, "Ship it?")).await;
    submitted(store, &Draft::ask(3)).await;
    created(store, cue(4, "Ship that?")).await;
    let last = created(store, after(&[1, 2, 3, 4, 999], cue(5, "Stop?"))).await;
    assert_eq!(last.superseded.len(), 1);
    assert_eq!(status(store, 1).await, Status::Resolved(Outcome::Answered));
    assert_eq!(
        (status(store, 2).await, status(store, 3).await),
        (Status::Open, Status::Open)
    );
    assert_eq!(supersedes(store, 5).await, Some(message_id(4).to_string()));
}

pub async fn unknown_name_joins_with_its_first_cue(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    clock.set(at(3));
    created(store, cue(1, "Ship it?")).await;
    let joined = summary(store, ZOBAL).await.expect("it joined");
    assert_eq!(
        (joined.person.as_str(), joined.joined_at, joined.open),
        ("alice", at(3), 1)
    );
    assert!(!join(store, ZOBAL, "alice").await);
}

pub async fn cue_under_another_agents_name_leaves_nothing(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    super::terminals::remove_agent(store, TESTER).await;
    created(store, cue(1, "Ship it?")).await;
    typed_ahead(store, "yes").await;
    let mismatched = {
        let mut cue = cue_of("bertold", "bob", 6, "Stop?");
        cue.message.agent_id = ZOBAL.to_owned();
        cue
    };
    let theirs = [
        after(&[1], cue_of(ZOBAL, "bob", 2, "Stop?")),
        cue_of(ZOBAL, "bob", 3, "Ship it?"),
        cue_of(BUILDER, "bob", 4, "Stop?"),
        cue_of(TESTER, "bob", 5, "Stop?"),
        mismatched,
    ];
    for (number, theirs) in (2..).zip(theirs) {
        let refused = ask(store, theirs).await;
        assert!(matches!(refused, CueOutcome::NotYours), "{number}: {refused:?}");
        assert!(store.run(Pull(message_id(number))).await.unwrap().is_none());
        assert!(
            store
                .run(Trail {
                    subject: message_id(number).to_string()
                })
                .await
                .unwrap()
                .is_empty()
        );
    }
    assert_eq!(status(store, 1).await, Status::Open);
    assert_eq!(agent_view(store, &message_id(1)).await.rev, 1);
    assert_eq!(waiting_texts(store).await.len(), 1);
    assert!(summary(store, "bertold").await.is_none());
}

pub async fn agent_at_its_open_quota_is_refused(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "Ship it?")).await;
    created(store, cue(2, "Ship that?")).await;
    created(store, cue(3, "And that?")).await;
    let full = ask_within(store, after(&[1], cue(4, "Stop?")), depth(2)).await;
    assert!(
        matches!(full, CueOutcome::QuotaExceeded(ExceededQuota::OpenOfAgent)),
        "{full:?}"
    );
    assert_eq!(status(store, 1).await, Status::Open, "nothing was ended for nothing");
    let full = ask_within(store, cue(4, "Stop?"), depth(3)).await;
    assert!(
        matches!(full, CueOutcome::QuotaExceeded(ExceededQuota::OpenOfAgent)),
        "{full:?}"
    );
    let made = ask_within(store, after(&[1], cue(4, "Stop?")), depth(3)).await;
    assert!(
        matches!(made, CueOutcome::Created { .. }),
        "what it ends makes room: {made:?}"
    );
    let same = ask_within(store, cue(5, "Stop?"), depth(0)).await;
    assert!(
        matches!(same, CueOutcome::Attached(_)),
        "coming back needs no place: {same:?}"
    );
    assert_eq!(summary(store, ZOBAL).await.expect("it is there").open, 3);
}

pub async fn cue_is_found_and_collected_only_by_its_person(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    submitted_and_resolved(store, &Draft::ask(9)).await;
    created(store, cue(1, "Ship it?")).await;
    assert_eq!(collect(store, 1, "alice").await, None, "there is no answer yet");
    let open = found(store, 1, "alice").await.expect("it is hers");
    assert_eq!(
        (open.view.agent_id.as_str(), open.view.state, open.collected),
        (ZOBAL, State::Open, false)
    );
    assert_eq!(open.content.title, "Ship it?");
    assert!(matches!(&open.view.source, Source::Hap(source) if source.cue == "cue"));

    let resolution = resolved(store, &message_id(1), answer("yes")).await;
    assert!(found(store, 1, "bob").await.is_none());
    assert_eq!(collect(store, 1, "bob").await, None);
    assert!(found(store, 9, "alice").await.is_none(), "and only a cue is one");
    assert_eq!(collect(store, 9, "alice").await, None);
    clock.set(at(5));
    assert_eq!(collect(store, 1, "alice").await, Some(true));
    assert_eq!(
        collect(store, 1, "alice").await,
        Some(false),
        "the second time it is known"
    );
    let over = found(store, 1, "alice").await.expect("it is still hers");
    assert_eq!((over.view.state, over.collected), (State::Resolved(resolution), true));
    assert_eq!(
        viewed(store, &message_id(1)).await.fetched_at,
        Some(at(5)),
        "people see it too"
    );
}

pub async fn current_cue_is_the_newest_open_or_uncollected(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    assert_eq!(current(store).await, None);
    created(store, cue(1, "Ship it?")).await;
    created(store, cue(2, "Ship that?")).await;
    created(store, after(&[2], cue(3, "Stop?"))).await;
    assert_eq!(current(store).await, Some(message_id(3)));
    resolved(store, &message_id(3), answer("no")).await;
    assert_eq!(
        current(store).await,
        Some(message_id(3)),
        "its answer is still to be collected"
    );
    collect(store, 3, "alice").await;
    assert_eq!(
        current(store).await,
        Some(message_id(1)),
        "what was superseded is not waited for"
    );
    resolved(store, &message_id(1), Command::Cancel).await;
    assert_eq!(current(store).await, None);
}

pub async fn decided_cues_stay_until_collected(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    for number in 1..=6 {
        created(store, cue(number, &format!("Ship {number}?"))).await;
    }
    created(store, cue_of("bertold", "alice", 7, "Ship 7?")).await;
    created(store, after(&[4], cue(8, "Ship 8?"))).await;
    for number in [7, 5, 2, 1] {
        resolved(store, &message_id(number), answer("yes")).await;
    }
    resolved(store, &message_id(3), by_alice(Verdict::Declined)).await;
    resolved(store, &message_id(6), Command::Cancel).await;
    assert_eq!(
        kept(store, "alice").await.expect("her agent"),
        [1, 2, 3, 5].map(message_id),
        "oldest first, and nothing taken back"
    );
    assert_eq!(kept(store, "bob").await, None, "not his agent");
    collect(store, 2, "alice").await;
    assert_eq!(
        kept(store, "alice").await.expect("her agent"),
        [1, 3, 5].map(message_id)
    );
    let limit = usize::try_from(MAX_UNCOLLECTED).unwrap();
    for number in (100..).take(limit) {
        created(store, cue(number, &format!("Ship {number}?"))).await;
        resolved(store, &message_id(number), answer("yes")).await;
    }
    let bounded = kept(store, "alice").await.expect("her agent");
    assert_eq!((bounded.len(), &bounded[3]), (limit, &message_id(100)));
}

pub async fn open_cues_come_oldest_first(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    for number in 1..=5 {
        created(store, cue(number, &format!("Ship {number}?"))).await;
    }
    for number in [2, 5] {
        resolved(store, &message_id(number), answer("yes")).await;
    }
    let open = async |agent_id: &str| -> Vec<MessageId> {
        store
            .run(OpenCues {
                agent_id: agent_id.to_owned(),
            })
            .await
            .unwrap()
    };
    assert_eq!(open(ZOBAL).await, [1, 3, 4].map(message_id));
    assert!(open("bertold").await.is_empty());
}

pub async fn purged_cue_is_not_attached_to(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "Ship it?")).await;
    resolved(store, &message_id(1), answer("yes")).await;
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
    assert!(found(store, 1, "alice").await.is_none());
    assert_eq!(collect(store, 1, "alice").await, None);
    assert_eq!(current(store).await, None);
    assert_eq!(kept(store, "alice").await, Some(Vec::new()));
    assert_eq!(summary(store, ZOBAL).await.expect("it is there").last_cue_id, None);
    created(store, cue(2, "Ship it?")).await;
}
