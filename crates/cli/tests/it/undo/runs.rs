//! A question of a run, answered in an inbox.

use serde_json::json;

use super::{LONG, SHORT, hold, undo, with_undo};
use crate::runs::inbox::id_of;
use crate::runs::stage::{Client, talk};

#[tokio::test(flavor = "multi_thread")]
async fn a_run_continues_when_the_hold_ends() {
    let hub = with_undo(SHORT).start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    client.next_question().await;
    let id = id_of(&hub, &run).await;
    hold(&hub.owner, &id, "go").await;
    assert_eq!(client.result().await, "go");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_still_waits_for_a_decision_that_is_taken_back() {
    let hub = with_undo(LONG).start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    client.next_question().await;
    let id = id_of(&hub, &run).await;
    hold(&hub.owner, &id, "go").await;
    let answer = json!({"type": "user_input", "runId": run, "agentName": "user", "text": "stop"});
    let refusal = client.refused(answer, "HELD").await;
    assert_eq!(refusal, "owner is answering this");
    undo(&hub.owner, &id).await.expect(200);
    client.answer(&run, "user", "stop").await;
    assert_eq!(client.result().await, "stop");
}
