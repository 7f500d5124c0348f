//! Concurrent operations with one outcome.

use std::time::Duration;

use countersign_core::access::Role;
use countersign_core::message::Status;
use countersign_core::{Command, Rejection, State, Verdict};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{ApplyOutcome, Submission};
use countersign_store::ops::account::credential::{CredentialKind, RedeemLink, ReplaceCredential};
use countersign_store::ops::admin::agents::{RemoveAgent, RotateAgent};
use countersign_store::ops::admin::keys::{AddHubKey, HubKeys};
use countersign_store::ops::admin::people::{AccountChange, AddPersonToken, ListPeople, RemovePerson, SetRole};
use countersign_store::ops::admin::secrets::PutSecret;
use countersign_store::ops::deliver::Deliveries;
use countersign_store::ops::list::Counts;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::message::sweep::Purge;
use countersign_store::ops::run::{Advance, AskInRun, BeginOutcome, EndRun, RunEnding, StoredRunState};
use countersign_store::ops::terminal::CueOutcome;
use futures_util::future::{join, join_all, join3};

use super::audit::assert_chained;
use super::credentials::{add_person, authenticate, credential};
use super::sessions::session;
use crate::cues::{self, add_people, after, ask, created, cue, typed_ahead, waiting_texts};
use crate::runs;
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
        ApplyOutcome::Resolved(applied) => Some(applied.resolution.clone()),
        ApplyOutcome::Rejected(_) | ApplyOutcome::NotFound | ApplyOutcome::Purged => None,
    });
    let winners: Vec<_> = winners.collect();
    let [winner] = winners.as_slice() else {
        panic!("one winner, not {winners:?}")
    };
    let rejection = Rejection::already(&id, winner);
    let losers = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, ApplyOutcome::Rejected(why) if *why == rejection));
    assert_eq!(losers.count(), 63, "all others are told the one outcome");

    assert_eq!(agent_view(store, &id).await.state, State::Resolved(winner.clone()));
    assert_eq!(
        store
            .run(Trail {
                subject: id.to_string()
            })
            .await
            .unwrap()
            .len(),
        2
    );
    assert_eq!(store.run(Deliveries { state: None, limit: 10 }).await.unwrap().len(), 1);
    assert_eq!(open_count(store, BUILDER).await, 0);
}

pub async fn submits_under_one_key_make_one_message(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let drafts: Vec<_> = (1..=32)
        .map(|number| Draft {
            key: Some("deploy"),
            ..Draft::ask(number)
        })
        .collect();
    let answers = join_all(drafts.iter().map(|draft| submit(store, draft))).await;
    let first = answers
        .iter()
        .position(|answer| *answer == Submission::Created)
        .expect("one is new");
    let taken = drafts[first].taken(Status::Open);
    assert_eq!(answers.iter().filter(|answer| **answer == taken).count(), 31);
    assert_eq!(open_count(store, BUILDER).await, 1);
}

pub async fn concurrent_submits_respect_the_quota(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let drafts: Vec<_> = (1..=32).map(Draft::ask).collect();
    let answers = join_all(drafts.iter().map(|draft| submit_within(store, draft, 5))).await;
    assert_eq!(
        answers.iter().filter(|answer| **answer == Submission::Created).count(),
        5
    );
    assert_eq!(
        answers
            .iter()
            .filter(|answer| **answer == Submission::TooManyOpen)
            .count(),
        27
    );
    assert_eq!(open_count(store, BUILDER).await, 5);
}

pub async fn replay_is_recognized_when_the_quota_is_full(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let drafts: Vec<_> = (1..=32)
        .map(|number| Draft {
            key: Some("deploy"),
            ..Draft::ask(number)
        })
        .collect();
    let answers = join_all(drafts.iter().map(|draft| submit_within(store, draft, 1))).await;
    let first = answers
        .iter()
        .position(|answer| *answer == Submission::Created)
        .expect("one is new");
    let taken = drafts[first].taken(Status::Open);
    assert_eq!(answers.iter().filter(|answer| **answer == taken).count(), 31);
}

