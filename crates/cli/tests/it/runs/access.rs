//! Access to the run socket: origins, hosts, tokens.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;

use serde_json::json;

use super::stage::*;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_may_start_programs_or_call_models_requires_a_token() {
    for (config, named) in [
        ("[runs]\ncommands = \"ask\"\n", "(runs.commands)"),
        ("[runs]\ncommands = \"allow\"\n", "(runs.commands)"),
        ("[runs]\nrequire_token = true\n", "(runs.require_token)"),
        ("[llm]\nbase_url = \"http://127.0.0.1:9/v1\"\n", "(llm)"),
        ("[llm.providers.local]\nbase_url = \"http://127.0.0.1:9/v1\"\n", "(llm)"),
    ] {
        let hub = Setup::default().config(config).start().await;
        let refusal = Dial::to(&hub).refused().await;
        assert_eq!(refusal.status, 401);
        for text in [named, "Authorization: Bearer"] {
            assert!(refusal.body.contains(text), "{}", refusal.body);
        }
        Dial::to(&hub).bearer(&hub.token()).open().await.expect_silence().await;
    }
}

/// Requests an upgrade and prints the reply.
const RAW_CLIENT: &str = r#"
import socket, sys
host, port, header = sys.argv[1], int(sys.argv[2]), sys.argv[3]
stream = socket.create_connection((host, port), 30)
stream.settimeout(30)
stream.sendall((f"GET /ws HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
    f"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{header}\r\n").encode())
print(stream.recv(65536).decode())
"#;

