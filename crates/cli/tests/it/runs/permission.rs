//! Commands that need a person's permission.

use serde_json::{Value, json};

use super::inbox::item_of;
use super::stage::*;
use crate::harness::*;

async fn hub_that_asks() -> Hub {
    Setup::default().config("[runs]\ncommands = \"ask\"\n").start().await
}

fn hello() -> Value {
    alone(command("echo", &["hello", "world"]))
}

/// The same command `cycles` times.
fn hello_again(cycles: u64) -> Value {
    cycle(
        json!({"worker": command("echo", &["hello"])}),
        &["worker"],
        json!({"cycles": cycles}),
    )
}

async fn next_permission_request(client: &mut Client) -> Value {
    client.until("request_permission").await.pop().expect("the request")
}

fn decision(ask: &Value, decision: &str) -> Value {
    let id = &ask["requestId"];
    json!({"type": "permission_decision", "runId": ask["runId"], "permissionRequestId": id, "decision": decision})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_request_has_exactly_these_fields() {
    let hub = hub_that_asks().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &hello())).await;
    client
        .send(json!({"type": "start_run", "runId": run, "requestId": "s1"}))
        .await;
    let mut ask = next_permission_request(&mut client).await;
    let id = ask["requestId"].as_str().expect("its own id").to_owned();
    assert!(uuid::Uuid::parse_str(&id).is_ok(), "{ask}");
    for member in ["ts", "seq", "requestId", "details"] {
        ask.as_object_mut().unwrap().remove(member);
    }
    assert_eq!(
        ask,
        json!({
            "type": "request_permission", "runId": run, "agentName": "worker", "toolName": "command",
            "operation": "command.execute", "resource": "echo hello world", "reason": "policy-ask",
        })
    );
    client.expect_silence().await;
    let allow = json!({"type": "permission_decision", "runId": run, "permissionRequestId": id, "decision": "allow"});
    client.send(allow).await;
    assert_eq!(client.result().await.trim_end(), "hello world");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_command_does_not_run_and_fails_its_step() {
    let hub = hub_that_asks().await;
    let mut client = Client::connect(&hub).await;
    let trace = hub.scratch().path("trace");
    client
        .start_strategy(&hub, &alone(command("touch", &[trace.to_str().unwrap()])), "")
        .await;
    let ask = next_permission_request(&mut client).await;
    client.send(decision(&ask, "deny")).await;
    let (code, message) = client.failure().await;
    assert_eq!(code, "EXECUTION_ERROR");
    assert!(
        message.starts_with("Step \"worker\" failed: ") && message.contains("den"),
        "{message}"
    );
    assert!(!trace.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn allow_asks_again_and_allow_session_does_not() {
    let hub = hub_that_asks().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &hello_again(4), "").await;
    for choice in ["allow", "allow", "allow-session"] {
        let ask = next_permission_request(&mut client).await;
        client.send(decision(&ask, choice)).await;
    }
    let events = client.until("strategy_completed").await;
    assert!(
        events.of_kind("request_permission").is_empty(),
        "the fourth command needs no permission: {events:#?}"
    );
    let updated = events.of_kind("policy_updated");
    assert_eq!(updated.len(), 1, "{events:#?}");
    assert_eq!(
        (&updated[0]["runId"], &updated[0]["tool"]),
        (&json!(run), &json!("command"))
    );
    let names = updated[0]["policies"].as_array().expect("policies");
    assert!(
        !names.is_empty() && names.iter().all(|policy| policy["name"].is_string()),
        "{}",
        updated[0]
    );
    client.continue_run(&run, "").await;
    let events = client.until("strategy_completed").await;
    assert!(
        events.of_kind("request_permission").is_empty(),
        "the decision lasts for the run: {events:#?}"
    );
    client.start_strategy(&hub, &hello_again(1), "").await;
    let ask = next_permission_request(&mut client).await;
    client.send(decision(&ask, "allow")).await;
    client.result().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deny_session_denies_later_commands_without_asking() {
    let hub = hub_that_asks().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &hello(), "").await;
    let ask = next_permission_request(&mut client).await;
    client.send(decision(&ask, "deny-session")).await;
    let events = client.until("strategy_error").await;
    assert_eq!(events.of_kind("policy_updated").len(), 1, "{events:#?}");
    client.continue_run(&run, "").await;
    let events = client.until("strategy_error").await;
    assert!(events.of_kind("request_permission").is_empty(), "{events:#?}");
    assert_eq!(events.last().unwrap()["error"]["code"], "EXECUTION_ERROR");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_without_a_pending_request_is_refused() {
    let hub = hub_that_asks().await;
    let mut client = Client::connect(&hub).await;
    let no_pending = |id: &str, run: &str| format!("No pending permission request {id} for run {run}");
    let message = |run: &str, id: &str| json!({"type": "permission_decision", "runId": run, "permissionRequestId": id, "decision": "allow"});
    let refusal = client.refused(message("unknown", "p"), "NO_PENDING_PERMISSION").await;
    assert_eq!(refusal, no_pending("p", "unknown"));
    let run = client.start_strategy(&hub, &hello(), "").await;
    let ask = next_permission_request(&mut client).await;
    let id = ask["requestId"].as_str().unwrap();
    assert_eq!(
        client.refused(message(&run, "p"), "NO_PENDING_PERMISSION").await,
        no_pending("p", &run)
    );
    let other = json!({"type": "question_response", "runId": run, "questionRequestId": id, "response": "allow"});
    let refusal = client.refused(other, "NO_PENDING_QUESTION").await;
    assert_eq!(refusal, format!("No pending question request {id} for run {run}"));
    let text = json!({"type": "user_input", "runId": run, "agentName": "worker", "text": "allow"});
    client.refused(text, "NO_PENDING_INPUT").await;
    client.send(decision(&ask, "allow")).await;
    client.result().await;
    assert_eq!(
        client.refused(message(&run, id), "NO_PENDING_PERMISSION").await,
        no_pending(id, &run)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_request_is_a_select_of_four_in_the_inbox() {
    let hub = hub_that_asks().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &hello(), "").await;
    let ask = next_permission_request(&mut client).await;
    let item = item_of(&hub, &run).await;
    assert_eq!(item["question"]["kind"], "select");
    let options = item["question"]["options"].as_array().expect("options");
    let values: Vec<&str> = options.iter().map(|option| option["value"].as_str().unwrap()).collect();
    assert_eq!(values, ["allow", "deny", "allow-session", "deny-session"]);
    assert!(
        options
            .iter()
            .all(|option| option["label"].as_str().is_some_and(|label| !label.is_empty()))
    );
    assert_eq!(item["source"]["ask"], "permission");
    let shown = format!("{}{}", item["title"], item["body"]);
    assert!(shown.contains("echo hello world"), "the item shows the command: {item}");
    let id = item["id"].as_str().unwrap();
    hub.owner
        .answer(id, "perhaps")
        .await
        .refused_field("invalid_field", "value");
    hub.owner.answer(id, "allow-session").await.expect(200);
    let events = client.until("strategy_completed").await;
    assert_eq!(events.of_kind("policy_updated").len(), 1, "{events:#?}");
    assert_eq!(
        events.last().unwrap()["result"].as_str().unwrap().trim_end(),
        "hello world"
    );
    client.refused(decision(&ask, "deny"), "NO_PENDING_PERMISSION").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_on_the_socket_resolves_the_item() {
    let hub = hub_that_asks().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &hello(), "").await;
    let ask = next_permission_request(&mut client).await;
    let id = super::inbox::id_of(&hub, &run).await;
    client.send(decision(&ask, "allow")).await;
    client.result().await;
    let shown = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
    assert_eq!(
        (&shown["status"], &shown["resolution"]["value"]),
        (&json!("answered"), &json!("allow"))
    );
    hub.owner.answer(&id, "deny").await.refused_as_terminal(&id, "answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_subscriber_gets_the_permission_request() {
    let hub = hub_that_asks().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &hello(), "").await;
    let ask = next_permission_request(&mut client).await;
    let mut late = Client::connect(&hub).await;
    late.subscribe(&run).await;
    assert_eq!(late.next().await, ask);
    late.send(decision(&ask, "allow")).await;
    assert_eq!(late.result().await.trim_end(), "hello world");
    late.subscribe_after(&run, 0).await;
    let replayed = late.frames_so_far().await;
    assert_eq!(replayed.of_kind("request_permission")[0]["resolved"], true);
}
