//! Cues of agents in terminals.

use super::{LONG, SHORT, hold, undo, with_undo};
use crate::hap::{TerminalAgent, until_gone};

#[tokio::test(flavor = "multi_thread")]
async fn a_cue_is_open_until_the_hold_ends() {
    let hub = with_undo(LONG).start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = shell.ask_for_id("Ship it?").await;
    let before = shell.get_cue(&id).await;
    hold(&hub.owner, &id, "yes").await;
    assert_eq!(shell.get_cue(&id).await, before);
    undo(&hub.owner, &id).await.expect(200);
    assert_eq!(shell.get_cue(&id).await, before);
    hub.owner.answer(&id, "no").await.expect(200);
    assert_eq!(shell.outcome(&id).await["status"], "answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_cue_does_not_supersede_an_answer_on_hold() {
    let hub = with_undo(SHORT).start().await;
    let shell = TerminalAgent::join(&hub).await;
    let first = shell.ask_for_id("Ship it?").await;
    shell.waiting(&hub, &first).await.abort();
    until_gone(&hub, &first).await;
    hold(&hub.owner, &first, "yes").await;
    let next = shell.ask("And now?").await;
    assert_eq!(next["superseded"], serde_json::json!([]), "{next}");
    assert_eq!(shell.get_cue(&first).await["status"], "answered");
}
