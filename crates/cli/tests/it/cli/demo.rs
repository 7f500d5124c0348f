use serde_json::{Value, json};

use crate::harness::*;

/// The answer that fits any item of the demo.
fn answer(item: &Value) -> Value {
    match (item["type"].as_str(), item["question"]["kind"].as_str()) {
        (Some("task"), _) => json!({"resolution": "completed"}),
        (_, Some("form")) => json!({"resolution": "answered", "value": {"amount": 40, "reason": "late"}}),
        (_, Some("select")) => json!({"resolution": "answered", "value": "clean"}),
        (_, Some("text")) => json!({"resolution": "answered", "value": "ok"}),
        _ => json!({"resolution": "answered", "value": "approve"}),
    }
}

async fn titles(hub: &Hub, list: &str) -> Vec<String> {
    let page = hub.owner.get(list).await.expect(200);
    let items = page["items"].as_array().expect("items");
    items
        .iter()
        .filter_map(|item| item["title"].as_str().map(str::to_owned))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn six_agents_ask_react_and_are_gone() {
    let hub = Hub::start().await;
    let demo = Terminal::local(&hub).start(&["demo", "--once"]);
    demo.stderr_with("Six agents ask now").await;
    let items = eventually("five agents wait", async || {
        let items = hub.cli(&["inbox", "--json"]).json();
        items.as_array().filter(|items| items.len() == 5).cloned()
    })
    .await;
    for item in &items {
        let id = item["id"].as_str().expect("an id");
        hub.owner.resolve(id, answer(item)).await.expect(200);
    }
    let ran = demo.finish();
    assert_eq!(ran.code, 0, "{ran:?}");
    let notices = titles(&hub, "/v1/notices").await;
    for title in [
        "Deployed to production",
        "Refund of 40 EUR booked",
        "Old logs deleted",
        "Certificate checked",
        "The release notes are published",
        "Nightly tests: 214 passed, 3 flaky",
    ] {
        assert!(notices.iter().any(|notice| notice == title), "{title}: {notices:?}");
    }
    let agents = hub.cli(&["agent", "list", "--json"]).json().to_string();
    assert!(!agents.contains("demo/"), "no account is left: {agents}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_demo_withdraws_what_it_asked() {
    let hub = Hub::start().await;
    let demo = Terminal::local(&hub).start(&["demo"]);
    eventually("five agents wait", async || {
        (hub.cli(&["inbox", "--json"]).json().as_array().map(Vec::len) == Some(5)).then_some(())
    })
    .await;
    demo.signal("INT");
    let ran = demo.finish();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(hub.cli(&["inbox", "--json"]).json(), json!([]));
    let agents = hub.cli(&["agent", "list", "--json"]).json().to_string();
    assert!(!agents.contains("demo/"), "{agents}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_hub_the_demo_brings_its_own() {
    let scratch = Scratch::new();
    let mut command = countersign(&scratch.home());
    command.arg("demo");
    let demo = Process::spawn(command, "");
    let output = demo.stderr_with("Six agents ask now").await;
    let data = output
        .split("inbox --data ")
        .nth(1)
        .and_then(|rest| rest.split('`').next());
    let data = std::path::PathBuf::from(data.expect("where the temporary hub is"));
    assert!(data.join("hub.json").exists(), "{output}");
    demo.signal("INT");
    let ran = demo.finish();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!data.exists(), "nothing is left");
    assert!(
        !scratch.home().join(".local/share/countersign").exists(),
        "the usual place is untouched"
    );
}
