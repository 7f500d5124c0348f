//! The pages in German and Chinese.

use reqwest::Method;

use super::WebClient;
use super::list::csrf;
use crate::harness::*;

async fn heading(client: &WebClient, path: &str, accept_language: &str) -> (String, String) {
    let request = client
        .request(Method::GET, path)
        .header("accept-language", accept_language);
    let response = within("a page", request.send()).await.expect("the hub replies");
    let vary = response.headers().get_all("vary").iter();
    let vary = vary
        .filter_map(|value| value.to_str().ok())
        .collect::<Vec<_>>()
        .join(", ");
    assert!(vary.contains("accept-language") && vary.contains("cookie"), "{vary}");
    let html = response.text().await.expect("text");
    let page = scraper::Html::parse_document(&html);
    let at = |selector: &str| {
        page.select(&scraper::Selector::parse(selector).expect("a selector"))
            .next()
    };
    let lang = at("html")
        .and_then(|html| html.attr("lang"))
        .unwrap_or_default()
        .to_owned();
    let text = at("h1")
        .map(|heading| heading.text().collect::<String>())
        .unwrap_or_default();
    (lang, text.trim().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_in_the_language_that_the_browser_prefers() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let pair = |lang: &str, text: &str| (lang.to_owned(), text.to_owned());
    for (accepted, expected) in [
        ("de-AT,de;q=0.9,en;q=0.5", pair("de", "Posteingang")),
        ("fr,zh-CN;q=0.8", pair("zh", "收件箱")),
        ("fr-FR,es", pair("en", "Inbox")),
        ("\"><script>", pair("en", "Inbox")),
    ] {
        assert_eq!(heading(&owner, "/inbox", accepted).await, expected, "{accepted}");
    }
    let page = owner.get("/inbox").await.expect(200);
    let style = page.attribute("link[rel=stylesheet]", "href").expect("a stylesheet");
    assert_eq!(owner.get(&style).await.expect(200).header("vary"), "accept-encoding");
    let missing = heading(&owner, "/inbox/no-such-page", "de").await;
    assert_eq!(missing, pair("de", "Das hat nicht geklappt"));
    let anonymous = WebClient::anonymous(&hub);
    assert_eq!(heading(&anonymous, "/signin", "de").await, pair("de", "Anmelden"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_language_that_a_person_chose_wins_until_it_is_taken_back() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let token = csrf(&owner.get("/inbox").await.expect(200));
    let choose = async |language: &str| {
        let fields = [
            ("csrf", token.as_str()),
            ("language", language),
            ("back", "/inbox/history"),
        ];
        owner.post("/inbox/look", &fields).await
    };
    assert_eq!(
        choose("zh").await.expect(200).attribute("html", "lang").as_deref(),
        Some("zh")
    );
    assert_eq!(heading(&owner, "/inbox/history", "de").await.0, "zh");
    let look = [("csrf", token.as_str()), ("theme", "dark")];
    let dark = owner.post("/inbox/look", &look).await.expect(200);
    assert_eq!(
        dark.attribute("html", "lang").as_deref(),
        Some("zh"),
        "another switch keeps it"
    );
    choose("system").await.expect(200);
    assert_eq!(heading(&owner, "/inbox/history", "de").await.0, "de");
    let refused = choose("fr").await.expect(422);
    assert!(refused.text_at("#problem").contains("choose system, en, de or zh"));
}
