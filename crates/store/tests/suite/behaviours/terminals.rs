use countersign_core::access::{Principal, Role};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::SignatureAlg;
use countersign_store::ops::account::credential::{CredentialKind, EndCredential, ListCredentials};
use countersign_store::ops::admin::AddOutcome;
use countersign_store::ops::admin::agents::{AddAgent, ListAgents, RemoveAgent, RotateAgent};
use countersign_store::ops::admin::people::{AccountChange, AddPersonToken, RemovePerson};
use countersign_store::ops::last_seen::RecordSeen;
use countersign_store::ops::message::audit::Trail;
use countersign_store::ops::terminal::{CueOutcome, ListTerminals};

use super::credentials::{add_person, authenticate, credential};
use crate::cues::*;
use crate::scene::*;

pub async fn remove_agent(store: &Store, id: &str) {
    assert!(
        store
            .run(RemoveAgent {
                id: id.to_owned(),
                actor: OWNER.to_owned()
            })
            .await
            .unwrap()
    );
}

pub async fn remove_person(store: &Store, name: &str) {
    let removal = RemovePerson {
        name: name.to_owned(),
        actor: OWNER.to_owned(),
    };
    assert_eq!(store.run(removal).await.unwrap(), AccountChange::Done);
}

async fn is_free_for_an_agent(store: &Store, id: &str) -> bool {
    let agent = AddAgent {
        id: id.to_owned(),
        reuse: true,
        signature_alg: SignatureAlg::HmacSha256,
        token_hash: hash_of(&format!("{id} token")),
        signing_key: "key".to_owned(),
        actor: OWNER.to_owned(),
    };
    store.run(agent).await.unwrap() == AddOutcome::Added
}

pub async fn name_is_never_joined_twice(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    assert!(join(store, ZOBAL, "alice").await);
    let assert_taken = async |when: &str| {
        for (name, person) in [(ZOBAL, "alice"), (ZOBAL, "bob"), (BUILDER, "alice")] {
            assert!(!join(store, name, person).await, "{name} for {person}, {when}");
        }
    };
    assert_taken("while they are there").await;
    assert!(!is_free_for_an_agent(store, ZOBAL).await);
    remove_agent(store, ZOBAL).await;
    remove_agent(store, BUILDER).await;
    assert_taken("once they are removed").await;
    let trail = store
        .run(Trail {
            subject: format!("agent:{ZOBAL}"),
        })
        .await
        .unwrap();
    let events: Vec<_> = trail.iter().map(|row| row.entry.event.as_str()).collect();
    assert_eq!(events, ["agent.joined for human:alice", "agent.removed"]);
}

pub async fn name_of_a_removed_terminal_agent_can_be_registered_by_an_owner(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "Ship it?")).await;
    remove_agent(store, ZOBAL).await;
    assert!(summary(store, ZOBAL).await.is_none());
    for person in ["alice", "bob"] {
        let refused = ask(store, cue_of(ZOBAL, person, 2, "Ship it?")).await;
        assert!(matches!(refused, CueOutcome::NotYours), "{person}: {refused:?}");
    }
    assert!(
        found(store, 1, "alice").await.is_none(),
        "its terminals see nothing of it any more"
    );
    resolved(store, &message_id(1), answer("yes")).await;
    assert!(is_free_for_an_agent(store, ZOBAL).await);
    let listed = store.run(ListAgents).await.unwrap();
    assert_eq!(
        listed.iter().map(|agent| agent.agent_id.as_str()).collect::<Vec<_>>(),
        [ZOBAL]
    );
    assert!(matches!(ask(store, cue(3, "Ship it?")).await, CueOutcome::NotYours));
}

pub async fn joining_needs_a_person(store: &Store, _clock: &ManualClock) {
    assert!(!join(store, ZOBAL, "alice").await);
    assert!(matches!(ask(store, cue(1, "Ship it?")).await, CueOutcome::NotYours));
    add_people(store).await;
    assert!(join(store, ZOBAL, "alice").await, "nothing was left of the first try");
}

