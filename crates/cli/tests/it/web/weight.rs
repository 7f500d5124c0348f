//! The bytes that the first page costs, and which pages are compressed.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::GzDecoder;
use reqwest::header::HeaderMap;
use reqwest::{Method, Response};
use scraper::Html;

use super::WebClient;
use super::client::css;
use super::list::titled;
use crate::harness::*;

const OPEN_MESSAGES: usize = 2_000;
const SUBMITTERS: usize = 10;
const MAX_BYTES: usize = 60_000;
/// The codings that browsers accept over plain HTTP and https.
const ACCEPTED: &str = "gzip, deflate, br, zstd";

struct Fetched {
    /// The length of the body as it came.
    bytes: usize,
    text: String,
}

/// The text of a reply that may be compressed.
fn unpacked(body: &[u8], coding: &str) -> String {
    let mut plain = Vec::new();
    match coding {
        "gzip" => {
            GzDecoder::new(body).read_to_end(&mut plain).expect("gzip");
        }
        "" => plain.extend(body),
        other => panic!("{other} was not expected"),
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// Opens a page as a browser does. `site` is where the person comes from.
async fn navigate(client: &WebClient, path: &str, site: &str) -> Response {
    let described = [
        ("accept-encoding", ACCEPTED),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-site", site),
    ];
    let named = described.map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
    let request = client.request(Method::GET, path).headers(HeaderMap::from_iter(named));
    within("a page", request.send()).await.expect("the hub replies")
}

fn coding(response: &Response) -> String {
    let coding = response.headers().get("content-encoding");
    let name = coding.map(|coding| coding.to_str().expect("a name"));
    name.unwrap_or_default().to_owned()
}

async fn fetched(response: Response) -> Fetched {
    assert_eq!(response.status().as_u16(), 200, "{}", response.url());
    let coding = coding(&response);
    let body = within("a body", response.bytes()).await.expect("a body");
    Fetched {
        bytes: body.len(),
        text: unpacked(&body, &coding),
    }
}

/// The addresses that a page loads.
fn named_by(page: &str) -> BTreeSet<String> {
    let parsed = Html::parse_document(page);
    let loading = css("link[href], script[src], img[src]");
    let addresses = parsed
        .select(&loading)
        .filter_map(|found| found.attr("href").or(found.attr("src")));
    addresses.map(str::to_owned).collect()
}

/// The names of the modules that a script imports from files of their own.
fn imported_by(script: &str) -> impl Iterator<Item = &str> {
    let imports = script.lines().filter_map(|line| line.strip_prefix("import "));
    imports.filter_map(|import| import.split_once("\"./")?.1.strip_suffix("\";"))
}

#[tokio::test(flavor = "multi_thread")]
async fn first_page_with_2000_open_costs_less_than_60_kb_with_all_that_it_loads() {
    let hub = Setup::default()
        .config("[limits]\nrequests_per_minute = 0\ninbox_depth = 0\n")
        .start()
        .await;
    let bot = hub.agent("bot").await;
    let submit = async |first: usize| {
        for nth in (first..OPEN_MESSAGES).step_by(SUBMITTERS) {
            bot.accepted(&titled(ask("bot"), &format!("Deploy build {nth} to production?")))
                .await;
        }
    };
    futures_util::future::join_all((0..SUBMITTERS).map(submit)).await;
    let owner = WebClient::signed_in(&hub).await;
    let page = fetched(navigate(&owner, "/inbox", "none").await).await;
    assert!(page.text.contains("Deploy build 0 to"), "{}", page.text);
    let mut addresses = named_by(&page.text);
    // The worker fetches the offline page; the assets of that page are in the browser's cache.
    addresses.extend(["/inbox/sw.js".to_owned(), "/inbox/offline".to_owned()]);
    let mut total = page.bytes;
    let mut costs = vec![("/inbox".to_owned(), page.bytes)];
    for address in &addresses {
        let request = owner.request(Method::GET, address).header("accept-encoding", ACCEPTED);
        let asset = fetched(within("an asset", request.send()).await.expect("the hub replies")).await;
        for module in imported_by(&asset.text) {
            let is_fetched = addresses.iter().any(|address| address.ends_with(&format!("/{module}")));
            assert!(is_fetched, "{address} imports {module}, which is not preloaded");
        }
        total += asset.bytes;
        costs.push((address.clone(), asset.bytes));
    }
    println!("{total} bytes: {costs:#?}");
    assert!(total < MAX_BYTES, "{total} bytes: {costs:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn page_is_compressed_only_when_its_person_opens_it() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let coding_of = async |path: &str, site: &str| {
        let response = navigate(&owner, path, site).await;
        assert_eq!(response.headers()["cache-control"], "no-store");
        assert_eq!(
            response.headers()["vary"],
            "accept-encoding, accept-language, cookie, sec-fetch-mode, sec-fetch-site"
        );
        let coding = coding(&response);
        let body = response.bytes().await.expect("a body");
        assert!(unpacked(&body, &coding).contains("</html>"), "{path}");
        coding
    };
    for site in ["same-origin", "none"] {
        assert_eq!(coding_of("/inbox", site).await, "gzip", "{site}");
    }
    for site in ["cross-site", "same-site"] {
        assert_eq!(coding_of("/inbox", site).await, "", "{site}");
    }
    for reflecting in ["/inbox?tag=shop", "/inbox/search?q=shop", "/inbox/items/shop"] {
        assert_eq!(coding_of(reflecting, "same-origin").await, "", "{reflecting}");
    }
    let script = owner.request(Method::GET, "/inbox").header("accept-encoding", ACCEPTED);
    let script = script.header("sec-fetch-mode", "cors").header("x-fragment", "main");
    let response = within("a part of a page", script.send())
        .await
        .expect("the hub replies");
    assert_eq!(coding(&response), "");
}
