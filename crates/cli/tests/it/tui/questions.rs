//! Commands that ask at a terminal for what is missing.

use super::pane::PaneOptions;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_built_skill_s_missing_agent_is_added_when_the_person_agrees() {
    let hub = Hub::start().await;
    let out = hub.scratch().path("out").display().to_string();
    let flags = format!(
        "build ask --app acme --hub {} --agent acme/bot --mode pull --to human:owner --token-env ACME_TOKEN \
         --runtime cli --seal-key-env ACME_SEAL_KEY --signing-key-env ACME_KEY --project acme --out {out}",
        hub.url
    );
    let pane = PaneOptions::owner(&hub)
        .command("skill")
        .args(&flags)
        .size(110, 40)
        .start();
    pane.shows("The hub has no agent acme/bot. Add it now, yes or no? [yes]:")
        .await;
    assert!(
        !hub.cli(&["agent", "list"]).ok().contains("acme/bot"),
        "not before the yes"
    );
    pane.press(&["Enter"]);
    pane.shows_all(&["token", "ENDED 0"]).await;
    assert!(hub.cli(&["agent", "list"]).ok().contains("acme/bot"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_smoke_test_asks_for_hub_agent_and_person() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let ann = hub.person("ann", "resolver").await;
    let pane = PaneOptions::without_hub("smoke")
        .env("COUNTERSIGN_TOKEN", &bot.token)
        .env("COUNTERSIGN_PERSON_TOKEN", &ann.token)
        .size(150, 50)
        .start();
    pane.shows("The hub to test, as in https://hub.example:").await;
    pane.write(&format!("{}\n", hub.url));
    pane.shows("The agent that COUNTERSIGN_TOKEN belongs to:").await;
    pane.write("bot\n");
    pane.shows("The person that COUNTERSIGN_PERSON_TOKEN belongs to, as in human:alice:")
        .await;
    pane.write("human:ann\n");
    pane.shows_all(&["answered by ann", "passed: all", "ENDED 0"]).await;
}
