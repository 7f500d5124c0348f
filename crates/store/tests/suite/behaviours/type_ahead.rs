use countersign_core::access::Role;
use countersign_core::{Outcome, State};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::admin::people::{AccountChange, SetRole};
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::terminal::{DropAhead, ListAhead, MAX_AHEAD, TypeAhead, TypeAheadOutcome, WRITTEN_AHEAD};
use serde_json::json;

use super::audit::assert_chained;
use super::terminals::{remove_agent, remove_person};
use crate::cues::*;
use crate::scene::*;

async fn texts(store: &Store) -> Vec<String> {
    waiting_texts(store).await.into_iter().map(|ahead| ahead.text).collect()
}

async fn drop_ahead(store: &Store, id: i64, actor: &str) -> bool {
    store
        .run(DropAhead {
            agent_id: ZOBAL.to_owned(),
            id,
            actor: actor.to_owned(),
        })
        .await
        .unwrap()
}

pub async fn texts_answer_one_cue_each_oldest_first(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    assert!(join(store, ZOBAL, "alice").await);
    typed_ahead(store, "first the bridge").await;
    clock.set(at(2));
    typed_ahead(store, "then the road").await;
    let waiting = waiting_texts(store).await;
    let found: Vec<_> = waiting
        .iter()
        .map(|ahead| (ahead.text.as_str(), ahead.created_at))
        .collect();
    assert_eq!(found, [("first the bridge", at(0)), ("then the road", at(2))]);
    assert!(
        waiting
            .iter()
            .all(|ahead| ahead.person == "alice" && ahead.agent_id == ZOBAL)
    );

    clock.set(at(5));
    for (number, text) in [(1, "first the bridge"), (2, "then the road")] {
        let applied = created(store, cue(number, &format!("Next {number}?")))
            .await
            .answered
            .expect("it is answered");
        let resolution = applied.resolution;
        assert_eq!((resolution.outcome, resolution.resolved_at), (Outcome::Answered, at(5)));
        assert_eq!((&resolution.value, &resolution.actor), (&Some(json!(text)), &alice()));
        assert_eq!(
            resolution.comment.as_deref(),
            Some(WRITTEN_AHEAD),
            "it must not be taken for an answer to the question"
        );
        assert_eq!(
            agent_view(store, &message_id(number)).await.state,
            State::Resolved(resolution)
        );
        let trail = store
            .run(Trail {
                subject: message_id(number).to_string(),
            })
            .await
            .unwrap();
        assert_eq!((trail.len(), trail[1].entry.actor.as_str()), (2, "human:alice"));
        assert_chained(&trail);
    }
    assert!(texts(store).await.is_empty());
    assert!(
        created(store, cue(3, "Next?")).await.answered.is_none(),
        "none is used twice"
    );
    assert_eq!(summary(store, ZOBAL).await.expect("it is there").open, 1);
}

pub async fn text_that_matches_a_choice_does_not_select_it(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    assert!(join(store, ZOBAL, "alice").await);
    typed_ahead(store, "approve").await;
    let confirm = json!({"type": "confirm", "confirm_label": "Drop it", "cancel_label": "Keep it"});
    let asked = offering(1, "Drop the production database?", &confirm);
    let resolution = created(store, asked).await.answered.expect("it is answered").resolution;
    assert_eq!(
        (resolution.value, resolution.edited),
        (Some(json!("approve")), true),
        "no choice was selected"
    );
}

pub async fn reattaching_uses_no_text(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "Ship it?")).await;
    typed_ahead(store, "and then the road").await;
    assert_eq!(attached(store, cue(2, "Ship it?")).await, message_id(1));
    assert_eq!(
        agent_view(store, &message_id(1)).await.state,
        State::Open,
        "it was asked before the text was typed"
    );
    resolved(store, &message_id(1), answer("yes")).await;
    assert_eq!(attached(store, cue(2, "Ship it?")).await, message_id(1));
    assert_eq!(texts(store).await, ["and then the road"]);
    created(store, cue(3, "What now?"))
        .await
        .answered
        .expect("it is answered");
    assert!(texts(store).await.is_empty());

    created(store, cue(4, "Stop?")).await;
    typed_ahead(store, "go on").await;
    let both = created(store, after(&[4], cue(5, "Really?"))).await;
    assert_eq!(
        both.superseded.len(),
        1,
        "one that ends another is answered like any other"
    );
    assert_eq!(both.answered.expect("it is").resolution.value, Some(json!("go on")));
}

