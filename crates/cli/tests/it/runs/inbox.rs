//! A question of a run is an ordinary message in the inbox.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

/// The run's open inbox item.
pub async fn item_of(hub: &Hub, run: &str) -> Value {
    let listed = hub.owner.get("/v1/inbox?limit=200").await.expect(200);
    let items = listed["items"].as_array().expect("items");
    let found: Vec<&Value> = items.iter().filter(|item| item["source"]["runId"] == run).collect();
    assert_eq!(found.len(), 1, "one item of run {run}: {listed}");
    found[0].clone()
}

pub async fn id_of(hub: &Hub, run: &str) -> String {
    item_of(hub, run).await["id"].as_str().expect("an id").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_run_is_an_item_with_its_prompt_and_its_run() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"draft": template("Draft: {{input}}\n\nIs it *fine*?"), "editor": person()});
    let run = client
        .start_strategy(&hub, &sequence(agents, &["draft", "editor"]), "fish")
        .await;
    let ask = client.next_question().await;
    let item = item_of(&hub, &run).await;
    assert_eq!((&item["type"], &item["status"]), (&json!("ask"), &json!("open")));
    assert_eq!(item["body"], ask["prompt"]);
    assert_eq!(item["body"], "Draft: fish\n\nIs it *fine*?");
    assert_eq!(item["title"], "Draft: fish");
    assert_eq!(item["question"]["kind"], "text");
    assert_eq!(item["source"]["door"], "runs");
    assert_eq!(item["source"]["agentName"], "editor");
    assert_eq!(item["source"]["strategy"], "Test strategy");
    assert_eq!(item["source"]["ask"], "input");
    assert_eq!(item["source"]["inputId"], ask["inputId"]);
    assert_eq!(
        (&item["agent"]["run_id"], &item["agent"]["runtime"]),
        (&json!(run), &json!("run"))
    );
    assert_eq!(item["agent"]["project"], "Test strategy");
    assert_eq!(
        (&item["can_answer"], &item["permissions"]["ignore"]),
        (&json!(true), &json!(false))
    );
    let as_json = hub.cli(&["inbox", "--json"]).json();
    assert_eq!(
        (&as_json[0]["body"], &as_json[0]["source"]["runId"]),
        (&ask["prompt"], &json!(run))
    );
    let shown = hub.cli(&["show", item["id"].as_str().unwrap()]).ok();
    assert!(shown.contains("Is it *fine*?") && shown.contains(&run), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_without_a_prompt_still_has_a_title() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    client.next_question().await;
    let item = item_of(&hub, &run).await;
    assert_eq!(item["title"], "user needs your input");
    assert_eq!(item["body"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_the_inbox_resumes_the_run() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let id = id_of(&hub, &run).await;
    hub.owner.answer(&id, "from the desk").await.expect(200);
    let events = client.until("strategy_completed").await;
    assert_eq!(events.kinds()[0], "step_completed");
    assert_eq!(events[0]["result"]["text"], "from the desk");
    assert_eq!(events.last().unwrap()["result"], "from the desk");
    assert_eq!(hub.owner.get("/v1/inbox").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_on_the_command_line_resumes_the_run() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    hub.cli(&["answer", &id_of(&hub, &run).await, "from the terminal"]).ok();
    assert_eq!(client.result().await, "from the terminal");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_answer_in_the_inbox_is_an_answer() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    hub.owner.answer(&id_of(&hub, &run).await, "").await.expect(200);
    assert_eq!(client.result().await, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_in_the_inbox_arrives_whole() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let text = "long ".repeat(100_000);
    hub.owner.answer(&id_of(&hub, &run).await, &text).await.expect(200);
    assert_eq!(client.result().await, text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_on_the_socket_resolves_the_item_and_records_its_actor() {
    let hub = Hub::start().await;
    let alice = hub.person("alice", "resolver").await;
    let mut client = Client::connect(&hub).await;
    let mut hers = Dial::to(&hub).bearer(&alice.token).open().await;
    for (who, actor) in [(None, "human:owner"), (Some(&mut hers), "human:alice")] {
        let run = client.start_strategy(&hub, &review(), "fish").await;
        client.next_question().await;
        let id = id_of(&hub, &run).await;
        match who {
            Some(other) => other.answer(&run, "editor", "fine").await,
            None => client.answer(&run, "editor", "fine").await,
        }
        assert_eq!(client.result().await, "fine");
        let shown = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
        assert_eq!(shown["status"], "answered", "{shown}");
        assert_eq!(
            (&shown["resolution"]["value"], &shown["resolution"]["actor"]),
            (&json!("fine"), &json!(actor))
        );
        let late = hub.owner.answer(&id, "too late").await;
        late.refused_as_terminal(&id, "answered");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_answer_after_an_inbox_answer_is_refused() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"first": person(), "second": person()});
    let run = client
        .start_strategy(&hub, &sequence(agents, &["first", "second"]), "")
        .await;
    client.next_question().await;
    hub.owner.answer(&id_of(&hub, &run).await, "desk").await.expect(200);
    client.until("request_input").await;
    let late = json!({"type": "user_input", "runId": run, "agentName": "first", "text": "late"});
    let refusal = client.refused(late, "NO_PENDING_INPUT").await;
    assert_eq!(refusal, format!("No pending input request for run {run} agent first"));
}

#[tokio::test(flavor = "multi_thread")]
async fn resolvers_may_answer_a_run_and_viewers_may_only_look() {
    let hub = Hub::start().await;
    let alice = hub.person("alice", "resolver").await;
    let vic = hub.person("vic", "viewer").await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let id = id_of(&hub, &run).await;
    let path = format!("/v1/inbox/{id}");
    assert_eq!(vic.get(&path).await.expect(200)["can_answer"], false);
    vic.answer(&id, "no").await.refused("not_authorized");
    assert_eq!(alice.get(&path).await.expect(200)["can_answer"], true);
    alice.answer(&id, "hers").await.expect(200);
    assert_eq!(client.result().await, "hers");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_added_after_the_question_may_not_answer_it() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let carol = hub.person("carol", "resolver").await;
    let mut hers = Dial::to(&hub).bearer(&carol.token).open().await;
    let message = json!({"type": "user_input", "runId": run, "agentName": "editor", "text": "from carol"});
    let refusal = hers.refused(message, "NOT_AUTHORIZED").await;
    assert!(refusal.contains("human:carol"), "{refusal}");
    carol
        .answer(&id_of(&hub, &run).await, "from carol")
        .await
        .refused("not_authorized");
    client.answer(&run, "editor", "from the owner").await;
    assert_eq!(client.result().await, "from the owner");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_cannot_read_answer_or_cancel_a_runs_question() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let id = id_of(&hub, &run).await;
    bot.get(&format!("/v1/messages/{id}")).await.refused("not_found");
    for reply in [bot.answer(&id, "mine").await, bot.cancel(&id).await] {
        assert!([403, 404].contains(&reply.status), "{}", reply.text());
    }
    assert_eq!(bot.get("/v1/messages").await.expect(200)["messages"], json!([]));
    let made = hub
        .owner
        .post("/v1/admin/agents", &json!({"id": format!("editor#{run}")}))
        .await;
    assert_ne!(
        made.status,
        201,
        "the id of a run's agent cannot be registered: {}",
        made.text()
    );
    client.answer(&run, "editor", "fine").await;
    assert_eq!(client.result().await, "fine");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_run_cannot_be_declined_and_its_answer_is_a_text() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let id = id_of(&hub, &run).await;
    hub.owner
        .resolve(&id, json!({"resolution": "declined"}))
        .await
        .refused("invalid_field");
    for value in [json!({"a": 1}), json!(["x"]), json!(7)] {
        let reply = hub
            .owner
            .resolve(&id, json!({"resolution": "answered", "value": value}))
            .await;
        assert!([400, 422].contains(&reply.status), "{value}: {}", reply.text());
    }
    client.expect_silence().await;
    hub.owner.answer(&id, "fine").await.expect(200);
    assert_eq!(client.result().await, "fine");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_stream_reports_a_question_and_its_answer() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let mut events = hub
        .owner
        .request(reqwest::Method::GET, "/v1/inbox/events")
        .send()
        .await
        .expect("a stream");
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let id = id_of(&hub, &run).await;
    client.answer(&run, "editor", "fine").await;
    let mut received = String::new();
    within("both events", async {
        while !(received.contains("event: opened") && received.contains("event: resolved")) {
            let chunk = events.chunk().await.expect("a stream").expect("the stream continues");
            received.push_str(&String::from_utf8_lossy(&chunk));
        }
    })
    .await;
    assert!(received.contains(&id), "{received}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_can_be_found_by_search() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "platypus").await;
    client.next_question().await;
    let found = hub.owner.get("/v1/search?q=platypus").await.expect(200);
    assert_eq!(found["items"][0]["source"]["runId"], json!(run), "{found}");
}
