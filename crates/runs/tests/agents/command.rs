use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use countersign_protocol::runs::Usage;
use countersign_protocol::runs::strategy::AgentDef;
use countersign_runs::engine::agents::{AgentOutcome, Tools};
use countersign_runs::settings::{ApiKey, Commands, Endpoint, LlmSettings, RunsSettings};

use crate::context::TestContext;
use crate::stage::{Scratch, Task, command_tools, commands, program};

async fn run(agent: AgentDef, input: &str) -> Result<AgentOutcome, String> {
    let mut context = TestContext::default();
    let done = Task::new(&agent, input)
        .done(&command_tools(commands(Commands::Allow)), &mut context)
        .await;
    assert!(context.events.is_empty() && context.asked.is_empty());
    done
}

fn shell(script: &str) -> AgentDef {
    program("sh", &["-c", script])
}

#[tokio::test]
async fn a_program_gets_the_input_and_gives_the_output() {
    let done = run(program("cat", &[]), "tides\n\n").await.unwrap();
    assert_eq!(done.text, "tides\n", "one trailing line break is removed");
    assert_eq!(done.responses, [("assistant".to_owned(), "tides\n".to_owned())]);
    assert_eq!(
        (done.usage, done.model, done.finish_reason.as_str()),
        (Usage::default(), None, "stop")
    );
    for (input, output) in [("", ""), ("a", "a"), ("a\r\n", "a"), ("\n", ""), (" ä ", " ä ")] {
        assert_eq!(run(program("cat", &[]), input).await.unwrap().text, output);
    }
}

#[tokio::test]
async fn input_and_output_beyond_a_pipe_do_not_block_each_other() {
    let input = "0123456789abcde\n".repeat(60_000);
    assert_eq!(
        run(program("cat", &[]), &input).await.unwrap().text.len(),
        input.len() - 1
    );
    assert_eq!(
        run(program("true", &[]), &input).await.unwrap().text,
        "",
        "a program may leave its input unread"
    );
    let noisy = shell("cat >&2; echo ok");
    assert_eq!(
        run(noisy, &input).await.unwrap().text,
        "ok",
        "stderr of a successful program is ignored"
    );
}

#[tokio::test]
async fn arguments_reach_the_program_unchanged() {
    let args = ["%s|", "a b", "$HOME", "*", "; rm -rf /", "'\""];
    assert_eq!(
        run(program("printf", &args), "").await.unwrap().text,
        "a b|$HOME|*|; rm -rf /|'\"|"
    );
}

#[tokio::test]
async fn a_failing_program_fails_the_step_with_its_stderr() {
    let text = run(shell("echo some; echo why >&2; exit 3"), "").await.unwrap_err();
    assert_eq!(text, "the command sh exited with code 3: why");
    assert_eq!(
        run(shell("exit 4"), "").await.unwrap_err(),
        "the command sh exited with code 4"
    );
    assert_eq!(
        run(shell("kill -9 $$"), "").await.unwrap_err(),
        "the command sh was ended by signal 9"
    );
    let text = run(shell("seq 100000 >&2; exit 1"), "").await.unwrap_err();
    assert!(
        text.contains(": …") && text.ends_with("\n100000") && text.len() < 5000,
        "{}",
        text.len()
    );
}

#[tokio::test]
async fn a_program_that_cannot_start_has_its_own_error() {
    let error = run(program("no-such-program", &[]), "").await.unwrap_err();
    assert_eq!(
        error,
        "the command no-such-program cannot be started: there is no such program"
    );
    let agent = program("cat", &[]);
    let task = Task {
        cwd: Path::new("/no/such/place"),
        ..Task::new(&agent, "")
    };
    let error = task
        .done(&command_tools(commands(Commands::Allow)), &mut TestContext::default())
        .await
        .unwrap_err();
    assert_eq!(
        error,
        "the command cat cannot be started: there is no directory /no/such/place"
    );
}

#[tokio::test]
async fn a_program_runs_in_the_directory_of_the_run() {
    let scratch = Scratch::new();
    let tool = scratch.0.join("tool");
    fs::write(&tool, "#!/bin/sh\npwd -P\n").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let place = scratch.0.canonicalize().unwrap();
    for agent in [program("./tool", &[]), program("pwd", &["-P"])] {
        let task = Task {
            cwd: &scratch.0,
            ..Task::new(&agent, "")
        };
        let done = task
            .done(&command_tools(commands(Commands::Allow)), &mut TestContext::default())
            .await
            .unwrap();
        assert_eq!(Path::new(&done.text), place);
    }
}

#[tokio::test]
async fn output_is_bounded_and_must_be_text() {
    let runs = RunsSettings {
        command_output_bytes: 10,
        ..commands(Commands::Allow)
    };
    let tools = command_tools(runs);
    let run = async |script| {
        Task::new(&shell(script), "")
            .done(&tools, &mut TestContext::default())
            .await
    };
    assert_eq!(run("printf 0123456789").await.unwrap().text, "0123456789");
    let text = run("printf 0123456789a; sleep 1000").await.unwrap_err();
    assert_eq!(
        text,
        "the command sh printed more than 10 bytes (runs.command_output_bytes) and was stopped"
    );
    assert!(run("yes").await.unwrap_err().contains("more than 10 bytes"));
    let text = run(r"printf 'a\377'").await.unwrap_err();
    assert_eq!(
        text,
        "the command sh printed output that is not valid UTF-8, from byte 1"
    );
    assert!(
        run(r"printf 'a\000b'")
            .await
            .unwrap_err()
            .contains("a zero byte at byte 1")
    );
}

#[tokio::test]
async fn a_program_that_exceeds_the_timeout_is_stopped() {
    let runs = RunsSettings {
        command_timeout: Duration::from_millis(50),
        ..commands(Commands::Allow)
    };
    let agent = program("sleep", &["1000"]);
    let error = Task::new(&agent, "")
        .done(&command_tools(runs), &mut TestContext::default())
        .await
        .unwrap_err();
    let expected = "the command sleep did not end within 0.05 s (runs.command_timeout_seconds) and was stopped";
    assert_eq!(error, expected);
}

#[tokio::test]
async fn a_program_sees_only_allowed_variables_and_no_model_keys() {
    // Both variables are set in every test run; their values do not matter.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok() && std::env::var("PATH").is_ok());
    let seen = async |llm: &LlmSettings| {
        let tools = Tools::new(&commands(Commands::Allow), llm).unwrap();
        Task::new(&program("/usr/bin/env", &[]), "")
            .done(&tools, &mut TestContext::default())
            .await
            .unwrap()
            .text
    };
    let plain = seen(&LlmSettings::default()).await;
    assert!(
        plain.contains("PATH=") && !plain.contains("CARGO_MANIFEST_DIR="),
        "{plain}"
    );
    let endpoint = Endpoint {
        base_url: "http://127.0.0.1:1".parse().unwrap(),
        key: ApiKey::FromEnv("PATH".to_owned()),
    };
    let with_key = seen(&LlmSettings {
        endpoint: Some(endpoint),
        ..LlmSettings::default()
    })
    .await;
    assert!(!with_key.contains("PATH="), "{with_key}");
}
