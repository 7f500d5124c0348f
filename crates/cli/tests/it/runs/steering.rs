//! Steering a live run and changing its policy.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

fn steer(run: &str, text: &str) -> Value {
    json!({"type": "steer_run", "runId": run, "text": text})
}

fn wrapped(text: &str) -> String {
    format!("<user_steering>\n{text}\n</user_steering>")
}

#[tokio::test(flavor = "multi_thread")]
async fn steering_reaches_the_next_agent_and_never_a_person() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"first": person(), "second": person(), "assistant": echo()});
    let run = client
        .start_strategy(
            &hub,
            &sequence(agents, &["first", "second", "assistant", "assistant"]),
            "",
        )
        .await;
    client.next_question().await;
    let mut other = Client::connect(&hub).await;
    for text in ["be brief", "be kind"] {
        other.send(steer(&run, text)).await;
        let mut queued = client.expect("steer_queued").await;
        for member in ["ts", "seq", "requestId"] {
            queued.as_object_mut().unwrap().remove(member);
        }
        assert_eq!(queued, json!({"type": "steer_queued", "runId": run, "text": text}));
    }
    other.expect_silence().await;
    client.answer(&run, "first", "one").await;
    assert_eq!(
        client.next_question().await["prompt"],
        "one",
        "a person's prompt has no steering"
    );
    client.answer(&run, "second", "hello").await;
    let events = client.until("strategy_completed").await;
    assert_eq!(
        events.of_kind("step_started")[0]["message"],
        "hello",
        "step_started shows the plain input"
    );
    let expected = format!("hello\n\n{}\n\n{}", wrapped("be brief"), wrapped("be kind"));
    assert_eq!(events.of_kind("agent_output")[0]["text"], json!(expected));
    assert_eq!(
        events.of_kind("agent_output")[1]["text"],
        json!(expected),
        "steering is added once"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_run_can_be_steered_before_it_starts() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &talk())).await;
    client.send(steer(&run, "be brief")).await;
    client.expect("steer_queued").await;
    client.start(&run, "hello").await;
    assert_eq!(client.result().await, format!("hello\n\n{}", wrapped("be brief")));
}

#[tokio::test(flavor = "multi_thread")]
async fn seqs_sent_before_a_continuation_are_not_reused() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "hello").await;
    client.result().await;
    client.send(json!({"type": "prepare_run", "runId": run})).await;
    client.expect("run_prepared").await;
    client.send(steer(&run, "be brief")).await;
    client.expect("steer_queued").await;
    client.send(json!({"type": "stop_run", "runId": run})).await;
    let cancelled = client.expect("strategy_error").await;
    hub.kill();
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    client.send(json!({"type": "prepare_run", "runId": run})).await;
    client.expect("run_prepared").await;
    client
        .send(json!({"type": "continue_run", "runId": run, "input": "again"}))
        .await;
    assert!(seq(&client.expect("strategy_started").await) > seq(&cancelled));
}

#[tokio::test(flavor = "multi_thread")]
async fn steering_survives_a_kill() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    client.next_question().await;
    client.send(steer(&run, "be brief")).await;
    client.expect("steer_queued").await;
    hub.kill();
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    client.subscribe(&run).await;
    client.expect("request_input").await;
    client.answer(&run, "user", "hello").await;
    assert_eq!(client.result().await, format!("hello\n\n{}", wrapped("be brief")));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_live_run_can_be_steered() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let refusal = client.refused(steer("unknown", "x"), "RUN_NOT_STEERABLE").await;
    assert_eq!(refusal, "Cannot steer run unknown: not running");
    let run = client.start_strategy(&hub, &talk(), "hello").await;
    client.result().await;
    let refusal = client.refused(steer(&run, "x"), "RUN_NOT_STEERABLE").await;
    assert_eq!(refusal, format!("Cannot steer run {run}: not running"));
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_steering_is_limited_and_the_rest_refused() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    client.next_question().await;
    for _ in 0..1_000 {
        client.send(steer(&run, "more")).await;
    }
    let frames = client.frames_so_far().await;
    let queued = frames.of_kind("steer_queued").len();
    let refused = frames.of_kind("error").len();
    assert_eq!(queued + refused, 1_000);
    assert!(refused > 0, "the queue is limited: {queued}");
    assert!(
        frames
            .of_kind("error")
            .iter()
            .all(|error| error["code"] == "RUN_NOT_STEERABLE"),
        "{:?}",
        frames.of_kind("error")[0]
    );
    client.answer(&run, "user", "hello").await;
    assert_eq!(
        client.result().await.matches("more").count(),
        queued,
        "all queued steering reaches the agent"
    );
}

async fn hub_that_asks() -> Hub {
    Setup::default().config("[runs]\ncommands = \"ask\"\n").start().await
}

