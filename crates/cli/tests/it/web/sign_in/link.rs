use crate::harness::*;
use crate::web::browser::{Visitor, new_link, printed_link};

use super::{PASSWORD, is_in, set_password};

#[tokio::test(flavor = "multi_thread")]
async fn the_printed_link_signs_the_owner_in_once() {
    let hub = Hub::start().await;
    let link = printed_link(&hub).await;
    let port = hub.url.rsplit(':').next().unwrap();
    assert!(
        link.starts_with(&format!("http://localhost:{port}/signin/css_")),
        "passkeys need a name: {link}"
    );
    let owner = Visitor::stranger(&hub);
    for _ in 0..2 {
        owner.get(&link).await.expect(200);
    }
    assert!(
        !is_in(&owner).await,
        "looking at it, as link previews do, uses nothing up"
    );
    let page = owner.redeem(&link).await;
    assert_eq!(
        page.url, "/inbox/settings?welcome",
        "where a password or a passkey is set"
    );
    assert!(
        page.text().contains("countersign person link owner"),
        "nobody is locked out: {}",
        page.text()
    );
    assert!(is_in(&owner).await);

    let late = Visitor::stranger(&hub);
    let page = late.get(&link).await.expect(200);
    let page = late.submit(&page, "form#redeem", &[], None).await.expect(410);
    assert!(
        page.text().contains("countersign person link"),
        "it says what to do: {}",
        page.text()
    );
    assert!(!is_in(&late).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_signs_in_while_something_waits_comes_to_it() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let page = Visitor::stranger(&hub).redeem(&printed_link(&hub).await).await;
    assert_eq!(page.url, "/inbox");
    assert_eq!(page.count(&format!("#row-{id}")), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_who_press_the_button_at_once_are_one_session() {
    let hub = Hub::start().await;
    let link = printed_link(&hub).await;
    let one = Visitor::stranger(&hub);
    let other = Visitor::stranger(&hub);
    let first = one.get(&link).await;
    let second = other.get(&link).await;
    let (first, second) = tokio::join!(
        one.submit(&first, "form#redeem", &[], None),
        other.submit(&second, "form#redeem", &[], None)
    );
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 410]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_makes_links_for_others_and_the_newest_one_counts() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let old = new_link(&hub, "alice").await;
    let said = hub.cli(&["person", "link", "alice"]).ok();
    let new = said
        .split_whitespace()
        .find(|word| word.contains("/signin/css_"))
        .expect("a link")
        .to_owned();
    assert!(said.contains("human:alice"), "{said}");
    let alice = Visitor::stranger(&hub);
    let page = alice.get(&old).await.expect(200);
    alice.submit(&page, "form#redeem", &[], None).await.expect(410);
    let page = alice.redeem(&new).await;
    assert!(page.has("data-person=\"alice\""), "{}", page.html);
    assert!(hub.cli(&["person", "link", "nobody"]).fails(1).contains("nobody"));
    hub.person("vera", "viewer")
        .await
        .post("/v1/admin/people/link", &serde_json::json!({"name": "owner"}))
        .await
        .refused("not_authorized");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_tries_links_is_sent_away_and_whoever_has_one_gets_in() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let link = new_link(&hub, "alice").await;
    let stranger = Visitor::stranger(&hub);
    let page = stranger.get("/signin/css_nonsense").await.expect(200);
    let csrf = page.field("csrf").expect("a guarded form");
    let unknown = format!("/signin/css_{}", "x".repeat(43));
    for path in ["/signin/css_nonsense", "/signin/x", &unknown] {
        stranger.post(path, &[("csrf", &csrf)]).await.expect(410);
    }
    let mut tried = 3;
    let refused = loop {
        let page = stranger.post(&unknown, &[("csrf", &csrf)]).await;
        if page.status != 410 {
            break page;
        }
        tried += 1;
        assert!(tried < 100, "nobody stopped it");
    };
    assert_eq!(refused.status, 429, "{}", refused.text());
    stranger.redeem(&link).await;
    assert!(is_in(&stranger).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_no_text_is_a_link_that_does_not_work() {
    let hub = Hub::start().await;
    let stranger = Visitor::stranger(&hub);
    let page = stranger.get("/signin/%FF").await.expect(200);
    let refused = stranger.submit(&page, "form#redeem", &[], None).await.expect(410);
    assert!(refused.header("content-type").starts_with("text/html"));
    assert_eq!(refused.text_at("h1"), "This link no longer works");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_can_come_back_goes_straight_to_the_inbox() {
    let hub = Hub::start().await;
    let alice = Visitor::as_person(&hub, "alice", "resolver").await;
    set_password(&alice, PASSWORD).await.expect(200);
    let again = Visitor::stranger(&hub);
    assert_eq!(again.redeem(&new_link(&hub, "alice").await).await.url, "/inbox");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_ends_the_session_the_browser_had_before() {
    let hub = Hub::start().await;
    let browser = Visitor::as_person(&hub, "alice", "resolver").await;
    let thief = Visitor::stranger(&hub);
    browser
        .cookies()
        .iter()
        .for_each(|(name, value)| thief.set_cookie(name, value));
    assert!(is_in(&thief).await);
    browser.redeem(&printed_link(&hub).await).await;
    assert!(browser.get("/inbox").await.has("data-person=\"owner\""));
    assert!(!is_in(&thief).await);
}