pub async fn concurrent_operators_keep_one_audit_chain(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let put = |number: u32| PutSecret {
        agent_id: BUILDER.to_owned(),
        name: format!("secret {number}"),
        value: "s3cret".to_owned(),
        actor: OWNER.to_owned(),
    };
    let key = |number: u8| AddHubKey {
        kid: format!("k{number}"),
        seed: vec![number; 32],
        overlap: Duration::ZERO,
        actor: OWNER.to_owned(),
    };
    let put = join_all((0..16).map(|number| store.run(put(number))));
    let (put, added) = join(put, join_all((0..8).map(|number| store.run(key(number))))).await;
    assert!(put.into_iter().all(|put| put.unwrap()));
    added.into_iter().for_each(|added| added.unwrap());
    for (subject, length) in [("agent:builder", 17), ("hub", 8)] {
        let trail = store
            .run(Trail {
                subject: subject.to_owned(),
            })
            .await
            .unwrap();
        assert_eq!(trail.len(), length, "{subject}");
        assert_chained(&trail);
    }
    let current = store
        .run(HubKeys)
        .await
        .unwrap()
        .into_iter()
        .filter(|key| key.retires_at.is_none());
    assert_eq!(current.count(), 1, "each new key retired the ones before it");
}

pub async fn owners_cannot_remove_each_other(store: &Store, _clock: &ManualClock) {
    let names = ["olga", "otto"];
    for round in 0..8 {
        for name in names {
            add_person(store, name, Role::Owner, &format!("{name} {round}")).await;
        }
        let remove = |name: &str| {
            store.run(RemovePerson {
                name: name.to_owned(),
                actor: OWNER.to_owned(),
            })
        };
        let (olga, otto) = join(remove("olga"), remove("otto")).await;
        let mut ends = [olga.unwrap(), otto.unwrap()];
        ends.sort_by_key(|end| *end != AccountChange::Done);
        assert_eq!(ends, [AccountChange::Done, AccountChange::LastOwner]);
        assert_eq!(store.run(ListPeople).await.unwrap().len(), 1);
    }
}

pub async fn owners_cannot_demote_each_other(store: &Store, _clock: &ManualClock) {
    let names = ["olga", "otto"];
    for name in names {
        assert!(add_person(store, name, Role::Owner, name).await);
    }
    for _ in 0..8 {
        let set = |name: &str, role| {
            store.run(SetRole {
                name: name.to_owned(),
                role,
                actor: OWNER.to_owned(),
            })
        };
        let (olga, otto) = join(set("olga", Role::Viewer), set("otto", Role::Resolver)).await;
        let mut ends = [olga.unwrap(), otto.unwrap()];
        ends.sort_by_key(|end| *end != AccountChange::Done);
        assert_eq!(ends, [AccountChange::Done, AccountChange::LastOwner]);
        for name in names {
            assert_eq!(set(name, Role::Owner).await.unwrap(), AccountChange::Done);
        }
    }
}

pub async fn removed_agent_or_person_keeps_no_token(store: &Store, _clock: &ManualClock) {
    assert!(add_person(store, "owner", Role::Owner, "owner token").await);
    for round in 0..8 {
        add_agent(store, BUILDER).await;
        let name = format!("alice {round}");
        let link = format!("link {round}");
        assert!(add_person(store, &name, Role::Resolver, &format!("{name} token")).await);
        store
            .run(ReplaceCredential(credential(
                CredentialKind::SignIn,
                &name,
                &link,
                Some(at(10)),
            )))
            .await
            .unwrap();
        let actor = || OWNER.to_owned();
        let rotation = RotateAgent {
            id: BUILDER.to_owned(),
            token_hash: hash_of("rotated"),
            signing_key: "rotated".to_owned(),
            overlap: Duration::from_secs(60),
            actor: actor(),
        };
        let token = credential(CredentialKind::Person, &name, "second token", None);
        let added = AddPersonToken {
            name: name.clone(),
            token,
            actor: actor(),
        };
        let redeemed = RedeemLink {
            link: hash_of(&link),
            session: session("third token", 1_000),
        };
        let acts = join3(store.run(rotation), store.run(added), store.run(redeemed));
        let agent = store.run(RemoveAgent {
            id: BUILDER.to_owned(),
            actor: actor(),
        });
        let person = store.run(RemovePerson {
            name: name.clone(),
            actor: actor(),
        });
        let ((rotated, added, redeemed), (agent, person)) = join(acts, join(agent, person)).await;
        drop((rotated.unwrap(), added.unwrap(), redeemed.unwrap()));
        assert_eq!((agent.unwrap(), person.unwrap()), (true, AccountChange::Done));
        assert!(
            add_person(store, &name, Role::Resolver, &format!("{name} again")).await,
            "the name is free"
        );
        for token in ["rotated", "second token", "third token"] {
            assert_eq!(authenticate(store, token).await, None, "{token} in round {round}");
        }
    }
}

