//! How a command locates its hub, and its error without a hub.

use crate::harness::*;

#[test]
fn a_command_without_a_hub_says_so() {
    let scratch = Scratch::new();
    for args in [
        &["inbox"][..],
        &["inbox", "--json"],
        &["agent", "list"],
        &["show", "msg_1"],
    ] {
        let mut command = countersign(&scratch.home());
        command.args(args).arg("--data").arg(scratch.data());
        let output = Process::spawn(command, "").finish().fails(1);
        assert!(output.contains("countersign"), "it says how to start one: {output}");
    }
    assert!(!scratch.data().exists(), "looking for a hub makes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stale_file_of_a_killed_hub_is_recognized() {
    let mut hub = Hub::start().await;
    hub.kill();
    assert!(
        hub.data().join("hub.json").exists(),
        "a killed hub leaves its file behind"
    );
    hub.cli(&["inbox"]).fails(1);
}

#[tokio::test(flavor = "multi_thread")]
async fn environment_variables_select_another_hub_and_person() {
    let hub = Hub::start().await;
    let alice = hub.person("alice", "resolver").await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&resolvers(ask("bot"), &["human:alice"])).await;
    let as_alice = |args: &[&str], token: &str| {
        let mut command = countersign(&hub.scratch().home());
        command
            .args(args)
            .env("COUNTERSIGN_URL", &hub.url)
            .env("COUNTERSIGN_TOKEN", token);
        Process::spawn(command, "").finish()
    };
    assert_eq!(
        as_alice(&["inbox", "--json"], &alice.token).json()[0]["id"],
        id.as_str()
    );
    as_alice(&["agent", "list"], &alice.token).fails(1);
    as_alice(&["inbox"], "nonsense").fails(1);
    as_alice(&["answer", &id, "approve"], &alice.token).ok();
    assert_eq!(bot.pull(&id).await["response"]["response"]["actor"], "human:alice");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_go_to_stderr_with_an_exit_code() {
    let hub = Hub::start().await;
    hub.agent("bot").await;
    for (args, code) in [
        (&["agent", "add", "bot"][..], 1),
        (&["agent", "add", "bot", "--json"], 1),
        (&["agent", "remove", "nobody"], 1),
        (&["agent", "rotate", "nobody"], 1),
        (&["show", "msg_00000000000000000000000000"], 1),
        (&["show", "nonsense"], 1),
        (&["person", "token", "nobody"], 1),
        (&["secret", "set", "nobody", "x", "--value", "y"], 1),
        (&["secret", "remove", "bot", "nothing"], 1),
        (&["agent", "explode"], 2),
        (&["agent", "add"], 2),
        (&["person", "add", "x", "--role", "king"], 2),
        (&["nonsense"], 2),
    ] {
        hub.cli(args).fails(code);
    }
}
