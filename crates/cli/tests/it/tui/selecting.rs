//! Several items decided with one confirmation.

use super::Pane;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_selected_items_are_approved_together_and_the_others_keep_waiting() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut ids = Vec::new();
    for title in ["Ship the docs?", "Ship the site?", "Drop the database?"] {
        let mut envelope = ask("bot");
        envelope["title"] = title.into();
        ids.push(bot.accepted(&envelope).await);
    }
    let pane = Pane::start(&hub);
    pane.shows_all(&["Waiting 3", "Drop the database?"]).await;

    pane.press(&["x", "x", "a"]);
    let screen = pane.shows("Approve 2 items?").await;
    assert!(
        screen.contains("• Ship the site?") && !screen.contains("• Drop the database?"),
        "{screen}"
    );
    eventually("the dialog takes Enter", async || {
        pane.press(&["Enter"]);
        (!pane.text().contains("Approve 2 items?")).then_some(())
    })
    .await;

    for id in &ids[..2] {
        assert_eq!(bot.outcome(id).await["response"]["response"]["value"], "approve");
    }
    assert_eq!(bot.pull(&ids[2]).await["status"], "open");
}
