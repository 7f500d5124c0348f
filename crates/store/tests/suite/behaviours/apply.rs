use countersign_core::message::{Outcome, Resolution, Status};
use countersign_core::{Actor, Command, Rejection, State, Verdict};
use countersign_protocol::a2h::CheckItem;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::ApplyOutcome;
use countersign_store::ops::message::audit::Trail;
use serde_json::json;

use crate::scene::*;

fn expiring(number: u64) -> Draft {
    Draft {
        expires_at: Some(at(10)),
        ..Draft::ask(number)
    }
}

async fn assert_kept(store: &Store, draft: &Draft, resolution: &Resolution) {
    let view = agent_view(store, &draft.id()).await;
    assert_eq!((view.rev, view.changed_at()), (2, resolution.resolved_at));
    assert_eq!(view.state, State::Resolved(resolution.clone()));
    assert_eq!(view.wire, draft.wire(), "what was sent does not change");
    assert_eq!(
        viewed(store, &draft.id()).await.message.state,
        State::Resolved(resolution.clone())
    );
}

pub async fn every_command_reaches_its_outcome(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    clock.set(at(11));
    let cases = [
        (Draft::ask(1), answer("approve"), Outcome::Answered),
        (Draft::ask(2), by_alice(Verdict::Declined), Outcome::Declined),
        (Draft::ask(3), Command::Cancel, Outcome::Cancelled),
        (Draft::task(4), by_alice(Verdict::Completed(None)), Outcome::Completed),
        (Draft::task(5), by_alice(Verdict::Dismissed(None)), Outcome::Dismissed),
        (expiring(6), Command::Expire, Outcome::Expired),
        (
            Draft {
                expires_at: Some(at(10)),
                ..Draft::task(7)
            },
            Command::Expire,
            Outcome::Expired,
        ),
    ];
    for (draft, command, outcome) in cases {
        let id = submitted(store, &draft).await;
        let resolution = resolved(store, &id, command).await;
        assert_eq!((resolution.outcome, resolution.resolved_at), (outcome, at(11)));
        assert_kept(store, &draft, &resolution).await;
    }
    assert_eq!(open_count(store, BUILDER).await, 0);
}

pub async fn outcome_is_stored_completely(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let typed = Command::Resolve {
        actor: alice(),
        verdict: Verdict::Answered(json!("only on “Monday”\n😀")),
        comment: Some("the bridge\u{0} is 'closed'".to_owned()),
    };
    let id = submitted(store, &Draft::ask(1)).await;
    let resolution = resolved(store, &id, typed).await;
    assert!(resolution.edited);
    assert_eq!(resolution.comment.as_deref(), Some("the bridge\u{0} is 'closed'"));
    assert_kept(store, &Draft::ask(1), &resolution).await;

    let ticked = vec![CheckItem {
        text: "turn".to_owned(),
        done: true,
    }];
    let id = submitted(store, &Draft::task(2)).await;
    let resolution = resolved(store, &id, by_alice(Verdict::Completed(Some(ticked.clone())))).await;
    assert_eq!(resolution.checklist, Some(ticked));
    assert_kept(store, &Draft::task(2), &resolution).await;
}

pub async fn an_unknown_message_is_not_found(store: &Store, _clock: &ManualClock) {
    for command in [answer("approve"), Command::Cancel, Command::Expire] {
        assert!(matches!(
            apply(store, &message_id(9), command).await,
            ApplyOutcome::NotFound
        ));
    }
}

pub async fn a_refusal_leaves_no_trace(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &Draft::pushed(1)).await;
    let stranger = Command::Resolve {
        actor: Actor::human("mallory"),
        verdict: Verdict::Declined,
        comment: None,
    };
    let refused = [
        stranger,
        by_alice(Verdict::Completed(None)),
        by_alice(Verdict::Answered(json!(7))),
        Command::Expire,
    ];
    for command in refused {
        rejected(store, &id, command).await;
    }
    let item = viewed(store, &id).await;
    assert_eq!(
        (item.message.state, item.message.rev, item.delivery),
        (State::Open, 1, None)
    );
    assert_eq!(
        store
            .run(Trail {
                subject: id.to_string()
            })
            .await
            .unwrap()
            .len(),
        1
    );
    assert_eq!(open_count(store, BUILDER).await, 1);
}

pub async fn first_outcome_is_final(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let draft = expiring(1);
    let id = submitted(store, &draft).await;
    let first = resolved(store, &id, Command::Cancel).await;
    for now in [at(0), at(11)] {
        clock.set(now);
        for command in [
            answer("approve"),
            by_alice(Verdict::Declined),
            Command::Cancel,
            Command::Expire,
        ] {
            assert_eq!(rejected(store, &id, command).await, Rejection::already(&id, &first));
        }
    }
    assert_kept(store, &draft, &first).await;
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

pub async fn answer_at_the_exact_expiry_wins(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &expiring(1)).await;
    clock.set(at(10));
    assert_eq!(resolved(store, &id, answer("approve")).await.outcome, Outcome::Answered);
}

pub async fn late_answer_loses_to_the_default(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let draft = expiring(1);
    let id = submitted(store, &draft).await;
    clock.set(at(11));
    let resolution = resolved(store, &id, answer("approve")).await;
    assert_eq!((resolution.outcome, resolution.defaulted), (Outcome::Expired, true));
    assert_eq!(
        (&resolution.value, &resolution.actor),
        (&Some(json!("deny")), &Actor::default_on_expire())
    );
    assert_kept(store, &draft, &resolution).await;
}

pub async fn late_cancel_triggers_the_expiry(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let id = submitted(store, &expiring(1)).await;
    clock.set(at(11));
    assert_eq!(resolved(store, &id, Command::Cancel).await.outcome, Outcome::Expired);
    assert_eq!(
        agent_view(store, &id).await.state.status(),
        Status::Resolved(Outcome::Expired)
    );
}

pub async fn nothing_expires_early(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for draft in [expiring(1), Draft::ask(2)] {
        let id = submitted(store, &draft).await;
        clock.set(at(10));
        assert_eq!(rejected(store, &id, Command::Expire).await, Rejection::NotDue);
    }
}
