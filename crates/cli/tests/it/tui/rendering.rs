//! The content and the layout of the screen.

use serde_json::json;

use super::Pane;
use super::pane::PaneOptions;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn agent_text_never_controls_the_terminal() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}5m\u{202e}";
    let mut envelope = select("bot");
    envelope["title"] = json!(format!("Title {evil}"));
    envelope["body"] = json!(format!("Body {evil}"));
    envelope["agent"]["project"] = json!(evil);
    envelope["context"] = json!([{"kind": "text", "text": evil}, {"kind": "data", "data": {"k": evil}}]);
    envelope["request"]["options"][0] = json!({"value": "v", "label": evil, "description": evil});
    bot.accepted(&envelope).await;
    let pane = Pane::start(&hub);
    let spelled = "\\u{1b}[2J\\u{1b}]0;owned\\u{7}\\u{1b}[31m\\u{9b}5m\\u{202e}";
    pane.shows(&format!("Title {spelled}")).await;
    pane.press(&["Enter"]);
    pane.shows(&format!("Body {spelled}")).await;
    let coloured = pane.coloured();
    // Blinking, red text without an error, and reordered text could only come from the agent.
    for raw in ["\u{1b}[5m", "\u{1b}[31m", "\u{202e}", "\u{7}", "\u{9b}"] {
        assert!(!coloured.contains(raw), "{raw:?} in {coloured:?}");
    }
    assert_ne!(pane.ask_terminal("#{pane_title}"), "owned");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_content_scrolls_in_a_small_window() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = ask("bot");
    let lines: Vec<String> = (1..=80).map(|nth| format!("line {nth} of the body")).collect();
    envelope["body"] = json!(lines.join("\n"));
    bot.accepted(&envelope).await;
    let pane = PaneOptions::owner(&hub).size(60, 20).start();
    pane.open("Deploy build 42?").await;
    pane.shows_all(&["line 1 of the body", "1. Approve"]).await;
    eventually("the end of the text", async || {
        pane.press(&["PPage", "NPage", "NPage"]);
        pane.text().contains("line 80 of the body").then_some(())
    })
    .await;
    pane.shows_all(&["line 80 of the body", "1. Approve"]).await;
    pane.resize(120, 30);
    pane.shows_all(&["Countersign", "1. Approve"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_limit_the_list() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let other = hub.agent("other").await;
    bot.accepted(&ask("bot")).await;
    other.accepted(&task("other")).await;
    let pane = PaneOptions::owner(&hub).args("--agent other --kind task").start();
    pane.shows("other · task").await;
    pane.shows("live").await;
    bot.accepted(&ask("bot")).await;
    let mut late = task("other");
    late["title"] = json!("Late task");
    other.accepted(&late).await;
    let screen = pane.shows("Late task").await;
    assert!(!screen.contains("bot"), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_help_names_every_key() {
    let hub = Hub::start().await;
    let pane = PaneOptions::owner(&hub).size(60, 20).start();
    pane.shows("Nothing waits for you.").await;
    pane.press(&["?"]);
    let all = [
        "deny, skip or can't do",
        "approve, done",
        "archive a notice",
        "snooze until later",
        "Esc",
        "Ctrl-C",
    ];
    pane.shows_all(&all).await;
    pane.press(&["x"]);
    pane.hides("deny, skip or can't do").await;
}
