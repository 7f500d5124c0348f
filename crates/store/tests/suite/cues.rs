//! Test fixtures: terminal agents and their people.

use countersign_core::access::Role;
use countersign_core::audit::AuditRecord;
use countersign_core::hap::{Cue, Terminal, content, digest, source};
use countersign_core::message::Source;
use countersign_core::{Actor, Digest};
use countersign_protocol::a2h;
use countersign_protocol::hap::CueKind;
use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::model::{NewMessage, ResolvedMessage, json_text};
use countersign_store::ops::terminal::{
    Ahead, Collect, CueOutcome, CurrentCue, FindCue, FoundCue, JoinOutcome, JoinTerminal, ListAhead, NewCue, SubmitCue,
    TerminalOf, TerminalQuota, TerminalSummary, TypeAhead, TypeAheadOutcome, UncollectedCues,
};
use serde_json::Value;

use crate::behaviours::credentials::add_person;
use crate::scene::*;

/// A terminal agent of Alice's.
pub const ZOBAL: &str = "zobalore";

pub fn terminal(agent_id: &str) -> Terminal {
    Terminal {
        agent_id: agent_id.to_owned(),
        runtime: "codex".to_owned(),
        project_dir: "/home/alice/bridge".to_owned(),
        terminal: "zsh".to_owned(),
    }
}

/// Two resolvers and an owner, so that either resolver can be removed.
pub async fn add_people(store: &Store) {
    for (name, role) in [
        ("alice", Role::Resolver),
        ("bob", Role::Resolver),
        ("olga", Role::Owner),
    ] {
        assert!(add_person(store, name, role, &format!("{name} token")).await);
    }
}

pub const NO_QUOTA: TerminalQuota = TerminalQuota {
    open_of_agent: NO_LIMIT,
    open_of_person: NO_LIMIT,
    joined: NO_LIMIT,
};

/// A quota of open cues per agent, without other limits.
pub fn depth(open_of_agent: i64) -> TerminalQuota {
    TerminalQuota {
        open_of_agent,
        ..NO_QUOTA
    }
}

pub async fn join(store: &Store, agent_id: &str, person: &str) -> bool {
    join_within(store, agent_id, person, NO_LIMIT).await == JoinOutcome::New
}

pub async fn join_within(store: &Store, agent_id: &str, person: &str, max_joined: i64) -> JoinOutcome {
    store
        .run(JoinTerminal {
            terminal: terminal(agent_id),
            person: person.to_owned(),
            max_joined,
        })
        .await
        .unwrap()
}

/// A cue of Alice's agent. Two cues differ only by their prompt.
pub fn cue(number: u64, prompt: &str) -> NewCue {
    cue_of(ZOBAL, "alice", number, prompt)
}

pub fn cue_of(agent_id: &str, person: &str, number: u64, prompt: &str) -> NewCue {
    made_of(
        agent_id,
        person,
        number,
        Cue {
            kind: CueKind::Cue,
            prompt: prompt.to_owned(),
            payload: None,
        },
    )
}

/// A cue of Alice's agent with choices.
pub fn offering(number: u64, prompt: &str, payload: &Value) -> NewCue {
    let payload = payload.as_object().cloned();
    made_of(
        ZOBAL,
        "alice",
        number,
        Cue {
            kind: CueKind::Cue,
            prompt: prompt.to_owned(),
            payload,
        },
    )
}

