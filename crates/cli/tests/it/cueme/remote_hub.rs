//! A remote hub, over SSH or from a container, found by URL and token only.

use serde_json::json;

use super::fresh_machine::FreshMachine;
use super::{answered, terminal_token};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_url_and_a_terminal_token_are_enough() {
    let hub = Hub::start().await;
    let machine = FreshMachine::new();
    let token = terminal_token(&hub, "owner").await;
    let shell = machine
        .shell()
        .env("COUNTERSIGN_URL", &format!("{}/", hub.url))
        .env("COUNTERSIGN_TOKEN", &token);
    let agent_id = shell.join();
    let (process, id) = shell.waiting(&hub, &agent_id, "The log?").await;
    assert!(!machine.data().exists(), "no data directory before it is needed");
    let body = json!({"resolution": "answered", "value": "there", "files": [{"name": "a.log", "data": "aGk="}]});
    hub.owner.resolve(&id, body).await.expect(200);
    let text = process.finish().ok();
    let path = machine.data().join("cueme/files").join(&id).join("a.log");
    assert!(
        text.starts_with(&answered("there")) && text.contains(&path.display().to_string()),
        "{text}"
    );
    assert_eq!(std::fs::read(path).expect("saved on this machine"), b"hi");
    assert!(!machine.data().join("hub.json").exists(), "no local hub was started");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_another_kind_is_refused_with_the_right_command() {
    let hub = Hub::start().await;
    let machine = FreshMachine::new();
    let bot = hub.agent("bot").await;
    let alice = hub.person("alice", "resolver").await;
    for token in [&bot.token, &alice.token] {
        let shell = machine
            .shell()
            .env("COUNTERSIGN_URL", &hub.url)
            .env("COUNTERSIGN_TOKEN", token);
        let stderr = shell.run(&["join", "codex"], "").fails(1);
        assert!(stderr.contains("countersign person token NAME --terminal"), "{stderr}");
    }
    let wrong = machine
        .shell()
        .env("COUNTERSIGN_URL", &hub.url)
        .env("COUNTERSIGN_TOKEN", "cst_nonsense");
    let stderr = wrong.run(&["join", "codex"], "").fails(2);
    assert!(
        stderr.contains(&hub.url) && stderr.contains("does not know COUNTERSIGN_TOKEN"),
        "{stderr}"
    );
    for (half, value) in [
        ("COUNTERSIGN_URL", hub.url.as_str()),
        ("COUNTERSIGN_TOKEN", "cst_nonsense"),
    ] {
        let stderr = machine.shell().env(half, value).run(&["join", "codex"], "").fails(2);
        assert!(stderr.contains("set both, or neither"), "{stderr}");
    }
    assert!(!machine.data().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_remote_hub_is_named_and_none_is_started() {
    let machine = FreshMachine::new();
    let gone = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port");
    let shell = machine
        .shell()
        .env("COUNTERSIGN_URL", &format!("http://{gone}"))
        .env("COUNTERSIGN_TOKEN", "cst_whatever");
    let stderr = shell.run(&["cue", "gavonel", "-"], super::envelope("Hello?")).fails(1);
    assert!(stderr.contains(&gone.to_string()), "{stderr}");
    assert!(!machine.data().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_belongs_to_the_person_of_its_token() {
    let hub = Hub::start().await;
    let machine = FreshMachine::new();
    hub.person("alice", "resolver").await;
    let shell_of = async |person: &str| {
        let token = terminal_token(&hub, person).await;
        machine
            .shell()
            .env("COUNTERSIGN_URL", &hub.url)
            .env("COUNTERSIGN_TOKEN", &token)
    };
    let owner_shell = shell_of("owner").await;
    let alice_shell = shell_of("alice").await;
    let agent_id = owner_shell.join();
    let (_process, _) = owner_shell.waiting(&hub, &agent_id, "Mine?").await;
    let stderr = alice_shell
        .run(&["cue", &agent_id, "-"], super::envelope("Mine?"))
        .fails(2);
    assert!(
        stderr.contains("belongs to another person") && stderr.contains("cueme join"),
        "{stderr}"
    );
    alice_shell.run(&["resume", &agent_id], "").fails(1);
}