pub async fn concurrent_replacements_of_a_label_leave_one_credential(store: &Store, _clock: &ManualClock) {
    assert!(add_person(store, "owner", Role::Owner, "owner token").await);
    let links: Vec<_> = (0..16)
        .map(|number| credential(CredentialKind::SignIn, "owner", &format!("{number}"), Some(at(10))))
        .collect();
    for link in join_all(links.into_iter().map(|link| store.run(ReplaceCredential(link)))).await {
        link.unwrap();
    }
    let redeem = |number: u32| RedeemLink {
        link: hash_of(&format!("{number}")),
        session: session(&format!("session {number}"), 1_000),
    };
    let redeemed = join_all((0..16).map(|number| store.run(redeem(number)))).await;
    assert_eq!(
        redeemed
            .into_iter()
            .filter(|end| end.as_ref().unwrap().is_some())
            .count(),
        1
    );
}

pub async fn concurrent_purges_purge_each_message_once(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=20 {
        submitted_and_resolved(store, &Draft::ask(number)).await;
    }
    let purge = || Purge {
        resolved_before: at(1),
        limit: 100,
    };
    let emptied = join_all((0..4).map(|_| store.run(purge()))).await;
    assert_eq!(emptied.into_iter().map(|count| count.unwrap()).sum::<u64>(), 20);
}

pub async fn concurrent_joins_have_one_winner(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    let people = ["alice", "bob"];
    let joined = join_all((0..16).map(|number| cues::join(store, cues::ZOBAL, people[number % 2]))).await;
    assert_eq!(joined.into_iter().filter(|joined| *joined).count(), 1);
}

pub async fn same_cue_submitted_concurrently_is_created_once(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    // The agent has not joined yet, so the cues also race to join.
    let outcomes = join_all((1..=16).map(|number| ask(store, cue(number, "Ship it?")))).await;
    let made = outcomes
        .iter()
        .position(|outcome| matches!(outcome, CueOutcome::Created { .. }));
    let made = message_id(u64::try_from(made.expect("one is new")).unwrap() + 1);
    let attached = outcomes
        .iter()
        .filter(|outcome| matches!(outcome, CueOutcome::Attached(id) if *id == made));
    assert_eq!(attached.count(), 15);
    assert_eq!(cues::summary(store, cues::ZOBAL).await.expect("it joined").open, 1);
}

pub async fn concurrent_cues_take_each_text_once(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    assert!(cues::join(store, cues::ZOBAL, "alice").await);
    for text in ["one", "two", "three"] {
        typed_ahead(store, text).await;
    }
    let made = join_all((1..=12).map(|number| created(store, cue(number, &format!("Next {number}?"))))).await;
    let mut texts: Vec<_> = made
        .into_iter()
        .filter_map(|made| made.answered?.resolution.value)
        .collect();
    texts.sort_by_key(ToString::to_string);
    assert_eq!(texts, ["one", "three", "two"]);
    assert!(waiting_texts(store).await.is_empty());
    assert_eq!(cues::summary(store, cues::ZOBAL).await.expect("it joined").open, 9);
}

