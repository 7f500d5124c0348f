use serde_json::{Value, json};

use super::{TerminalAgent, id, item, presence};
use crate::harness::*;

/// Kills the hub with SIGKILL and restarts it.
async fn crash(hub: &mut Hub) {
    hub.kill();
    hub.restart().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hub_may_be_killed_between_any_two_steps() {
    let mut hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    crash(&mut hub).await;
    let first = shell.ask_for_id("Ship it?").await;
    crash(&mut hub).await;
    assert_eq!(id(&shell.ask_again("Ship it?").await), first);
    crash(&mut hub).await;
    let file = json!({"name": "a.txt", "data": "aGk="});
    hub.owner
        .resolve(
            &first,
            json!({"resolution": "answered", "value": "yes", "files": [file]}),
        )
        .await
        .expect(200);
    crash(&mut hub).await;
    assert_eq!(shell.outcome(&first).await["reply"]["text"], "yes");
    crash(&mut hub).await;
    assert_eq!(
        shell.api.get(&format!("/v1/hap/cues/{first}/files/0")).await.text(),
        "hi"
    );
    crash(&mut hub).await;
    assert_eq!(id(&shell.ask_again("Ship it?").await), first, "not collected yet");
    shell.collect(&first).await;
    crash(&mut hub).await;
    let path = format!("/v1/terminals/{}/ahead", shell.agent_id);
    hub.owner.post(&path, &json!({"text": "and again"})).await.expect(201);
    crash(&mut hub).await;
    let second = shell.ask("Ship it?").await;
    assert_eq!((id(&second) == first, &second["status"]), (false, &json!("answered")));
    crash(&mut hub).await;
    assert_eq!(shell.outcome(&id(&second)).await["reply"]["text"], "and again");
    assert_eq!(
        hub.owner.get(&path).await.expect(200)["ahead"],
        json!([]),
        "the type-ahead was used once"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_waits_through_a_restart_gets_its_answer() {
    let mut hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let first = shell.ask_for_id("Ship it?").await;
    let process = shell.waiting(&hub, &first).await;
    hub.interrupt();
    let reply = process.await.expect("a reply").expect(200);
    assert_eq!(reply["status"], "open", "a stopping hub answers its long-polls");
    hub.restart().await;
    let process = shell.waiting(&hub, &first).await;
    hub.owner.answer(&first, "yes").await.expect(200);
    assert_eq!(process.await.expect("a reply").expect(200)["reply"]["text"], "yes");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_no_process_counts_as_gone_before_it_could_reconnect() {
    let mut hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let first = shell.ask_for_id("One?").await;
    shell.waiting(&hub, &first).await.abort();
    super::until_gone(&hub, &first).await;
    crash(&mut hub).await;
    assert_eq!(presence(&hub, &first).await, "waiting");
    let second = shell.ask("Two?").await;
    assert_eq!(
        (&second["superseded"], &second["queued_behind"]),
        (&json!([]), &json!(1))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledged_answer_survives_the_hub_and_the_process() {
    let mut hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let first = shell.ask_for_id("Ship it?").await;
    let process = shell.waiting(&hub, &first).await;
    process.abort();
    hub.owner.answer(&first, "yes").await.expect(200);
    crash(&mut hub).await;
    assert_eq!(item(&hub, &first).await["fetched_at"], Value::Null, "not fetched yet");
    let back = shell.ask_again("Ship it?").await;
    assert_eq!((id(&back), &back["status"]), (first, &json!("answered")));
}
