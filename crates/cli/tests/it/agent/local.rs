//! Agent commands on the hub's own machine need no set-up.

use std::os::unix::fs::PermissionsExt;

use super::{asked, message_id, open_items};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_first_ask_needs_no_set_up() {
    let hub = Hub::start().await;
    let terminal = Terminal::local(&hub);
    for value in ["yes", "no"] {
        let (process, id) = asked(&terminal, &["ask", "Ship?", "--confirm"]).await;
        hub.cli(&["answer", &id, value]).ok();
        let code = process.finish().code;
        assert_eq!(code, if value == "yes" { 0 } else { 10 });
    }
    let listed = hub.cli(&["agent", "list", "--json"]).json();
    let of_cli = listed
        .as_array()
        .expect("agents")
        .iter()
        .find(|agent| agent["agent_id"] == "cli")
        .expect("cli");
    assert_eq!(
        of_cli["tokens"], 1,
        "the second ask used the token of the first: {listed}"
    );
    for file in [hub.data().join("agents/cli.json"), hub.data().join("agent/journal.db")] {
        let mode = std::fs::metadata(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert_eq!(mode.permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_agent_is_not_taken_over() {
    let hub = Hub::start().await;
    hub.agent("deployer").await;
    let output = Terminal::local(&hub)
        .run(&["ask", "Ship?", "--confirm", "--agent", "deployer"])
        .fails(1);
    assert!(
        output.contains("countersign agent rotate deployer") && output.contains("COUNTERSIGN_TOKEN"),
        "{output}"
    );
    assert_eq!(open_items(&hub).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_id_that_is_not_a_file_name_works() {
    let hub = Hub::start().await;
    let terminal = Terminal::local(&hub);
    for id in ["acme/deployer", "../escape"] {
        let output = terminal
            .run(&["ask", "Ship?", "--confirm", "--detach", "--agent", id])
            .ok();
        hub.cli(&["answer", &message_id(&output), "yes"]).ok();
    }
    assert!(!hub.data().join("escape.json").exists() && !hub.scratch().path("escape.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_ask_goes_to_the_current_owner() {
    let mut hub = Hub::start().await;
    hub.cli(&["person", "add", "boss", "--role", "owner"]).ok();
    hub.cli(&["person", "remove", "owner"]).ok();
    hub.interrupt();
    hub.restart().await;
    let (process, id) = asked(&Terminal::local(&hub), &["ask", "Ship?", "--confirm"]).await;
    hub.cli(&["answer", &id, "yes"]).ok();
    let ran = process.finish();
    assert!(ran.code == 0 && ran.stderr.contains("answered by boss"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_agent_keeps_working() {
    let hub = Hub::start().await;
    let terminal = Terminal::local(&hub);
    let ask = ["ask", "Ship?", "--confirm", "--detach"];
    terminal.run(&ask).ok();
    hub.cli(&["agent", "rotate", "cli", "--overlap-seconds", "0"]).ok();
    let id = message_id(&terminal.run(&ask).ok());
    assert_eq!(open_items(&hub).await, 2);
    hub.cli(&["answer", &id, "yes"]).ok();
    assert_eq!(terminal.run(&["wait", &id]).code, 0);
    let mode = std::fs::metadata(hub.data().join("agents/cli.json"))
        .expect("the kept file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    hub.cli(&["agent", "add", "elsewhere"]).ok();
    hub.cli(&["agent", "rotate", "elsewhere"]).ok();
    assert!(
        !hub.data().join("agents/elsewhere.json").exists(),
        "what was not kept is not kept now"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stored_signing_key_is_refused_as_a_seal_key() {
    let hub = Hub::start().await;
    let terminal = Terminal::local(&hub);
    terminal.run(&["notify", "Hello"]).ok();
    let kept: serde_json::Value =
        serde_json::from_slice(&std::fs::read(hub.data().join("agents/cli.json")).expect("the file")).expect("JSON");
    let key = kept["signing_key"]
        .as_str()
        .expect("a key")
        .trim_start_matches("whsec_")
        .to_owned();
    // A second stored key whose text, not its decoded value, is the 32 bytes of the seal key: 0123456789abcdef twice.
    let lettered = r#"{"agent_id":"x","token":"csa_x","signing_key":"whsec_0123456789abcdef0123456789abcdef"}"#;
    std::fs::write(hub.data().join("agents/x.json"), lettered).expect("keep another");
    for key in [key.as_str(), "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="] {
        let ran = terminal
            .clone()
            .env("SEAL_KEY", key)
            .run_with_input(&["seal", "--key-env", "SEAL_KEY"], "{}");
        assert!(
            ran.code == 1 && ran.stdout.is_empty() && ran.stderr.contains("which the hub knows"),
            "{ran:?}"
        );
    }
}
