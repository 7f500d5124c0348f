//! From one item to the next and to the one before, however many there are in between that are for others.

use serde_json::json;

use super::Visitor;
use super::item::open;
use crate::harness::*;

/// More than are looked at nearby.
const BETWEEN: usize = 60;

/// What the links to the previous and to the next item lead to.
async fn beside(visitor: &Visitor, id: &str) -> [Option<String>; 2] {
    let page = open(visitor, id).await;
    ["a#previous[rel=prev]", "a#next[rel=next]"].map(|link| page.attribute(link, "href"))
}

fn to(id: &str) -> Option<String> {
    Some(format!("/inbox/items/{id}"))
}

async fn for_others(bot: &Agent) {
    for _ in 0..BETWEEN {
        bot.accepted(&resolvers(ask("bot"), &["human:somebody"])).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn neighbours_are_found_behind_many_that_are_for_others() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first = bot.accepted(&ask("bot")).await;
    for_others(&bot).await;
    let second = bot.accepted(&ask("bot")).await;
    for_others(&bot).await;
    let third = bot.accepted(&ask("bot")).await;
    let owner = Visitor::signed_in(&hub).await;
    assert_eq!(beside(&owner, &first).await, [None, to(&second)]);
    assert_eq!(beside(&owner, &second).await, [to(&first), to(&third)]);
    assert_eq!(beside(&owner, &third).await, [to(&second), None]);
    hub.owner.answer(&third, "approve").await.expect(200);
    assert_eq!(
        beside(&owner, &third).await,
        [to(&second), to(&first)],
        "at the end it begins again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_previous_item_may_be_the_last_of_a_more_urgent_many() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let normal = bot.accepted(&ask("bot")).await;
    let mut urgent = Vec::new();
    for _ in 0..BETWEEN {
        let mut pressing = ask("bot");
        pressing["priority"] = json!("urgent");
        urgent.push(bot.accepted(&pressing).await);
    }
    let owner = Visitor::signed_in(&hub).await;
    let last = &urgent[BETWEEN - 1];
    assert_eq!(beside(&owner, &normal).await, [to(last), None]);
    assert_eq!(beside(&owner, last).await, [to(&urgent[BETWEEN - 2]), to(&normal)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_only_looks_passes_by_all_and_what_was_set_aside_is_passed_over() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(bot.accepted(&ask("bot")).await);
    }
    let viewer = Visitor::as_person(&hub, "vera", "viewer").await;
    assert_eq!(beside(&viewer, &ids[1]).await, [to(&ids[0]), to(&ids[2])]);
    let aside = json!({"until": from_now(3_600_000)});
    hub.owner
        .post(&format!("/v1/inbox/{}/aside", ids[1]), &aside)
        .await
        .expect(200);
    let owner = Visitor::signed_in(&hub).await;
    assert_eq!(beside(&owner, &ids[2]).await, [to(&ids[0]), None]);
}
