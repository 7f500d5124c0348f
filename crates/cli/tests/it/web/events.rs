//! The event stream that updates open pages.

use reqwest::{Method, Response};
use scraper::Html;
use serde_json::Value;

use super::WebClient;
use super::client::css;
use super::list::titled;
use crate::harness::*;

struct Stream {
    response: Response,
    unread: String,
}

impl Stream {
    async fn open(client: &WebClient) -> Self {
        let response = within("the stream", client.request(Method::GET, "/inbox/events").send()).await;
        let response = response.expect("the hub replies");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut stream = Self {
            response,
            unread: String::new(),
        };
        let first = stream.record().await.expect("a first record");
        assert!(first.contains("retry: 2000"), "{first}");
        stream
    }

    /// Reads up to the next empty line; `None` at the end of the stream.
    async fn record(&mut self) -> Option<String> {
        loop {
            if let Some((record, rest)) = self.unread.split_once("\n\n") {
                let record = record.to_owned();
                self.unread = rest.to_owned();
                return Some(record);
            }
            let chunk = within("an event", self.response.chunk()).await.ok()??;
            self.unread
                .push_str(std::str::from_utf8(&chunk).expect("events are UTF-8"));
        }
    }

    /// Waits for the next event of this kind and returns its data.
    async fn event(&mut self, kind: &str) -> Value {
        loop {
            let record = self.record().await.expect("the stream goes on");
            let line = |name: &str| record.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            if line("event:") == Some(kind) {
                return serde_json::from_str(line("data:").expect("data")).expect("JSON");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn live_events_are_in_the_language_of_each_reader() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let english = WebClient::signed_in(&hub).await;
    let german = WebClient::as_person(&hub, "ann", "resolver").await;
    german.set_cookie("countersign_look", "system.compact.de");
    let mut streams = [Stream::open(&english).await, Stream::open(&german).await];
    let id = bot.accepted(&ask("bot")).await;
    let mut buttons = Vec::new();
    for stream in &mut streams {
        let opened = stream.event("opened").await;
        let row = Html::parse_fragment(opened["html"].as_str().expect("a row"));
        let button = row.select(&css(".quick button")).next().expect("a quick answer");
        buttons.push(button.text().collect::<String>());
    }
    assert_eq!(buttons, ["Approve", "Genehmigen"]);
    hub.owner.answer(&id, "approve").await.expect(200);
    let mut outcomes = Vec::new();
    for stream in &mut streams {
        outcomes.push(stream.event("resolved").await["words"].clone());
    }
    assert_eq!(outcomes, ["Approved", "Genehmigt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_row_equals_the_row_of_the_list() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let owner = WebClient::signed_in(&hub).await;
    let mut stream = Stream::open(&owner).await;
    let id = bot.accepted(&titled(ask("bot"), "<b>Deploy</b>?")).await;
    let opened = stream.event("opened").await;
    assert_eq!(opened["id"], id.as_str());
    let row = opened["html"].as_str().expect("a row");
    let row = Html::parse_fragment(row);
    let arrived = row.select(&css("li.row")).next().expect("one row");
    let list = owner.get("/inbox").await;
    for name in [
        "id",
        "data-rank",
        "data-seq",
        "data-kind",
        "data-agent",
        "data-project",
        "data-tags",
        "data-people",
    ] {
        assert_eq!(
            arrived.attr(name).map(str::to_owned),
            list.attribute(".row", name),
            "{name}"
        );
    }
    assert_eq!(arrived.attr("data-mine"), None, "the same row goes to all viewers");
    assert_eq!(
        row.select(&css(".title")).next().map(|title| title.text().collect()),
        Some("<b>Deploy</b>?".to_owned())
    );
    hub.owner.answer(&id, "approve").await.expect(200);
    let resolved = stream.event("resolved").await;
    assert_eq!([&resolved["id"], &resolved["actor"]], [id.as_str(), "human:owner"]);
    let notice = bot.accepted(&notify("bot")).await;
    let noticed = stream.event("noticed").await;
    assert_eq!(noticed["id"], notice.as_str());
    assert!(
        noticed["html"]
            .as_str()
            .expect("a row")
            .contains(&format!("/inbox/items/{notice}/archive"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_event_stream_needs_a_session() {
    let hub = Hub::start().await;
    let stranger = WebClient::anonymous(&hub);
    stranger.get("/inbox/events").await.expect(401);
    stranger.set_cookie("countersign", "nonsense");
    stranger.get("/inbox/events").await.expect(401);
    let reply = hub.owner.get("/inbox/events").await;
    assert_eq!(reply.status, 401, "a token is no session");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_ends_when_the_hub_stops() {
    let mut hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let mut stream = Stream::open(&owner).await;
    hub.interrupt();
    while stream.record().await.is_some() {}
}
