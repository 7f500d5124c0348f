use crate::harness::*;
use crate::web::client::{Page, WebClient, new_link, printed_link};

use super::{PASSWORD, is_signed_in, set_password};

#[tokio::test(flavor = "multi_thread")]
async fn the_printed_link_signs_the_owner_in_once() {
    let hub = Hub::start().await;
    let link = printed_link(&hub).await;
    let port = hub.url.rsplit(':').next().unwrap();
    assert!(
        link.starts_with(&format!("http://localhost:{port}/signin/css_")),
        "passkeys need a name: {link}"
    );
    let owner = WebClient::anonymous(&hub);
    for _ in 0..2 {
        let card = owner.get(&link).await.expect(200);
        assert_eq!(card.text_at("form#redeem button"), "Open the inbox as owner");
    }
    assert!(
        !is_signed_in(&owner).await,
        "looking at it, as link previews do, uses nothing up"
    );
    let page = owner.redeem(&link).await;
    assert_eq!(page.url, "/inbox");
    assert_eq!(
        page.count("#onboarding li[data-step=signin]"),
        1,
        "a password or a passkey is still to be set"
    );
    let settings = owner.get("/inbox/settings").await.expect(200);
    assert!(
        settings.text().contains("countersign person link owner"),
        "no one is locked out: {}",
        settings.text()
    );
    assert!(is_signed_in(&owner).await);

    let late = WebClient::anonymous(&hub);
    let page = late.get(&link).await.expect(410);
    assert_eq!(page.count("form#redeem"), 0, "a used link offers no button");
    assert!(
        page.text().contains("countersign person link"),
        "it says what to do: {}",
        page.text()
    );
    assert!(!is_signed_in(&late).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_sign_in_goes_to_the_inbox_when_an_item_waits() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let page = WebClient::anonymous(&hub).redeem(&printed_link(&hub).await).await;
    assert_eq!(page.url, "/inbox");
    assert_eq!(page.count(&format!("#row-{id}")), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn first_steps_vanish_when_they_are_done_or_hidden() {
    let hub = Hub::start().await;
    let owner = WebClient::anonymous(&hub);
    let page = owner.redeem(&printed_link(&hub).await).await;
    let steps = |page: &Page| {
        ["try", "connect", "phone", "signin", "notifications"]
            .into_iter()
            .filter(|step| page.count(&format!("#onboarding li[data-step={step}]")) == 1)
            .collect::<Vec<_>>()
    };
    assert_eq!(steps(&page), ["try", "connect", "phone", "signin", "notifications"]);
    set_password(&owner, PASSWORD).await;
    hub.agent("bot").await.accepted(&ask("bot")).await;
    let page = owner.get("/inbox").await;
    assert_eq!(steps(&page), ["phone", "notifications"]);
    let page = owner
        .submit(&page, "#onboarding li[data-step=phone] form", &[], None)
        .await
        .expect(200);
    assert_eq!(steps(&page), ["notifications"]);
    let page = owner
        .submit(&page, "#onboarding > header form", &[], None)
        .await
        .expect(200);
    assert_eq!(page.count("#onboarding"), 0);
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    assert!(
        steps(&alice.get("/inbox").await).contains(&"phone"),
        "each person has their own"
    );
}

/// The dark squares of a code on a page, as rows of modules.
fn modules(page: &Page) -> Vec<Vec<bool>> {
    let size = page.attribute("#onboarding .qr-code", "viewBox").expect("a code");
    let size = size
        .rsplit(' ')
        .next()
        .and_then(|size| size.parse().ok())
        .expect("a size");
    let mut modules = vec![vec![false; size]; size];
    let squares = page.attribute("#onboarding .qr-code path", "d").expect("squares");
    for corner in squares.split("h1v1h-1z").filter_map(|square| square.strip_prefix('M')) {
        let (x, y) = corner.split_once(' ').expect("a corner");
        modules[y.parse::<usize>().expect("a row")][x.parse::<usize>().expect("a column")] = true;
    }
    modules
}

#[tokio::test(flavor = "multi_thread")]
async fn the_phone_step_shows_a_code_if_a_phone_can_reach_the_hub() {
    let public = ["--public-url", "https://hub.example"];
    let hub = Setup::default().args(&public).start().await;
    let page = WebClient::signed_in(&hub).await.get("/inbox").await.expect(200);
    assert_eq!(qr_text(&modules(&page)).as_deref(), Some("https://hub.example"));
    assert_eq!(
        page.attribute("#onboarding .qr-code", "aria-label").as_deref(),
        Some("QR code of https://hub.example")
    );
    for config in ["", "public_url = \"https://localhost\"\n"] {
        let hub = Setup::default().config(config).start().await;
        let page = WebClient::signed_in(&hub).await.get("/inbox").await.expect(200);
        assert_eq!(page.count(".qr-code"), 0, "{config}");
        let step = page.text_at("#onboarding li[data-step=phone]");
        assert!(step.contains("countersign serve --lan"), "{step}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_redeemed_twice_at_once_makes_one_session() {
    let hub = Hub::start().await;
    let link = printed_link(&hub).await;
    let one = WebClient::anonymous(&hub);
    let other = WebClient::anonymous(&hub);
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
async fn an_owner_makes_links_for_others_and_only_the_newest_works() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let old = new_link(&hub, "alice").await;
    let output = hub.cli(&["person", "link", "alice"]).ok();
    let new = output
        .split_whitespace()
        .find(|word| word.contains("/signin/css_"))
        .expect("a link")
        .to_owned();
    assert!(output.contains("human:alice"), "{output}");
    let alice = WebClient::anonymous(&hub);
    alice.get(&old).await.expect(410);
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
async fn guessing_links_is_rate_limited_and_a_valid_link_still_works() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let link = new_link(&hub, "alice").await;
    let stranger = WebClient::anonymous(&hub);
    let page = stranger.get(&link).await.expect(200);
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
        assert!(tried < 100, "there is no rate limit");
    };
    assert_eq!(refused.status, 429, "{}", refused.text());
    stranger.redeem(&link).await;
    assert!(is_signed_in(&stranger).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_with_invalid_utf8_does_not_work() {
    let hub = Hub::start().await;
    let stranger = WebClient::anonymous(&hub);
    let refused = stranger.get("/signin/%FF").await.expect(410);
    assert!(refused.header("content-type").starts_with("text/html"));
    assert_eq!(refused.text_at("h1"), "This link no longer works");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_with_a_password_goes_straight_to_the_inbox() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    set_password(&alice, PASSWORD).await.expect(200);
    let again = WebClient::anonymous(&hub);
    assert_eq!(again.redeem(&new_link(&hub, "alice").await).await.url, "/inbox");
}

#[tokio::test(flavor = "multi_thread")]
async fn redeeming_a_link_ends_the_previous_session_of_the_browser() {
    let hub = Hub::start().await;
    let browser = WebClient::as_person(&hub, "alice", "resolver").await;
    let thief = WebClient::anonymous(&hub);
    browser
        .cookies()
        .iter()
        .for_each(|(name, value)| thief.set_cookie(name, value));
    assert!(is_signed_in(&thief).await);
    browser.redeem(&printed_link(&hub).await).await;
    assert!(browser.get("/inbox").await.has("data-person=\"owner\""));
    assert!(!is_signed_in(&thief).await);
}
