//! Questions of runs, answered on the page of the run and in the inbox, and the live updates of that page.

use reqwest::Method;
use serde_json::json;

use super::WebClient;
use super::item::open;
use super::runs::{address, page_with};
use crate::harness::*;
use crate::runs::inbox::id_of;
use crate::runs::stage::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_answered_on_its_own_page() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get(&address(&run)).await.expect(200);
    let sent = [("value", "two\r\nlines")];
    let page = owner
        .submit(&page, "form#answer", &sent, Some(("verdict", "answered")))
        .await
        .expect(200);
    assert_eq!(page.url, address(&run));
    assert_eq!(client.result().await, "two\nlines");
    page_with(&owner, &address(&run), "Finished.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_text_and_a_long_text_are_answers() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    for text in [String::new(), "ä long text ".repeat(70_000)] {
        let run = client.start_strategy(&hub, &review(), "fish").await;
        client.next_question().await;
        let id = id_of(&hub, &run).await;
        let item = open(&owner, &id).await;
        assert_eq!(item.attribute("#value", "aria-required"), None);
        assert!(item.text_at("#answer").contains("You can send an empty answer."));
        let sent = [("value", text.as_str())];
        owner
            .submit(&item, "form#answer", &sent, Some(("verdict", "answered")))
            .await
            .expect(200);
        assert_eq!(client.result().await, text);
        let expected = if text.is_empty() {
            "Answered: an empty text"
        } else {
            "Answered"
        };
        assert!(open(&owner, &id).await.text_at("#outcome").starts_with(expected));
        assert!(owner.get("/inbox/history").await.expect(200).html.len() < 64 * 1024);
    }
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let item = open(&owner, &id_of(&hub, &run).await).await;
    let sent = [("value", "x".repeat(1024 * 1024 + 1))];
    let sent = sent.each_ref().map(|(name, value)| (*name, value.as_str()));
    let refused = owner
        .submit(&item, "form#answer", &sent, Some(("verdict", "answered")))
        .await
        .expect(422);
    assert!(refused.text_at("#error-value").contains("keep it within"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_of_a_run_names_its_agent_and_strategy_and_links_to_the_run() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let other = client.start_strategy(&hub, &review(), "bird").await;
    client.next_question().await;
    let owner = WebClient::signed_in(&hub).await;
    let id = id_of(&hub, &run).await;
    let inbox = owner.get("/inbox").await.expect(200);
    let row = format!("#row-{id}");
    assert_eq!(inbox.text_at(&format!("{row} .who")), "Test strategy · text · run");
    assert_eq!(inbox.text_at(&format!("{row} .agent")), "editor");
    assert_eq!(inbox.attribute(&format!("{row} a.run"), "href"), Some(address(&run)));
    let narrowed = inbox.attribute(&format!("{row} a.agent"), "href").expect("a filter");
    let narrowed = owner.get(&narrowed).await.expect(200);
    assert_eq!(
        (narrowed.count("#rows > .row"), narrowed.count(&row)),
        (1, 1),
        "and not that of {other}"
    );
    assert!(
        narrowed
            .text_at("#active")
            .contains(&format!("agent: editor in run {run}"))
    );
    let item = open(&owner, &id).await;
    assert_eq!(item.text_at(".meta-line .who"), "from editor · Test strategy · its run");
    assert_eq!(item.attribute(".meta-line a.run", "href"), Some(address(&run)));
    assert_eq!(
        (item.text_at("h1"), item.count("#body")),
        ("Draft: fish".to_owned(), 0),
        "said once"
    );
    assert_eq!(item.text_at(".presence"), "Agent waiting now");
    assert_eq!(
        (item.count("#comment"), item.count("#reject")),
        (0, 0),
        "a run goes on with the answer alone"
    );
    hub.owner.answer(&id, "fine").await.expect(200);
    let item = open(&owner, &id).await;
    assert!(
        item.text_at("#track").ends_with("The run goes on with it"),
        "{}",
        item.text_at("#track")
    );
    let history = owner.get("/inbox/history").await.expect(200);
    assert_eq!(
        (history.text_at(".row .agent").as_str(), history.count(".row .track")),
        ("editor", 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_offers_its_four_choices_on_both_pages() {
    let hub = Setup::default().config("[runs]\ncommands = \"ask\"\n").start().await;
    let mut client = Client::connect(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let labels = ["Allow once", "Deny once", "Allow in this run", "Deny in this run"];
    let run = client
        .start_strategy(&hub, &alone(command("echo", &["hello", "<b>"])), "")
        .await;
    client.until("request_permission").await;
    let item = open(&owner, &id_of(&hub, &run).await).await;
    let page = owner.get(&address(&run)).await.expect(200);
    for page in [&item, &page] {
        let shown = page.text_at("#answer .choices");
        assert!(labels.iter().all(|label| shown.contains(label)), "{shown}");
        assert!(page.text().contains("echo hello '<b>'"), "{}", page.text());
    }
    assert_eq!(page.count("#answer .choices button.choice"), 4);
    let page = owner
        .submit(&page, "form#answer", &[], Some(("value", "allow-session")))
        .await
        .expect(200);
    assert_eq!(page.url, address(&run));
    assert_eq!(client.result().await, "hello <b>");
    assert!(
        owner
            .get(&address(&run))
            .await
            .text_at("#steps")
            .contains("What it may do changed")
    );
}

/// Both pages show the same command and input before a person can allow it, because a shell runs any input it is given.
#[tokio::test(flavor = "multi_thread")]
async fn a_permission_shows_its_input_and_directory_on_both_pages() {
    let hub = Setup::default().config("[runs]\ncommands = \"ask\"\n").start().await;
    let mut client = Client::connect(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let long = format!("# harmless\n{}\nrm -rf precious", "# x\n".repeat(5000));
    let hidden = long.len() - 2 * 4096;
    for (input, not_shown) in [("rm -rf precious", None), (long.as_str(), Some(hidden))] {
        let run = client
            .start_strategy(&hub, &alone(command("sh", &["-s", "--", "now"])), input)
            .await;
        let ask = client.until("request_permission").await.pop().expect("the request");
        let cwd = ask["details"]["cwd"].as_str().expect("a directory");
        let item = open(&owner, &id_of(&hub, &run).await).await;
        let page = owner.get(&address(&run)).await.expect(200);
        for shown in [item.text_at("#item"), page.text_at("#ask")] {
            assert!(
                ["sh -s -- now", "rm -rf precious", cwd]
                    .iter()
                    .all(|part| shown.contains(part)),
                "{shown}"
            );
            assert!(
                shown.contains("runs without asking from now on, whatever input it is given"),
                "{shown}"
            );
            match not_shown {
                Some(bytes) => assert!(shown.contains(&format!("{bytes} of them, in the middle, are not shown"))),
                None => assert!(!shown.contains("not shown"), "{shown}"),
            }
        }
        client.stop(&run).await;
        client.failure().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_whose_run_was_stopped_says_so() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let id = id_of(&hub, &run).await;
    let reply = hub.owner.post(&format!("/v1/runs/{run}/stop"), &json!({})).await;
    assert_eq!((reply.status, reply.text().as_str()), (204, ""));
    let item = open(&WebClient::signed_in(&hub).await, &id).await;
    assert!(
        item.text_at("#track").contains("The run ended before it was answered"),
        "{}",
        item.text_at("#track")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_a_run_gets_live_changes_and_streamed_text() {
    let model = Model::start().await;
    let hub = Setup::default().config(&model.config("")).start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"user": person(), "writer": llm()});
    let run = client
        .start_strategy(&hub, &sequence(agents, &["user", "writer"]), "")
        .await;
    client.next_question().await;
    let owner = WebClient::signed_in(&hub).await;
    let page = owner.get(&address(&run)).await.expect(200);
    let seq = page.attribute("#run", "data-seq").expect("a number");
    let request = owner.request(Method::GET, &format!("/runs/{run}/events?after={seq}"));
    let mut stream = within("the stream", request.send()).await.expect("the hub replies");
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let mut received = String::new();
    let mut until = async |wanted: &[&str]| {
        within("the stream tells", async {
            while !wanted.iter().all(|part| received.contains(part)) {
                let chunk = stream.chunk().await.expect("a stream").expect("it goes on");
                received.push_str(&String::from_utf8_lossy(&chunk));
            }
        })
        .await;
        std::mem::take(&mut received)
    };
    let first = until(&["\n\n"]).await;
    assert_eq!(first, format!("retry: 2000\nid: {seq}\n\n"));
    let gate = Gate::shut();
    model.script([held(&["Once \u{202e}", "upon"], &gate, &[" a time"])]);
    client.answer(&run, "user", "a tale").await;
    let events = until(&["event: changed", r"<p>Once \\u{202e}upon</p>"]).await;
    assert!(events.contains("event: text"), "{events}");
    gate.open();
    client.result().await;
    until(&["event: changed"]).await;
    page_with(&owner, &address(&run), "Once \\u{202e}upon a time").await;
}

/// A model reply that streams `before`, holds at the gate, and then streams `after`.
pub fn held(before: &[&str], gate: &Gate, after: &[&str]) -> ModelReply {
    let (ModelReply::Stream(mut first), ModelReply::Stream(rest)) = (says(before), says(after)) else {
        unreachable!()
    };
    first.truncate(before.len() + 1);
    first.push(Part::Hold(gate.clone()));
    first.extend(rest.into_iter().skip(1));
    ModelReply::Stream(first)
}
