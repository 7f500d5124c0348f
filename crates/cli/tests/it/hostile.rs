//! Hostile input: every request gets a clear refusal, and the hub keeps serving.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::harness::*;

/// An ask as JSON text with `member` appended as the last member.
fn with_member(member: &str) -> Vec<u8> {
    let text = ask("bot").to_string();
    format!("{},{member}}}", text.strip_suffix('}').unwrap()).into_bytes()
}

fn replaced(from: &str, to: &[u8]) -> Vec<u8> {
    let text = ask("bot").to_string();
    let (before, after) = text.split_once(from).expect("the text to replace");
    [before.as_bytes(), to, after.as_bytes()].concat()
}

/// A description, the document, and a field name that the error must mention.
type Hostile = (&'static str, Vec<u8>, &'static str);

fn hostile_documents() -> Vec<Hostile> {
    let deep = |open: &str, close: &str| format!("\"state\":{{\"d\":{}{}}}", open.repeat(50_000), close.repeat(50_000));
    let tags = json!(vec!["t"; 10_000]);
    let labels: Value = (0..10_000)
        .map(|nth| (format!("l{nth}"), json!("x")))
        .collect::<serde_json::Map<_, _>>()
        .into();
    vec![
        ("a bomb of lists", deep("[", "]").into_bytes(), ""),
        ("a bomb of lists in state", with_member(&deep("[", "]")), ""),
        (
            "a bomb of objects in state",
            with_member(&deep("{\"a\":", "}").replacen("}}", "0}}", 1)),
            "",
        ),
        ("a bare bomb", vec![b'['; 500_000], ""),
        (
            "a title of a megabyte",
            replaced("Deploy build 42?", &vec![b'x'; 1_000_000]),
            "title",
        ),
        ("invalid UTF-8", replaced("Deploy", b"\xff\xfe"), ""),
        ("an overlong UTF-8 form", replaced("Deploy", b"\xc0\xaf"), ""),
        ("a raw control character", replaced("Deploy", b"\x00"), ""),
        ("a lone surrogate", replaced("Deploy", b"\\ud800"), ""),
        (
            "surrogates the wrong way round",
            replaced("Deploy", b"\\udc00\\ud800"),
            "",
        ),
        (
            "a number beyond doubles in state",
            with_member("\"state\":{\"n\":1e400}"),
            "",
        ),
        (
            "a number beyond doubles in context",
            with_member(r#""context":[{"kind":"data","data":{"n":-1e999}}]"#),
            "",
        ),
        ("ten thousand tags", with_member(&format!("\"tags\":{tags}")), "tags"),
        (
            "ten thousand labels",
            replaced("\"runtime\":", format!("\"labels\":{labels},\"runtime\":").as_bytes()),
            "labels",
        ),
        ("a key twice", with_member("\"title\":\"again\""), "title"),
        ("a key twice in state", with_member("\"state\":{\"a\":1,\"a\":2}"), ""),
        (
            "a key twice, spelled otherwise",
            with_member(r#""t\u0069tle":"again""#),
            "",
        ),
        (
            "a key twice deep inside",
            with_member(r#""context":[{"kind":"data","data":{"x":[{"k":1,"k":1}]}}]"#),
            "",
        ),
        (
            "a byte order mark",
            [b"\xef\xbb\xbf".as_slice(), ask("bot").to_string().as_bytes()].concat(),
            "",
        ),
        ("NaN", with_member("\"state\":{\"n\":NaN}"), ""),
        ("a comment", with_member("/* */\"tags\":[]"), ""),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_documents_are_refused_and_the_field_is_named() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for (name, body, field) in hostile_documents() {
        let reply = bot.post_bytes("/v1/messages", body).await;
        let error = reply.json()["error"].clone();
        assert!(
            [400, 413, 422].contains(&reply.status),
            "{name}: {} {error}",
            reply.status
        );
        assert!(
            error["code"].is_string() && error["message"].is_string(),
            "{name}: {error}"
        );
        assert!(error.to_string().contains(field), "{name} should name {field}: {error}");
        assert!(
            error.to_string().len() < 2000,
            "{name}: an error does not echo the input"
        );
        hub.anonymous().healthy().await;
    }
    assert_eq!(
        hub.owner.get("/v1/messages").await.expect(200)["messages"],
        json!([]),
        "nothing was stored"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_types_anywhere_never_break_the_hub() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut full = select("bot");
    full["context"] = json!([{"kind": "text", "text": "x", "metadata": {}}]);
    full["request"]["callback"] = json!({"mode": "pull", "auth": {"scheme": "hmac", "secret_ref": "x"}});
    full["request"]["permissions"] = json!({"allow_ignore": true});
    let mut pointers = vec![];
    collect_pointers(&full, String::new(), &mut pointers);
    let junk = [
        json!(null),
        json!(true),
        json!(-1.5),
        json!("\u{0}\u{7f}"),
        json!([]),
        json!([[{}]]),
        json!({"": {}}),
    ];
    for pointer in pointers {
        for value in &junk {
            let mut envelope = full.clone();
            *envelope.pointer_mut(&pointer).unwrap() = value.clone();
            if pointer != "/idempotency_key" && !pointer.is_empty() {
                envelope["idempotency_key"] = json!(format!("{pointer} {value}"));
            }
            let reply = bot.submit(&envelope).await;
            assert!(
                [202, 400, 403, 409, 422].contains(&reply.status),
                "{pointer} = {value}: {}",
                reply.text()
            );
            reply.json();
        }
    }
    hub.anonymous().healthy().await;
}

fn collect_pointers(value: &Value, at: String, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => map
            .iter()
            .for_each(|(key, value)| collect_pointers(value, format!("{at}/{key}"), into)),
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(nth, value)| collect_pointers(value, format!("{at}/{nth}"), into));
        }
        _ => {}
    }
    into.push(at);
}

#[tokio::test(flavor = "multi_thread")]
async fn control_characters_in_texts_come_back_unchanged() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = ask("bot");
    envelope["body"] = json!("a\u{0}b\u{1b}[31m\u{202e}\u{feff}\u{fffe}'; DROP TABLE messages; --");
    let reply = bot.submit(&envelope).await;
    assert!([202, 400, 422].contains(&reply.status), "{}", reply.text());
    if reply.status == 202 {
        assert_eq!(
            bot.pull(reply.json()["id"].as_str().unwrap()).await["body"],
            envelope["body"]
        );
    }
}

/// Sends `head` and `body` verbatim, and returns everything up to the end of the connection.
async fn raw(hub: &Hub, head: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(hub.url.trim_start_matches("http://"))
        .await
        .expect("connect");
    let _ = stream.write_all(head.as_bytes()).await;
    let _ = stream.write_all(body).await;
    let mut reply = vec![];
    let _ = within(
        &format!("the hub answers or hangs up: {head:.200}"),
        stream.read_to_end(&mut reply),
    )
    .await;
    String::from_utf8_lossy(&reply).into_owned()
}

fn head(token: &str, extra: &str) -> String {
    format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\n{extra}\r\n\r\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_above_the_limit_is_refused() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let huge = vec![b' '; 5 << 20];
    let reply = raw(
        &hub,
        &head(&bot.token, &format!("content-length: {}", huge.len())),
        &huge,
    )
    .await;
    assert!(
        reply.starts_with("HTTP/1.1 422") || reply.starts_with("HTTP/1.1 413"),
        "{reply}"
    );
    assert!(reply.contains("\"error\""), "{reply}");
    let mut chunked = b"100000\r\n".to_vec();
    chunked.extend(vec![b' '; 0x10_0000]);
    chunked.extend(b"\r\n100000\r\n");
    chunked.extend(vec![b' '; 0x10_0000]);
    chunked.extend(b"\r\n0\r\n\r\n");
    let reply = raw(&hub, &head(&bot.token, "transfer-encoding: chunked"), &chunked).await;
    assert!(
        reply.starts_with("HTTP/1.1 422") || reply.starts_with("HTTP/1.1 413"),
        "without a length too: {reply}"
    );
    hub.anonymous().healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_before_the_whole_body_announces_that_the_connection_ends() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for (token, status) in [(bot.token.as_str(), "422"), ("csa_wrong", "401")] {
        let head = head(token, "content-length: 67108864").replace("connection: close\r\n", "");
        let reply = raw(&hub, &head, b"the beginning").await;
        assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{reply}");
        assert!(reply.contains("connection: close"), "{reply}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunked_body_that_was_read_keeps_its_connection() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let first =
        head(&bot.token, "transfer-encoding: chunked\r\nexpect: 100-continue").replace("connection: close\r\n", "");
    let second = head(&bot.token, "content-length: 2");
    let pipelined = [b"2\r\n{}\r\n0\r\n\r\n", second.as_bytes(), b"{}"].concat();
    let replies = raw(&hub, &first, &pipelined).await;
    assert_eq!(replies.matches("HTTP/1.1 400").count(), 2, "{replies}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_absurd_content_length_is_refused_at_once() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for length in [
        "99999999999999999999999",
        "-1",
        "abc",
        "5, 6",
        "18446744073709551615",
        "1099511627776",
    ] {
        let reply = raw(&hub, &head(&bot.token, &format!("content-length: {length}")), b"{}").await;
        assert!(reply.starts_with("HTTP/1.1 4"), "{length}: {reply}");
    }
    let long = format!("x-long: {}", "x".repeat(1 << 20));
    let reply = raw(&hub, &head(&bot.token, &long), b"").await;
    assert!(reply.is_empty() || reply.starts_with("HTTP/1.1 4"), "{reply}");
    let long = format!(
        "GET /v1/messages/{} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        "m".repeat(1 << 17)
    );
    let reply = raw(&hub, &long, b"").await;
    assert!(reply.is_empty() || reply.starts_with("HTTP/1.1 4"), "{reply}");
    hub.anonymous().healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_clients_do_not_block_others() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let address = hub.url.trim_start_matches("http://");
    let mut silent = vec![];
    for nth in 0..200 {
        let mut stream = TcpStream::connect(address).await.expect("connect");
        if nth % 2 == 0 {
            stream
                .write_all(b"POST /v1/messages HTTP/1.1\r\nhost:")
                .await
                .expect("write");
        }
        silent.push(stream);
    }
    let mut stalled = TcpStream::connect(address).await.expect("connect");
    stalled
        .write_all(head(&bot.token, "content-length: 1000").as_bytes())
        .await
        .expect("write");
    let id = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    hub.anonymous().healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_resolves_are_refused() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&input("bot")).await;
    let path = format!("/v1/messages/{id}/resolve");
    let big = json!({"resolution": "answered", "value": {"reason": "x".repeat(900_000)}})
        .to_string()
        .into_bytes();
    for (name, body) in [
        ("a bomb", vec![b'['; 500_000]),
        (
            "a bomb in the value",
            format!("{{\"resolution\":\"answered\",\"value\":{}", "[".repeat(100_000)).into_bytes(),
        ),
        (
            "a huge number",
            br#"{"resolution":"answered","value":{"reason":"abc","retries":1e400}}"#.to_vec(),
        ),
        (
            "a key twice",
            br#"{"resolution":"answered","value":{"reason":"abc","reason":"abcd"}}"#.to_vec(),
        ),
        (
            "invalid UTF-8",
            b"{\"resolution\":\"declined\",\"comment\":\"\xff\"}".to_vec(),
        ),
        (
            "a comment of two megabytes",
            json!({"resolution": "declined", "comment": "x".repeat(2 << 20)})
                .to_string()
                .into(),
        ),
    ] {
        let reply = hub.owner.post_bytes(&path, body).await;
        assert!([400, 413, 422].contains(&reply.status), "{name}: {}", reply.text());
        assert!(reply.json()["error"]["code"].is_string(), "{name}");
    }
    assert_eq!(bot.pull(&id).await["status"], "open");
    let reply = hub.owner.post_bytes(&path, big).await;
    assert!([200, 413, 422].contains(&reply.status), "{}", reply.status);
    hub.anonymous().healthy().await;
}
