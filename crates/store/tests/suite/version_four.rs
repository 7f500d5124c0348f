//! A version 4 store: the data of version 2, and a terminal agent with its cues and waiting texts.

use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::list::Counts;
use countersign_store::ops::terminal::ListAhead;

use crate::behaviours::files::attachment;
use crate::cues::{found, summary};
use crate::runs::{asked, begun, end, waiting_for};
use crate::scene::*;
use crate::{runs, version_two};

const TERMINAL: &str = "bertold";

pub fn rows(bytes: fn(&[u8]) -> String) -> String {
    let since = format!(
        "INSERT INTO agent (id, signature_alg, open, created_at) VALUES ('{TERMINAL}', 'hmac-sha256', 0, 0);
         INSERT INTO terminal (agent_id, person, runtime, project_dir, terminal, joined_at)
             VALUES ('{TERMINAL}', 'owner', 'codex', '/srv', 'zsh', {});
         INSERT INTO cue (seq, agent_id, envelope) VALUES (1, '{TERMINAL}', {});
         INSERT INTO ahead (agent_id, person, text, created_at) VALUES ('{TERMINAL}', 'owner', 'go on', 0);
         INSERT INTO attachment (message_seq, idx, body) VALUES (2, 0, {});",
        at(4).as_millis(),
        bytes(&hash_of("envelope")),
        bytes(b"\x89PNG"),
    );
    version_two::rows(bytes) + &since
}

pub async fn assert_upgraded(store: &Store, clock: &ManualClock) {
    assert_eq!(summary(store, TERMINAL).await.expect("it is known").joined_at, at(4));
    assert_eq!(
        found(store, 1, "owner").await.expect("it is asked").content.title,
        "Number 1"
    );
    assert_eq!(attachment(store, 2, 0).await.as_deref(), Some(&b"\x89PNG"[..]));
    let ahead = store
        .run(ListAhead {
            agent_id: TERMINAL.to_owned(),
        })
        .await
        .unwrap();
    assert_eq!(
        ahead.iter().map(|ahead| ahead.text.as_str()).collect::<Vec<_>>(),
        ["go on"]
    );
    version_two::assert_upgraded(store, clock).await;

    // The features of the later versions work too.
    let open = async || {
        store
            .run(Counts {
                person: "alice".to_owned(),
            })
            .await
            .unwrap()
            .open
    };
    let before = open().await;
    begun(store).await;
    asked(store, &[6]).await;
    assert_eq!(open().await, before + 1);
    resolved(store, &message_id(6), answer("approve")).await;
    assert_eq!(open().await, before);
    assert_eq!(waiting_for(store, runs::RUN).await.len(), 1);
    assert!(end(store, runs::RUN, 20).await);
}
