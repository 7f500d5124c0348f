//! Live updates of the screen.

use serde_json::json;

use super::Pane;
use super::pane::PaneOptions;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_new_ask_and_a_notice_appear_live() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let pane = Pane::start(&hub);
    pane.shows("Nothing waits for you.").await;
    pane.shows("live").await;
    bot.accepted(&ask("bot")).await;
    pane.shows_all(&["Deploy build 42?", "bot · confirm"]).await;
    let mut urgent = ask("bot");
    (urgent["title"], urgent["priority"]) = (json!("First of all"), json!("urgent"));
    bot.accepted(&urgent).await;
    let screen = pane.shows_all(&["First of all", "Deploy build 42?"]).await;
    assert!(
        screen.find("First of all") < screen.find("Deploy build 42?"),
        "urgent first: {screen}"
    );
    bot.accepted(&notify("bot")).await;
    pane.shows("Notices 1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_by_another_person_updates_the_open_item_and_keeps_the_draft() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let ann = hub.person("ann", "resolver").await;
    let id = bot
        .accepted(&resolvers(input("bot"), &["human:owner", "human:ann"]))
        .await;
    let pane = Pane::start(&hub);
    pane.open("Deploy build 42?").await;
    pane.press(&["Enter"]);
    pane.write("half a reason");
    pane.shows("> half a reason").await;
    ann.resolve(
        &id,
        json!({"resolution": "answered", "value": {"reason": "ann was here"}}),
    )
    .await
    .expect(200);
    pane.shows_all(&["Already answered", "answered by ann at", "reason: half a reason"])
        .await;
    pane.press(&["Escape"]);
    pane.shows("Nothing waits for you.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loser_of_a_race_sees_the_winner() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let ann = hub.person("ann", "resolver").await;
    let ben = hub.person("ben", "resolver").await;
    let id = bot.accepted(&resolvers(ask("bot"), &["human:ben", "human:ann"])).await;
    // Live events never pass this proxy, so ben does not know of the other answer.
    let proxy = Proxy::start().await;
    proxy.forward_to(&hub.url);
    let pane = PaneOptions::at_url(&proxy.url(""), &ben.token).start();
    pane.open("Deploy build 42?").await;
    ann.answer(&id, "deny").await.expect(200);
    pane.press(&["a"]);
    let screen = pane.shows("Your answer was not applied").await;
    assert!(!screen.contains("✓ approved"), "{screen}");
    pane.shows("denied by ann at").await;
    assert_eq!(bot.outcome(&id).await["response"]["response"]["value"], "deny");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_with_a_lost_reply_is_reported_as_unknown() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let ben = hub.person("ben", "resolver").await;
    let id = bot.accepted(&resolvers(ask("bot"), &["human:ben"])).await;
    let proxy = Proxy::start().await;
    proxy.forward_to(&hub.url);
    proxy.inject_faults(&format!("/v1/messages/{id}/resolve"), &[Fault::LoseReply]);
    let pane = PaneOptions::at_url(&proxy.url(""), &ben.token).start();
    pane.open("Deploy build 42?").await;
    pane.press(&["a"]);
    pane.shows_all(&["Already answered", "approved by ben at"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_followed_until_the_agent_has_it() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let pane = Pane::start(&hub);
    pane.open("Deploy build 42?").await;
    pane.press(&["a"]);
    pane.shows("✓ approved by owner at").await;
    pane.shows("waiting for the agent to fetch it").await;
    bot.pull(&id).await;
    pane.shows("✓ the agent fetched it at").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_delivery_is_shown_and_retried() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    receiver.script("/hook", &[PushReply::Status(404)]);
    bot.accepted(&push_to(ask("bot"), &receiver.url("/hook"))).await;
    let pane = Pane::start(&hub);
    pane.open("Deploy build 42?").await;
    pane.press(&["a"]);
    pane.shows("✗ delivery failed after 1 attempts").await;
    pane.press(&["t"]);
    pane.shows("✓ delivered to the agent at").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_comes_back_is_followed_again() {
    let mut hub = Hub::start().await;
    hub.agent("bot").await;
    let pane = Pane::start(&hub);
    pane.shows("live").await;
    hub.interrupt();
    pane.shows("reconnecting").await;
    hub.restart().await;
    let late = hub.agent("late").await;
    late.accepted(&ask("late")).await;
    pane.shows("late · confirm").await;
    pane.shows("live").await;
}
