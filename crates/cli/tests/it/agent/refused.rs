//! Unanswerable or ambiguous messages are refused before anything is sent.

use super::{messages, open_items, stage};

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_without_a_recipient_is_refused_on_a_remote_hub() {
    let (hub, bot, terminal) = stage().await;
    let terminal = terminal.without("COUNTERSIGN_TO");
    for args in [
        &["ask", "Ship?", "--confirm"][..],
        &["task", "Renew", "--instructions", "By hand."],
    ] {
        let ran = terminal.run(args);
        assert!(ran.code == 1 || ran.code == 2, "{ran:?}");
        assert!(
            ran.stderr.contains("--to") && ran.stdout.is_empty(),
            "it says to name a recipient: {ran:?}"
        );
    }
    assert_eq!((open_items(&hub).await, messages(&bot).await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_that_cannot_be_answered_is_refused_with_its_reason() {
    let (_hub, bot, terminal) = stage().await;
    for (args, reason) in [
        (&["--confirm", "--to", "human:*"][..], "wildcard"),
        (&["--confirm", "--to", "alice"], "human:"),
        (&["--confirm", "--to", "alice"], "--to"),
        (&["--confirm", "--expires", "2h", "--default", "maybe"], "--default"),
        (&["--confirm", "--expires", "99999d"], "that is longer than ten years\n"),
        (&["--confirm", "--context", "nope"], "--context nope: cannot be read: "),
        (&["--confirm", "--expires", "2h", "--default", "maybe"], "approve, deny"),
        (&["--select", "a=One", "--select", "a=Two"], "options"),
        (&["--confirm", "--expires", "soon"], "soon"),
        (&["--confirm", "--default", "deny"], "--expires"),
        (
            &["--confirm", "--state", "/nonexistent/state.json"],
            "/nonexistent/state.json",
        ),
    ] {
        let ran = terminal.run(&[&["ask", "Ship?"], args].concat());
        assert!(ran.code == 1 || ran.code == 2, "{args:?}: {ran:?}");
        assert!(
            ran.stderr.contains(reason),
            "{args:?} should speak of {reason:?}: {ran:?}"
        );
    }
    let long = "x".repeat(201);
    assert_eq!(terminal.run(&["ask", &long, "--confirm"]).code, 1);
    assert_eq!(messages(&bot).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_errors_have_their_own_code() {
    let (_hub, bot, terminal) = stage().await;
    for args in [
        &["ask"][..],
        &["ask", "Ship?", "--confirm", "--select", "a=A"],
        &["ask", "Ship?", "--confirm", "--wait", "--detach"],
        &["wait"],
        &["task", "Renew"],
        &["receive"],
        &["verify"],
    ] {
        terminal.run(args).fails(2);
    }
    assert_eq!(messages(&bot).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn hub_refusals_are_final_and_name_the_cause() {
    let (hub, bot, terminal) = stage().await;
    let ask = ["ask", "Ship?", "--confirm"];
    let output = terminal
        .clone()
        .env("COUNTERSIGN_TOKEN", "csa_nonsense")
        .run(&ask)
        .fails(1);
    assert!(
        output.contains("COUNTERSIGN_TOKEN") && output.contains("unauthenticated"),
        "{output}"
    );
    let output = terminal
        .run(&[&ask[..], &["--agent", "somebody/else"]].concat())
        .fails(1);
    assert!(output.contains("agent"), "{output}");
    let output = terminal
        .run(&[&ask[..], &["--callback", "https://unknown.example/x"]].concat())
        .fails(1);
    assert!(
        output.contains("callback") || output.contains("unknown.example"),
        "{output}"
    );
    let output = terminal.clone().without("COUNTERSIGN_AGENT").run(&ask).fails(1);
    assert!(
        output.contains("COUNTERSIGN_AGENT") || output.contains("--agent"),
        "{output}"
    );
    terminal.run(&["wait", "msg_00000000000000000000000000"]).fails(1);
    terminal.run(&["wait", "no-such-key"]).fails(1);
    assert_eq!((open_items(&hub).await, messages(&bot).await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_sent_over_plain_http_is_pointed_out() {
    let (_hub, _bot, terminal) = stage().await;
    let exposed = terminal.env("COUNTERSIGN_URL", "http://hub.invalid:7422");
    let process = exposed.start(&["notify", "Hello"]);
    let output = process.stderr_with("https://").await;
    assert!(output.contains("anyone on the network path can read it"), "{output}");
}
