//! The live event stream of the inbox, and the state it reports.

use reqwest::{Method, Response};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::harness::*;

const EVENTS: &str = "/v1/inbox/events";

/// A subscriber of the event stream.
struct Stream {
    response: Response,
    unread: String,
    /// The value for `Last-Event-ID`.
    last_id: String,
}

#[derive(Debug)]
struct Record {
    kind: String,
    data: Value,
}

impl Stream {
    async fn open(api: &Api) -> Self {
        Self::resume(api, "").await
    }

    /// Reconnects with `Last-Event-ID`; an empty `last_id` sends no header.
    async fn resume(api: &Api, last_id: &str) -> Self {
        let mut request = api.request(Method::GET, EVENTS);
        if !last_id.is_empty() {
            request = request.header("last-event-id", last_id);
        }
        let response = within("the stream opens", request.send())
            .await
            .expect("the hub replies");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut stream = Self {
            response,
            unread: String::new(),
            last_id: String::new(),
        };
        let first = stream.block().await.expect("the retry interval and the current id");
        assert!(first.starts_with("retry: 2000\n"), "{first}");
        stream
    }

    /// The next block, up to an empty line; `None` at the end of the stream.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.unread.split_once("\n\n") {
                let block = block.to_owned();
                let rest = rest.to_owned();
                self.unread = rest;
                if let Some(id) = field(&block, "id: ") {
                    self.last_id = id;
                }
                return Some(block);
            }
            let chunk = within("an event", self.response.chunk()).await.ok().flatten()?;
            self.unread.push_str(std::str::from_utf8(&chunk).expect("text"));
        }
    }

    async fn next(&mut self) -> Record {
        loop {
            let block = self.block().await.expect("the stream goes on");
            if let Some(kind) = field(&block, "event: ") {
                let data = field(&block, "data: ").expect("data with every event");
                return Record {
                    kind,
                    data: serde_json::from_str(&data).expect("JSON"),
                };
            }
        }
    }

    async fn expect(&mut self, kind: &str, id: &str) -> Value {
        let record = self.next().await;
        assert_eq!(
            (record.kind.as_str(), &record.data["id"]),
            (kind, &json!(id)),
            "{record:?}"
        );
        record.data
    }
}

fn field(block: &str, name: &str) -> Option<String> {
    block
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .map(str::to_owned)
}

async fn shown(hub: &Hub, id: &str) -> Value {
    hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)
}

