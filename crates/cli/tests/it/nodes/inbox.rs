//! The inbox, its live events and sessions across hubs.

use reqwest::Method;

use super::Cluster;
use crate::harness::*;
use crate::web::WebClient;

pub async fn read_until(stream: &mut reqwest::Response, wanted: &[&str]) -> String {
    let mut text = String::new();
    within(&format!("{wanted:?}"), async {
        while !wanted.iter().all(|wanted| text.contains(wanted)) {
            let chunk = stream.chunk().await.expect("a stream").expect("the stream continues");
            text.push_str(&String::from_utf8_lossy(&chunk));
        }
    })
    .await;
    text
}

/// A live event stream that has begun.
pub async fn open_stream(request: reqwest::RequestBuilder) -> reqwest::Response {
    let mut stream = request.send().await.expect("a stream");
    read_until(&mut stream, &["id: "]).await;
    stream
}

/// Reads until the stream ends. A stream also checks its credential with its heartbeats, so the first heartbeat of
/// `older`, opened before it at the same hub, would mean that no notification ended it.
pub async fn until_ended_by_notification(older: &mut reqwest::Response, stream: &mut reqwest::Response) {
    let ended = async { while stream.chunk().await.expect("a stream").is_some() {} };
    tokio::select! {
        () = within("the end of the stream", ended) => {}
        _ = read_until(older, &[":\n\n"]) => panic!("a heartbeat came before the notification"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_waits_at_one_hub_is_marked_and_comes_first_at_all() {
    let mut cluster = Cluster::start(2).await;
    let bot = cluster.agent("bot").await;
    let first = bot.accepted(&ask("bot")).await;
    let second = bot.accepted(&ask("bot")).await;
    let pages = WebClient::signed_in(&cluster.hubs[0]).await;
    let order = format!("#row-{second} ~ #row-{first}");
    let until_marked = async |count: usize| {
        eventually("the row follows the agent", async || {
            let list = pages.get("/inbox").await.expect(200);
            let mark = list.count(&format!("#row-{second} .here[data-state=waiting]"));
            ([mark, list.count(&order), list.count("#rows .here")] == [count; 3]).then_some(())
        })
        .await;
    };
    until_marked(0).await;
    for waits_at in [0, 1] {
        let waiting = tokio::spawn({
            let (api, id) = (bot.at(&cluster.hubs[waits_at]), second.clone());
            async move { api.outcome(&id).await }
        });
        until_marked(1).await;
        let pulse = pages.get("/inbox/pulse").await.expect(200).text();
        assert!(pulse.contains("an agent waits right now for 1"), "{pulse}");
        if waits_at == 0 {
            waiting.abort();
        } else {
            cluster.hubs[1].kill();
        }
        until_marked(0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn asks_and_answers_at_any_hub_reach_the_streams_of_all() {
    let cluster = Cluster::start(3).await;
    let agent = cluster.agent("bot").await;
    let mut viewers = Vec::new();
    for hub in &cluster.hubs {
        let stream = hub
            .owner
            .request(Method::GET, "/v1/inbox/events")
            .send()
            .await
            .expect("a stream");
        viewers.push(stream);
    }
    let id = agent.at(&cluster.hubs[1]).accepted(&ask("bot")).await;
    for viewer in &mut viewers {
        let text = read_until(viewer, &["event: opened", &id]).await;
        assert!(!text.contains("event: resolved"), "{text}");
    }
    cluster.hubs[2].owner.answer(&id, "approve").await.expect(200);
    for viewer in &mut viewers {
        read_until(viewer, &["event: resolved", &id]).await;
    }
    for hub in &cluster.hubs {
        let listed = hub.owner.get("/v1/inbox").await.expect(200);
        assert!(!listed.to_string().contains(&id), "{listed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reconnects_to_another_hub_gets_a_resync() {
    let cluster = Cluster::start(2).await;
    let mut here = cluster.hubs[0]
        .owner
        .request(Method::GET, "/v1/inbox/events")
        .send()
        .await
        .expect("a stream");
    let first = read_until(&mut here, &["id: "]).await;
    let last_id = first
        .lines()
        .find_map(|line| line.strip_prefix("id: "))
        .expect("an event id")
        .to_owned();
    drop(here);
    let there = cluster.hubs[1]
        .owner
        .request(Method::GET, "/v1/inbox/events")
        .header("last-event-id", last_id);
    let mut there = there.send().await.expect("a stream");
    read_until(&mut there, &["event: resync"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_valid_at_all_hubs_and_ends_at_all() {
    let cluster = Cluster::with_setup(2, || Setup::default().args(&["--public-url", "http://hub.example"])).await;
    let here = WebClient::by_new_link(&cluster.hubs[0], "owner").await;
    let there = here.at(&cluster.hubs[1]);
    assert_eq!(there.get("/inbox").await.expect(200).url, "/inbox");
    let page = here.get("/inbox").await;
    let mut older = open_stream(cluster.hubs[1].owner.request(Method::GET, "/v1/inbox/events")).await;
    let mut stream = open_stream(there.request(Method::GET, "/inbox/events")).await;
    here.submit(&page, "/signout", &[], None).await;
    until_ended_by_notification(&mut older, &mut stream).await;
    assert!(there.get("/inbox").await.url.starts_with("/signin"));
}
