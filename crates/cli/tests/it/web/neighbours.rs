//! The links to the next and previous item, with any number of other people's items in between.

use serde_json::json;

use super::WebClient;
use super::item::open;
use crate::harness::*;

/// More items than one neighbour query scans.
const ITEMS_BETWEEN: usize = 60;

/// The targets of the links to the previous and to the next item.
async fn neighbours_of(client: &WebClient, id: &str) -> [Option<String>; 2] {
    let page = open(client, id).await;
    ["a#previous[rel=prev]", "a#next[rel=next]"].map(|link| page.attribute(link, "href"))
}

fn link_to(id: &str) -> Option<String> {
    Some(format!("/inbox/items/{id}"))
}

async fn submit_for_others(bot: &Agent) {
    for _ in 0..ITEMS_BETWEEN {
        bot.accepted(&resolvers(ask("bot"), &["agent:bot"])).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn neighbours_skip_many_items_of_other_resolvers() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&ask("bot")).await;
    submit_for_others(&bot).await;
    let second = bot.accepted(&ask("bot")).await;
    submit_for_others(&bot).await;
    let third = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    assert_eq!(neighbours_of(&owner, &first).await, [None, link_to(&second)]);
    assert_eq!(neighbours_of(&owner, &second).await, [link_to(&first), link_to(&third)]);
    assert_eq!(neighbours_of(&owner, &third).await, [link_to(&second), None]);
    hub.owner.answer(&third, "approve").await.expect(200);
    assert_eq!(
        neighbours_of(&owner, &third).await,
        [link_to(&second), link_to(&first)],
        "at the end it begins again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_previous_item_may_be_the_last_of_many_urgent_ones() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let normal = bot.accepted(&ask("bot")).await;
    let mut urgent = Vec::new();
    for _ in 0..ITEMS_BETWEEN {
        let mut pressing = ask("bot");
        pressing["priority"] = json!("urgent");
        urgent.push(bot.accepted(&pressing).await);
    }
    let owner = WebClient::signed_in(&hub).await;
    let last = &urgent[ITEMS_BETWEEN - 1];
    assert_eq!(neighbours_of(&owner, &normal).await, [link_to(last), None]);
    assert_eq!(
        neighbours_of(&owner, last).await,
        [link_to(&urgent[ITEMS_BETWEEN - 2]), link_to(&normal)]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn neighbours_include_every_item_for_a_viewer_and_skip_snoozed_ones() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(bot.accepted(&ask("bot")).await);
    }
    let viewer = WebClient::as_person(&hub, "vera", "viewer").await;
    assert_eq!(
        neighbours_of(&viewer, &ids[1]).await,
        [link_to(&ids[0]), link_to(&ids[2])]
    );
    let snoozed = json!({"until": from_now(3_600_000)});
    hub.owner
        .post(&format!("/v1/inbox/{}/aside", ids[1]), &snoozed)
        .await
        .expect(200);
    let owner = WebClient::signed_in(&hub).await;
    assert_eq!(neighbours_of(&owner, &ids[2]).await, [link_to(&ids[0]), None]);
}
