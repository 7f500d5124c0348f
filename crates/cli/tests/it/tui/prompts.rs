//! The prompt mode for terminals that cannot draw.

use serde_json::json;

use super::pane::PaneOptions;
use crate::harness::*;
use crate::web::WebClient;

#[tokio::test(flavor = "multi_thread")]
async fn a_dumb_terminal_gets_prompts_and_no_escape_sequences() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut hostile = ask("bot");
    hostile["title"] = json!("Deploy \u{1b}[2J?");
    let id = bot.accepted(&hostile).await;
    let second = bot.accepted(&select("bot")).await;
    let pane = PaneOptions::owner(&hub).term("dumb").size(100, 50).start();
    pane.shows("Which one?").await;
    pane.write("1\n");
    pane.shows("Your answer").await;
    pane.write("7\n");
    pane.shows("There is no such number.").await;
    pane.write("1\n");
    pane.shows("Comment").await;
    pane.write("go\n");
    pane.shows_all(&["BEFORE", "Deploy \\u{1b}[2J?", "approved by owner at"])
        .await;
    let response = bot.outcome(&id).await["response"]["response"].clone();
    assert_eq!([&response["value"], &response["comment"]], ["approve", "go"]);
    eventually("the list again", async || {
        (pane.text().matches("Which one?").count() == 2).then_some(())
    })
    .await;
    pane.write("\n");
    pane.shows("ENDED 0").await;
    assert_eq!(bot.pull(&second).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_asked_field_by_field_and_secrets_stay_hidden() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut form = input("bot");
    form["request"]["schema"]["properties"]["pin"] = json!({"type": "string", "x-a2h-sensitive": true});
    let id = bot.accepted(&form).await;
    let pane = PaneOptions::owner(&hub).args("--plain").size(100, 50).start();
    pane.shows("Which one?").await;
    pane.write("1\n");
    pane.shows("Enter fills in the form, r skips it with a reason, b goes back:")
        .await;
    pane.write("\n");
    pane.shows("reason * (text)").await;
    pane.write("no\n");
    pane.shows("write at least 3 characters").await;
    pane.write("tests pass\n");
    pane.shows("retries (a whole number)").await;
    pane.write("\n");
    pane.shows("urgent (yes or no)").await;
    pane.write("yes\n");
    pane.shows("region (the number of one)").await;
    pane.write("2\n");
    pane.shows("pin (text, hidden)").await;
    pane.write("hunter2\n");
    pane.shows("Comment").await;
    pane.write("\n");
    let screen = pane.shows("answered by owner at").await;
    assert!(!screen.contains("hunter2"), "{screen}");
    let value = bot.outcome(&id).await["response"]["response"]["value"].clone();
    assert_eq!(
        value,
        json!({"reason": "tests pass", "pin": "hunter2", "region": "us", "urgent": true})
    );
    pane.shows("Nothing waits for you.").await;
    pane.shows("ENDED 0").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_completed_and_an_ask_rejected_by_prompts() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    WebClient::signed_in(&hub).await.offer_reasons("Not on a Friday").await;
    let first = bot.accepted(&task("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let pane = PaneOptions::owner(&hub).term("dumb").size(100, 60).start();
    pane.shows("Which one?").await;
    pane.write("1\n");
    pane.shows("Which steps are done?").await;
    pane.write("12\n");
    pane.shows("Not all of these are numbers of the list.").await;
    pane.write("2\n");
    pane.shows_all(&["2. [x] announce", "c says it is done"]).await;
    pane.write("c\n");
    pane.shows("1 of 2 steps is open. Send Done anyway? (y or n):").await;
    pane.write("y\n");
    pane.shows("Comment").await;
    pane.write("\n");
    pane.shows("done by owner").await;
    let steps = json!([{"text": "rotate", "done": false}, {"text": "announce", "done": true}]);
    assert_eq!(bot.outcome(&first).await["response"]["response"]["checklist"], steps);
    eventually("the list again", async || {
        (pane.text().matches("Which one?").count() == 2).then_some(())
    })
    .await;
    pane.write("1\n");
    pane.shows("Your answer (a number, r answers \"Deny\" with a reason; an empty line goes back):")
        .await;
    pane.write("r\n");
    pane.shows("1. Not on a Friday").await;
    pane.write("1\n");
    pane.shows("denied by owner").await;
    assert_eq!(
        bot.outcome(&second).await["response"]["response"]["comment"],
        "Not on a Friday"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_is_offered_only_where_the_ask_allows_it() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut strict = ma2h(select("bot"), "0.6");
    strict["request"]["permissions"] = json!({"allow_ignore": false});
    let id = bot.accepted(&strict).await;
    let pane = PaneOptions::owner(&hub).args("--plain").size(100, 50).start();
    pane.shows("Which one?").await;
    pane.write("1\n");
    pane.shows("Your answer (a number; an empty line goes back):").await;
    pane.write("r\n");
    pane.shows("There is no such number.").await;
    pane.write("\n");
    eventually("the list again", async || {
        (pane.text().matches("Which one?").count() == 2).then_some(())
    })
    .await;
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dismissed_task_sends_its_ticks() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&task("bot")).await;
    let pane = PaneOptions::owner(&hub).args("--plain").size(100, 50).start();
    pane.shows("Which one?").await;
    pane.write("1\n");
    pane.shows("Which steps are done?").await;
    pane.write("1\n");
    pane.shows("r says you can't do it with a reason").await;
    pane.write("r\n");
    pane.shows("Why?").await;
    pane.write("half of it is enough\n");
    pane.shows("not done by owner").await;
    let steps = json!([{"text": "rotate", "done": true}, {"text": "announce", "done": false}]);
    assert_eq!(bot.outcome(&id).await["response"]["response"]["checklist"], steps);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_during_a_hidden_answer_restores_the_echo() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut form = input("bot");
    form["request"]["schema"] = json!({"properties": {"pin": {"type": "string", "x-a2h-sensitive": true}}});
    bot.accepted(&form).await;
    let pane = PaneOptions::owner(&hub).term("dumb").size(100, 50).start();
    pane.shows("Which one?").await;
    pane.write("1\n");
    pane.shows("Enter fills in the form").await;
    pane.write("\n");
    pane.shows("pin (text, hidden)").await;
    pane.signal("TERM");
    pane.shows("ENDED").await;
    let screen = pane.shows("isig icanon").await;
    assert!(!screen.contains("-icanon") && !screen.contains("-echo "), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_prompt_mode_reports_a_lost_race() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let ann = hub.person("ann", "resolver").await;
    let id = bot
        .accepted(&resolvers(ask("bot"), &["human:owner", "human:ann"]))
        .await;
    let pane = PaneOptions::owner(&hub).args("--plain").start();
    pane.shows("Which one?").await;
    pane.write("1\n");
    pane.shows("Your answer").await;
    ann.answer(&id, "deny").await.expect(200);
    pane.write("1\n");
    pane.shows("Comment").await;
    pane.write("\n");
    pane.shows("Already answered. Your answer was not applied.").await;
    pane.shows("denied by ann at").await;
}
