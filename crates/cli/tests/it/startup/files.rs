use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::harness::{Hub, Process, countersign};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("a file of the hub").permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_of_the_process_can_read_its_files() {
    let hub = Hub::start().await;
    assert_eq!(format!("{:o}", mode(&hub.data())), "700");
    assert_eq!(format!("{:o}", mode(&hub.data().join("hub.json"))), "600");
    for file in std::fs::read_dir(hub.data()).expect("the data directory") {
        let path = file.expect("an entry").path();
        assert_eq!(mode(&path) & 0o077, 0, "{} is readable by others", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hub_json_holds_the_address_and_a_working_owner_token() {
    let hub = Hub::start().await;
    let text = std::fs::read_to_string(hub.data().join("hub.json")).expect("hub.json");
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["url"], hub.url);
    assert_eq!(found["pid"], hub.process().id());
    let started_at = found["started_at"].as_str().expect("started_at");
    assert!(started_at.parse::<jiff::Timestamp>().is_ok(), "{started_at}");
    hub.owner.get("/v1/admin/status").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_hub_on_the_same_data_is_refused() {
    let hub = Hub::start().await;
    let mut command = countersign(&hub.scratch().home());
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(hub.data());
    let output = Process::spawn(command, "").finish().fails(1);
    assert!(
        output.contains(&hub.data().display().to_string()),
        "it names the directory: {output}"
    );
    hub.owner.healthy().await;
    assert!(
        hub.data().join("hub.json").exists(),
        "the running hub keeps its hub.json"
    );
    hub.cli(&["inbox", "--json"]).json();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_directory_is_found_as_documented() {
    let scratch = crate::harness::Scratch::new();
    let home = scratch.home();
    let cases: [(&str, &str, &str); 3] = [
        ("COUNTERSIGN_DATA", "one", "one"),
        ("XDG_DATA_HOME", "two", "two/countersign"),
        ("UNUSED", "three", "home/.local/share/countersign"),
    ];
    for (name, value, expected) in cases {
        let mut command = countersign(&home);
        command.args(["--listen", "127.0.0.1:0"]).env(name, scratch.path(value));
        let process = Process::spawn(command, "");
        process.stdout_with("http://127.0.0.1:").await;
        let data = scratch.path(expected);
        crate::harness::eventually(&format!("hub.json under {expected}"), async || {
            data.join("hub.json").exists().then_some(())
        })
        .await;
        process.signal("TERM");
        assert_eq!(process.finish().code, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_never_stored_in_clear() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let alice = hub.person("alice", "resolver").await;
    hub.interrupt();
    for file in std::fs::read_dir(hub.data()).expect("the data directory") {
        let path = file.expect("an entry").path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        for token in [&bot.token, &alice.token] {
            let found = bytes.windows(token.len()).any(|window| window == token.as_bytes());
            assert!(!found, "a token stands in {}", path.display());
        }
    }
}
