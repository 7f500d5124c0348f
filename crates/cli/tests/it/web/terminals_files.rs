//! Files of an answer, sent with a multipart form by a browser without scripts.

use reqwest::Method;

use super::form::Form;
use super::item::open;
use super::{Page, WebClient};
use crate::hap::TerminalAgent;
use crate::harness::*;

const BOUNDARY: &str = "----of-a-browser";

fn part(head: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n");
    [head.as_bytes(), body, b"\r\n"].concat()
}

/// The multipart body of a form with files.
fn multipart(pairs: &[(&str, &str)], files: &[(&str, &[u8])]) -> Vec<u8> {
    let typed = pairs
        .iter()
        .map(|(name, value)| part(&format!("name=\"{name}\""), value.as_bytes()));
    let files = files.iter().map(|(name, body)| {
        let head = format!(
            "name=\"files\"; filename=\"{}\"\r\nContent-Type: text/html",
            name.replace('"', "%22")
        );
        part(&head, body)
    });
    let end = format!("--{BOUNDARY}--\r\n").into_bytes();
    files.chain(typed).chain([end]).collect::<Vec<_>>().concat()
}

/// Sends the answer and returns the resulting page.
async fn send(client: &WebClient, page: &Page, filled: &[(&str, &str)], files: &[(&str, &[u8])]) -> Page {
    let form = Form::find(page, "form#answer")
        .fill(filled)
        .press(Some(("verdict", "answered")));
    let action = form.action.clone().expect("an action");
    post(client, &action, multipart(&form.pairs(), files)).await
}

async fn post(client: &WebClient, path: &str, body: Vec<u8>) -> Page {
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let request = client
        .request(Method::POST, path)
        .header("content-type", kind)
        .body(body);
    let response = within("a page", request.send()).await.expect("the hub replies");
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let html = response.text().await.expect("the reply is text");
    Page {
        status,
        url: path.to_owned(),
        html,
        headers,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attached_files_can_be_downloaded() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let id = shell.ask_for_id("Any notes?").await;
    let page = open(&owner, &id).await;
    assert_eq!(
        page.attribute("form#answer", "enctype").as_deref(),
        Some("multipart/form-data")
    );
    let files: [(&str, &[u8]); 3] = [("nötes \"1\".html", b"<script>1</script>"), ("empty", b""), ("", b"")];
    send(&owner, &page, &[("value", "see there")], &files).await.expect(303);
    let cue = shell.outcome(&id).await;
    assert_eq!(
        (&cue["reply"]["text"], &cue["reply"]["files"][0]["name"]),
        (&"see there".into(), &"nötes \"1\".html".into())
    );
    let page = open(&owner, &id).await;
    assert_eq!(page.text_at(".kept"), "nötes \"1\".html 18 bytes empty 0 bytes");
    let link = page.attribute(".kept a", "href").expect("a link");
    let file = owner.get(&link).await.expect(200);
    assert_eq!(file.html, "<script>1</script>");
    assert_eq!(file.header("content-type"), "application/octet-stream");
    assert_eq!(file.header("x-content-type-options"), "nosniff");
    assert!(file.header("content-disposition").starts_with("attachment; filename*="));
    assert!(file.header("content-security-policy").contains("sandbox"));
    assert!(WebClient::anonymous(&hub).get(&link).await.url.starts_with("/signin"));
    owner.get(&format!("/inbox/items/{id}/files/2")).await.expect(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_alone_is_an_answer() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let id = shell.ask_for_id("The log?").await;
    send(&owner, &open(&owner, &id).await, &[], &[("a.log", b"x")])
        .await
        .expect(303);
    assert_eq!(shell.outcome(&id).await["reply"]["files"][0]["size"], 1);
    assert!(
        open(&owner, &id)
            .await
            .text_at("#outcome")
            .starts_with("Answered: a file by")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_file_is_named_and_the_input_is_kept() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let id = shell.ask_for_id("Any notes?").await;
    let page = open(&owner, &id).await;
    let large = vec![b'x'; 8 * 1024 * 1024 + 1];
    let filled = [("value", "see there"), ("comment", "and here")];
    for (files, message) in [
        (vec![("big.bin", &large[..]), ("small", b"x")], "big.bin is too large"),
        (vec![("a\\b", &b"x"[..])], "a\\b: give a plain name"),
        (vec![("a", &b"x"[..]), ("a", b"y")], "a: two files have this name"),
        (vec![("a", &b"x"[..]); 11], "attach at most 10 files"),
    ] {
        let refused = send(&owner, &page, &filled, &files).await.expect(422);
        let error = refused.text_at("#error-files");
        assert!(error.contains(message), "{error}");
        assert_eq!(refused.field("value").as_deref().map(str::trim), Some("see there"));
        assert_eq!(refused.field("comment").as_deref().map(str::trim), Some("and here"));
        assert!(refused.text_at("#files-lost").contains(files[0].0));
    }
    assert_eq!(shell.get_cue(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_need_the_csrf_token_and_an_authorized_person() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let id = shell.ask_for_id("Any notes?").await;
    let path = format!("/inbox/items/{id}/decide");
    let answer = [("value", "x"), ("verdict", "answered")];
    post(&owner, &path, multipart(&answer, &[("a", b"x")]))
        .await
        .expect(403);
    post(
        &owner,
        &path,
        multipart(&[answer[0], ("csrf", "forged")], &[("a", b"x")]),
    )
    .await
    .expect(403);
    post(&WebClient::anonymous(&hub), &path, multipart(&answer, &[("a", b"x")]))
        .await
        .expect(401);
    let token = super::list::csrf(&open(&alice, &id).await);
    let hers = [answer[0], answer[1], ("csrf", token.as_str())];
    post(&alice, &path, multipart(&hers, &[("a", b"x")])).await.expect(403);
    let much = vec![0; 1_000_000];
    post(&alice, &path, multipart(&hers, &[("a", &much)])).await.expect(422);
    assert_eq!(shell.get_cue(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_answer_lists_its_unused_files() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let owner = WebClient::signed_in(&hub).await;
    let id = shell.ask_for_id("Any notes?").await;
    let page = open(&owner, &id).await;
    hub.owner.answer(&id, "no").await.expect(200);
    let late = send(&owner, &page, &[("value", "see there")], &[("a.log", b"x")])
        .await
        .expect(409);
    let typed = late.text_at("#typed");
    assert!(
        typed.contains("see there") && typed.contains("Attached: a.log"),
        "{typed}"
    );
}
