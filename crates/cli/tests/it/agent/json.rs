//! `--json`: only JSON on standard output.

use serde_json::{Value, json};

use super::action_log::exec;
use super::receive::ReceiverSetup;
use super::{message_id, stage};
use crate::harness::*;

fn lines(text: &str) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
    text.lines().map(parse).collect()
}

fn shell(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_prints_one_object_with_the_outcome_and_the_command_result() {
    let (hub, _bot, terminal) = stage().await;
    for (script, act, code) in [("echo loud", "done", 0), ("echo loud; exit 3", "failed", 1)] {
        let id = message_id(&terminal.run(&["ask", "Ship?", "--confirm", "--detach"]).ok());
        hub.owner.answer(&id, "approve").await.expect(200);
        for act in [act, "before"] {
            let ran = terminal.run(&exec(&["wait", &id, "--json"], &shell(script)));
            let printed = lines(&ran.stdout);
            assert_eq!((ran.code, printed.len()), (code, 1), "{ran:?}");
            assert_eq!([&printed[0]["id"], &printed[0]["act"]], [&json!(id), &json!(act)]);
            assert_eq!(ran.stderr.contains("loud"), act != "before", "{ran:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_prints_one_object_per_delivery() {
    let setup = ReceiverSetup::open().await;
    let url = setup.url();
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
    let receiver = setup.terminal.start(&exec(&listen, &shell("echo loud")));
    let first = receiver.stdout_with("}\n").await;
    let listening = lines(&first)[0]["listening"].as_str().expect("an address").to_owned();
    let at = listening.strip_suffix("/resume").expect("the path").to_owned();
    setup.front.forward_to(&at);
    let stranger = Api::anonymous(&at).post("/resume", &json!({})).await;
    assert_eq!(stranger.status, 401);
    let id = setup.asked().await;
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    setup.hub.delivery(&id, "delivered").await;
    receiver.signal("TERM");
    let ran = receiver.finish();
    let printed = lines(&ran.stdout);
    let acted = json!({"id": id, "resolution": "answered", "act": "done"});
    assert_eq!(
        printed,
        [json!({"listening": listening}), json!({"code": "no_signature"}), acted],
        "{ran:?}"
    );
    assert!(ran.stderr.contains("loud"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_printed_as_an_object() {
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
    for (args, input, code) in [
        (&verify[..], "{}", "bad_body"),
        (&verify, &long, "bad_body"),
        (&["open", "--json"], "{}", "not_sealed"),
        (&["open", "--json"], "A2HSEALv1.AAAA.AAAA.AAAA", "not_opened"),
    ] {
        let ran = terminal.run_with_input(args, input);
        let printed = lines(&ran.stdout);
        assert_eq!((ran.code, printed.len()), (20, 1), "{ran:?}");
        assert_eq!(
            [&printed[0]["ok"], &printed[0]["code"]],
            [&json!(false), &json!(code)],
            "{ran:?}"
        );
        let reason = printed[0]["reason"].as_str().expect("a reason");
        assert!(ran.stderr.contains(reason), "{ran:?}");
    }
}