pub async fn terminal_agents_are_listed_separately(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    clock.set(at(5));
    assert!(join(store, ZOBAL, "alice").await);
    let listed = store.run(ListAgents).await.unwrap();
    assert_eq!(
        listed.iter().map(|agent| agent.agent_id.as_str()).collect::<Vec<_>>(),
        [BUILDER]
    );
    assert!(summary(store, BUILDER).await.is_none());

    let fresh = summary(store, ZOBAL).await.expect("it joined");
    assert_eq!((fresh.terminal, fresh.person.as_str()), (terminal(ZOBAL), "alice"));
    assert_eq!((fresh.joined_at, fresh.seen_at, fresh.last_cue_id), (at(5), None, None));
    created(store, cue(1, "Ship it?")).await;
    created(store, cue(2, "Ship that too?")).await;
    typed_ahead(store, "And then?").await;
    let busy = summary(store, ZOBAL).await.expect("it is there");
    assert_eq!((busy.open, busy.last_cue_id, busy.ahead), (2, Some(message_id(2)), 1));

    let rotation = RotateAgent {
        id: ZOBAL.to_owned(),
        token_hash: hash_of("rotated"),
        signing_key: "rotated".to_owned(),
        overlap: std::time::Duration::ZERO,
        actor: OWNER.to_owned(),
    };
    assert_eq!(store.run(rotation).await.unwrap(), None, "it has no token to rotate");
    assert_eq!(authenticate(store, "rotated").await, None);
}

pub async fn most_recently_active_comes_first(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    for (name, joined) in [("anselmo", 1), ("bertold", 2), ("castoro", 3)] {
        clock.set(at(joined));
        assert!(join(store, name, "bob").await);
    }
    store
        .run(RecordSeen {
            seen: vec![("anselmo".to_owned(), at(9))],
        })
        .await
        .unwrap();
    let names = async |limit| {
        let listed = store.run(ListTerminals { limit }).await.unwrap();
        listed
            .into_iter()
            .map(|listed| listed.terminal.agent_id)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(10).await, ["anselmo", "castoro", "bertold"]);
    assert_eq!(names(2).await, ["anselmo", "castoro"]);
    remove_agent(store, "castoro").await;
    assert_eq!(names(10).await, ["anselmo", "bertold"]);
}

async fn add_terminal_token(store: &Store, name: &str, token: &str) {
    let token = credential(CredentialKind::Terminal, name, token, None);
    assert!(
        store
            .run(AddPersonToken {
                name: name.to_owned(),
                token,
                actor: OWNER.to_owned()
            })
            .await
            .unwrap()
    );
}

pub async fn a_terminal_token_ends_with_its_person(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    add_terminal_token(store, "alice", "terminal token").await;
    add_terminal_token(store, "alice", "another one").await;
    let terminals = Some(Principal::Terminal {
        person: "alice".to_owned(),
    });
    assert_eq!(authenticate(store, "terminal token").await, terminals);

    let list = || ListCredentials {
        person: "alice".to_owned(),
        kind: CredentialKind::Terminal,
    };
    let held = store.run(list()).await.unwrap();
    assert_eq!(held.len(), 2);
    for (kind, ended) in [(CredentialKind::Person, false), (CredentialKind::Terminal, true)] {
        let person = "alice".to_owned();
        let id = held[0].id.clone();
        let actor = OWNER.to_owned();
        assert_eq!(
            store
                .run(EndCredential {
                    person,
                    kind,
                    id,
                    actor
                })
                .await
                .unwrap(),
            ended
        );
    }
    assert_eq!(store.run(list()).await.unwrap().len(), 1);

    remove_person(store, "alice").await;
    assert!(add_person(store, "alice", Role::Resolver, "new token").await);
    for token in ["terminal token", "another one"] {
        assert_eq!(authenticate(store, token).await, None, "{token} was not the namesake's");
    }
}

pub async fn removed_person_leaves_no_terminal_to_a_namesake(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    created(store, cue(1, "Ship it?")).await;
    remove_person(store, "alice").await;
    assert!(add_person(store, "alice", Role::Resolver, "new token").await);
    assert!(found(store, 1, "alice").await.is_none());
    assert!(matches!(ask(store, cue(2, "Ship it?")).await, CueOutcome::NotYours));
    assert_eq!(summary(store, ZOBAL).await.expect("people still see it").person, "");
}
