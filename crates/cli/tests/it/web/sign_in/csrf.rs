//! Cross-site request forgery, framing and foreign scripts.

use std::collections::BTreeSet;
use std::path::Path;

use reqwest::Method;

use crate::harness::*;
use crate::web::client::WebClient;

/// Every POST route, read from the sources of the hub, so that a new route is covered automatically.
fn post_routes() -> BTreeSet<String> {
    let mut routes = BTreeSet::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/src"), &mut routes);
    for known in [
        "/signin",
        "/signout",
        "/inbox/items/{id}/decide",
        "/inbox/batch",
        "/inbox/settings/password",
    ] {
        assert!(routes.contains(known), "{known} was not found: {routes:#?}");
    }
    routes
}

fn collect(folder: &Path, routes: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            collect(&path, routes);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file");
            for declared in text.split(".route(").skip(1) {
                let declared = declared.split(".route(").next().unwrap_or_default();
                let (address, methods) = declared
                    .trim_start()
                    .trim_start_matches('"')
                    .split_once('"')
                    .expect("an address");
                let methods = methods.split(".merge(").next().unwrap_or_default();
                if methods.contains("post(") {
                    routes.insert(address.to_owned());
                }
            }
        }
    }
}

fn is_refused(status: u16) -> bool {
    [400, 401, 403].contains(&status)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_without_the_csrf_token_does_nothing() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let other = WebClient::by_new_link(&hub, "owner").await;
    let foreign = other
        .get("/inbox/settings")
        .await
        .field("csrf")
        .expect("a guarded page");
    for route in post_routes() {
        let path = route.replace("{id}", &id).replace("{token}", "css_guess");
        let fields = [
            ("value", "approve"),
            ("verdict", "answered"),
            ("id", &id),
            ("name", "evil"),
            ("role", "owner"),
        ];
        assert!(
            is_refused(owner.post(&path, &fields).await.status),
            "{path} without a secret"
        );
        let with_foreign: Vec<_> = fields.into_iter().chain([("csrf", foreign.as_str())]).collect();
        assert!(
            is_refused(owner.post(&path, &with_foreign).await.status),
            "{path} with the secret of another session"
        );
        let stranger = WebClient::anonymous(&hub).post(&path, &fields).await;
        assert!(is_refused(stranger.status), "{path} by a stranger: {}", stranger.status);
    }
    assert_eq!(bot.pull(&id).await["status"], "open");
    assert!(
        owner.get("/inbox").await.expect(200).url == "/inbox",
        "the session still works"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cross_site_post_does_nothing_even_with_the_csrf_token() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let owner = WebClient::signed_in(&hub).await;
    let csrf = owner
        .get("/inbox/settings")
        .await
        .field("csrf")
        .expect("a guarded page");
    for route in post_routes() {
        let path = route.replace("{id}", &id).replace("{token}", "css_guess");
        for (name, value) in [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("origin", "http://evil.example"),
        ] {
            let mut request = owner.request(Method::POST, &path).build().expect("a request");
            let headers = request.headers_mut();
            headers.remove("sec-fetch-site");
            headers.insert(name, value.parse().unwrap());
            headers.insert("content-type", "application/x-www-form-urlencoded".parse().unwrap());
            headers.insert("x-csrf", csrf.parse().unwrap());
            *request.body_mut() = Some(format!("csrf={csrf}&value=approve&verdict=answered").into());
            let reply = http_client().build().unwrap().execute(request).await.unwrap();
            assert!(
                is_refused(reply.status().as_u16()),
                "{path} {name}: {value} gave {}",
                reply.status()
            );
        }
    }
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_site_cannot_sign_a_browser_in_as_another_person() {
    let hub = Hub::start().await;
    let attacker = WebClient::as_person(&hub, "mallory", "resolver").await;
    super::set_password(&attacker, super::PASSWORD).await.expect(200);
    let form = WebClient::anonymous(&hub).get("/signin").await.expect(200);
    let csrf = form.field("csrf").expect("a guarded form");
    let victim = WebClient::anonymous(&hub);
    let fields = [
        ("csrf", csrf.as_str()),
        ("name", "mallory"),
        ("password", super::PASSWORD),
    ];
    victim.post("/signin", &fields).await.expect(403);
    let link = crate::web::client::new_link(&hub, "mallory").await;
    let path = link
        .split_once("/signin/")
        .map(|(_, token)| format!("/signin/{token}"))
        .unwrap();
    victim.post(&path, &[("csrf", csrf.as_str())]).await.expect(403);
    victim.post(&path, &[]).await.expect(403);
    assert!(!super::is_signed_in(&victim).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_cannot_be_framed_or_run_foreign_scripts() {
    let hub = Hub::start().await;
    let owner = WebClient::signed_in(&hub).await;
    for path in [
        "/inbox",
        "/inbox/settings",
        "/inbox/items/msg_00000000000000000000000000",
    ] {
        assert_security_headers(&owner.get(path).await);
    }
    assert_security_headers(&WebClient::anonymous(&hub).get("/signin").await);
}

#[track_caller]
fn assert_security_headers(page: &crate::web::client::Page) {
    let policy = page.header("content-security-policy");
    for part in [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ] {
        assert!(policy.contains(part), "{}: {policy}", page.url);
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("cache-control"), "no-store", "{}", page.url);
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(
        page.count("script:not([src]), style, [style], [onclick], [onload]"),
        0,
        "{}",
        page.html
    );
}
