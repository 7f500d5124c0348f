use reqwest::Method;
use serde_json::json;

use crate::harness::*;
use crate::web::client::{WebClient, printed_link};

use super::{is_signed_in, sign_out};

/// The `set-cookie` header of the session cookie.
async fn session_cookie(hub: &Hub) -> String {
    let client = WebClient::anonymous(hub);
    let link = printed_link(hub).await;
    let page = client.get(&link).await.expect(200);
    let csrf = page.field("csrf").expect("a guarded form");
    let path = page.url.clone();
    let request = client
        .request(Method::POST, &path)
        .header("content-type", "application/x-www-form-urlencoded");
    let reply = Api::send(request.body(format!("csrf={csrf}"))).await;
    assert_eq!(reply.status, 303, "{}", reply.text());
    reply.header("set-cookie").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
    let hub = Hub::start().await;
    let line = session_cookie(&hub).await;
    let port = hub.url.rsplit(':').next().unwrap();
    assert!(
        line.starts_with(&format!("countersign_{port}=csb_")),
        "hubs of one machine do not share it: {line}"
    );
    for attribute in ["Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=2592000"] {
        assert!(line.contains(attribute), "{attribute}: {line}");
    }
    assert!(!line.contains("Secure") && !line.contains("Domain"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cookie_under_https_is_host_only_and_secure() {
    let hub = Setup::default()
        .args(&["--public-url", "https://hub.example"])
        .start()
        .await;
    let line = session_cookie(&hub).await;
    assert!(line.starts_with("__Host-countersign=csb_"), "{line}");
    assert!(
        line.contains("; Secure") && line.contains("Path=/") && !line.contains("Domain"),
        "{line}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn signing_out_ends_the_session_and_not_only_the_cookie() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    let thief = WebClient::anonymous(&hub);
    owner
        .cookies()
        .iter()
        .for_each(|(name, value)| thief.set_cookie(name, value));
    assert!(is_signed_in(&thief).await);
    assert_eq!(sign_out(&owner).await.expect(200).url, "/signin");
    assert!(
        !owner.cookies().values().any(|value| value.starts_with("csb_")),
        "{:?}",
        owner.cookies()
    );
    assert!(!is_signed_in(&thief).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_listed_and_an_ended_one_is_locked_out() {
    let hub = Hub::start().await;
    let here = WebClient::as_person(&hub, "alice", "resolver").await;
    let there = WebClient::by_new_link(&hub, "alice").await;
    assert!(is_signed_in(&there).await);
    let page = here.get("/inbox/settings").await.expect(200);
    assert_eq!(page.count("#sessions > li"), 2, "{}", page.html);
    here.submit(&page, "form[action='/inbox/settings/sessions/end']", &[], None)
        .await
        .expect(200);
    assert!(!is_signed_in(&there).await, "at once");
    assert!(is_signed_in(&here).await);
    let later = [
        WebClient::by_new_link(&hub, "alice").await,
        WebClient::by_new_link(&hub, "alice").await,
    ];
    let page = here.get("/inbox/settings").await.expect(200);
    here.submit(&page, "/inbox/settings/sessions/end-others", &[], None)
        .await
        .expect(200);
    for client in &later {
        assert!(!is_signed_in(client).await);
    }
    assert!(is_signed_in(&here).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_cannot_end_sessions_of_others() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let bob = WebClient::as_person(&hub, "bob", "resolver").await;
    WebClient::by_new_link(&hub, "bob").await;
    let page = bob.get("/inbox/settings").await.expect(200);
    let theirs = page
        .attribute("#sessions input[name=id]", "value")
        .expect("another session of bob's");
    let mine = alice.get("/inbox/settings").await.expect(200);
    let csrf = mine.field("csrf").expect("a guarded page");
    alice
        .post("/inbox/settings/sessions/end", &[("csrf", &csrf), ("id", &theirs)])
        .await;
    assert_eq!(bob.get("/inbox/settings").await.expect(200).count("#sessions > li"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_person_is_signed_out_at_once() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    hub.owner
        .post("/v1/admin/people/remove", &json!({"name": "alice"}))
        .await
        .expect(200);
    assert!(!is_signed_in(&alice).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_event_stream_ends_with_its_session() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let request = alice.request(Method::GET, "/inbox/events");
    let mut stream = within("the stream", request.send()).await.expect("the hub replies");
    assert_eq!(stream.status(), 200);
    sign_out(&alice).await.expect(200);
    bot.accepted(&ask("bot")).await;
    let mut received = String::new();
    while let Some(chunk) = within("the end", stream.chunk()).await.expect("a polite end") {
        received.push_str(std::str::from_utf8(&chunk).expect("text"));
    }
    assert!(
        received.starts_with("retry:") && !received.contains("opened"),
        "{received}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_survives_a_restart() {
    let mut hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    hub.kill();
    hub.restart().await;
    assert!(is_signed_in(&owner).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_when_the_port_changes() {
    let mut hub = Setup::default().start().await;
    let owner = WebClient::signed_in(&hub).await;
    let (_, session) = session_of(&owner);
    hub.kill();
    hub.restart_elsewhere().await;
    let port = hub.url.rsplit(':').next().unwrap();
    let thief = WebClient::anonymous(&hub);
    thief.set_cookie(&format!("countersign_{port}"), &session);
    assert!(
        !is_signed_in(&thief).await,
        "a program at the old port was sent the cookie, and it is worth nothing"
    );
    let again = WebClient::by_new_link(&hub, "owner").await;
    let page = again.get("/inbox/settings").await.expect(200);
    assert_eq!(
        page.count("#sessions > li"),
        1,
        "the old session is gone: {}",
        page.html
    );
    hub.kill();
    hub.restart().await;
    assert!(is_signed_in(&again).await, "a start at the same port ends none");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_under_a_public_url_does_not_depend_on_the_port() {
    let mut hub = Setup::default()
        .args(&["--public-url", "http://hub.example:8080"])
        .start()
        .await;
    let owner = WebClient::signed_in(&hub).await;
    let (name, session) = session_of(&owner);
    hub.kill();
    hub.restart_elsewhere().await;
    let client = WebClient::anonymous(&hub);
    client.set_cookie(&name, &session);
    assert!(is_signed_in(&client).await);
}

fn session_of(client: &WebClient) -> (String, String) {
    let cookies = client.cookies().into_iter();
    cookies
        .into_iter()
        .find(|(_, value)| value.starts_with("csb_"))
        .expect("a session")
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_and_cookies_are_not_interchangeable() {
    let hub = Hub::start().await;
    let alice = hub.person("alice", "resolver").await;
    let owner = WebClient::signed_in(&hub).await;
    let (name, session) = session_of(&owner);
    for caller in [hub.anonymous().bearer(&session), hub.anonymous().api_key(&session)] {
        caller.get("/v1/inbox").await.refused("unauthenticated");
        caller.get("/v1/admin/status").await.refused("unauthenticated");
    }
    let client = WebClient::anonymous(&hub);
    client.set_cookie(&name, &alice.token);
    assert!(!is_signed_in(&client).await);
    let with_cookie = Api::send(owner.request(Method::GET, "/v1/inbox")).await;
    with_cookie.refused("unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_roles_see_the_inbox_and_only_owners_administer() {
    let hub = Hub::start().await;
    let viewer = WebClient::as_person(&hub, "vera", "viewer").await;
    let resolver = WebClient::as_person(&hub, "rob", "resolver").await;
    let owner = WebClient::signed_in(&hub).await;
    for client in [&viewer, &resolver, &owner] {
        assert!(is_signed_in(client).await);
        client.get("/inbox/settings").await.expect(200);
    }
    for path in ["people", "agents", "deliveries", "presets"] {
        let path = format!("/inbox/settings/{path}");
        owner.get(&path).await.expect(200);
        for client in [&viewer, &resolver] {
            client.get(&path).await.expect(403);
        }
        assert!(
            WebClient::anonymous(&hub)
                .get(&path)
                .await
                .url
                .starts_with("/signin?next=")
        );
    }
}