pub async fn only_the_agents_own_person_can_type_ahead(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    assert_eq!(type_ahead(store, "alice", "yes").await, TypeAheadOutcome::NoSuchAgent);
    assert!(join(store, ZOBAL, "alice").await);
    assert_eq!(type_ahead(store, "bob", "yes").await, TypeAheadOutcome::NoSuchAgent);
    assert!(texts(store).await.is_empty());
}

pub async fn text_of_a_demoted_person_answers_nothing(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    assert!(join(store, ZOBAL, "alice").await);
    typed_ahead(store, "yes").await;
    let set = async |role| {
        let change = SetRole {
            name: "alice".to_owned(),
            role,
            actor: OWNER.to_owned(),
        };
        assert_eq!(store.run(change).await.unwrap(), AccountChange::Done);
    };
    set(Role::Viewer).await;
    assert!(created(store, cue(1, "Ship it?")).await.answered.is_none());
    set(Role::Owner).await;
    assert!(created(store, cue(2, "Ship that?")).await.answered.is_some());
}

pub async fn waiting_texts_are_limited(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    assert!(join(store, ZOBAL, "alice").await);
    for number in 1..=MAX_AHEAD {
        typed_ahead(store, &format!("text {number}")).await;
    }
    assert_eq!(
        type_ahead(store, "alice", "one more").await,
        TypeAheadOutcome::TooManyTexts
    );
    assert_eq!(texts(store).await.len(), usize::try_from(MAX_AHEAD).unwrap());
    created(store, cue(1, "Ship it?")).await;
    typed_ahead(store, "one more").await;
}

pub async fn text_is_dropped_only_by_its_author(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    assert!(join(store, ZOBAL, "alice").await);
    let first = typed_ahead(store, "first").await;
    let second = typed_ahead(store, "second").await;
    for stranger in ["human:bob", "alice", "human:"] {
        assert!(!drop_ahead(store, second, stranger).await, "{stranger}");
    }
    assert!(drop_ahead(store, second, "human:alice").await);
    assert!(!drop_ahead(store, second, "human:alice").await, "it is gone");
    assert_eq!(texts(store).await, ["first"]);
    let third = typed_ahead(store, "third").await;
    assert!(third > second && second > first, "no number is given again");
    let trail = store
        .run(Trail {
            subject: format!("agent:{ZOBAL}"),
        })
        .await
        .unwrap();
    let last = &trail.last().expect("the agent has one").entry;
    assert_eq!(
        (last.event.as_str(), last.actor.as_str()),
        ("agent.ahead_dropped", "human:alice")
    );
}

pub async fn texts_are_deleted_with_their_agent_or_person(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    assert!(join(store, ZOBAL, "alice").await);
    typed_ahead(store, "yes").await;
    remove_person(store, "alice").await;
    assert!(texts(store).await.is_empty());

    assert!(join(store, "anselmo", "bob").await);
    let typed = || TypeAhead {
        agent_id: "anselmo".to_owned(),
        person: "bob".to_owned(),
        text: "yes".to_owned(),
    };
    assert!(matches!(
        store.run(typed()).await.unwrap(),
        TypeAheadOutcome::Waiting(_)
    ));
    remove_agent(store, "anselmo").await;
    assert!(
        store
            .run(ListAhead {
                agent_id: "anselmo".to_owned()
            })
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(store.run(typed()).await.unwrap(), TypeAheadOutcome::NoSuchAgent);
}
