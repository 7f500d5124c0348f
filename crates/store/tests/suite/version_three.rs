//! A version 3 store: the data of version 2, and cues of terminal agents.

use countersign_store::Store;
use countersign_store::ops::terminal::{CueOutcome, ExceededQuota, TerminalQuota};

use crate::cues::{NO_QUOTA, ask_within, cue_of, summary};
use crate::version_two;

/// Carol has one agent with an open cue, one that was removed while its cue was open, and two
/// in directories of the same name.
pub fn rows(bytes: fn(&[u8]) -> String) -> String {
    let since = format!(
        "INSERT INTO person (name, role, created_at) VALUES ('carol', 'resolver', 0);
         INSERT INTO agent (id, signature_alg, open, created_at) VALUES ('anselmo', 'hmac-sha256', 1, 0),
             ('clothar', 'hmac-sha256', 0, 0), ('dagobert', 'hmac-sha256', 0, 0);
         INSERT INTO terminal (agent_id, person, runtime, project_dir, terminal, joined_at)
             VALUES ('anselmo', 'carol', 'codex', '', 'zsh', 0), ('bertold', 'carol', 'codex', '', 'zsh', 0),
             ('clothar', 'carol', 'codex', '/a/shop', 'zsh', 1), ('dagobert', 'carol', 'codex', '/b/shop', 'zsh', 2);
         INSERT INTO message (seq, id, agent_id, status, rev, rank, received_at, audit_seq, source) VALUES
             (901, 'msg_901', 'anselmo', 'open', 1, 2, 0, 901, '{{}}'), (902, 'msg_902', 'bertold', 'open', 1, 2, 0, 902, '{{}}');
         INSERT INTO cue (seq, agent_id, envelope) VALUES (901, 'anselmo', {0}), (902, 'bertold', {0});",
        bytes(&[1; 32]),
    );
    version_two::rows(bytes) + &since
}

pub async fn assert_upgraded(store: &Store) {
    let ask = async |agent_id: &str, number, open_of_person| {
        let quota = TerminalQuota {
            open_of_person,
            ..NO_QUOTA
        };
        ask_within(store, cue_of(agent_id, "carol", number, "Ship it?"), quota).await
    };
    let full = ask("anselmo", 90, 1).await;
    assert!(
        matches!(full, CueOutcome::QuotaExceeded(ExceededQuota::OpenOfPerson)),
        "what was open is counted: {full:?}"
    );
    let removed = ask("bertold", 91, 9).await;
    assert!(
        matches!(removed, CueOutcome::NotYours),
        "a removed name has no person: {removed:?}"
    );
    let made = ask("anselmo", 92, 2).await;
    assert!(
        matches!(made, CueOutcome::Created { .. }),
        "and no more than that: {made:?}"
    );
    for (id, name) in [
        ("anselmo", "Codex"),
        ("clothar", "Codex · shop"),
        ("dagobert", "Codex · shop · 2"),
    ] {
        assert_eq!(summary(store, id).await.expect("it is listed").name, name);
    }
}
