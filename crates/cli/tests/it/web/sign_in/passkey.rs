use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::*;
use crate::web::client::{Page, WebClient, new_link};

use super::authenticator::Authenticator;
use super::{age_sessions, is_signed_in};

/// The origin under which people open a local hub.
fn origin(hub: &Hub) -> String {
    hub.url.replace("127.0.0.1", "localhost")
}

/// A call as the script of the page makes it, with this origin.
async fn call(web_client: &WebClient, origin: &str, path: &str, csrf: &str, body: &Value) -> Reply {
    let mut request = web_client.request(Method::POST, path).build().expect("a request");
    let headers = request.headers_mut();
    headers.insert("origin", origin.parse().unwrap());
    headers.insert("x-csrf", csrf.parse().unwrap());
    headers.insert("content-type", "application/json".parse().unwrap());
    *request.body_mut() = Some(body.to_string().into());
    let client = http_client().build().unwrap();
    let response = within("a reply", client.execute(request))
        .await
        .expect("the hub replies");
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    Reply {
        status,
        headers,
        body: response.bytes().await.expect("a body").to_vec(),
    }
}

fn csrf(page: &Page) -> String {
    page.field("csrf").expect("a guarded page")
}

const ADD: &str = "/inbox/settings/passkeys";

async fn add(client: &WebClient, origin: &str, key: &mut Authenticator, name: &str) -> Reply {
    let csrf = csrf(&client.get("/inbox/settings").await);
    let begun = call(client, origin, &format!("{ADD}/begin"), &csrf, &json!({ "name": name }))
        .await
        .expect(200);
    assert_eq!(begun["publicKey"]["authenticatorSelection"]["residentKey"], "required");
    assert_eq!(
        begun["publicKey"]["authenticatorSelection"]["userVerification"],
        "required"
    );
    let credential = key.create(&begun["publicKey"]);
    let body = json!({"name": name, "ceremony": begun["ceremony"], "credential": credential});
    call(client, origin, &format!("{ADD}/finish"), &csrf, &body).await
}

async fn begin(client: &WebClient, origin: &str) -> Value {
    let begun = call(client, origin, "/signin/passkey/begin", "", &json!({}))
        .await
        .expect(200);
    assert_eq!(begun["publicKey"]["userVerification"], "required");
    assert_eq!(begun["publicKey"]["allowCredentials"], json!([]), "no name was typed");
    begun
}

async fn finish(client: &WebClient, origin: &str, ceremony: &Value, credential: &Value, next: &str) -> Reply {
    let body = json!({"ceremony": ceremony, "credential": credential, "next": next});
    let reply = call(client, origin, "/signin/passkey/finish", "", &body).await;
    if let Some((name, value)) = reply
        .header("set-cookie")
        .split(';')
        .next()
        .and_then(|pair| pair.split_once('='))
    {
        client.set_cookie(name, value);
    }
    reply
}

