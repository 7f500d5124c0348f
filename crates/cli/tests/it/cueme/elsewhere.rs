//! Over SSH or in a container: an address and a token are all there is.

use serde_json::json;

use super::fresh::Fresh;
use super::{answered, terminal_token};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_address_and_a_terminals_token_are_enough() {
    let hub = Hub::start().await;
    let fresh = Fresh::new();
    let token = terminal_token(&hub, "owner").await;
    let desk = fresh
        .desk()
        .env("COUNTERSIGN_URL", &format!("{}/", hub.url))
        .env("COUNTERSIGN_TOKEN", &token);
    let agent_id = desk.join();
    let (process, id) = desk.waiting(&hub, &agent_id, "The log?").await;
    assert!(!fresh.data().exists(), "nothing is made here before it is needed");
    let body = json!({"resolution": "answered", "value": "there", "files": [{"name": "a.log", "data": "aGk="}]});
    hub.owner.resolve(&id, body).await.expect(200);
    let text = process.finish().ok();
    let path = fresh.data().join("cueme/files").join(&id).join("a.log");
    assert!(
        text.starts_with(&answered("there")) && text.contains(&path.display().to_string()),
        "{text}"
    );
    assert_eq!(std::fs::read(path).expect("saved on this machine"), b"hi");
    assert!(!fresh.data().join("hub.json").exists(), "and no hub");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_another_kind_is_refused_with_the_command_that_makes_one() {
    let hub = Hub::start().await;
    let fresh = Fresh::new();
    let bot = hub.agent("bot").await;
    let alice = hub.person("alice", "resolver").await;
    for token in [&bot.token, &alice.token] {
        let desk = fresh
            .desk()
            .env("COUNTERSIGN_URL", &hub.url)
            .env("COUNTERSIGN_TOKEN", token);
        let said = desk.run(&["join", "codex"], "").fails(1);
        assert!(said.contains("countersign person token NAME --terminal"), "{said}");
    }
    let wrong = fresh
        .desk()
        .env("COUNTERSIGN_URL", &hub.url)
        .env("COUNTERSIGN_TOKEN", "cst_nonsense");
    let said = wrong.run(&["join", "codex"], "").fails(2);
    assert!(
        said.contains(&hub.url) && said.contains("does not know COUNTERSIGN_TOKEN"),
        "{said}"
    );
    for (half, value) in [
        ("COUNTERSIGN_URL", hub.url.as_str()),
        ("COUNTERSIGN_TOKEN", "cst_nonsense"),
    ] {
        let said = fresh.desk().env(half, value).run(&["join", "codex"], "").fails(2);
        assert!(said.contains("set both, or neither"), "{said}");
    }
    assert!(!fresh.data().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_elsewhere_that_is_not_there_is_named_and_none_is_started() {
    let fresh = Fresh::new();
    let gone = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port");
    let desk = fresh
        .desk()
        .env("COUNTERSIGN_URL", &format!("http://{gone}"))
        .env("COUNTERSIGN_TOKEN", "cst_whatever");
    let said = desk.run(&["cue", "gavonel", "-"], super::envelope("Hello?")).fails(1);
    assert!(said.contains(&gone.to_string()), "{said}");
    assert!(!fresh.data().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_token_it_is_decides_whose_request_it_is() {
    let hub = Hub::start().await;
    let fresh = Fresh::new();
    hub.person("alice", "resolver").await;
    let of = async |person: &str| {
        let token = terminal_token(&hub, person).await;
        fresh
            .desk()
            .env("COUNTERSIGN_URL", &hub.url)
            .env("COUNTERSIGN_TOKEN", &token)
    };
    let owners = of("owner").await;
    let alices = of("alice").await;
    let agent_id = owners.join();
    let (_process, _) = owners.waiting(&hub, &agent_id, "Mine?").await;
    let said = alices.run(&["cue", &agent_id, "-"], super::envelope("Mine?")).fails(2);
    assert!(
        said.contains("somebody else's") && said.contains("cueme join"),
        "{said}"
    );
    alices.run(&["resume", &agent_id], "").fails(1);
}
