//! No command ever prints a token or a key.

use super::action_log::exec;
use super::receive::ReceiverSetup;
use super::{asked, message_id};
use crate::harness::*;

const SEAL: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

#[tokio::test(flavor = "multi_thread")]
async fn no_command_shows_a_token_or_a_key() {
    let setup = ReceiverSetup::open().await;
    let terminal = setup.terminal.clone().env("SEAL_KEY", SEAL).env("RUST_LOG", "trace");
    let hub = &setup.hub;
    let url = setup.url();
    let mut output = String::new();
    let mut note = |ran: CommandOutput| {
        output.push_str(&ran.stdout);
        output.push_str(&ran.stderr);
        ran
    };
    let sealed = note(terminal.run_with_input(&["seal", "--key-env", "SEAL_KEY"], r#"{"step":3}"#)).ok();
    note(terminal.run_with_input(&["open", "--key-env", "SEAL_KEY"], &sealed)).ok();
    note(terminal.run_with_input(&["open", "--key-env", "SEAL_KEY"], "A2HSEALv1.AAAA.AAAA.AAAA"));
    let (process, id) = asked(&terminal, &["ask", "Ship?", "--confirm", "--json", "--callback", &url]).await;
    let command = setup.action_log.command();
    let receiver = setup.receive_at(&terminal, &url, &command).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    note(process.finish());
    hub.delivery(&id, "delivered").await;
    let body = r#"{"a2h_version":"0.3"}"#;
    let verify = [
        "verify",
        "--url",
        &url,
        "--header",
        "A2H-Signature: t=1,jti=j,v1=AAAA",
        "--key-env",
    ];
    for name in ["COUNTERSIGN_SIGNING_KEY", "NO_SUCH_VARIABLE"] {
        note(terminal.run_with_input(&[&verify[..], &[name]].concat(), body));
    }
    note(terminal.run(&exec(&["wait", &id], &command)));
    for args in [
        &["journal"][..],
        &["journal", "--json"],
        &["wait", &id, "--json"],
        &["cancel", &id],
        &["notify", "Done"],
        &["ask", "Ship?", "--confirm", "--agent", "else"],
        &["ask", "Ship?", "--confirm", "--callback", "https://unknown.example/x"],
        &["seal", "--key-env", "COUNTERSIGN_SIGNING_KEY"],
        &["open", "--key-env", "COUNTERSIGN_TOKEN"],
    ] {
        note(terminal.run(args));
    }
    let elsewhere = terminal.clone().env("COUNTERSIGN_URL", &setup.front.url("/nothing"));
    note(elsewhere.run(&["wait", &id, "--timeout", "1s"]));
    receiver.signal("TERM");
    note(receiver.finish());
    assert!(output.contains(&message_id(&output)));
    for secret in [&setup.bot.token, &setup.bot.signing_key, SEAL] {
        let bare = secret.trim_start_matches("whsec_");
        assert!(!output.contains(bare), "a secret is shown: {output}");
    }
}
