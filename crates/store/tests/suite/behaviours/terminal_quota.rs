use countersign_core::Resolution;
use countersign_core::access::Role;
use countersign_core::message::Outcome;
use countersign_store::Store;
use countersign_store::clock::{Clock, ManualClock};
use countersign_store::ops::terminal::{
    CueOutcome, ExceededQuota, ImportCue, ImportOutcome, JOIN_WINDOW, JoinOutcome, TerminalQuota, TypeAhead,
};

use super::credentials::add_person;
use super::terminals::{remove_agent, remove_person};
use crate::cues::*;
use crate::scene::*;

const TWO_OPEN: TerminalQuota = TerminalQuota {
    open_of_person: 2,
    ..NO_QUOTA
};
const TWO_JOINED: TerminalQuota = TerminalQuota { joined: 2, ..NO_QUOTA };

fn of(outcome: &CueOutcome) -> Option<ExceededQuota> {
    match outcome {
        CueOutcome::QuotaExceeded(what) => Some(*what),
        CueOutcome::Created { .. } | CueOutcome::Attached(_) | CueOutcome::NotYours | CueOutcome::Held { .. } => None,
    }
}

pub async fn recent_joins_are_limited_per_person(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    for name in ["anselmo", "bertold"] {
        assert_eq!(join_within(store, name, "alice", 2).await, JoinOutcome::New);
    }
    assert_eq!(
        join_within(store, "castoro", "alice", 2).await,
        JoinOutcome::TooManyJoined
    );
    assert_eq!(
        join_within(store, "anselmo", "alice", 2).await,
        JoinOutcome::Taken,
        "this is no new one"
    );
    assert_eq!(
        join_within(store, "castoro", "bob", 2).await,
        JoinOutcome::New,
        "regardless of other people's agents"
    );
    let on_the_way = ask_within(store, cue(1, "Ship it?"), TWO_JOINED).await;
    assert_eq!(of(&on_the_way), Some(ExceededQuota::Joined));
    assert!(summary(store, ZOBAL).await.is_none());
    remove_agent(store, "bertold").await;
    assert_eq!(
        join_within(store, "dorando", "alice", 2).await,
        JoinOutcome::New,
        "an owner made room"
    );
    clock.set(clock.now().plus(JOIN_WINDOW));
    assert_eq!(
        join_within(store, "edelgar", "alice", 2).await,
        JoinOutcome::TooManyJoined
    );
    clock.set(clock.now().plus(std::time::Duration::from_millis(1)));
    assert_eq!(
        join_within(store, "edelgar", "alice", 2).await,
        JoinOutcome::New,
        "that was long ago"
    );
}

pub async fn open_cues_are_limited_per_person(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "One?")).await;
    created(store, cue_of("anselmo", "alice", 2, "Two?")).await;
    for agent_id in [ZOBAL, "bertold"] {
        let refused = ask_within(store, cue_of(agent_id, "alice", 3, "Three?"), TWO_OPEN).await;
        assert_eq!(of(&refused), Some(ExceededQuota::OpenOfPerson), "{agent_id}");
    }
    assert!(summary(store, "bertold").await.is_none(), "a name is not taken in vain");
    assert_eq!(summary(store, ZOBAL).await.expect("it is there").open, 1, "nor a place");
    let again = ask_within(store, cue(4, "One?"), TWO_OPEN).await;
    assert!(
        matches!(again, CueOutcome::Attached(_)),
        "what is there already is no new one: {again:?}"
    );
    let instead = ask_within(store, after(&[1], cue(5, "Three?")), TWO_OPEN).await;
    assert!(
        matches!(instead, CueOutcome::Created { .. }),
        "nor is what takes its place: {instead:?}"
    );
    let bobs = ask_within(store, cue_of("castoro", "bob", 6, "One?"), TWO_OPEN).await;
    assert!(matches!(bobs, CueOutcome::Created { .. }), "{bobs:?}");
}

pub async fn resolved_cue_releases_its_slot(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "One?")).await;
    created(store, cue_of("anselmo", "alice", 2, "Two?")).await;
    let is_full = async |number| {
        let outcome = ask_within(
            store,
            cue_of("bertold", "alice", number, &format!("{number}?")),
            TWO_OPEN,
        )
        .await;
        of(&outcome) == Some(ExceededQuota::OpenOfPerson)
    };
    assert!(is_full(3).await);
    resolved(store, &message_id(2), answer("yes")).await;
    assert!(!is_full(4).await, "one was answered");
    assert!(is_full(5).await);
    remove_agent(store, ZOBAL).await;
    assert!(!is_full(6).await, "one has no agent any more");
    assert!(is_full(7).await);
    resolved(store, &message_id(1), answer("late")).await;
    assert!(is_full(8).await, "its place was given back with its agent");
    let agent_id = "bertold".to_owned();
    let person = "alice".to_owned();
    let text = "go on".to_owned();
    store.run(TypeAhead { agent_id, person, text }).await.unwrap();
    resolved(store, &message_id(4), answer("yes")).await;
    created(store, cue_of("bertold", "alice", 9, "Nine?"))
        .await
        .answered
        .expect("it is answered at once");
    assert!(!is_full(10).await);
    assert!(is_full(11).await);
}

pub async fn a_namesake_begins_with_nothing_open(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    for number in [1, 2] {
        created(store, cue(number, &format!("{number}?"))).await;
    }
    remove_person(store, "alice").await;
    assert!(add_person(store, "alice", Role::Resolver, "new token").await);
    resolved(store, &message_id(1), answer("yes")).await;
    let ask = async |number| {
        ask_within(
            store,
            cue_of("anselmo", "alice", number, &format!("{number}?")),
            TWO_OPEN,
        )
        .await
    };
    for number in [3, 4] {
        let outcome = ask(number).await;
        assert!(matches!(outcome, CueOutcome::Created { .. }), "{outcome:?}");
    }
    assert_eq!(of(&ask(5).await), Some(ExceededQuota::OpenOfPerson));
}

pub async fn import_respects_the_same_quotas(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    let import = async |number: u64, quota: TerminalQuota, is_over: bool| {
        let mut cue = cue(number, &format!("{number}?"));
        cue.message.idempotency_key = Some(format!("req_{number}"));
        let resolution = is_over.then(|| Resolution {
            id: resolution_id(),
            outcome: Outcome::Declined,
            defaulted: false,
            value: None,
            edited: false,
            actor: alice(),
            resolved_at: at(-800),
            comment: None,
            checklist: None,
            files: Vec::new(),
        });
        store
            .run(ImportCue {
                cue,
                quota,
                resolution,
                files: Vec::new(),
                collected: true,
            })
            .await
            .unwrap()
    };
    for number in [1, 2] {
        assert_eq!(import(number, TWO_OPEN, false).await, ImportOutcome::New);
    }
    assert_eq!(
        import(3, TWO_OPEN, false).await,
        ImportOutcome::QuotaExceeded(ExceededQuota::OpenOfPerson)
    );
    assert_eq!(
        import(3, depth(2), false).await,
        ImportOutcome::QuotaExceeded(ExceededQuota::OpenOfAgent)
    );
    assert_eq!(
        import(3, TWO_OPEN, true).await,
        ImportOutcome::New,
        "what is over takes no place"
    );
    assert_eq!(import(2, TWO_OPEN, false).await, ImportOutcome::Known(message_id(2)));
    assert_eq!(summary(store, ZOBAL).await.expect("it is there").open, 2);
}
