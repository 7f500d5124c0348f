//! Every kind of question, answered by keyboard.

use serde_json::{Value, json};

use super::Pane;
use crate::browser::seed;
use crate::harness::*;
use crate::web::WebClient;

/// A hub, an agent with one message, and a screen with that item open.
async fn open_item(envelope: &Value) -> (Hub, Agent, String, Pane) {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(envelope).await;
    let pane = Pane::start(&hub);
    pane.open("Deploy build 42?").await;
    (hub, bot, id, pane)
}

async fn response(bot: &Agent, id: &str) -> Value {
    bot.outcome(id).await["response"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirm_is_picked_by_number_and_sent_with_enter() {
    let (_hub, bot, id, pane) = open_item(&ask("bot")).await;
    pane.press(&["2", "Enter"]);
    let response = response(&bot, &id).await;
    assert_eq!(response["response"]["value"], "deny");
    assert_eq!(response["response"]["actor"], "human:owner");
    pane.shows("✗ denied by owner").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_sends_its_reason() {
    let (_hub, bot, id, pane) = open_item(&ask("bot")).await;
    pane.press(&["r"]);
    pane.shows("something else").await;
    pane.press(&["6"]);
    pane.write("not on a Friday");
    pane.press(&["Enter"]);
    let response = response(&bot, &id).await;
    assert_eq!(response["response"]["value"], "deny");
    assert_eq!(response["response"]["comment"], "not on a Friday");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_preset_reasons_of_an_owner_are_offered_and_sent() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    WebClient::signed_in(&hub)
        .await
        .offer_reasons("Not on a Friday\nAsk the on-call first")
        .await;
    let id = bot.accepted(&ask("bot")).await;
    let pane = Pane::start(&hub);
    pane.open("Deploy build 42?").await;
    pane.press(&["r"]);
    let screen = pane
        .shows_all(&["1. Not on a Friday", "2. Ask the on-call first", "3. something else"])
        .await;
    assert!(!screen.contains("Too risky"), "{screen}");
    pane.press(&["2", "Enter"]);
    let response = response(&bot, &id).await;
    assert_eq!(response["response"]["value"], "deny");
    assert_eq!(response["response"]["comment"], "Ask the on-call first");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_is_selected_with_a_comment() {
    let (_hub, bot, id, pane) = open_item(&select("bot")).await;
    pane.shows_all(&["2. Green", "the one with leaves"]).await;
    pane.press(&["c"]);
    pane.shows("Comment: goes along").await;
    pane.write("because of the leaves");
    pane.press(&["Enter"]);
    pane.shows("Comment: because of the leaves").await;
    pane.press(&["j", "j", "Enter"]);
    let response = response(&bot, &id).await;
    assert_eq!(response["response"]["value"], "green");
    assert_eq!(response["response"]["comment"], "because of the leaves");
}

#[tokio::test(flavor = "multi_thread")]
async fn free_text_is_typed_where_it_is_allowed() {
    let mut editable = ma2h(select("bot"), "0.6");
    editable["request"]["permissions"] = json!({"allow_edit": true});
    let (_hub, bot, id, pane) = open_item(&editable).await;
    pane.press(&["3", "Enter"]);
    pane.write("purple, q");
    pane.press(&["Enter"]);
    assert_eq!(response(&bot, &id).await["response"]["value"], "purple, q");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_filled_in_and_its_errors_are_shown_beside_the_fields() {
    let mut form = input("bot");
    form["request"]["schema"]["properties"]["day"] = json!({"type": "string", "format": "date"});
    form["request"]["schema"]["properties"]["pin"] = json!({"type": "string", "x-a2h-sensitive": true});
    let (_hub, bot, id, pane) = open_item(&form).await;
    pane.press(&["Enter"]);
    // In the agent's order: reason, retries, urgent, region, day, pin; then the row that sends.
    pane.write("no");
    pane.press(&["Tab"]);
    pane.write("3");
    pane.press(&["Tab", "Space", "Tab", "Space", "Space", "Tab"]);
    pane.write("2026-06-04");
    pane.press(&["Tab"]);
    pane.write("hunter2");
    let screen = pane.shows("•••••••").await;
    assert!(!screen.contains("hunter2"), "{screen}");
    pane.press(&["Tab", "Enter"]);
    let screen = pane.shows("write at least 3 characters").await;
    assert!(!screen.contains("hunter2"), "{screen}");
    pane.write("t yet");
    pane.press(&["BTab", "Enter"]);
    let value = response(&bot, &id).await["response"]["value"].clone();
    let expected = json!({
        "reason": "not yet", "day": "2026-06-04", "pin": "hunter2", "region": "us", "retries": 3, "urgent": true,
    });
    assert_eq!(value, expected);
    let screen = pane
        .shows_all(&["answered by owner", "reason: not yet", "region: us", "urgent: yes"])
        .await;
    assert!(!screen.contains("hunter2"), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_and_several_choices_are_answered() {
    let mut hub = Hub::start().await;
    hub.agent("bot").await;
    let ids = seed::ask(
        &mut hub,
        "bot",
        vec![("What next?", seed::text()), ("Which regions?", seed::many())],
    )
    .await;
    let pane = Pane::start(&hub);
    pane.open("What next?").await;
    pane.press(&["Enter"]);
    pane.write("Write the tests.");
    pane.press(&["C-j"]);
    pane.write("Then ship.");
    pane.press(&["Enter"]);
    pane.shows("✓ answered").await;
    pane.press(&["Enter"]);
    pane.shows("Which regions?").await;
    pane.ready().await;
    pane.press(&["1", "j", "j", "Space"]);
    pane.shows_all(&["1. [x] EU", "2. [ ] US", "3. [x] ASIA"]).await;
    pane.press(&["Enter"]);
    pane.shows_all(&["✓ answered", "Answer\n EU\n ASIA\n"]).await;
    let value =
        async |id: &str| hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)["resolution"]["value"].clone();
    assert_eq!(value(&ids[0]).await, "Write the tests.\nThen ship.");
    assert_eq!(value(&ids[1]).await, json!(["eu", "asia"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_ticked_and_completed() {
    let (_hub, bot, id, pane) = open_item(&task("bot")).await;
    pane.press(&["1"]);
    pane.shows_all(&["Rotate the key.", "1. [x] rotate"]).await;
    pane.press(&["a"]);
    pane.shows("1 of 2 steps is open. Send Done anyway?").await;
    pane.press(&["Escape"]);
    pane.hides("Send Done anyway?").await;
    assert_eq!(bot.pull(&id).await["status"], "open");
    pane.press(&["a", "y"]);
    let response = response(&bot, &id).await;
    assert_eq!(response["resolution"], "completed");
    let steps = json!([{"text": "rotate", "done": true}, {"text": "announce", "done": false}]);
    assert_eq!(response["response"]["checklist"], steps);
    let screen = pane
        .shows_all(&["Checklist sent back", "[x] rotate", "[ ] announce"])
        .await;
    assert!(!screen.contains("[ ] rotate"), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_dismissed_with_a_preset_reason() {
    let (_hub, bot, id, pane) = open_item(&task("bot")).await;
    pane.press(&["r"]);
    pane.shows("No longer needed").await;
    pane.press(&["4", "Enter"]);
    let response = response(&bot, &id).await;
    assert_eq!(response["resolution"], "dismissed");
    assert_eq!(response["response"]["comment"], "No longer needed");
}

#[tokio::test(flavor = "multi_thread")]
async fn snoozing_beyond_the_expiry_is_refused_in_the_terminal() {
    let (_hub, _bot, _id, pane) = open_item(&expiring(ask("bot"), 30 * 60_000)).await;
    pane.press(&["s"]);
    pane.shows("Snooze for").await;
    pane.press(&["2", "Enter"]);
    pane.shows("it expires in").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snoozed_ask_can_be_taken_back_and_stays_open() {
    let (_hub, bot, id, pane) = open_item(&ask("bot")).await;
    pane.press(&["s"]);
    pane.shows("Snooze for").await;
    pane.shows("▌ 1. 15 minutes").await;
    pane.press(&["Enter"]);
    pane.shows("snoozed until").await;
    pane.shows("Nothing waits for you.").await;
    assert_eq!(bot.pull(&id).await["status"], "open");
    pane.press(&["Tab", "Tab"]);
    pane.shows("snoozed until").await;
    pane.press(&["u"]);
    pane.shows("Nothing is snoozed.").await;
    pane.press(&["Escape"]);
    pane.shows("Deploy build 42?").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn notices_are_listed_separately_and_archived_with_one_key() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for title in ["First news", "Second news"] {
        let mut notice = notify("bot");
        notice["title"] = json!(title);
        bot.accepted(&notice).await;
    }
    let pane = Pane::start(&hub);
    pane.shows("Notices 2").await;
    assert!(!pane.text().contains("news"));
    pane.press(&["n"]);
    pane.shows("First news").await;
    pane.press(&["e", "e"]);
    pane.shows("No notices.").await;
    pane.press(&["u"]);
    pane.shows("First news").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_filters_the_list_and_finds_decided_items() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let titled = |title: &str| {
        let mut envelope = ask("bot");
        envelope["title"] = json!(title);
        envelope
    };
    let old = bot.accepted(&titled("Paint the shed")).await;
    hub.owner.answer(&old, "approve").await.expect(200);
    bot.accepted(&titled("Paint the house")).await;
    bot.accepted(&titled("Deploy")).await;
    let pane = Pane::start(&hub);
    pane.shows("Paint the house").await;
    pane.press(&["/"]);
    pane.write("paint");
    pane.hides("Deploy").await;
    assert!(!pane.text().contains("shed"));
    pane.press(&["Enter"]);
    pane.shows_all(&["Paint the shed", "approved by owner at", "Paint the house"])
        .await;
    pane.press(&["Escape"]);
    pane.shows("Deploy").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_of_another_resolver_cannot_be_answered() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    hub.person("ann", "resolver").await;
    let id = bot.accepted(&resolvers(ask("bot"), &["human:ann"])).await;
    let pane = Pane::start(&hub);
    pane.shows("not yours to answer").await;
    pane.press(&["Enter"]);
    pane.shows("Not yours to answer: it is for ann.").await;
    // The second key opens the help, which proves that the first one was processed and did nothing.
    pane.press(&["a", "?"]);
    pane.shows("archive a notice").await;
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_pressed_as_the_item_opens_does_not_decide_it() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let pane = Pane::start(&hub);
    pane.shows("Deploy build 42?").await;
    // The help opens at any time, which proves that the key before it was processed and did nothing.
    pane.press(&["Enter", "a", "?"]);
    pane.shows("archive a notice").await;
    assert_eq!(bot.pull(&id).await["status"], "open");
}