pub async fn superseding_cue_and_answer_have_one_winner(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    for round in (10..200).step_by(10) {
        let id = message_id(round);
        created(store, cue(round, &format!("Ship {round}?"))).await;
        let next = |offset: u64| after(&[round], cue(round + offset, &format!("Stop {}?", round + offset)));
        let cues = join(created(store, next(1)), created(store, next(2)));
        let ((first, second), answered) = join(cues, apply(store, &id, answer("yes"))).await;
        let was_answered = matches!(answered, ApplyOutcome::Resolved(_));
        assert_eq!(
            first.superseded.len() + second.superseded.len() + usize::from(was_answered),
            1
        );
        assert_eq!(
            store
                .run(Trail {
                    subject: id.to_string()
                })
                .await
                .unwrap()
                .len(),
            2
        );
    }
    assert_eq!(cues::summary(store, cues::ZOBAL).await.expect("it joined").open, 2 * 19);
}

pub async fn concurrent_starts_make_one_run(store: &Store, _clock: &ManualClock) {
    for number in 1..=2 {
        let begun = join_all((0..16).map(|_| runs::begin(store, runs::segment(runs::RUN, number)))).await;
        assert_eq!(begun.iter().filter(|begun| **begun == BeginOutcome::New).count(), 1);
        assert_eq!(begun.iter().filter(|begun| **begun == BeginOutcome::Exists).count(), 15);
        assert_eq!(runs::found_run(store, runs::RUN).await.run.summary.segment, number);
        let advance = Advance {
            segment: number,
            ..runs::step(runs::RUN)
        };
        assert!(
            store
                .run(EndRun {
                    advance,
                    ending: RunEnding::Completed,
                    at: at(5)
                })
                .await
                .unwrap()
        );
    }
}

pub async fn concurrent_ends_have_one_winner(store: &Store, _clock: &ManualClock) {
    runs::begun(store).await;
    let ended = join_all((0..16).map(|millis| runs::end(store, runs::RUN, millis))).await;
    let [winner] = (0..)
        .zip(&ended)
        .filter_map(|(millis, ended)| ended.then_some(millis))
        .collect::<Vec<_>>()[..]
    else {
        panic!("one winner, not {ended:?}");
    };
    let state = runs::found_run(store, runs::RUN).await.run.summary.state;
    assert_eq!(
        state,
        StoredRunState::Ended {
            ending: RunEnding::Completed,
            at: at(winner)
        }
    );
}

pub async fn no_write_succeeds_after_the_end(store: &Store, _clock: &ManualClock) {
    runs::begun(store).await;
    let step = |seq| Advance {
        events: vec![runs::event(seq)],
        ..runs::step(runs::RUN)
    };
    let steps = join_all((1..=32).map(|seq| runs::advance(store, step(seq))));
    let (taken, ended) = join(steps, runs::end(store, runs::RUN, 5)).await;
    assert!(ended);
    let taken: Vec<_> = (1..)
        .zip(taken)
        .filter_map(|(seq, taken)| taken.then_some(seq))
        .collect();
    assert_eq!(runs::numbers(&runs::events_after(store, runs::RUN, 0).await), taken);
    assert!(!runs::advance(store, step(99)).await);
}

pub async fn concurrent_asks_and_answers_are_counted(store: &Store, _clock: &ManualClock) {
    let names: Vec<_> = (1..=16).map(|number| format!("run-{number}")).collect();
    for name in &names {
        assert_eq!(runs::begin(store, runs::segment(name, 1)).await, BeginOutcome::New);
    }
    let ask = |(number, name): (u64, &String)| {
        let asks = vec![runs::ask(number), runs::ask(number + 100)];
        store.run(AskInRun {
            advance: runs::step(name),
            asks,
        })
    };
    let asked = join_all((1..).zip(&names).map(ask)).await;
    assert!(asked.into_iter().all(|asked| asked.unwrap()));
    let answers = 1..=16_u64;
    let later = 201..=216_u64;
    let answered = answers.map(|number| async move { resolved(store, &message_id(number), answer("approve")).await });
    join(join_all(answered), join_all(later.zip(&names).map(ask))).await;
    let open = store
        .run(Counts {
            person: "alice".to_owned(),
        })
        .await
        .unwrap()
        .open;
    assert_eq!(open, 16 + 32);
    assert_eq!(store.run(inbox(None, 100)).await.unwrap().items.len(), 48);
}
