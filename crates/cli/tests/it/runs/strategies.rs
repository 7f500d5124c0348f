//! Strategy files in JSON, JSONC and YAML, and errors that name the path in the file.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

const COMMENTED: &str = r#"{
  // What it is called.
  "name": "Test strategy", /* and */ "version": "1.0",
  "agents": {
    "user": {"type": "user"},
    "assistant": {"type": "echo"}, // the last one
  },
  "flow": {"name": "Main", "type": "sequential", "steps": [{"agent": "user"}, {"agent": "assistant"},]},
}"#;

const YAML: &str = r#"
# What it is called.
name: Test strategy
version: "1.0"
agents:
  user:
    type: user
  assistant: {type: echo}
flow:
  name: Main
  type: sequential
  steps:
    - agent: user
    - agent: assistant
"#;

#[tokio::test(flavor = "multi_thread")]
async fn json_with_and_without_comments_and_yaml_mean_the_same() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let plain = format!("{:#}", talk());
    for (extension, text) in [
        ("json", plain.as_str()),
        ("jsonc", COMMENTED),
        ("yaml", YAML),
        ("yml", YAML),
    ] {
        let path = strategy_text(&hub, extension, text);
        let prepared = client
            .call(json!({"type": "prepare_run", "strategyPath": path}), "run_prepared")
            .await;
        assert_eq!(prepared["strategyName"], "Test strategy", "{extension}");
        assert_eq!(
            prepared["agents"],
            json!(["user", "assistant"]),
            "{extension}: in the order of the file"
        );
        assert_eq!(prepared["flowTree"], talk()["flow"], "{extension}");
        let run = prepared["runId"].as_str().unwrap();
        client.start(run, "hello").await;
        assert_eq!(client.result().await, "hello", "{extension}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_flow_tree_keeps_the_order_of_its_keys() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let inner = json!({"steps": [{"description": "says it", "agent": "z"}], "type": "broadcast", "name": "In"});
    let flow = json!({"type": "sequential", "steps": [{"agent": "a"}, inner], "name": "Out", "description": "d"});
    let strategy = strategy(json!({"z": echo(), "a": echo()}), flow.clone());
    let path = strategy_file(&hub, &strategy);
    let prepared = client
        .call(json!({"type": "prepare_run", "strategyPath": path}), "run_prepared")
        .await;
    assert_eq!(
        prepared["flowTree"].to_string(),
        flow.to_string(),
        "with its keys in order"
    );
    assert_eq!(prepared["agents"], json!(["z", "a"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_or_unsupported_file_is_refused() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let missing = hub.scratch().path("missing.json");
    let refusal = client.prepare_refused(&missing).await;
    assert!(
        refusal.starts_with(&format!("Strategy file not found: {} - ", missing.display())),
        "{refusal}"
    );
    let refusal = client.prepare_refused(&strategy_text(&hub, "toml", "name = 1")).await;
    for extension in [".json", ".jsonc", ".yaml", ".yml"] {
        assert!(refusal.contains(extension), "{refusal}");
    }
    let directory = hub.scratch().path("folder.json");
    std::fs::create_dir(&directory).expect("a directory");
    client.prepare_refused(&directory).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parse_error_names_its_line() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for (extension, text, name) in [
        ("json", "{\n  \"name\": \"x\",\n  \"version\" 1\n}", "JSON"),
        ("jsonc", "{\n  // fine\n  \"name\": \"x\"\n  \"version\": 1\n}", "JSON"),
        ("yaml", "name: x\nagents:\n\t- a: [\n", "YAML"),
        ("json", "", "JSON"),
    ] {
        let refusal = client.prepare_refused(&strategy_text(&hub, extension, text)).await;
        assert!(
            refusal.starts_with(&format!("Failed to parse strategy {name}: ")),
            "{text:?}: {refusal}"
        );
        assert!(text.is_empty() || refusal.contains("line "), "{text:?}: {refusal}");
    }
}

/// Each file has one mistake, and the error names its path.
#[tokio::test(flavor = "multi_thread")]
async fn a_validation_error_names_the_path_in_the_file() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let strategy_with = |pointer: &str, value: Value| {
        let mut strategy = talk();
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        let parent = strategy.pointer_mut(parent).expect("an existing path");
        match key.parse::<usize>() {
            Ok(index) => parent[index] = value,
            Err(_) => parent[key] = value,
        }
        strategy
    };
    for (pointer, value, path) in [
        ("/name", json!(""), "name"),
        ("/name", json!(7), "name"),
        ("/version", json!(1), "version"),
        ("/nmae", json!("x"), "*"),
        ("/agents", json!([]), "agents"),
        ("/agents/user/sytemPrompt", json!("x"), "agents.*.*"),
        (
            "/agents/user/config",
            json!({"requireInput": "yes"}),
            "agents.*.config.requireInput",
        ),
        ("/agents/user/config", json!({"preset": "x"}), "agents.*.config.*"),
        ("/agents/assistant/type", json!("magic"), "agents.*.type"),
        ("/agents/assistant/config", json!({"x": 1}), "agents.*.config.*"),
        ("/agents/assistant", template("x"), ""),
        ("/agents/assistant", json!({"type": "template"}), "agents.*.config"),
        (
            "/agents/assistant",
            json!({"type": "command", "config": {"program": ""}}),
            "agents.*.config.program",
        ),
        (
            "/agents/assistant",
            json!({"type": "command", "config": {"program": "a", "args": [1]}}),
            "agents.*.config.args.0",
        ),
        (
            "/agents/assistant",
            json!({"model": "m", "tools": ["rm"]}),
            "agents.*.tools.0",
        ),
        (
            "/agents/assistant",
            json!({"model": "m", "modelOptions": {"temprature": 1}}),
            "agents.*.modelOptions.*",
        ),
        ("/flow/name", json!(""), "flow.name"),
        ("/flow/type", json!("spiral"), "flow.type"),
        ("/flow/steps", json!([]), "flow.steps"),
        ("/flow/steps/0", json!({}), "flow.steps.0"),
        ("/flow/steps/0", json!({"agent": "user", "agnet": 1}), "flow.steps.0.*"),
        (
            "/flow/steps/1",
            json!({"name": "In", "type": "cycle", "steps": [{"agent": 7}]}),
            "flow.steps.1.steps.0.agent",
        ),
        ("/flow/cycles", json!(3), "flow.*"),
    ] {
        let strategy = strategy_with(pointer, value);
        let file = strategy_file(&hub, &strategy);
        if path.is_empty() {
            client.prepare(&file).await;
            continue;
        }
        let refusal = client.prepare_refused(&file).await;
        assert!(
            refusal.starts_with("Strategy validation failed:\n  - "),
            "{pointer}: {refusal}"
        );
        assert!(refusal.contains(&format!("\n  - {path}: ")), "{pointer}: {refusal}");
        assert!(
            refusal.ends_with(')') && refusal.contains(" (line "),
            "{pointer}: {refusal}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cycle_settings_are_validated() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for (more, path) in [
        (json!({"cycles": 0}), "flow.cycles"),
        (json!({"cycles": 1.5}), "flow.cycles"),
        (json!({"cycles": "forever"}), "flow.cycles"),
        (json!({"breakCycleSignals": []}), "flow.breakCycleSignals"),
        (json!({"breakCycleSignals": [""]}), "flow.breakCycleSignals.0"),
        (json!({"breakCycleSignalMatch": "regex"}), "flow.breakCycleSignalMatch"),
        (json!({"separator": ","}), "flow.*"),
    ] {
        let file = strategy_file(&hub, &cycle(json!({"worker": echo()}), &["worker"], more));
        let refusal = client.prepare_refused(&file).await;
        assert!(refusal.contains(&format!("\n  - {path}: ")), "{refusal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_mistakes_are_listed_at_once_with_the_known_names() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let mut strategy = talk();
    strategy["version"] = json!(7);
    strategy["agents"]["assistant"]["type"] = json!("magic");
    strategy["agents"]["user"]["colour"] = json!("red");
    let refusal = client.prepare_refused(&strategy_file(&hub, &strategy)).await;
    assert_eq!(refusal.matches("\n  - ").count(), 3, "{refusal}");
    for known in ["user", "llm", "echo", "template", "command"] {
        assert!(refusal.contains(known), "{known}: {refusal}");
    }
    assert!(refusal.contains("config"), "the known keys: {refusal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_undefined_agent_is_refused_with_its_place() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let inner = flow("Inner", "sequential", &["ghost"]);
    for (flow, path) in [
        (flow("Inner", "sequential", &["a", "ghost"]), "flow.steps.1.agent"),
        (
            json!({"name": "Outer", "type": "sequential", "steps": [{"agent": "a"}, inner]}),
            "flow.steps.1.steps.0.agent",
        ),
        (
            json!({"name": "Inner", "type": "cycle", "observer": "ghost", "steps": [{"agent": "a"}]}),
            "flow.observer",
        ),
    ] {
        let file = strategy_file(&hub, &strategy(json!({"a": echo(), "b": echo()}), flow));
        let refusal = client.prepare_refused(&file).await;
        let fault = format!("\n  - {path}: references an agent which is not defined in agents (line ");
        assert!(refusal.contains(&fault) && !refusal.contains("ghost"), "{refusal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_must_be_set_by_the_agent_or_an_override() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let file = strategy_file(&hub, &alone(json!({"systemPrompt": "Be brief."})));
    let refusal = client.prepare_refused(&file).await;
    assert!(refusal.starts_with("Agent \"worker\" has no model."), "{refusal}");
    let message = json!({"type": "prepare_run", "strategyPath": file, "modelOverride": "some-model"});
    client.call(message, "run_prepared").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_files_are_refused_quickly() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = level - 1;
        laughs += &format!("a{level}: &a{level} [{}]\n", format!("*a{before}, ").repeat(10));
    }
    let deep = format!("{}{}", "{\"a\":".repeat(50_000), "}".repeat(50_000));
    let large = format!("{{\"name\": \"{}\"}}", "x".repeat(1_100_000));
    let twice = r#"{"name": "x", "name": "y", "version": "1", "agents": {}, "flow": {}}"#;
    let tagged = "name: !!python/object:os.system x\nversion: '1'\n";
    let many: String = (0..300).map(|number| format!("  k{number}: 1\n")).collect();
    for (extension, text) in [
        ("yaml", laughs.as_str()),
        ("json", &deep),
        ("json", &large),
        ("json", twice),
        ("jsonc", twice),
        ("yaml", "name: x\nname: y\n"),
        ("yaml", tagged),
        ("yaml", "? [a, b]\n: x\n"),
        ("yaml", &format!("name: x\nagents:\n{many}")),
    ] {
        let refusal = client.prepare_refused(&strategy_text(&hub, extension, text)).await;
        assert!(
            refusal.len() < 20_000,
            "{extension} {text:.60}: {} bytes of error",
            refusal.len()
        );
    }
    client.expect_silence().await;
}

/// A link to a foreign file is not followed, and a foreign file that is named outright is not repeated.
#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_file_is_never_repeated() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let credentials = hub.scratch().path(".git-credentials");
    std::fs::write(&credentials, "https://ann:TOKEN@git.example\n").expect("a file");
    let folder = hub.scratch().path("project");
    std::fs::create_dir(&folder).expect("a directory");
    let link = folder.join("plan.yaml");
    std::os::unix::fs::symlink(&credentials, &link).expect("a link");
    let refusal = client.prepare_refused(&link).await;
    assert!(
        refusal.contains("leads out of its folder") && !refusal.contains("TOKEN"),
        "{refusal}"
    );
    let relative = json!({"type": "prepare_run", "strategyPath": "plan.yaml", "cwd": folder});
    let refusal = client.refused(relative, "PREPARE_FAILED").await;
    assert!(
        refusal.contains("leads out of its folder") && !refusal.contains("TOKEN"),
        "{refusal}"
    );
    let named = hub.scratch().path("named.yaml");
    std::fs::copy(&credentials, &named).expect("a copy");
    let refusal = client.prepare_refused(&named).await;
    assert!(
        refusal.contains("must be an object") && !refusal.contains("TOKEN"),
        "{refusal}"
    );
    std::os::unix::fs::symlink(hub.data().join("hub.json"), folder.join("role.md")).expect("a link");
    let mut agent = llm();
    agent["systemPrompt"] = json!("role.md");
    let strategy = folder.join("prompt.json");
    std::fs::write(&strategy, alone(agent).to_string()).expect("a file");
    let refusal = client.prepare_refused(&strategy).await;
    assert!(
        refusal.contains("systemPrompt") && refusal.contains("leads out of its folder"),
        "{refusal}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relative_path_is_read_from_the_runs_directory() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let cwd = hub.scratch().home();
    std::fs::write(cwd.join("plan.json"), talk().to_string()).expect("a file");
    let message = json!({"type": "prepare_run", "strategyPath": "plan.json", "cwd": cwd});
    client.call(message, "run_prepared").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strategy_with_tools_of_the_daemon_is_refused_with_their_names() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let mut agent = llm();
    agent["tools"] = json!(["read_file", "ask_question", "S3CR3T", "run_command"]);
    let refusal = client.prepare_refused(&strategy_file(&hub, &alone(agent))).await;
    for part in [
        "agents.*.tools.0: the tool read_file is not offered by this hub; known: ask_question. Leave it out, or do its \
         work in an agent of type command (line ",
        "agents.*.tools.2: unknown tool; known: ask_question. Leave it out",
        "agents.*.tools.3: the tool run_command is not offered by this hub",
    ] {
        assert!(refusal.contains(part), "{part}: {refusal}");
    }
    assert!(!refusal.contains("S3CR3T"), "{refusal}");
}
