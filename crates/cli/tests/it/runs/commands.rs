//! Programs as agents: off by default, bounded, and never started through a shell.

use std::path::Path;

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

/// Waits until this process has ended.
pub async fn until_gone(process: u32) {
    eventually(&format!("process {process} is gone"), async || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok();
        // A zombie counts as ended.
        let has_ended =
            stat.is_none_or(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z')));
        has_ended.then_some(())
    })
    .await;
}

async fn hub_with_commands(more: &str) -> Hub {
    Setup::default()
        .config(&format!("[runs]\ncommands = \"allow\"\n{more}\n"))
        .start()
        .await
}

async fn output(hub: &Hub, agent: Value, input: &str) -> String {
    let mut client = Client::connect(hub).await;
    client.start_strategy(hub, &alone(agent), input).await;
    client.result().await
}

async fn failure(hub: &Hub, agent: Value) -> String {
    let mut client = Client::connect(hub).await;
    client.start_strategy(hub, &alone(agent), "").await;
    let (code, message) = client.failure().await;
    assert_eq!(code, "EXECUTION_ERROR", "{message}");
    assert!(message.starts_with("Step \"worker\" failed: "), "{message}");
    message
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_off_by_default_and_the_error_names_the_setting() {
    for config in ["", "[runs]\ncommands = \"off\"\n"] {
        let hub = Setup::default().config(config).start().await;
        let trace = hub.scratch().path("trace");
        let message = failure(&hub, command("touch", &[trace.to_str().unwrap()])).await;
        assert!(message.contains("runs.commands"), "{message}");
        assert!(!trace.exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_reads_stdin_and_its_stdout_is_the_result() {
    let hub = hub_with_commands("").await;
    assert_eq!(output(&hub, command("cat", &[]), "line\nlast").await, "line\nlast");
    assert_eq!(output(&hub, command("wc", &["-c"]), "four").await.trim(), "4");
    let big = "0123456789".repeat(50_000);
    assert_eq!(
        output(&hub, command("cat", &[]), &big).await,
        big,
        "larger than a pipe buffer"
    );
    assert_eq!(
        output(&hub, command("true", &[]), &big).await,
        "",
        "a command need not read its input"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn shell_syntax_is_not_interpreted() {
    let hub = hub_with_commands("").await;
    let evil = "$(id) `id` ; id | cat > x && $HOME * ~ \\ 'single' \"double\"";
    assert_eq!(output(&hub, command("echo", &[evil]), "").await.trim_end(), evil);
    assert_eq!(
        output(&hub, command("cat", &[]), evil).await,
        evil,
        "the input is not an argument"
    );
    failure(&hub, command("echo hello", &[])).await;
    failure(&hub, command("echo;id", &[])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_runs_in_the_directory_of_its_run() {
    let hub = hub_with_commands("").await;
    let mut client = Client::connect(&hub).await;
    let home = hub.scratch().home();
    let file = strategy_file(&hub, &alone(command("pwd", &[])));
    let message = json!({"type": "prepare_run", "strategyPath": file, "cwd": home});
    let prepared = client.call(message, "run_prepared").await;
    client.start(prepared["runId"].as_str().unwrap(), "").await;
    let output = client.result().await;
    let real = |path: &Path| std::fs::canonicalize(path).expect("it exists");
    assert_eq!(real(Path::new(output.trim_end())), real(&home));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_gets_only_allowed_environment_variables() {
    let mut setup = Setup::default().config(
        "[runs]\ncommands = \"allow\"\n[llm]\napi_key_env = \"LC_KEY\"\nbase_url = \"http://127.0.0.1:1/v1\"\n",
    );
    for secret in [
        "LC_KEY",
        "COUNTERSIGN_SECRET",
        "DATABASE_URL",
        "AWS_SECRET_ACCESS_KEY",
        "SSH_AUTH_SOCK",
        "ANYTHING",
    ] {
        setup = setup.env(secret, "hush");
    }
    let hub = setup.env("LC_TIME", "C.UTF-8").env("TZ", "Asia/Kolkata").start().await;
    let printed = output(&hub, command("env", &[]), "").await;
    for kept in ["PATH=", "LC_TIME=C.UTF-8", "TZ=Asia/Kolkata"] {
        assert!(printed.contains(kept), "{printed}");
    }
    assert!(!printed.contains("hush"), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_fails_says_why() {
    let hub = hub_with_commands("").await;
    let message = failure(
        &hub,
        command("sh", &["-c", "echo ignored; echo the reason >&2; exit 3"]),
    )
    .await;
    assert!(message.contains("the reason") && message.contains('3'), "{message}");
    let message = failure(&hub, command("surely-no-such-program", &[])).await;
    assert!(message.contains("surely-no-such-program"), "{message}");
    let message = failure(&hub, command("sh", &["-c", "kill -9 $$"])).await;
    assert!(message.contains('9') || message.contains("signal"), "{message}");
    let noisy = "i=0; while [ $i -lt 20000 ]; do echo noise >&2; i=$((i+1)); done; echo the end >&2; exit 1";
    let message = failure(&hub, command("sh", &["-c", noisy])).await;
    assert!(
        message.contains("the end") && message.len() < 10_000,
        "{} bytes",
        message.len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_timeout_kills_its_whole_process_group() {
    let hub = hub_with_commands("command_timeout_seconds = 5").await;
    let mut latch = Latch::new(&hub, "latch");
    let ids = hub.scratch().path("ids");
    let script = format!("cat {} & echo $! $$ > {}; wait", latch.path(), ids.display());
    let mut client = Client::connect(&hub).await;
    client
        .start_strategy(&hub, &alone(command("sh", &["-c", &script])), "")
        .await;
    latch.until_reached().await;
    let (code, message) = client.failure().await;
    assert_eq!(code, "EXECUTION_ERROR");
    assert!(message.contains("5 s"), "{message}");
    for process in processes(&ids).await {
        until_gone(process).await;
    }
}

async fn processes(path: &Path) -> Vec<u32> {
    let text = eventually("the command writes its process ids", async || {
        std::fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'))
    })
    .await;
    text.split_whitespace()
        .map(|id| id.parse().expect("a process id"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_a_run_kills_the_whole_process_group_of_its_command() {
    let hub = hub_with_commands("").await;
    let mut latch = Latch::new(&hub, "latch");
    let ids = hub.scratch().path("ids");
    let script = format!("cat {} & echo $! $$ > {}; wait", latch.path(), ids.display());
    let mut client = Client::connect(&hub).await;
    let run = client
        .start_strategy(&hub, &alone(command("sh", &["-c", &script])), "")
        .await;
    latch.until_reached().await;
    let processes = processes(&ids).await;
    assert_eq!(processes.len(), 2);
    client.stop(&run).await;
    assert_eq!(client.failure().await.0, "CANCELLED");
    for process in processes {
        until_gone(process).await;
    }
    client.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_can_be_stopped_while_the_store_is_locked() {
    let hub = hub_with_commands("").await;
    let mut latch = Latch::new(&hub, "latch");
    let ids = hub.scratch().path("ids");
    let script = format!("cat {} & echo $! $$ > {}; wait", latch.path(), ids.display());
    let mut client = Client::connect(&hub).await;
    let run = client
        .start_strategy(&hub, &alone(command("sh", &["-c", &script])), "")
        .await;
    latch.until_reached().await;
    client.until("step_started").await;
    let processes = processes(&ids).await;
    let store = rusqlite::Connection::open(hub.data().join("hub.db")).expect("the store is a file");
    store.execute_batch("BEGIN IMMEDIATE").expect("the write lock");
    let mut other = Client::connect(&hub).await;
    other
        .send(json!({"type": "steer_run", "runId": run, "text": "cannot be stored"}))
        .await;
    let mut third = Client::connect(&hub).await;
    third.send(json!({"type": "stop_run", "runId": run})).await;
    for process in processes {
        until_gone(process).await;
    }
    store.execute_batch("ROLLBACK").expect("the lock is released");
    let events = client.until("strategy_error").await;
    assert_eq!(events.last().unwrap()["error"]["code"], "CANCELLED");
    assert_eq!(
        events.of_kind("steer_queued").len(),
        1,
        "the steer is stored together with the end"
    );
    assert_eq!(client.stored_run(&run).await["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn command_output_is_limited() {
    let hub = hub_with_commands("command_output_bytes = 10000").await;
    let message = failure(&hub, command("yes", &["word"])).await;
    assert!(message.contains("10000 bytes"), "{message}");
    let lines = command("sh", &["-c", "printf '%10000s' x"]);
    assert_eq!(
        output(&hub, lines, "").await.len(),
        10_000,
        "exactly the limit is allowed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn output_that_is_not_text_is_an_error() {
    let hub = hub_with_commands("").await;
    for output in ["a\\377b", "a\\000b"] {
        let message = failure(&hub, command("printf", &[output])).await;
        assert!(message.contains("printed output that is not"), "{message}");
    }
    hub.owner.healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_echo_agent_sends_its_output_before_done() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    client.start_strategy(&hub, &alone(echo()), "hello").await;
    let events = client.until("strategy_completed").await;
    let kinds = [
        "step_started",
        "agent_output",
        "agent_streaming",
        "step_completed",
        "strategy_completed",
    ];
    assert_eq!(events.kinds(), kinds);
    assert_eq!(events[2]["event"]["type"], "done");
    assert!(events[1].get("model").is_none(), "{}", events[1]);
}
