//! The links to the next and previous item, with any number of other people's items in between.

use serde_json::{Value, json};

use super::item::open;
use super::{Page, WebClient};
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

/// Opens the item from its row in a list.
async fn open_from(client: &WebClient, list: &str, id: &str) -> Page {
    let page = client.get(list).await.expect(200);
    let href = page.attribute(&format!("#row-{id} a.title"), "href");
    client.get(&href.expect("a link in the row")).await.expect(200)
}

fn tagged(tag: &str) -> Value {
    let mut tagged = ask("bot");
    tagged["tags"] = json!([tag]);
    tagged
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_item_follows_the_filter_and_the_order_of_the_list() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let oldest = bot.accepted(&tagged("money")).await;
    bot.accepted(&tagged("other")).await;
    let middle = bot.accepted(&tagged("money")).await;
    let newest = bot.accepted(&tagged("money")).await;
    let owner = WebClient::signed_in(&hub).await;
    let list = "/inbox?tag=money&sort=newest";
    let page = open_from(&owner, list, &middle).await;
    assert_eq!(page.text_at("#position"), "2 of 3");
    assert_eq!(page.attribute("#back", "href").as_deref(), Some(list));
    let link = |id: &str| Some(format!("/inbox/items/{id}?tag=money&sort=newest"));
    assert_eq!(page.attribute("#previous", "href"), link(&newest));
    assert_eq!(page.attribute("#next", "href"), link(&oldest));
    let decided = owner
        .submit(&page, "form#answer", &[], Some(("value", "approve")))
        .await
        .expect(200);
    assert_eq!(decided.attribute("#next", "href"), link(&oldest));
    let last = owner
        .get(&decided.attribute("#next", "href").expect("a next item"))
        .await;
    assert_eq!(last.text_at("#position"), "2 of 2");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_item_may_be_of_another_person_in_the_list_of_everyone() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let bot = hub.agent("bot").await;
    let mine = bot.accepted(&ask("bot")).await;
    let theirs = bot.accepted(&resolvers(ask("bot"), &["human:alice"])).await;
    let owner = WebClient::signed_in(&hub).await;
    let next = |page: Page| page.attribute("#next", "href");
    assert_eq!(next(open_from(&owner, "/inbox", &mine).await), None);
    let everyone = open_from(&owner, "/inbox?show=all", &mine).await;
    assert_eq!(next(everyone), Some(format!("/inbox/items/{theirs}?show=all")));
}
