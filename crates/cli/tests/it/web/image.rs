//! Images of agents: fetched by the hub when a person asks for them, and only then.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::{Page, WebClient};
use crate::harness::{Hub, Setup, ask};

/// A red dot.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

pub fn png() -> Vec<u8> {
    STANDARD.decode(PNG).expect("base64")
}

/// A web server with images, which counts its requests.
pub struct ImageHost {
    url: String,
    requests: Arc<AtomicUsize>,
}

impl ImageHost {
    pub async fn start() -> Self {
        let requests = Arc::new(AtomicUsize::new(0));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let counter = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&counter)));
            }
        });
        Self { url, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// Answers one request and closes the connection.
async fn serve(stream: TcpStream, requests: Arc<AtomicUsize>) {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).await.is_ok_and(|length| length > 0) {}
    requests.fetch_add(1, Ordering::SeqCst);
    let lower = head.to_ascii_lowercase();
    let is_bare = !lower.contains("\r\ncookie:") && !lower.contains("\r\nreferer:");
    let path = head.split(' ').nth(1).unwrap_or_default();
    let (head, body) = reply(if is_bare { path } else { "/not-bare" });
    let head = format!(
        "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // The hub may hang up before the end of a large reply.
    let _ = stream.write_all(&[head.into_bytes(), body].concat()).await;
}

fn reply(path: &str) -> (&'static str, Vec<u8>) {
    match path {
        // The declared type is a lie, which must not matter.
        "/dot.png" => ("200 OK\r\nContent-Type: text/html", png()),
        "/moved" => ("302 Found\r\nLocation: /dot.png", Vec::new()),
        "/loop" => ("302 Found\r\nLocation: /loop", Vec::new()),
        "/private" => ("302 Found\r\nLocation: https://10.0.0.1/dot.png", Vec::new()),
        "/drawing.svg" => (
            "200 OK\r\nContent-Type: image/png",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(),
        ),
        "/large.png" => ("200 OK", [png(), vec![0; 5 * 1024 * 1024]].concat()),
        _ => ("404 Not Found", Vec::new()),
    }
}

async fn item(hub: &Hub, person: &WebClient, addresses: &[String]) -> Page {
    let bot = hub.agent("bot").await;
    let mut envelope = ask("bot");
    let images: Vec<String> = addresses
        .iter()
        .map(|address| format!("![a picture]({address})"))
        .collect();
    envelope["body"] = images.join("\n\n").into();
    let id = bot.accepted(&envelope).await;
    person.get(&format!("/inbox/items/{id}")).await.expect(200)
}

/// The values of the buttons, in the order of the images.
fn keys(page: &Page) -> Vec<String> {
    let parsed = page.parsed();
    let buttons = super::client::css("button[form=images]");
    let values = parsed.select(&buttons).filter_map(|button| button.attr("value"));
    values.map(str::to_owned).collect()
}

async fn press(person: &WebClient, page: &Page, key: &str) -> Page {
    person.submit(page, "form#images", &[], Some(("image", key))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_fetched_by_its_button_and_served_as_nothing_but_an_image() {
    let hub = Setup::pushing().start().await;
    let host = ImageHost::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let inline = format!("data:image/png;base64,{PNG}");
    let page = item(&hub, &owner, &[host.url("/dot.png"), host.url("/moved"), inline]).await;
    assert_eq!(
        (host.requests(), page.count("main img")),
        (0, 0),
        "reading the page fetches nothing"
    );
    for (key, requests) in keys(&page).iter().zip([1, 3, 3]) {
        let shown = press(&owner, &page, key).await.expect(200);
        assert_eq!(shown.header("content-type"), "image/png");
        assert_eq!(shown.header("x-content-type-options"), "nosniff");
        assert!(
            shown
                .header("content-security-policy")
                .contains("default-src 'none'; sandbox")
        );
        assert_eq!(host.requests(), requests);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_image_of_the_public_web_is_refused_with_the_reason() {
    let hub = Setup::pushing().start().await;
    let host = ImageHost::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let cases = [
        (host.url("/drawing.svg"), "it is no PNG, JPEG, GIF or WebP image"),
        (host.url("/large.png"), "it is larger than 4 MiB"),
        (host.url("/missing.png"), "its host answered 404"),
        (host.url("/loop"), "its host redirects too often"),
        (host.url("/private"), "its host is a private address"),
        (
            "https://169.254.169.254/latest".to_owned(),
            "its host is a metadata address",
        ),
        ("http://files.example/a.png".to_owned(), "over https only"),
        (
            "data:image/png;base64,PHN2Zz4=".to_owned(),
            "it is no PNG, JPEG, GIF or WebP image",
        ),
        ("data:image/png;base64,!".to_owned(), "it is not valid base64"),
    ];
    let addresses: Vec<String> = cases.iter().map(|(address, _)| address.clone()).collect();
    let page = item(&hub, &owner, &addresses).await;
    for (key, (address, reason)) in keys(&page).iter().zip(&cases) {
        let refused = press(&owner, &page, key).await.expect(422);
        assert!(
            refused.text_at("#problem").contains(reason),
            "{address}: {}",
            refused.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_development_switch_this_machine_is_no_image_host() {
    let hub = Hub::start().await;
    let host = ImageHost::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let page = item(&hub, &owner, &[host.url("/dot.png")]).await;
    let refused = press(&owner, &page, &keys(&page)[0]).await.expect(422);
    assert!(refused.text().contains("over https only"), "{}", refused.text());
    assert_eq!(host.requests(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_get_fetches_only_what_a_post_of_the_same_session_allowed() {
    let hub = Setup::pushing().start().await;
    let host = ImageHost::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let page = item(&hub, &owner, &[host.url("/dot.png"), host.url("/moved")]).await;
    let place = format!("{}/image", page.url);
    let keys = keys(&page);
    let (first, second) = (&keys[0], &keys[1]);

    owner.get(&format!("{place}?image={first}")).await.expect(403);
    owner
        .post(&place, &[("image", first), ("csrf", "wrong")])
        .await
        .expect(403);
    let csrf = page.field("csrf").expect("a token");
    let other = "0".repeat(32);
    owner
        .post(&place, &[("image", &other), ("csrf", &csrf)])
        .await
        .expect(404);
    assert_eq!(host.requests(), 0);

    let shown = press(&owner, &page, first).await.expect(200);
    assert_eq!(host.requests(), 1);
    owner.get(&shown.url.replace(first, second)).await.expect(403);
    owner.get(&shown.url.replace("until=", "until=9")).await.expect(403);
    WebClient::by_new_link(&hub, "owner")
        .await
        .get(&shown.url)
        .await
        .expect(403);
    assert_eq!(
        host.requests(),
        1,
        "an address is good for one image, one time and one session"
    );
}