fn made_of(agent_id: &str, person: &str, number: u64, cue: Cue) -> NewCue {
    let terminal = terminal(agent_id);
    let content = json_text(&content(&cue, &terminal, person)).expect("content can be written");
    let audit = AuditRecord {
        subject: message_id(number).to_string(),
        at: at(0),
        actor: Actor::agent(agent_id).to_string(),
        event: "submitted".to_owned(),
        content_sha256: Some(Digest::of(content.as_bytes())),
        resolution_sha256: None,
        prev_hash: None,
    };
    let message = NewMessage {
        id: message_id(number),
        agent_id: agent_id.to_owned(),
        kind: a2h::Kind::Ask,
        rank: 2,
        received_at: at(0),
        expires_at: None,
        idempotency_key: None,
        source: json_text(&Source::Hap(source(&cue, &terminal))).expect("a source can be written"),
        callback: None,
        content: Some(content),
        wire: json_text(&cue).expect("a cue can be written"),
        audit,
    };
    let gone = Vec::new();
    let resolution_id = resolution_id();
    NewCue {
        message,
        terminal,
        person: person.to_owned(),
        envelope: digest(&cue),
        gone,
        resolution_id,
    }
}

/// The same cue, knowing that the processes of earlier ones have ended.
pub fn after(gone: &[u64], cue: NewCue) -> NewCue {
    let gone = gone
        .iter()
        .map(|number| (message_id(*number), resolution_id()))
        .collect();
    NewCue { gone, ..cue }
}

pub async fn ask_within(store: &Store, cue: NewCue, quota: TerminalQuota) -> CueOutcome {
    store.run(SubmitCue { cue, quota }).await.unwrap()
}

pub async fn ask(store: &Store, cue: NewCue) -> CueOutcome {
    ask_within(store, cue, NO_QUOTA).await
}

#[derive(Debug)]
pub struct Created {
    pub superseded: Vec<ResolvedMessage>,
    pub answered: Option<Box<ResolvedMessage>>,
}

pub async fn created(store: &Store, cue: NewCue) -> Created {
    match ask(store, cue).await {
        CueOutcome::Created { superseded, answered } => Created { superseded, answered },
        other => panic!("expected a new cue, got {other:?}"),
    }
}

pub async fn attached(store: &Store, cue: NewCue) -> MessageId {
    match ask(store, cue).await {
        CueOutcome::Attached(id) => id,
        other => panic!("expected an earlier cue, got {other:?}"),
    }
}

pub async fn collect(store: &Store, number: u64, person: &str) -> Option<bool> {
    store
        .run(Collect {
            id: message_id(number),
            person: person.to_owned(),
        })
        .await
        .unwrap()
}

pub async fn found(store: &Store, number: u64, person: &str) -> Option<FoundCue> {
    store
        .run(FindCue {
            id: message_id(number),
            person: person.to_owned(),
        })
        .await
        .unwrap()
}

pub async fn current(store: &Store) -> Option<MessageId> {
    store
        .run(CurrentCue {
            agent_id: ZOBAL.to_owned(),
            person: "alice".to_owned(),
        })
        .await
        .unwrap()
}

/// The cues of Alice's agent that `person` may collect; `None` if the agent is not that person's.
pub async fn kept(store: &Store, person: &str) -> Option<Vec<MessageId>> {
    let kept = store
        .run(UncollectedCues {
            agent_id: ZOBAL.to_owned(),
            person: person.to_owned(),
        })
        .await
        .unwrap();
    kept.map(|kept| kept.into_iter().map(|found| found.unwrap().view.id).collect())
}

pub async fn summary(store: &Store, agent_id: &str) -> Option<TerminalSummary> {
    store
        .run(TerminalOf {
            agent_id: agent_id.to_owned(),
        })
        .await
        .unwrap()
}

pub async fn type_ahead(store: &Store, person: &str, text: &str) -> TypeAheadOutcome {
    let agent_id = ZOBAL.to_owned();
    let person = person.to_owned();
    let text = text.to_owned();
    store.run(TypeAhead { agent_id, person, text }).await.unwrap()
}

pub async fn typed_ahead(store: &Store, text: &str) -> i64 {
    match type_ahead(store, "alice", text).await {
        TypeAheadOutcome::Waiting(id) => id,
        other => panic!("expected it to wait, got {other:?}"),
    }
}

pub async fn waiting_texts(store: &Store) -> Vec<Ahead> {
    store
        .run(ListAhead {
            agent_id: ZOBAL.to_owned(),
        })
        .await
        .unwrap()
}
