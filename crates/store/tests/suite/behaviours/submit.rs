use countersign_core::State;
use countersign_core::message::{Outcome, Status};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::Submission;
use countersign_store::ops::message::pull::{Pull, View};
use countersign_store::ops::message::submit::FindDuplicate;

use crate::scene::*;

pub async fn message_is_read_back_as_it_was_sent(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for draft in [
        Draft {
            expires_at: Some(at(60_000)),
            ..Draft::pushed(1)
        },
        Draft::task(2),
    ] {
        let id = submitted(store, &draft).await;
        let view = agent_view(store, &id).await;
        assert_eq!(
            (view.id.clone(), view.agent_id.as_str(), view.rev),
            (id.clone(), BUILDER, 1)
        );
        assert_eq!(
            (view.received_at, view.expires_at, view.changed_at()),
            (at(0), draft.expires_at, at(0))
        );
        assert_eq!((view.state, view.source), (State::Open, draft.source()));
        assert_eq!(view.wire, draft.wire(), "byte for byte");

        let item = viewed(store, &id).await;
        assert_eq!(item.message.content, draft.content());
        assert_eq!(
            (item.message.callback, item.message.expires_at),
            (draft.callback, draft.expires_at)
        );
        assert_eq!(
            (item.message.id, item.message.state, item.delivery),
            (id, State::Open, None)
        );
    }
    assert_eq!(open_count(store, BUILDER).await, 2);
}

pub async fn a_notify_is_delivered_at_once(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::notify(1)).await;
    assert_eq!(agent_view(store, &id).await.state, State::Delivered);
    assert_eq!(open_count(store, BUILDER).await, 0);
}

pub async fn used_key_returns_its_first_message_and_current_status(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let first = Draft {
        key: Some("deploy"),
        ..Draft::ask(1)
    };
    let id = submitted(store, &first).await;
    let others = [0, 1].map(|variant| Draft {
        key: Some("deploy"),
        variant,
        ..Draft::ask(2)
    });
    for again in &others {
        assert_eq!(submit(store, again).await, first.taken(Status::Open));
    }
    assert_eq!(open_count(store, BUILDER).await, 1);
    resolved(store, &id, answer("approve")).await;
    for again in &others {
        assert_eq!(
            submit(store, again).await,
            first.taken(Status::Resolved(Outcome::Answered))
        );
    }
    assert!(
        store.run(Pull(message_id(2))).await.unwrap().is_none(),
        "a duplicate stores nothing"
    );
    assert!(store.run(View(message_id(2))).await.unwrap().is_none());
    assert_eq!(open_count(store, BUILDER).await, 0);
}

pub async fn a_key_belongs_to_one_agent(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    submitted(
        store,
        &Draft {
            key: Some("deploy"),
            ..Draft::ask(1)
        },
    )
    .await;
    submitted(
        store,
        &Draft {
            key: Some("deploy"),
            variant: 1,
            agent: TESTER,
            ..Draft::ask(2)
        },
    )
    .await;
}

pub async fn notify_is_deduplicated_like_any_other(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let first = Draft {
        key: Some("news"),
        ..Draft::notify(1)
    };
    submitted(store, &first).await;
    let again = Draft {
        key: Some("news"),
        ..Draft::notify(2)
    };
    assert_eq!(submit(store, &again).await, first.taken(Status::Delivered));
    assert_eq!(open_count(store, BUILDER).await, 0);
}

pub async fn without_a_key_every_submit_is_new(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=3 {
        submitted(store, &Draft::ask(number)).await;
    }
    assert_eq!(open_count(store, BUILDER).await, 3);
}

pub async fn agent_at_its_open_quota_is_refused(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    for draft in [Draft::ask(1), Draft::task(2)] {
        assert_eq!(submit_within(store, &draft, 2).await, Submission::Created);
    }
    for draft in [
        Draft::ask(3),
        Draft::task(3),
        Draft {
            key: Some("new"),
            ..Draft::ask(3)
        },
    ] {
        assert_eq!(submit_within(store, &draft, 2).await, Submission::TooManyOpen);
    }
    assert!(
        store.run(Pull(message_id(3))).await.unwrap().is_none(),
        "a refusal stores nothing"
    );
    assert_eq!(open_count(store, BUILDER).await, 2);
    // A notify needs no slot, and one agent's quota does not affect another.
    assert_eq!(submit_within(store, &Draft::notify(4), 2).await, Submission::Created);
    assert_eq!(
        submit_within(
            store,
            &Draft {
                agent: TESTER,
                ..Draft::ask(5)
            },
            2
        )
        .await,
        Submission::Created
    );
}

pub async fn replay_needs_no_slot_of_its_own(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let first = Draft {
        key: Some("deploy"),
        ..Draft::ask(1)
    };
    assert_eq!(submit_within(store, &first, 1).await, Submission::Created);
    let again = Draft {
        number: 2,
        ..first.clone()
    };
    assert_eq!(submit_within(store, &again, 1).await, first.taken(Status::Open));
    assert_eq!(open_count(store, BUILDER).await, 1);
}

pub async fn resolving_releases_a_slot(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let first = Draft {
        expires_at: Some(at(10)),
        ..Draft::ask(1)
    };
    assert_eq!(submit_within(store, &first, 1).await, Submission::Created);
    assert_eq!(submit_within(store, &Draft::task(2), 1).await, Submission::TooManyOpen);
    clock.set(at(11));
    resolved(store, &first.id(), countersign_core::Command::Expire).await;
    assert_eq!(submit_within(store, &Draft::task(2), 1).await, Submission::Created);
    rejected(store, &first.id(), answer("approve")).await;
    assert_eq!(open_count(store, BUILDER).await, 1, "a loser frees no second place");
}

pub async fn duplicate_is_found_by_its_key(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let find = |agent: &str, key: &str| FindDuplicate {
        agent_id: agent.to_owned(),
        key: key.to_owned(),
    };
    let first = Draft {
        key: Some("deploy"),
        variant: 7,
        ..Draft::ask(1)
    };
    submitted(store, &first).await;
    let earlier = store.run(find(BUILDER, "deploy")).await.unwrap().expect("it was sent");
    assert_eq!(Submission::Duplicate(earlier), first.taken(Status::Open));
    assert_eq!(store.run(find(BUILDER, "Deploy")).await.unwrap(), None);
    assert_eq!(store.run(find(TESTER, "deploy")).await.unwrap(), None);
}
