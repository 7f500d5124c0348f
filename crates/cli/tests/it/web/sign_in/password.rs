use crate::harness::*;
use crate::web::client::WebClient;

use super::{PASSWORD, is_signed_in, set_password, sign_in, sign_out};

#[tokio::test(flavor = "multi_thread")]
async fn a_password_once_set_signs_in() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    set_password(&owner, PASSWORD).await.expect(200);
    sign_out(&owner).await.expect(200);
    assert!(!is_signed_in(&owner).await);
    let page = sign_in(&owner, "/inbox/history?status=answered", "owner", PASSWORD)
        .await
        .expect(200);
    assert_eq!(
        page.url, "/inbox/history?status=answered",
        "it goes on where the reader wanted to go"
    );
    assert!(is_signed_in(&owner).await);
    assert_eq!(
        owner.get("/signin?next=/inbox/notices").await.url,
        "/inbox/notices",
        "who is in need not sign in"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_name_and_a_wrong_password_look_the_same() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    set_password(&alice, PASSWORD).await.expect(200);
    hub.person("linked", "resolver").await;
    let client = WebClient::anonymous(&hub);
    let mut seen = vec![];
    for (name, password) in [
        ("alice", "three quiet wordz"),
        ("nobody", PASSWORD),
        ("linked", PASSWORD),
        ("no name at all", PASSWORD),
        ("alice", ""),
    ] {
        let page = sign_in(&client, "/signin", name, password).await.expect(422);
        assert_eq!(page.field("name").as_deref(), Some(name), "what was typed stays");
        assert_eq!(page.attribute("#password", "value"), None, "the password does not");
        seen.push(page.text_at("#error-password"));
    }
    assert!(
        seen.iter().all(|text| text == "The name or the password is wrong."),
        "{seen:?}"
    );
    assert!(!is_signed_in(&client).await);
    sign_in(&client, "/signin", "alice", PASSWORD).await.expect(200);
    assert!(is_signed_in(&client).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_names_are_not_logged() {
    let hub = Hub::start().await;
    let client = WebClient::anonymous(&hub);
    sign_in(&client, "/signin", "my-secret-typed-too-early", "x")
        .await
        .expect(422);
    let log = hub.process().stderr_with("unknown name").await;
    assert!(!log.contains("my-secret"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn password_guessing_is_rate_limited_even_for_the_right_password() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    set_password(&alice, PASSWORD).await.expect(200);
    let guesser = WebClient::anonymous(&hub);
    let mut refused = None;
    for guess in 0..20 {
        let page = sign_in(&guesser, "/signin", "alice", &format!("guess number {guess}")).await;
        if page.status == 429 {
            refused = Some(page);
            break;
        }
        assert_eq!(page.status, 422, "{}", page.text());
    }
    let page = refused.expect("soon enough");
    assert!(
        (1..=31).contains(&page.header("retry-after").parse::<u32>().unwrap()),
        "{:?}",
        page.headers
    );
    assert!(page.text().contains("one-time link"), "another way in: {}", page.text());
    let page = sign_in(&guesser, "/signin", "alice", PASSWORD).await;
    assert_eq!(page.status, 429, "or guessing would go on for as long as it is wrong");
    sign_in(&guesser, "/signin", "nobody", PASSWORD).await.expect(422);
    WebClient::by_new_link(&hub, "alice").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_in_person_can_change_the_password_despite_guessing() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    set_password(&alice, PASSWORD).await.expect(200);
    let guesser = WebClient::anonymous(&hub);
    while sign_in(&guesser, "/signin", "alice", "a guess").await.status != 429 {}
    let page = alice.get("/inbox/settings").await.expect(200);
    let new = "four other quiet words";
    let filled = [("current", PASSWORD), ("password", new), ("again", new)];
    alice
        .submit(&page, "/inbox/settings/password", &filled, None)
        .await
        .expect(200);
    let page = alice.get("/inbox/settings").await.expect(200);
    let wrong = [("current", "a guess"), ("password", new), ("again", new)];
    let mut refused = 0;
    while alice
        .submit(&page, "/inbox/settings/password", &wrong, None)
        .await
        .status
        == 422
    {
        refused += 1;
        assert!(refused < 12, "a borrowed browser guesses no faster");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_cannot_try_many_names() {
    let hub = Hub::start().await;
    let guesser = WebClient::anonymous(&hub);
    let page = guesser.get("/signin").await.expect(200);
    for number in 0..40 {
        let name = format!("name{number}");
        let page = guesser
            .submit(&page, "form#signin", &[("name", &name), ("password", PASSWORD)], None)
            .await;
        if page.status == 429 {
            assert!(!page.header("retry-after").is_empty());
            return;
        }
        assert_eq!(page.status, 422, "{}", page.text());
    }
    panic!("there is no rate limit");
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_in_redirects_only_within_the_hub() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice", "resolver").await;
    set_password(&alice, PASSWORD).await.expect(200);
    for next in [
        "https://evil.example/",
        "//evil.example",
        "/signin",
        "/inboxes",
        "/inbox/../../x\\",
        "javascript:alert(1)",
    ] {
        let page = alice.get(&format!("/signin?next={next}")).await.expect(200);
        assert_eq!(page.url, "/inbox", "{next}");
        let client = WebClient::anonymous(&hub);
        let page = client.get(&format!("/signin?next={next}")).await.expect(200);
        assert_eq!(page.field("next").as_deref(), Some("/inbox"), "{next}");
    }
    let client = WebClient::anonymous(&hub);
    let page = client.get("/signin").await;
    let typed = [("name", "alice"), ("password", PASSWORD), ("next", "//evil.example")];
    assert_eq!(client.submit(&page, "form#signin", &typed, None).await.url, "/inbox");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_must_be_long_and_differ_from_the_name() {
    let hub = Hub::start().await;
    let alice = WebClient::as_person(&hub, "alice.wonderland", "resolver").await;
    let long = "x".repeat(201);
    for password in ["short", "Alice.Wonderland", &long] {
        let page = set_password(&alice, password).await;
        assert_eq!(page.status, 422, "{password}: {}", page.text());
    }
    set_password(&alice, &"x".repeat(200)).await.expect(200);
}
