use std::process::Command;

use serde_json::Value;

use crate::harness::{Hub, Process, Setup};

#[tokio::test(flavor = "multi_thread")]
async fn a_new_hub_prints_its_address_a_sign_in_link_and_a_command_to_try() {
    let hub = Hub::start().await;
    let output = hub.process().stdout_with("countersign ask").await;
    assert!(output.contains(&hub.url), "the address: {output}");
    let named = hub.url.replace("127.0.0.1", "localhost");
    let sign_in = output
        .split_whitespace()
        .find(|word| word.starts_with(&format!("{named}/signin/css_")));
    assert!(
        sign_in.is_some_and(|link| link.len() > named.len() + 40),
        "a sign-in link with a secret in it: {output}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_printed_command_asks_a_question() {
    let hub = Hub::start().await;
    let output = hub.process().stdout_with("Ctrl-C").await;
    let line = output
        .lines()
        .find_map(|line| line.trim().strip_prefix("countersign ask "))
        .expect("a line to try");
    let line = format!("\"{}\" ask {line} --detach", env!("CARGO_BIN_EXE_countersign"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env_clear();
    Process::spawn(shell, "").finish().ok();
    let inbox = hub.cli(&["inbox", "--json"]).json();
    assert_eq!(inbox.as_array().map(Vec::len), Some(1), "one question: {inbox}");
    assert_eq!(
        inbox[0]["can_answer"],
        Value::Bool(true),
        "and the owner may answer it: {inbox}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_stops_the_hub_cleanly() {
    for signal in ["INT", "TERM"] {
        let hub = Hub::start().await;
        hub.process().signal(signal);
        let data = hub.data();
        let (ran, _scratch) = hub.into_finished();
        assert_eq!(ran.code, 0, "SIG{signal}: {ran:?}");
        assert!(!data.join("hub.json").exists(), "hub.json goes away with a clean stop");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_releases_long_polls() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&crate::harness::ask("bot")).await;
    let waiting = tokio::spawn({
        let request = bot.request(reqwest::Method::GET, &format!("/v1/messages/{id}?wait=60"));
        async move { request.send().await.map(|reply| reply.status().as_u16()) }
    });
    // A completed request on the same connection pool gives the hub time to accept the waiter.
    bot.pull(&id).await;
    assert_eq!(
        hub.interrupt().code(),
        Some(0),
        "the stop does not wait for a minute of long-poll"
    );
    let _ = crate::harness::within("the waiter is let go", waiting).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn accepted_messages_survive_a_clean_stop() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&crate::harness::ask("bot")).await;
    hub.interrupt();
    hub.restart().await;
    assert_eq!(bot.pull(&id).await["status"], "open");
    hub.owner.answer(&id, "approve").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taken_default_port_falls_back_to_a_free_one_with_a_note() {
    let first = Setup::default().on_the_default_address().start().await;
    let second = Setup::default().on_the_default_address().start().await;
    if !first.url.ends_with(":7422") {
        eprintln!("7422 is taken on this machine: only the fallback is tested");
    }
    assert_ne!(second.url, first.url);
    let output = second.process().stdout_with(&second.url).await;
    assert!(
        format!("{output}{}", second.process().output()).contains("7422"),
        "it names the port it did not get: {output}"
    );
    second.owner.healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn serve_is_the_default_subcommand() {
    let scratch = crate::harness::Scratch::new();
    let mut command = crate::harness::countersign(&scratch.home());
    command.args(["--listen", "127.0.0.1:0", "--data"]).arg(scratch.data());
    let process = Process::spawn(command, "");
    process.stdout_with("http://127.0.0.1:").await;
    process.signal("TERM");
    assert_eq!(process.finish().code, 0);
}