/// A person first, so that there is time to change the policy.
fn person_then_command() -> Value {
    let agents = json!({"user": person(), "tool": command("echo", &["hello"])});
    sequence(agents, &["user", "tool"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_decides_without_asking() {
    let hub = hub_that_asks().await;
    for (change, allowed) in [
        (json!({"allow": ["echo"]}), Some(true)),
        (json!({"allow": ["**"]}), Some(true)),
        (json!({"deny": ["echo"]}), Some(false)),
        (json!({"allow": ["echo"], "deny": ["**"]}), Some(false)),
        (json!({"default": "allow"}), Some(true)),
        (json!({"default": "deny"}), Some(false)),
        (json!({"allow": ["cat"]}), None),
        (json!({"allow": ["cat"], "default": "ask"}), None),
    ] {
        let mut client = Client::connect(&hub).await;
        let run = client.start_strategy(&hub, &person_then_command(), "").await;
        client.next_question().await;
        let mut message = json!({"type": "update_policy", "runId": run, "mode": "write", "tool": "command"});
        for (key, value) in change.as_object().unwrap() {
            message[key] = value.clone();
        }
        client.send(message).await;
        let updated = client.expect("policy_updated").await;
        assert_eq!(
            (&updated["runId"], &updated["tool"]),
            (&json!(run), &json!("command")),
            "{updated}"
        );
        let policies = updated["policies"].as_array().expect("policies");
        assert!(policies.iter().all(|policy| policy["name"].is_string()), "{updated}");
        client.answer(&run, "user", "go").await;
        let end = loop {
            let frame = client.next().await;
            let kind = frame["type"].as_str().unwrap().to_owned();
            if ["request_permission", "strategy_completed", "strategy_error"].contains(&kind.as_str()) {
                break kind;
            }
        };
        let expected = match allowed {
            Some(true) => "strategy_completed",
            Some(false) => "strategy_error",
            None => "request_permission",
        };
        assert_eq!(end, expected, "{change}");
    }
}

fn policy(run: &str, change: &Value) -> Value {
    let mut message = json!({"type": "update_policy", "runId": run, "mode": "write"});
    for (key, value) in change.as_object().expect("an object") {
        message[key] = value.clone();
    }
    message
}

/// Every change is stored and sent with the whole policy, so a change without effect must not be.
#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_policy_is_not_announced() {
    let hub = hub_that_asks().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &person_then_command())).await;
    for is_running in [false, true] {
        if is_running {
            client.start(&run, "").await;
            client.next_question().await;
        }
        let rule = json!({"allow": ["cat", format!("ls {is_running}")]});
        client.send(policy(&run, &rule)).await;
        client.expect("policy_updated").await;
        for no_change in [
            rule,
            json!({}),
            json!({"mode": "read", "allow": ["rm"]}),
            json!({"tool": "write_file", "allow": ["rm"]}),
        ] {
            client.send(policy(&run, &no_change)).await;
            client.expect_silence().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_policy_events_of_a_prepared_run_are_limited() {
    let hub = hub_that_asks().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &person_then_command())).await;
    let long: Vec<String> = (0..17).map(|number| format!("{number} {}", "x".repeat(4000))).collect();
    let refusal = client
        .refused(policy(&run, &json!({"allow": long})), "VALIDATION_ERROR")
        .await;
    assert!(refusal.contains("65536 bytes together"), "{refusal}");
    let fitting = &long[1..];
    client.send(policy(&run, &json!({"allow": fitting}))).await;
    for word in ["allow", "deny"].into_iter().cycle().take(100) {
        client.send(policy(&run, &json!({"default": word}))).await;
    }
    let frames = client.frames_so_far().await;
    let bytes: usize = frames
        .of_kind("policy_updated")
        .iter()
        .map(|event| event.to_string().len())
        .sum();
    assert!(bytes < 1_200_000 && frames.len() == 101, "{bytes} bytes are kept");
    assert!(
        frames
            .of_kind("error")
            .iter()
            .all(|error| error["code"] == "VALIDATION_ERROR"),
        "{:?}",
        frames.last()
    );
    client.start(&run, "").await;
    client.next_question().await;
    client.send(policy(&run, &json!({"default": "ask"}))).await;
    client.expect("policy_updated").await;
}

/// A stricter policy of the run wins over the operator's setting.
#[tokio::test(flavor = "multi_thread")]
async fn a_policy_of_ask_applies_where_commands_are_allowed() {
    let hub = Setup::default().config("[runs]\ncommands = \"allow\"\n").start().await;
    let mut client = Client::connect(&hub).await;
    let run = client
        .prepare(&strategy_file(&hub, &alone(command("echo", &["hello"]))))
        .await;
    client.send(policy(&run, &json!({"allow": ["cat"]}))).await;
    let last_policy = |updated: &Value| updated["policies"].as_array().unwrap().last().unwrap()["name"].clone();
    assert_eq!(
        last_policy(&client.expect("policy_updated").await),
        "default as the hub is set"
    );
    client.send(policy(&run, &json!({"default": "ask"}))).await;
    assert_eq!(last_policy(&client.expect("policy_updated").await), "default ask");
    client.start(&run, "").await;
    let ask = client.until("request_permission").await.pop().unwrap();
    let id = ask["requestId"].clone();
    let allow = json!({"type": "permission_decision", "runId": run, "permissionRequestId": id, "decision": "allow"});
    client.send(allow).await;
    assert_eq!(client.result().await.trim_end(), "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_for_an_unknown_run_is_refused() {
    let hub = hub_that_asks().await;
    let mut client = Client::connect(&hub).await;
    let message = |run: &str| json!({"type": "update_policy", "runId": run, "mode": "read", "allow": ["echo"]});
    let refusal = client.refused(message("unknown"), "RUN_NOT_FOUND").await;
    assert_eq!(refusal, "No active run found for runId unknown");
    let run = client.start_strategy(&hub, &talk(), "hello").await;
    client.result().await;
    let refusal = client.refused(message(&run), "RUN_NOT_FOUND").await;
    assert_eq!(refusal, format!("No active run found for runId {run}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_cannot_allow_commands_the_operator_switched_off() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &person_then_command(), "").await;
    client.next_question().await;
    let message = json!({"type": "update_policy", "runId": run, "mode": "write", "allow": ["**"], "default": "allow"});
    client.send(message).await;
    client.answer(&run, "user", "go").await;
    let (code, message) = client.failure().await;
    assert_eq!(code, "EXECUTION_ERROR");
    assert!(message.contains("commands"), "{message}");
}
