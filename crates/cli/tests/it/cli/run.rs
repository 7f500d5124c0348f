//! `countersign run`: strategies run from the command line, with a pipe instead of a person.

use serde_json::{Value, json};

use crate::harness::*;
use crate::runs::inbox::id_of;
use crate::runs::stage::*;

pub fn file_of(hub: &Hub, strategy: &Value) -> String {
    strategy_file(hub, strategy).display().to_string()
}

fn people(names: &[&str]) -> Value {
    let agents = names
        .iter()
        .map(|name| ((*name).to_owned(), person()))
        .collect::<serde_json::Map<_, _>>();
    sequence(Value::Object(agents), names)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_result_is_on_stdout_and_everything_else_on_stderr() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &review());
    let ran = Terminal::local(&hub).run_with_input(&["run", &file, "--input", "fish"], "fine\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "fine\n"), "{ran:?}");
    let story = [
        "Running Test strategy\n",
        "Step draft\n  | Draft: fish\nStep draft done\n",
        "Step editor\neditor needs your input\n  | Draft: fish\nYour answer",
        "Step editor done\nStep print\n  | fine\nStep print done\n",
        "completed\n",
    ];
    for part in story {
        assert!(ran.stderr.contains(part), "{part:?}: {}", ran.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn piped_lines_answer_one_question_after_the_other() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &people(&["first", "second", "third"]));
    let input = "\n\"\"\"\none\n\ntwo\n\"\"\"\nthe end";
    let ran = Terminal::local(&hub).run_with_input(&["run", &file], input);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "the end\n"), "{ran:?}");
    assert!(
        ran.stderr.contains("second needs your input\nYour answer"),
        "an empty line is an answer: {}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("third needs your input\n  | one\n  |\n  | two\n"),
        "{}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_end_of_input_it_says_where_to_answer_and_keeps_waiting() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &people(&["first", "second"]));
    let process = Terminal::local(&hub).start(&["run", &file, "--run-id", "r1"]);
    let output = process.stderr_with("in the inbox: ").await;
    let id = id_of(&hub, "r1").await;
    assert!(
        output.contains(&format!("countersign answer {id} TEXT    (first)")),
        "{output}"
    );
    hub.cli(&["answer", &id, "from the desk"]).ok();
    process
        .stderr_with("second needs your input\n  | from the desk\n")
        .await;
    let second = eventually("the second question is told too", async || {
        let items = hub.owner.get("/v1/inbox").await.expect(200)["items"].clone();
        items[0]["id"].as_str().filter(|next| **next != id).map(str::to_owned)
    })
    .await;
    process
        .stderr_with(&format!("countersign answer {second} TEXT    (second)"))
        .await;
    hub.owner.answer(&second, "over").await.expect(200);
    let ran = process.finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "over\n"), "{ran:?}");
    assert!(
        ran.stderr.contains("first no longer needs an answer from here\n"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("  | from the desk\nStep first done\n"),
        "what others answered is told: {}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn json_output_streams_the_events() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &review());
    let args = ["run", &file, "--input", "fi\u{202e}sh", "--run-id", "r1", "--json"];
    let ran = Terminal::local(&hub).run_with_input(&args, "fine\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        !ran.stdout.contains('\u{202e}') && ran.stdout.contains("\\u202e"),
        "{}",
        ran.stdout
    );
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let (resolved, events): (Vec<Value>, Vec<Value>) =
        lines.into_iter().partition(|line| line["type"] == "input_resolved");
    assert_eq!(resolved.len(), 1);
    assert_eq!(seqs(&events), (1..=events.len() as u64).collect::<Vec<_>>());
    let kinds = events.kinds();
    assert_eq!(
        (kinds[0], kinds[kinds.len() - 1]),
        ("strategy_started", "strategy_completed")
    );
    assert!(events.iter().all(|event| event["runId"] == "r1"));
    assert!(
        ran.stderr.contains("Your answer") && !ran.stderr.contains("Step draft"),
        "{}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn agent_text_is_escaped_on_stderr_and_the_result_is_raw() {
    let hub = Hub::start().await;
    let agents = json!({"evil": template("\u{1b}[2J\t{{input}}\u{202e}"), "asks": person()});
    let file = file_of(&hub, &sequence(agents, &["evil", "asks", "evil"]));
    let ran = Terminal::local(&hub).run_with_input(&["run", &file, "--input", "x"], "y\n");
    assert_eq!(ran.stdout, "\u{1b}[2J\ty\u{202e}\n");
    assert!(
        !ran.stderr.contains(['\u{1b}', '\u{202e}']) && ran.stderr.contains("\\u{1b}[2J"),
        "{:?}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_is_granted_by_number_or_word() {
    let hub = Setup::default().config("[runs]\ncommands = \"ask\"\n").start().await;
    let strategy = cycle(
        json!({"worker": command("echo", &["hello"])}),
        &["worker"],
        json!({"cycles": 4}),
    );
    let file = file_of(&hub, &strategy);
    let ran = Terminal::local(&hub).run_with_input(&["run", &file], "perhaps\n1\nallow-session\n");
    assert_eq!((ran.code, ran.stdout.trim_end()), (0, "hello"), "{ran:?}");
    let expected = [
        "worker needs your permission for command.execute\n  | echo hello\n",
        "  1. allow ",
        "enter 1 to 4",
        "From now on for command: ",
    ];
    for part in expected {
        assert!(ran.stderr.contains(part), "{part:?}: {}", ran.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn model_output_streams_and_its_questions_are_asked() {
    let model = Model::start().await;
    let hub = Setup::default().config(&model.config("")).start().await;
    let gate = Gate::shut();
    let ModelReply::Stream(mut parts) = says(&["The ", "sea"]) else {
        unreachable!()
    };
    parts.insert(2, Part::Hold(gate.clone()));
    model.script([
        calls(&[("c1", "Which one?"), ("c2", "How long?")]),
        ModelReply::Stream(parts),
    ]);
    let agent = json!({"model": "test-model", "tools": ["ask_question"]});
    let file = file_of(&hub, &alone(agent));
    let mut command = countersign(&hub.scratch().home());
    command
        .args(["run", &file, "--input", "write", "--data"])
        .arg(hub.data());
    let process = Process::spawn(command, "the north\nshort\n");
    process.stderr_with("worker has a question\n  | How long?\n").await;
    model.requests(2).await;
    gate.open();
    let ran = process.finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "The sea\n"), "{ran:?}");
    assert_eq!(
        ran.stderr.matches("  | The sea\n").count(),
        1,
        "told once: {}",
        ran.stderr
    );
    assert!(ran.stderr.contains("tokens read and"), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_cannot_start_says_why() {
    let hub = Hub::start().await;
    let output = hub.cli(&["run", "/nowhere/a.yaml"]).fails(1);
    assert!(output.contains("Strategy file not found: /nowhere/a.yaml"), "{output}");
    let broken = strategy_text(
        &hub,
        "json",
        r#"{"name": "x", "agents": {"a": {"type": "no\u001bne"}}}"#,
    );
    let output = hub.cli(&["run", broken.to_str().unwrap()]).fails(1);
    assert!(
        output.contains("Strategy validation failed") && output.contains("version") && !output.contains('\u{1b}'),
        "{output}"
    );
    hub.cli(&["run", "a.yaml", "--run-id", "../x"]).fails(2);
    let ann = hub.person("ann", "resolver").await;
    let terminal = Terminal::local(&hub).env("COUNTERSIGN_TOKEN", &ann.token);
    let output = terminal.run(&["run", &file_of(&hub, &talk())]).fails(1);
    assert!(
        output.contains("PREPARE_FAILED"),
        "only owners let the hub read files: {output}"
    );
    let vic = hub.person("vic", "viewer").await;
    let output = Terminal::local(&hub)
        .env("COUNTERSIGN_TOKEN", &vic.token)
        .run(&["runs", "follow", "r1"])
        .fails(1);
    assert!(output.contains("not_authorized"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn relative_paths_resolve_in_the_callers_directory() {
    let hub = Setup::default().config("[runs]\ncommands = \"allow\"\n").start().await;
    let home = hub.scratch().home();
    std::fs::write(home.join("here.json"), alone(command("pwd", &[])).to_string()).unwrap();
    let mut command = countersign(&home);
    command
        .current_dir(&home)
        .args(["run", "here.json", "--data"])
        .arg(hub.data());
    let ran = Process::spawn(command, "").finish();
    let home = std::fs::canonicalize(home).unwrap();
    assert_eq!(std::fs::canonicalize(ran.ok().trim()).unwrap(), home);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_and_a_stop_have_their_own_exit_codes() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &alone(command("true", &[])));
    let output = hub.cli(&["run", &file]).fails(1);
    assert!(output.contains("error: Step \"worker\" failed: "), "{output}");
    let file = file_of(&hub, &talk());
    let process = Terminal::local(&hub).start(&["run", &file, "--run-id", "r1"]);
    process.stderr_with("in the inbox: ").await;
    assert_eq!(hub.cli(&["runs", "stop", "r1"]).ok(), "Run r1 is stopped.\n");
    let output = process.finish().fails(13);
    assert!(output.contains("Run r1 was stopped."), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_leaves_the_run_running() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &talk());
    let process = Terminal::local(&hub).start(&["run", &file, "--run-id", "r1"]);
    process.stderr_with("in the inbox: ").await;
    process.signal("INT");
    let output = process.finish().fails(14);
    assert!(
        output.contains("countersign runs follow r1") && output.contains("countersign runs stop r1"),
        "{output}"
    );
    let id = id_of(&hub, "r1").await;
    hub.owner.answer(&id, "later").await.expect(200);
    assert_eq!(hub.cli(&["runs", "follow", "r1"]).ok(), "later\n");
}