#[tokio::test(flavor = "multi_thread")]
async fn another_user_of_the_machine_needs_a_token() {
    if std::fs::metadata("/proc/self").expect("Linux").uid() != 0 {
        eprintln!("skipped: only root can start a program as another user");
        return;
    }
    let hub = Hub::start().await;
    let (host, port) = hub.url.trim_start_matches("http://").split_once(':').expect("a port");
    let reply = |uid: u32, header: &str| {
        let mut client = std::process::Command::new("python3");
        client.args(["-c", RAW_CLIENT, host, port, header]).current_dir("/");
        let output = client.uid(uid).gid(uid).output().expect("python3 runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert!(
        reply(0, "").starts_with("HTTP/1.1 101 "),
        "the hub's own user is believed"
    );
    for uid in [54_321, 65_534] {
        let refused = reply(uid, "");
        assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
        for text in ["another user than the hub", "Authorization: Bearer"] {
            assert!(refused.contains(text), "{refused}");
        }
        let token = format!("authorization: Bearer {}\r\n", hub.token());
        assert!(reply(uid, &token).starts_with("HTTP/1.1 101 "), "with a token");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unlisted_origin_is_refused() {
    let hub = Hub::start().await;
    let own = hub.url.clone();
    let token = hub.person("p", "owner").await.token;
    for origin in [
        "https://evil.example",
        "null",
        "http://localhost:7422",
        own.as_str(),
        "file://",
        "",
    ] {
        let refusal = Dial::to(&hub).header("origin", origin).refused().await;
        assert_eq!(refusal.status, 403, "{origin:?}: {refusal:?}");
        assert!(
            refusal.body.contains("Origin") || refusal.body.contains("origin"),
            "{refusal:?}"
        );
        assert_eq!(
            Dial::to(&hub)
                .header("origin", origin)
                .bearer(&token)
                .refused()
                .await
                .status,
            403,
            "{origin:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_listed_origin_is_allowed() {
    let hub = Setup::default()
        .config("[runs]\nallowed_origins = [\"https://app.example\"]\n")
        .start()
        .await;
    let token = hub.person("alice", "resolver").await.token;
    let page = || Dial::to(&hub).header("origin", "https://app.example");
    page()
        .query(&format!("token={token}"))
        .open()
        .await
        .expect_silence()
        .await;
    assert_eq!(
        page().refused().await.status,
        401,
        "only native clients may connect without a token"
    );
    for origin in [
        "https://app.example.evil",
        "http://app.example",
        "https://app.example:444",
        "https://APP.example/x",
    ] {
        assert_eq!(
            Dial::to(&hub).header("origin", origin).refused().await.status,
            403,
            "{origin}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_host_header_is_refused_and_loopback_names_are_not() {
    let hub = Hub::start().await;
    let port = hub.url.rsplit(':').next().unwrap();
    for host in [
        "evil.example",
        "evil.example:7422",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.1",
    ] {
        let refusal = Dial::to(&hub).header("host", host).refused().await;
        assert!([403, 421].contains(&refusal.status), "{host}: {refusal:?}");
        assert!(refusal.body.len() > 20, "a sentence: {refusal:?}");
    }
    for host in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        "localhost".to_owned(),
        format!("[::1]:{port}"),
    ] {
        Dial::to(&hub).header("host", &host).open().await.expect_silence().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxied_request_needs_a_token() {
    let hub = Hub::start().await;
    let token = hub.person("alice", "owner").await.token;
    for (name, value) in [
        ("x-forwarded-for", "192.0.2.7"),
        ("x-forwarded-host", "hub.example"),
        ("x-forwarded-proto", "https"),
        ("forwarded", "for=192.0.2.7"),
    ] {
        let refusal = Dial::to(&hub).header(name, value).refused().await;
        assert_eq!(refusal.status, 401, "{name}: {refusal:?}");
        for text in [name, "?token=", "Authorization: Bearer"] {
            assert!(refusal.body.contains(text), "the reason and the remedy: {refusal:?}");
        }
        Dial::to(&hub)
            .header(name, value)
            .bearer(&token)
            .open()
            .await
            .expect_silence()
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publicly_reachable_hub_requires_a_token() {
    for (setup, setting) in [
        (
            Setup::default().args(&["--public-url", "https://hub.example"]),
            "public_url",
        ),
        (
            Setup::default().config("trusted_proxies = [\"127.0.0.1\"]\n"),
            "trusted_proxies",
        ),
    ] {
        let hub = setup.start().await;
        let refusal = Dial::to(&hub).refused().await;
        assert!([401, 403].contains(&refusal.status), "{refusal:?}");
        assert!(
            refusal.body.contains("?token=") && refusal.body.contains(setting),
            "the refusal names the remedy: {refusal:?}"
        );
        let token = hub.person("alice", "owner").await.token;
        Dial::to(&hub).bearer(&token).open().await.expect_silence().await;
        Dial::to(&hub)
            .bearer(&token)
            .header("host", "hub.example")
            .open()
            .await
            .expect_silence()
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_listens_beyond_loopback_requires_a_token() {
    let hub = Setup::default()
        .args(&["--listen", "0.0.0.0:0", "--allow-plain-http"])
        .start()
        .await;
    let port = hub.url.rsplit(':').next().unwrap();
    let address = format!("127.0.0.1:{port}");
    let refusal = Dial::at(&address).refused().await;
    assert!([401, 403].contains(&refusal.status), "{refusal:?}");
    let token = hub.person("alice", "owner").await.token;
    Dial::at(&address).bearer(&token).open().await.expect_silence().await;
    Dial::at(&address)
        .query(&format!("token={token}"))
        .open()
        .await
        .expect_silence()
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persons_token_is_accepted_in_three_places() {
    let hub = Hub::start().await;
    let alice = hub.person("alice", "resolver").await;
    let vic = hub.person("vic", "viewer").await;
    let bot = hub.agent("bot").await;
    let body = json!({"name": "owner", "terminal": true});
    let terminal = hub.owner.post("/v1/admin/people/token", &body).await.expect(200)["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let dials = |token: &str| {
        [
            Dial::to(&hub).bearer(token),
            Dial::to(&hub).header("x-api-key", token),
            Dial::to(&hub).query(&format!("token={token}")),
        ]
    };
    for dial in dials(&alice.token) {
        dial.open().await.expect_silence().await;
    }
    for (token, statuses) in [
        (vic.token.as_str(), &[403][..]),
        (bot.token.as_str(), &[401, 403]),
        (terminal.as_str(), &[401, 403]),
        ("csp_nonsense", &[401]),
        ("x", &[401]),
    ] {
        for dial in dials(token) {
            let refusal = dial.refused().await;
            assert!(statuses.contains(&refusal.status), "{token}: {refusal:?}");
            assert!(!refusal.body.contains(token) || token == "x", "{refusal:?}");
        }
    }
    hub.owner
        .post("/v1/admin/people/remove", &json!({"name": "alice"}))
        .await
        .expect(200);
    for dial in dials(&alice.token) {
        assert_eq!(dial.refused().await.status, 401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_closes_its_connections() {
    let hub = Hub::start().await;
    let alice = hub.person("alice", "resolver").await;
    let mut owner = Client::connect(&hub).await;
    let run = owner.start_strategy(&hub, &talk(), "").await;
    owner.next_question().await;
    let mut hers = Dial::to(&hub).bearer(&alice.token).open().await;
    hers.subscribe(&run).await;
    hers.expect("request_input").await;
    hub.owner
        .post("/v1/admin/people/remove", &json!({"name": "alice"}))
        .await
        .expect(200);
    let (frames, _) = hers.closed().await;
    assert!(frames.is_empty(), "{frames:?}");
    owner.answer(&run, "user", "hello").await;
    assert_eq!(owner.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_owner_may_prepare_runs() {
    let hub = Hub::start().await;
    let alice = hub.person("alice", "resolver").await;
    let mut owner = Client::connect(&hub).await;
    let run = owner.start_strategy(&hub, &talk(), "").await;
    owner.next_question().await;
    let mut hers = Dial::to(&hub).bearer(&alice.token).open().await;
    let path = strategy_file(&hub, &talk());
    let refusal = hers.prepare_refused(&path).await;
    assert!(refusal.contains("owner"), "{refusal}");
    let missing = hub.scratch().path("missing.json");
    assert_eq!(
        hers.prepare_refused(&missing).await,
        refusal,
        "the reply does not reveal whether a file exists"
    );
    hers.subscribe(&run).await;
    hers.expect("request_input").await;
    hers.answer(&run, "user", "from alice").await;
    assert_eq!(hers.result().await, "from alice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_request_to_the_socket_is_refused() {
    let hub = Hub::start().await;
    let reply = hub.anonymous().get("/ws").await;
    assert_eq!((reply.status, reply.text().as_str()), (400, "WebSocket upgrade failed"));
    assert_eq!(hub.anonymous().get("/ws/x").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_run_door_can_be_disabled() {
    let hub = Setup::default().config("[runs]\nenabled = false\n").start().await;
    let refusal = Dial::to(&hub).refused().await;
    assert!([403, 404].contains(&refusal.status), "{refusal:?}");
    hub.owner.healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_of_an_upgrade_is_never_logged() {
    let hub = Setup::default().env("RUST_LOG", "trace").start().await;
    let token = hub.person("alice", "owner").await.token;
    let mut client = Dial::to(&hub).query(&format!("token={token}")).open().await;
    let run = client.start_strategy(&hub, &talk(), "MARK-7f3a-input").await;
    client.result().await;
    Dial::to(&hub).query("token=csp_wrong-MARK-7f3a").refused().await;
    hub.process().signal("INT");
    let (ran, _scratch) = hub.into_finished();
    let logged = format!("{}{}", ran.stdout, ran.stderr);
    let lines = |word: &str| {
        logged
            .lines()
            .filter(|line| line.contains(word))
            .take(5)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(!logged.contains(&token), "{}", lines(&token));
    assert!(
        !logged.contains("MARK-7f3a"),
        "no message content: {}",
        lines("MARK-7f3a")
    );
    assert!(logged.contains(&run), "logs contain the run id");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_find_the_hub_at_its_default_address() {
    let hub = Setup::default().on_the_default_address().start().await;
    if !hub.url.ends_with(":7422") {
        eprintln!("skipped: 7422 is taken on this machine");
        return;
    }
    Dial::at("127.0.0.1:7422").open().await.expect_silence().await;
}
