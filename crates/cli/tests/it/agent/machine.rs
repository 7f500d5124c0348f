//! What programs read: JSON on standard output and nothing beside it.

use serde_json::{Value, json};

use super::act::exec;
use super::receive::Counter;
use super::{message_id, stage};
use crate::harness::*;

fn lines(text: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
    text.lines().map(parse).collect()
}

fn words(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_object_tells_the_outcome_and_what_became_of_the_command() {
    let (hub, _bot, terminal) = stage().await;
    for (script, act, code) in [("echo loud", "done", 0), ("echo loud; exit 3", "failed", 1)] {
        let id = message_id(&terminal.run(&["ask", "Ship?", "--confirm", "--detach"]).ok());
        hub.owner.answer(&id, "approve").await.expect(200);
        for act in [act, "before"] {
            let ran = terminal.run(&exec(&["wait", &id, "--json"], &words(script)));
            let told = lines(&ran.stdout);
            assert_eq!((ran.code, told.len()), (code, 1), "{ran:?}");
            assert_eq!([&told[0]["id"], &told[0]["act"]], [&json!(id), &json!(act)]);
            assert_eq!(ran.stderr.contains("loud"), act != "before", "{ran:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_tells_each_delivery_as_one_object() {
    let counter = Counter::open().await;
    let url = counter.url();
    let listen = [
        "receive",
        "--json",
        "--listen",
        "127.0.0.1:0",
        "--url",
        &url,
        "--path",
        "/resume",
    ];
    let receiver = counter.terminal.start(&exec(&listen, &words("echo loud")));
    let first = receiver.stdout_with("}\n").await;
    let listening = lines(&first)[0]["listening"].as_str().expect("an address").to_owned();
    let at = listening.strip_suffix("/resume").expect("the path").to_owned();
    counter.front.lead_to(&at);
    let stranger = Api::anonymous(&at).post("/resume", &json!({})).await;
    assert_eq!(stranger.status, 401);
    let id = counter.asked().await;
    counter.hub.owner.answer(&id, "approve").await.expect(200);
    counter.hub.delivery(&id, "delivered").await;
    receiver.signal("TERM");
    let ran = receiver.finish();
    let told = lines(&ran.stdout);
    let acted = json!({"id": id, "resolution": "answered", "act": "done"});
    assert_eq!(
        told,
        [json!({"listening": listening}), json!({"code": "no_signature"}), acted],
        "{ran:?}"
    );
    assert!(ran.stderr.contains("loud"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_an_object_too() {
    let (_hub, bot, terminal) = stage().await;
    let terminal = terminal
        .env("COUNTERSIGN_SIGNING_KEY", &bot.signing_key)
        .env("COUNTERSIGN_SEAL_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
    let verify = [
        "verify",
        "--json",
        "--url",
        "https://hooks.example/",
        "--header",
        "A2H-Signature: t=1,jti=j,v1=AAAA",
    ];
    let long = " ".repeat((1 << 20) + 1);
    for (words, input, code) in [
        (&verify[..], "{}", "bad_body"),
        (&verify, &long, "bad_body"),
        (&["open", "--json"], "{}", "not_sealed"),
        (&["open", "--json"], "A2HSEALv1.AAAA.AAAA.AAAA", "not_opened"),
    ] {
        let ran = terminal.run_with_input(words, input);
        let told = lines(&ran.stdout);
        assert_eq!((ran.code, told.len()), (20, 1), "{ran:?}");
        assert_eq!(
            [&told[0]["ok"], &told[0]["code"]],
            [&json!(false), &json!(code)],
            "{ran:?}"
        );
        let reason = told[0]["reason"].as_str().expect("a reason");
        assert!(ran.stderr.contains(reason), "{ran:?}");
    }
}