async fn authenticate(client: &WebClient, origin: &str, key: &mut Authenticator) -> Reply {
    let begun = begin(client, origin).await;
    let credential = key.get(&begun["publicKey"]);
    finish(client, origin, &begun["ceremony"], &credential, "/inbox/history").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_signs_in_without_a_name() {
    let hub = Hub::start().await;
    let origin = origin(&hub);
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let mut key = Authenticator::at(&origin);
    add(&alice, &origin, &mut key, "my phone").await.expect(200);
    assert!(
        alice
            .get("/inbox/settings")
            .await
            .text_at("#passkeys")
            .contains("my phone")
    );

    for _ in 0..2 {
        let client = WebClient::anonymous(&hub);
        assert_eq!(
            authenticate(&client, &origin, &mut key).await.expect(200)["next"],
            "/inbox/history"
        );
        assert!(client.get("/inbox").await.has("data-person=\"alice\""));
    }
    let again = WebClient::anonymous(&hub);
    assert_eq!(
        again.redeem(&new_link(&hub, "alice").await).await.url,
        "/inbox",
        "who has a passkey can come back"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_with_any_wrong_detail_is_refused() {
    let hub = Hub::start().await;
    let origin = origin(&hub);
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let mut key = Authenticator::at(&origin);
    add(&alice, &origin, &mut key, "").await.expect(200);
    let client = WebClient::anonymous(&hub);
    authenticate(&client, &origin, &mut Authenticator::at(&origin))
        .await
        .refused("not_authorized");

    let begun = begin(&client, &origin).await;
    let credential = key.get(&begun["publicKey"]);
    let other = begin(&client, &origin).await;
    finish(&client, &origin, &other["ceremony"], &credential, "")
        .await
        .refused("not_authorized");
    finish(&client, &origin, &other["ceremony"], &key.get(&other["publicKey"]), "")
        .await
        .refused("not_authorized");

    key.verifies = false;
    authenticate(&client, &origin, &mut key).await.refused("not_authorized");
    key.verifies = true;
    key.origin = "https://hub.evil.example".to_owned();
    authenticate(&client, &origin, &mut key).await.refused("not_authorized");
    key.origin.clone_from(&origin);
    assert!(!is_signed_in(&client).await);
    authenticate(&client, &origin, &mut key).await.expect(200);
    // A counter that goes back means that the key was cloned.
    key.counter = 0;
    authenticate(&client, &origin, &mut key).await.refused("not_authorized");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_passkey_no_longer_signs_in() {
    let hub = Hub::start().await;
    let origin = origin(&hub);
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let mut key = Authenticator::at(&origin);
    add(&alice, &origin, &mut key, "lost phone").await.expect(200);
    add(&alice, &origin, &mut key, "again").await.refused("not_authorized");
    let bob = WebClient::as_person(&hub, "bob", "resolver").await;
    add(&bob, &origin, &mut key, "not his").await.refused("already_exists");
    let page = alice.get("/inbox/settings").await.expect(200);
    alice
        .submit(&page, "/inbox/settings/passkeys/remove", &[], None)
        .await
        .expect(200);
    let output = authenticate(&WebClient::anonymous(&hub), &origin, &mut key)
        .await
        .refused("not_authorized");
    assert!(
        output["error"]["message"].as_str().unwrap().contains("removed"),
        "{output}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_opened_by_ip_address_names_the_host_name_for_passkeys() {
    let hub = Hub::start().await;
    let client = WebClient::anonymous(&hub);
    let page = client.get("/signin").await.expect(200);
    assert!(
        page.text().contains(&format!("{}/signin", origin(&hub))),
        "{}",
        page.text()
    );
    assert_eq!(
        page.count("button#passkey-signin[hidden]"),
        1,
        "nothing that only scripts can do is shown without them"
    );
    let refused = call(&client, &hub.url, "/signin/passkey/begin", "", &json!({})).await;
    refused.refused_field("validation_error", "address");
    assert!(refused.text().contains(&origin(&hub)), "{}", refused.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_is_added_only_from_the_same_session() {
    let hub = Hub::start().await;
    let origin = origin(&hub);
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let bob = WebClient::as_person(&hub, "bob", "resolver").await;
    let hers = csrf(&alice.get("/inbox/settings").await);
    let his = csrf(&bob.get("/inbox/settings").await);
    const BEGIN: &str = "/inbox/settings/passkeys/begin";
    call(&alice, &origin, BEGIN, &his, &json!({}))
        .await
        .refused("not_authorized");
    call(&alice, &origin, BEGIN, "", &json!({}))
        .await
        .refused("not_authorized");
    call(&WebClient::anonymous(&hub), &origin, BEGIN, &hers, &json!({}))
        .await
        .refused("not_authorized");
    let begun = call(&alice, &origin, BEGIN, &hers, &json!({"name": "x"}))
        .await
        .expect(200);
    let credential = Authenticator::at(&origin).create(&begun["publicKey"]);
    let body = json!({"ceremony": begun["ceremony"], "credential": credential});
    call(&bob, &origin, "/inbox/settings/passkeys/finish", &his, &body)
        .await
        .refused("not_authorized");
    assert_eq!(bob.get("/inbox/settings").await.count("#passkeys > li"), 0);
}

/// Begins to add a passkey, with this as the current password.
async fn begin_adding(client: &WebClient, origin: &str, current: &str) -> Reply {
    let csrf = csrf(&client.get("/inbox/settings").await);
    let body = json!({"name": "of a thief", "current": current});
    call(client, origin, &format!("{ADD}/begin"), &csrf, &body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn adding_a_passkey_to_an_older_session_needs_the_password() {
    let hub = Hub::start().await;
    let origin = origin(&hub);
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    super::set_password(&alice, super::PASSWORD).await.expect(200);
    let fresh = alice.get("/inbox/settings").await.expect(200);
    assert_eq!(fresh.count("#passkey-add input[name=current]"), 0, "{}", fresh.html);
    begin_adding(&alice, &origin, "").await.expect(200);

    age_sessions(&hub, 11).await;
    let older = alice.get("/inbox/settings").await.expect(200);
    assert_eq!(older.count("#passkey-add input[name=current]"), 1, "{}", older.html);
    let refused = begin_adding(&alice, &origin, "").await.refused("not_authorized");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("password"), "it says what to do: {message}");
    begin_adding(&alice, &origin, "a wrong password")
        .await
        .refused_field("invalid_field", "current");
    begin_adding(&alice, &origin, super::PASSWORD).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn adding_a_passkey_without_a_password_needs_a_fresh_sign_in() {
    let hub = Hub::start().await;
    let origin = origin(&hub);
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    let mut key = Authenticator::at(&origin);
    add(&alice, &origin, &mut key, "my phone").await.expect(200);
    age_sessions(&hub, 11).await;
    let page = alice.get("/inbox/settings").await.expect(200);
    assert_eq!(page.count("#passkey-add"), 0, "{}", page.html);
    assert!(page.text_at("#proof").contains("sign in again"), "{}", page.html);
    let refused = begin_adding(&alice, &origin, "").await.refused("not_authorized");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("sign in again"), "it says what to do: {message}");

    let first = [
        ("csrf", csrf(&page)),
        ("password", super::PASSWORD.to_owned()),
        ("again", super::PASSWORD.to_owned()),
    ];
    let first = first.each_ref().map(|(name, value)| (*name, value.as_str()));
    let refused = alice.post("/inbox/settings/password", &first).await.expect(403);
    assert!(
        refused.text().contains("sign in again"),
        "nor by a first password: {}",
        refused.text()
    );

    let again = WebClient::anonymous(&hub);
    authenticate(&again, &origin, &mut key).await.expect(200);
    add(&again, &origin, &mut Authenticator::at(&origin), "my laptop")
        .await
        .expect(200);
}
