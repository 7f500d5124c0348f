//! The pages of runs in a browser without scripts.

use serde_json::{Value, json};

use super::list::csrf;
use super::{Page, WebClient};
use crate::harness::*;
use crate::runs::stage::*;

/// Waits until the page contains these words, and returns it.
pub async fn page_with(client: &WebClient, path: &str, expected: &str) -> Page {
    eventually(&format!("{path} says {expected:?}"), async || {
        let page = client.get(path).await.expect(200);
        page.text().contains(expected).then_some(page)
    })
    .await
}

pub fn address(run: &str) -> String {
    format!("/runs/{run}")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_shows_the_state_of_every_run_latest_first() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    assert!(
        owner
            .get("/runs")
            .await
            .expect(200)
            .text_at(".empty")
            .starts_with("No strategy has been run yet.")
    );
    let mut client = Client::connect(&hub).await;
    let done = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    client.answer(&done, "editor", "fine").await;
    client.result().await;
    let failed = client.start_strategy(&hub, &alone(command("false", &[])), "").await;
    client.failure().await;
    let waiting = client.start_strategy(&hub, &review(), "# A *bird*").await;
    client.next_question().await;
    let page = owner.get("/runs").await.expect(200);
    let order: Vec<_> = (1..=3)
        .map(|nth| page.attribute(&format!("#rows > li:nth-child({nth})"), "data-id"))
        .collect();
    assert_eq!(order, [&waiting, &failed, &done].map(|run| Some(run.clone())));
    let state = |run: &str| page.text_at(&format!("#row-{run} .state"));
    assert_eq!(
        [state(&waiting), state(&failed), state(&done)],
        ["waiting for an answer", "failed", "completed"]
    );
    let row = page.text_at(&format!("#row-{done}"));
    assert!(
        ["Test strategy", "started", "took", &done]
            .iter()
            .all(|word| row.contains(word)),
        "{row}"
    );
    assert_eq!(
        page.attribute(&format!("#row-{done} a.title"), "href"),
        Some(address(&done))
    );
    let ask = page.text_at(&format!("#row-{waiting} .ask"));
    assert!(
        ask.starts_with("editor waits") && ask.ends_with("Draft: # A *bird*"),
        "{ask}"
    );
    let link = page
        .attribute(&format!("#row-{waiting} .ask a"), "href")
        .expect("a link");
    assert!(
        owner
            .get(&link)
            .await
            .expect(200)
            .text_at("h1")
            .contains("Draft: # A *bird*")
    );
    assert_eq!(page.attribute("#nav-runs", "aria-current").as_deref(), Some("page"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_runs_is_paged_and_filtered_by_state() {
    let hub = Hub::start().await;
    let path = strategy_file(&hub, &talk());
    waiting_runs(&mut [Client::connect(&hub).await], &path, 31).await;
    let mut client = Client::connect(&hub).await;
    client.start_strategy(&hub, &talk(), "hello").await;
    client.result().await;
    let owner = WebClient::signed_in(&hub).await;
    let first = owner.get("/runs").await.expect(200);
    assert_eq!(first.count("#rows > .row"), 30);
    let second = owner
        .get(&first.attribute("a#older", "href").expect("a next page"))
        .await
        .expect(200);
    assert_eq!((second.count("#rows > .row"), second.count("a#older")), (2, 0));
    assert_eq!(second.attribute("a#first", "href").as_deref(), Some("/runs"));
    let completed = owner.get("/runs?status=completed").await.expect(200);
    assert_eq!(completed.count("#rows > .row"), 1);
    assert_eq!(completed.text_at(".tabs [aria-current]"), "Completed");
    let running = owner.get("/runs?status=running").await.expect(200);
    let rest = owner
        .get(&running.attribute("a#older", "href").expect("a next page"))
        .await
        .expect(200);
    assert_eq!((running.count("#rows > .row"), rest.count("#rows > .row")), (30, 1));
    assert!(
        owner
            .get("/runs?status=error")
            .await
            .expect(200)
            .text_at(".empty")
            .starts_with("No such runs.")
    );
    for nonsense in ["/runs?status=eaten", "/runs?cursor=7", "/runs/run-0-0?before=x"] {
        owner.get(nonsense).await.expect(400);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_shows_its_steps_its_directory_and_its_open_question() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get(&address(&run)).await.expect(200);
    assert_eq!(page.text_at("h1"), "Test strategy");
    assert!(
        page.text_at("#run-head").starts_with("waiting for an answer started"),
        "{}",
        page.text_at("#run-head")
    );
    assert_eq!(page.count("#steps > .step"), 2);
    assert!(page.text_at("#steps > li").starts_with("Started"));
    let draft = page.text_at("#steps > .step.done");
    assert!(
        draft.starts_with("draft done") && draft.ends_with("What it was given fish Draft: fish"),
        "{draft}"
    );
    let editor = page.text_at("#steps > .step.at-work");
    assert!(editor.starts_with("editor waiting since"), "{editor}");
    assert!(page.text_at("#panel h2").starts_with("editor waits for an answer"));
    assert_eq!(page.text_at("#panel .prompt"), "Draft: fish");
    assert_eq!(page.text_at("#to-come"), "Still to come: print");
    let about = page.text_at("#about");
    assert!(
        ["draft, editor, print", "sequential", ".json"]
            .iter()
            .all(|word| about.contains(word)),
        "{about}"
    );
    client.answer(&run, "editor", "**fine**").await;
    client.result().await;
    let page = owner.get(&address(&run)).await.expect(200);
    assert_eq!(
        page.text_at("#steps > li:last-child .mark").split(' ').next(),
        Some("Completed")
    );
    assert_eq!(
        (
            page.count("#steps > .step.done"),
            page.count("#panel form"),
            page.count(".md strong")
        ),
        (3, 0, 2)
    );
    assert!(page.attribute("#to-come", "hidden").is_some());
    client.continue_run(&run, "").await;
    client.next_question().await;
    let page = owner.get(&address(&run)).await.expect(200);
    assert!(page.text_at("#run-head").contains("segment 2") && page.text_at("#steps").contains("Continued"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_run_shows_its_error() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &alone(command("true", &[])), "").await;
    let (code, message) = client.failure().await;
    let page = WebClient::signed_in(&hub).await.get(&address(&run)).await.expect(200);
    assert!(page.text_at("#steps .mark.bad").contains(&code));
    assert_eq!(page.text_at("#steps .error-text"), message);
    assert!(page.text_at("#steps .step.cut").starts_with("worker not finished"));
    assert!(page.text_at("#run-head").starts_with("failed"));
    let shown = hub.owner.get(&format!("/v1/runs/{run}")).await.expect(200);
    assert_eq!(shown["error"], json!({"code": code, "message": message}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_stopped_only_by_authorized_people_and_own_forms() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let path = address(&run);
    let stop = format!("/runs/{run}/stop");
    let eve = WebClient::as_person(&hub, "eve", "viewer").await;
    let seen = eve.get(&path).await.expect(200);
    assert_eq!(seen.count("#panel form"), 0);
    assert!(seen.text_at("#panel").contains("your role is viewer"));
    eve.post(&stop, &[("csrf", &csrf(&seen))]).await.expect(403);
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    alice.post(&stop, &[("csrf", "guessed")]).await.expect(403);
    WebClient::anonymous(&hub).post(&stop, &[]).await.expect(401);
    client.expect_silence().await;
    let page = alice.get(&path).await.expect(200);
    let page = alice.submit(&page, "form#stop", &[], None).await.expect(200);
    assert_eq!(page.url, path);
    assert!(
        page.text_at("#run-head").starts_with("stopped"),
        "{}",
        page.text_at("#run-head")
    );
    assert_eq!(client.failure().await.0, "CANCELLED");
    assert_eq!(page.count("form#stop"), 0);
    alice
        .post("/runs/nobody/stop", &[("csrf", &csrf(&page))])
        .await
        .expect(404);
    assert_eq!(
        alice.get(&stop).await.expect(200).url,
        path,
        "who looks where one can only send sees the run"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_very_long_run_shows_its_latest_steps_and_links_to_earlier_ones() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"print": echo()});
    let run = client
        .start_strategy(&hub, &cycle(agents, &["print"], json!({"cycles": 2_600})), "round")
        .await;
    client.result().await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get(&address(&run)).await.expect(200);
    let count = page.count("#steps > li");
    assert!(
        (20..=100).contains(&count) && page.html.len() < 256 * 1024,
        "{count} lines, {} bytes",
        page.html.len()
    );
    assert!(page.text_at("#steps > li:last-child").starts_with("Completed"));
    let seq = |page: &Page, place: &str| {
        let seq = page
            .attribute(&format!("#steps > li:{place}"), "data-seq")
            .expect("a number");
        seq.parse::<u64>().expect("a number")
    };
    let earlier = owner
        .get(&page.attribute("a#earlier", "href").expect("earlier ones"))
        .await
        .expect(200);
    assert!(seq(&earlier, "last-child") < seq(&page, "first-child"));
    assert_eq!(
        earlier.count("#steps > .at-work, #run[data-seq]"),
        0,
        "what is over does not change"
    );
    assert_eq!(earlier.count("#steps > .step.done"), earlier.count("#steps > li"));
    let shown = hub.owner.get(&format!("/v1/runs/{run}")).await.expect(200);
    assert_eq!(shown["earlier"], json!(seq(&page, "first-child")));
    assert!(
        shown["steps"]
            .as_array()
            .is_some_and(|steps| (20..=100).contains(&steps.len()))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_text_is_cut_and_offered_as_a_file() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let text = format!("{}END", "<b>x</b> ".repeat(20_000));
    let run = client.start_strategy(&hub, &talk(), &text).await;
    client.result().await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get(&address(&run)).await.expect(200);
    assert!(page.html.len() < 256 * 1024 && !page.has("END"), "{}", page.html.len());
    let whole = page.attribute("#steps .rest a", "href").expect("the whole text");
    let file = owner.get(&whole).await.expect(200);
    assert_eq!(
        (file.html.as_str(), file.header("content-type")),
        (text.as_str(), "text/plain; charset=utf-8")
    );
    assert!(file.header("content-disposition").starts_with("attachment"));
    for nothing in ["0", "999999", "x"] {
        owner.get(&format!("/runs/{run}/texts/{nothing}")).await.expect(404);
    }
}

/// A strategy with hostile text in every field.
pub fn hostile() -> Value {
    let name = "<script>window.owned = 1</script>\u{202e}agent\u{200b}";
    let agents = json!({
        name: template("<img src=x onerror='window.owned=2'> [x](javascript:window.owned=3) \u{202e}evil \u{1b}[31m {{input}}"),
        "ask\"><b>": person(),
    });
    let flow = json!({"name": "<svg onload=window.owned=4>", "type": "sequential", "description": "</details><script>window.owned=5</script>",
        "steps": [{"agent": name}, {"agent": "ask\"><b>"}]});
    json!({"name": "</title><script>window.owned = 6</script>\u{2066}pay", "version": "1", "agents": agents, "flow": flow})
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_strategy_text_is_escaped() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client
        .start_strategy(&hub, &hostile(), "<iframe src=//evil.example>")
        .await;
    client.next_question().await;
    let owner = WebClient::signed_in(&hub).await;
    let item = crate::runs::inbox::id_of(&hub, &run).await;
    for path in [
        "/runs".to_owned(),
        address(&run),
        "/inbox".to_owned(),
        format!("/inbox/items/{item}"),
    ] {
        let page = owner.get(&path).await.expect(200);
        let inside = "main script, main img, main iframe, main svg, main a[href^='javascript']";
        assert_eq!((page.count(inside), page.count("title")), (0, 1), "{path}");
        assert_eq!(page.count("#rows b, #steps b, #panel b, #content b"), 0, "{path}");
        let hidden = ['\u{202e}', '\u{200b}', '\u{2066}', '\u{1b}'];
        assert!(
            !page.text().contains(hidden) && page.text().contains("\\u{2066}pay"),
            "{path}: {}",
            page.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_need_a_session_and_an_unknown_run_is_not_found() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    client.next_question().await;
    let stranger = WebClient::anonymous(&hub);
    let page = stranger.get(&address(&run)).await;
    assert_eq!(page.url, format!("/signin?next=%2Fruns%2F{run}"));
    stranger.get(&format!("/runs/{run}/events")).await.expect(401);
    let owner = WebClient::signed_in(&hub).await;
    for nowhere in ["/runs/nobody", "/runs/..%2F..", "/runs/%ff", "/runs/a/b/c"] {
        let page = owner.get(nowhere).await.expect(404);
        assert!(page.header("content-type").starts_with("text/html"), "{nowhere}");
    }
    owner.get("/runs/nobody/events").await.expect(404);
    owner.get(&format!("/runs/{run}/texts/2")).await.expect(200);
    stranger.get(&format!("/runs/{run}/texts/2")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_run_is_shown_and_listed_as_waiting_to_start() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &talk())).await;
    let owner = WebClient::signed_in(&hub).await;
    assert!(
        owner
            .get(&address(&run))
            .await
            .expect(200)
            .text_at("#run-head")
            .starts_with("prepared, not started")
    );
    assert_eq!(owner.get("/runs").await.expect(200).count("#rows > .row"), 1);
    client.start(&run, "x").await;
    client.result().await;
    assert_eq!(owner.get("/runs").await.expect(200).count("#rows > .row"), 1);
}
