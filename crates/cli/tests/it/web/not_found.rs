//! Unknown and malformed URLs.

use reqwest::Method;

use super::WebClient;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_url_gives_people_a_page_and_programs_json() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    for path in [
        "/inbox/",
        "/inbox/nonsense",
        "/inbox/items/a/b/c",
        "/signin/a/b",
        "/inbox/settings/nonsense",
    ] {
        let page = owner.get(path).await.expect(404);
        assert!(page.header("content-type").starts_with("text/html"), "{path}");
        assert_eq!(page.text_at("#problem"), "This page does not exist.", "{path}");
        assert_eq!(page.text_at("#request-id"), page.header("x-request-id"), "{path}");
    }
    for path in ["/nonsense", "/v1/nonsense", "/inboxes"] {
        hub.owner.get(path).await.refused("not_found");
    }
    let browser = owner
        .request(Method::GET, "/docs")
        .header("accept", "text/html,*/*;q=0.8");
    let missing = Api::send(browser).await;
    assert!(
        missing.status == 404 && missing.text().contains("This page does not exist."),
        "{}",
        missing.text()
    );
    for (path, page) in [("/settings", "/inbox/settings"), ("/login", "/inbox")] {
        assert_eq!(owner.get(path).await.expect(200).url, page);
    }
    assert_eq!(
        owner.get("/favicon.ico").await.expect(200).header("content-type"),
        "image/svg+xml"
    );
    let wrong = Api::send(owner.request(Method::PUT, "/inbox")).await;
    assert!(
        wrong.status == 405 && wrong.text().contains("<main"),
        "{}",
        wrong.text()
    );
    let refused = hub.owner.get("/v1/admin/keys/rotate").await.expect(405);
    assert_eq!(refused["error"]["code"], "method_not_allowed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_get_on_a_post_only_url_redirects_to_its_page() {
    let hub = Hub::start().await;
    let id = hub.agent("bot").await.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let item = format!("/inbox/items/{id}");
    for (path, page) in [
        ("/inbox/settings/password", "/inbox/settings"),
        ("/inbox/settings/tokens/end", "/inbox/settings"),
        ("/inbox/settings/passkeys/begin", "/inbox/settings"),
        ("/inbox/settings/people/role", "/inbox/settings/people"),
        ("/inbox/settings/agents/secrets/remove", "/inbox/settings/agents"),
        ("/inbox/settings/deliveries/retry", "/inbox/settings/deliveries"),
        ("/signout", "/inbox"),
    ] {
        assert_eq!(owner.get(path).await.expect(200).url, page);
    }
    for act in ["aside", "return", "archive", "retry", "decide"] {
        assert_eq!(owner.get(&format!("{item}/{act}")).await.expect(200).url, item);
    }
    let stranger = WebClient::anonymous(&hub);
    assert!(
        stranger
            .get(&format!("{item}/aside"))
            .await
            .url
            .starts_with("/signin?next=")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_query_still_shows_the_page() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    for page in ["", "/people", "/agents", "/deliveries", "/presets"] {
        owner
            .get(&format!("/inbox/settings{page}?done=a&done=b&id=%ff&&="))
            .await
            .expect(200);
    }
    let refused = owner.get("/inbox/history?status=nonsense").await.expect(400);
    assert!(refused.header("content-type").starts_with("text/html"));
}