async fn listed(api: &Api, path: &str) -> Vec<String> {
    let page = api.get(path).await.expect(200);
    let items = page["items"].as_array().expect("items");
    items
        .iter()
        .map(|item| item["id"].as_str().expect("an id").to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_and_its_answer_appear_on_every_stream() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let viewer = hub.person("vic", "viewer").await;
    let mut streams = [Stream::open(&hub.owner).await, Stream::open(&viewer).await];
    let id = bot.accepted(&ask("bot")).await;
    for stream in &mut streams {
        let opened = stream.expect("opened", &id).await;
        assert_eq!([&opened["title"], &opened["agent"]], ["Deploy build 42?", "bot"]);
        assert_eq!(opened["kind"], "confirm");
        assert!(
            opened["rank"].is_i64() && opened["seq"].is_i64() && opened.get("html").is_none(),
            "{opened}"
        );
    }
    hub.owner.answer(&id, "approve").await.expect(200);
    bot.pull(&id).await;
    for stream in &mut streams {
        let resolved = stream.expect("resolved", &id).await;
        assert_eq!([&resolved["words"], &resolved["actor"]], ["Approved", "human:owner"]);
        assert!(resolved["at_ms"].is_i64());
        stream.expect("tracked", &id).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notify_and_an_expiry_appear_too() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut stream = Stream::open(&hub.owner).await;
    let notice = bot.accepted(&notify("bot")).await;
    assert_eq!(stream.expect("noticed", &notice).await["kind"], "notify");
    let late = bot.accepted_briefly(&ask("bot")).await;
    stream.expect("opened", &late).await;
    let ended = stream.expect("resolved", &late).await;
    assert_eq!(
        [&ended["words"], &ended["actor"]],
        ["Expired: no answer in time", "system:expired"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn delivery_progress_of_an_answer_appears_on_the_stream() {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    receiver.script("/hook", &[PushReply::Status(500), PushReply::Status(200)]);
    let mut stream = Stream::open(&hub.owner).await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/hook"))).await;
    stream.expect("opened", &id).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    stream.expect("resolved", &id).await;
    stream.expect("tracked", &id).await;
    stream.expect("tracked", &id).await;
    assert_eq!(shown(&hub, &id).await["delivery"]["state"], "delivered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reconnecting_client_gets_missed_events() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let stream = Stream::open(&hub.owner).await;
    let last_id = stream.last_id.clone();
    drop(stream);
    let first = bot.accepted(&ask("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let mut back = Stream::resume(&hub.owner, &last_id).await;
    back.expect("opened", &first).await;
    let last_id = back.last_id.clone();
    back.expect("opened", &second).await;
    Stream::resume(&hub.owner, &last_id)
        .await
        .expect("opened", &second)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_was_away_too_long_gets_a_resync_and_continues() {
    let mut hub = Setup::default()
        .config("[limits]\nrequests_per_minute = 0\n")
        .start()
        .await;
    let bot = hub.agent("bot").await;
    let mut stream = Stream::open(&hub.owner).await;
    let last_id = stream.last_id.clone();
    for _ in 0..41 {
        let notifies = (0..25).map(|_| Api::send(bot.post_request("/v1/messages", notify("bot").to_string())));
        JoinSet::from_iter(notifies)
            .join_all()
            .await
            .iter()
            .for_each(|reply| assert_eq!(reply.status, 202));
        for _ in 0..25 {
            assert_eq!(stream.next().await.kind, "noticed");
        }
    }
    let mut away = Stream::resume(&hub.owner, &last_id).await;
    let event = away.next().await;
    assert_eq!((event.kind.as_str(), &event.data), ("resync", &json!({})));
    assert_eq!(away.last_id, stream.last_id);
    let id = bot.accepted(&ask("bot")).await;
    away.expect("opened", &id).await;
    let last_id = away.last_id.clone();
    hub.interrupt();
    hub.restart().await;
    for last_id in [last_id.as_str(), "0", "18446744073709551615", "nonsense"] {
        let mut resumed = Stream::resume(&hub.owner, last_id).await;
        assert_eq!(
            resumed.next().await.kind,
            "resync",
            "{last_id} is not an id of this hub"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_people_may_open_the_event_stream() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.get(EVENTS).await.refused("not_authorized");
    hub.anonymous().get(EVENTS).await.refused("unauthenticated");
    hub.anonymous()
        .bearer("csp_nonsense")
        .get(EVENTS)
        .await
        .refused("unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_of_a_removed_person_ends() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let ann = hub.person("ann", "viewer").await;
    let bob = hub.person("bob", "viewer").await;
    let mut hers = Stream::open(&ann).await;
    let mut his = Stream::open(&bob).await;
    hub.owner
        .post("/v1/admin/people/remove", &json!({"name": "ann"}))
        .await
        .expect(200);
    let id = bot.accepted(&ask("bot")).await;
    assert_eq!(hers.block().await, None);
    his.expect("opened", &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_per_person_are_limited() {
    let hub = Hub::start().await;
    let ann = hub.person("ann", "viewer").await;
    let mut streams = Vec::new();
    for _ in 0..50 {
        streams.push(Stream::open(&ann).await);
    }
    ann.get(EVENTS).await.refused("rate_limited");
    Stream::open(&hub.owner).await;
    drop(streams);
    eventually("streams can be opened again", async || {
        let response = ann.request(Method::GET, EVENTS).send().await.expect("the hub replies");
        (response.status() == 200).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_hub_closes_its_streams() {
    let mut hub = Hub::start().await;
    let mut streams = [Stream::open(&hub.owner).await, Stream::open(&hub.owner).await];
    assert!(hub.interrupt().success());
    for stream in &mut streams {
        assert_eq!(stream.block().await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_says_when_its_answer_was_fetched() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    bot.pull(&id).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    assert_eq!(
        shown(&hub, &id).await["fetched_at"],
        json!(null),
        "pulling an open message fetches no answer"
    );
    bot.pull(&id).await;
    let fetched_at = eventually("the receipt", async || {
        let item = shown(&hub, &id).await;
        item["fetched_at"].as_str().map(str::to_owned)
    });
    let fetched_at = fetched_at.await;
    let decided = hub.owner.get("/v1/decided").await.expect(200);
    assert_eq!(decided["items"][0]["fetched_at"], fetched_at.as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_request_does_not_count_as_fetching_the_answer() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let checked = bot.accepted(&ask("bot")).await;
    let fetched = bot.accepted(&ask("bot")).await;
    for id in [&checked, &fetched] {
        hub.owner.answer(id, "approve").await.expect(200);
    }
    let mut stream = Stream::open(&hub.owner).await;
    let head = Api::send(bot.request(Method::HEAD, &format!("/v1/messages/{checked}"))).await;
    let length: usize = head
        .header("content-length")
        .parse()
        .expect("the length that a GET would have");
    assert!(head.status == 200 && head.body.is_empty() && length > 0);
    bot.pull(&fetched).await;
    stream.expect("tracked", &fetched).await;
    assert_eq!(shown(&hub, &checked).await["fetched_at"], json!(null));
}

#[tokio::test(flavor = "multi_thread")]
async fn fetching_an_answer_again_sends_no_event() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let old = bot.accepted(&ask("bot")).await;
    let new = bot.accepted(&ask("bot")).await;
    for id in [&old, &new] {
        hub.owner.answer(id, "approve").await.expect(200);
    }
    bot.pull(&old).await;
    hub.interrupt();
    hub.restart().await;
    let mut stream = Stream::open(&hub.owner).await;
    bot.pull(&old).await;
    bot.pull(&new).await;
    stream.expect("tracked", &new).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_polled_answer_counts_as_fetched_even_if_the_hub_stops_at_once() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    bot.outcome(&id).await;
    hub.interrupt();
    hub.restart().await;
    assert!(shown(&hub, &id).await["fetched_at"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_says_whether_its_agent_is_waiting() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let item = shown(&hub, &id).await;
    assert_eq!(item["waiting_now"], false);
    let waiting = tokio::spawn(Api::send(
        bot.request(Method::GET, &format!("/v1/messages/{id}?wait=60")),
    ));
    eventually("the agent waits", async || {
        (shown(&hub, &id).await["waiting_now"] == true).then_some(())
    })
    .await;
    let seen_at = shown(&hub, &id).await["agent_seen_at"].clone();
    assert!(
        seen_at.as_str() >= item["agent_seen_at"].as_str() && seen_at.is_string(),
        "{seen_at}"
    );
    hub.owner.answer(&id, "approve").await.expect(200);
    waiting.await.expect("no panic").expect(200);
    assert_eq!(shown(&hub, &id).await["waiting_now"], false);
    hub.interrupt();
    hub.restart().await;
    assert_eq!(
        shown(&hub, &id).await["agent_seen_at"],
        seen_at,
        "last-seen survives a restart"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_finds_messages_submitted_just_before_it() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for word in ["aardvark", "Über-Möbel", "zebra"] {
        let mut asked = ask("bot");
        asked["body"] = json!(format!("It is about {word}, mostly."));
        let id = bot.accepted(&asked).await;
        let found = listed(&hub.owner, &format!("/v1/search?q={word}")).await;
        assert_eq!(found, [id.as_str()], "{word}");
        let begun: String = word.chars().take(3).collect();
        assert_eq!(
            listed(&hub.owner, &format!("/v1/search?q={begun}")).await,
            [id.as_str()],
            "{begun}"
        );
    }
    assert_eq!(listed(&hub.owner, "/v1/search?q=mostly").await.len(), 3);
    let mut secret = ask("bot");
    (secret["sensitive"], secret["title"]) = (json!(true), json!("The quokka"));
    bot.accepted(&secret).await;
    assert_eq!(listed(&hub.owner, "/v1/search?q=quokka").await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn snoozed_and_archived_items_stay_visible_to_others() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let ann = hub.person("ann", "resolver").await;
    let id = bot.accepted(&ask("bot")).await;
    let notice = bot.accepted(&notify("bot")).await;
    let until = json!({"until": from_now(3_600_000)});
    ann.post(&format!("/v1/inbox/{id}/aside"), &until).await.expect(200);
    ann.post(&format!("/v1/inbox/{notice}/archive"), &json!({}))
        .await
        .expect(200);
    assert_eq!(
        (
            listed(&ann, "/v1/inbox").await.len(),
            listed(&ann, "/v1/notices").await.len()
        ),
        (0, 0)
    );
    assert_eq!(listed(&ann, "/v1/inbox/aside").await, [id.as_str()]);
    assert_eq!(listed(&hub.owner, "/v1/inbox").await, [id.as_str()]);
    assert_eq!(listed(&hub.owner, "/v1/notices").await, [notice.as_str()]);
    for hidden in [&id, &notice] {
        ann.post(&format!("/v1/inbox/{hidden}/return"), &json!({}))
            .await
            .expect(200);
    }
    assert_eq!(listed(&ann, "/v1/inbox").await, [id.as_str()]);
    assert_eq!(listed(&ann, "/v1/notices").await, [notice.as_str()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_filters_by_agent_project_tag_and_kind() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let cat = hub.agent("cat").await;
    let mut tagged = ask("bot");
    (tagged["tags"], tagged["agent"]["project"]) = (json!(["prod", "a b"]), json!("pets/shop"));
    let tagged = bot.accepted(&tagged).await;
    let errand = cat.accepted(&task("cat")).await;
    let form = cat.accepted(&input("cat")).await;
    for (query, expected) in [
        ("agent=bot", vec![&tagged]),
        ("agent=cat", vec![&errand, &form]),
        ("project=pets%2Fshop", vec![&tagged]),
        ("tag=a%20b", vec![&tagged]),
        ("tag=a", vec![]),
        ("kind=task", vec![&errand]),
        ("kind=form&agent=cat", vec![&form]),
        ("kind=form&agent=bot", vec![]),
    ] {
        assert_eq!(
            listed(&hub.owner, &format!("/v1/inbox?{query}"))
                .await
                .iter()
                .collect::<Vec<_>>(),
            expected,
            "{query}"
        );
    }
    hub.owner
        .get("/v1/inbox?kind=riddle")
        .await
        .refused_field("validation_error", "kind");
}
