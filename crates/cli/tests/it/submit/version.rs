use serde_json::{Value, json};

use super::remove;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn every_message_belongs_to_exactly_one_family() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut both = ask("bot");
    both["ma2h_version"] = json!("0.3");
    bot.submit(&both).await.refused("validation_error");
    let mut none = ask("bot");
    remove(&mut none, "a2h_version");
    bot.submit(&none).await.refused("validation_error");
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_are_accepted_or_refused_as_documented() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for version in ["0.0", "0.1", "0.2", "0.3", "0.4", "0.6", "0.9", "0.10"] {
        for envelope in [a2h(ask("bot"), version), ma2h(ask("bot"), version)] {
            bot.accepted(&envelope).await;
        }
    }
    for version in ["1.0", "2.3", "10.0"] {
        for envelope in [a2h(ask("bot"), version), ma2h(ask("bot"), version)] {
            bot.submit(&envelope).await.refused("version_not_supported");
        }
    }
    let malformed = [
        "0.03", "00.2", "0.3.1", "", "0", "0.", ".3", "v0.3", "0.3 ", "abc", "-1.0", "0.-3",
    ]
    .map(Value::from);
    for version in malformed
        .into_iter()
        .chain([json!(0.3), json!(null), json!({}), json!(["0.3"])])
    {
        let mut envelope = ask("bot");
        envelope["a2h_version"] = version;
        bot.submit(&envelope)
            .await
            .refused_field("validation_error", "a2h_version");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_major_version_is_reported_before_other_defects() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.submit(&json!({"a2h_version": "1.0"}))
        .await
        .refused("version_not_supported");
    bot.submit(&json!({"ma2h_version": "2.0", "type": 7, "title": []}))
        .await
        .refused("version_not_supported");
}

#[tokio::test(flavor = "multi_thread")]
async fn unsigned_push_is_accepted_only_for_a2h_0_2() {
    let hub = Setup::pushing().start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, "127.0.0.1").await;
    let push = |envelope: Value| push_to(envelope, "http://127.0.0.1:9/resume");
    bot.accepted(&push(a2h(ask("bot"), "0.2"))).await;
    bot.accepted(&push(a2h(task("bot"), "0.2"))).await;
    for envelope in [
        a2h(ask("bot"), "0.1"),
        a2h(ask("bot"), "0.0"),
        ma2h(ask("bot"), "0.2"),
        ma2h(task("bot"), "0.2"),
    ] {
        bot.submit(&push(envelope)).await.refused("version_not_supported");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_can_refuse_push_with_an_unsigned_answer() {
    let hub = Setup::default()
        .args(&["--allow-loopback-callbacks"])
        .config("[push]\nlegacy = \"reject\"\n")
        .start()
        .await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, "127.0.0.1").await;
    let url = "http://127.0.0.1:9/resume";
    bot.submit(&push_to(a2h(ask("bot"), "0.2"), url))
        .await
        .refused("version_not_supported");
    bot.accepted(&push_to(a2h(ask("bot"), "0.3"), url)).await;
    bot.accepted(&a2h(ask("bot"), "0.2")).await;
}
