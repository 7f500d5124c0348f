//! Invalid strategies: every fault is reported with its path, all at once.

use countersign_protocol::runs::strategy::{Fault, MAX_FAULTS, StrategyError, StrategyFormat, read};
use serde_json::{Value, json};

fn fine() -> Value {
    json!({
        "name": "S",
        "version": "1",
        "agents": {
            "user": {"type": "user", "config": {}},
            "writer": {"model": "a/b"},
            "echo": {"type": "echo"},
            "shout": {"type": "template", "config": {"template": "{{input}}"}},
            "count": {"type": "command", "config": {"program": "wc"}},
        },
        "flow": {"name": "F", "type": "sequential", "steps": [
            {"agent": "user"},
            {"name": "C", "type": "cycle", "steps": [{"agent": "writer"}]},
            {"name": "B", "type": "broadcast", "steps": [{"agent": "echo"}]},
        ]},
    })
}

fn faults(file: &Value) -> Vec<Fault> {
    match read(&file.to_string(), StrategyFormat::Json) {
        Err(StrategyError::Invalid(faults)) => faults,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{file} is fine"),
    }
}

/// The only fault of a file that is valid except for the value at `pointer`.
fn fault(pointer: &str, value: Value) -> (String, String) {
    let mut file = fine();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    file.pointer_mut(parent).unwrap()[key] = value;
    let mut faults = faults(&file);
    assert_eq!(faults.len(), 1, "{faults:?}");
    let Fault { path, why, position } = faults.remove(0);
    assert!(position.is_some(), "{path}");
    (path, why)
}

/// The path as errors show it, without the names of agents.
fn shown(pointer: &str) -> String {
    let mut parts: Vec<&str> = pointer.trim_start_matches('/').split('/').collect();
    if parts[0] == "agents" && parts.len() > 1 {
        parts[1] = "*";
    }
    parts.join(".")
}

fn assert_fault(pointer: &str, value: Value, why: &str) {
    assert_eq!(fault(pointer, value), (shown(pointer), why.to_owned()));
}

/// The last key of the pointer is unknown, and not shown.
fn assert_unknown_key(pointer: &str, value: Value, why: &str) {
    let (parent, _) = pointer.rsplit_once('/').unwrap();
    let path = shown(&format!("{parent}/*"));
    assert_eq!(fault(pointer, value), (path, why.to_owned()));
}

#[test]
fn the_example_itself_is_valid() {
    assert!(read(&fine().to_string(), StrategyFormat::Json).is_ok());
}

#[test]
fn an_unknown_key_is_reported_with_the_known_ones() {
    let llm = "unknown key; known: type, description, model, systemPrompt, systemPromptTemplate, tools, \
               providerOptions, modelOptions, outputSchema, maxSteps, mcpServers, skills, context";
    assert_unknown_key("/agents/writer/sytemPrompt", json!("x"), llm);
    assert_unknown_key("/agents/writer/config", json!({}), llm);
    for (pointer, known) in [
        ("/colour", "name, version, description, mcpServers, agents, flow"),
        ("/agents/user/model", "type, description, config"),
        ("/agents/user/config/preset", "requireInput, presetMessage"),
        ("/agents/shout/config/text", "template"),
        ("/agents/count/config/shell", "program, args"),
        ("/flow/cycles", "name, type, description, steps"),
        ("/flow/steps/0/name", "agent, description"),
        (
            "/flow/steps/1/separator",
            "name, type, description, steps, cycles, observer, breakCycleSignals, breakCycleSignalMatch",
        ),
        ("/flow/steps/2/observer", "name, type, description, steps, separator"),
    ] {
        assert_unknown_key(pointer, json!("x"), &format!("unknown key; known: {known}"));
    }
    let template = json!({"template": "a", "vars": {}});
    let (path, why) = fault("/agents/writer/systemPromptTemplate", template);
    assert_eq!(
        (path.as_str(), why.as_str()),
        (
            "agents.*.systemPromptTemplate.*",
            "unknown key; known: template, variables"
        )
    );
    let (path, _) = fault("/agents/writer/modelOptions", json!({"top_p": 1}));
    assert_eq!(path, "agents.*.modelOptions.*");
    let (path, why) = fault("/agents/echo/config", json!({"loud": true}));
    assert_eq!(
        (path.as_str(), why.as_str()),
        ("agents.*.config.*", "unknown key; none is known here")
    );
}

#[test]
fn unknown_values_are_reported_with_the_known_ones() {
    assert_fault(
        "/agents/echo/type",
        json!("my-type"),
        "unknown agent type; known: llm, user, echo, template, command",
    );
    assert_fault(
        "/agents/echo/type",
        json!(1),
        "must be a string, one of llm, user, echo, template, command",
    );
    assert_fault(
        "/flow/type",
        json!("parallel"),
        "unknown flow type; known: sequential, cycle, broadcast",
    );
    assert_fault(
        "/flow/type",
        json!(null),
        "must be sequential, cycle or broadcast, not null",
    );
    let (path, why) = fault("/agents/writer/tools", json!(["ask_question", "bash"]));
    assert_eq!(path, "agents.*.tools.1");
    let instead = "known: ask_question. Leave it out, or do its work in an agent of type command";
    assert_eq!(why, format!("unknown tool; {instead}"));
    let (path, why) = fault("/agents/writer/tools", json!(["read_file"]));
    assert_eq!(path, "agents.*.tools.0");
    assert_eq!(why, format!("the tool read_file is not offered by this hub; {instead}"));
    assert_fault(
        "/flow/steps/1/breakCycleSignalMatch",
        json!("regex"),
        "must be one of substring, first-line, any-line, exact",
    );
}

#[test]
fn a_missing_key_is_named() {
    for pointer in [
        "/name",
        "/version",
        "/agents",
        "/flow",
        "/flow/name",
        "/flow/type",
        "/flow/steps",
        "/flow/steps/1/steps",
        "/agents/shout/config",
        "/agents/shout/config/template",
        "/agents/count/config/program",
    ] {
        let mut file = fine();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        file.pointer_mut(parent)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .shift_remove(key);
        let faults: Vec<_> = faults(&file).into_iter().map(|fault| (fault.path, fault.why)).collect();
        assert_eq!(faults, [(shown(pointer), "is missing".to_owned())]);
    }
}

#[test]
fn meaningless_empty_values_are_refused() {
    for pointer in [
        "/name",
        "/version",
        "/flow/name",
        "/flow/steps/0/agent",
        "/flow/steps/1/observer",
        "/agents/writer/model",
        "/agents/count/config/program",
    ] {
        assert_fault(pointer, json!(""), "must not be empty");
    }
    assert_fault("/flow/steps", json!([]), "must have at least one step");
    assert_fault(
        "/flow/steps/1/breakCycleSignals",
        json!([]),
        "must have at least one entry",
    );
    let (path, why) = fault("/flow/steps/1/breakCycleSignals", json!(["ok", ""]));
    assert_eq!(
        (path.as_str(), why.as_str()),
        ("flow.steps.1.breakCycleSignals.1", "must not be empty")
    );
    for pointer in [
        "/description",
        "/agents/user/config/presetMessage",
        "/agents/writer/systemPrompt",
        "/flow/steps/2/separator",
    ] {
        let mut file = fine();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        file.pointer_mut(parent).unwrap()[key] = json!("");
        assert!(read(&file.to_string(), StrategyFormat::Json).is_ok(), "{pointer}");
    }
}

#[test]
fn null_and_wrong_types_are_refused_everywhere() {
    for (pointer, wanted) in [
        ("/name", "a string"),
        ("/version", "a string"),
        ("/description", "a string"),
        ("/agents/user/description", "a string"),
        ("/agents/user/config", "an object"),
        ("/agents/user/config/requireInput", "true or false"),
        ("/agents/user/config/presetMessage", "a string"),
        ("/agents/writer", "an object"),
        ("/agents/writer/model", "a string"),
        ("/agents/writer/systemPrompt", "a string"),
        ("/agents/writer/systemPromptTemplate", "an object"),
        ("/agents/writer/tools", "an array"),
        ("/agents/writer/providerOptions", "an object"),
        ("/agents/writer/modelOptions", "an object"),
        ("/agents/writer/outputSchema", "an object"),
        ("/agents/echo/config", "an object"),
        ("/agents/shout/config", "an object"),
        ("/agents/count/config/args", "an array"),
        ("/flow", "an object"),
        ("/flow/description", "a string"),
        ("/flow/steps", "an array"),
        ("/flow/steps/0", "an object"),
        ("/flow/steps/0/agent", "a string"),
        ("/flow/steps/0/description", "a string"),
        ("/flow/steps/1/observer", "a string"),
        ("/flow/steps/1/breakCycleSignals", "an array"),
        ("/flow/steps/2/separator", "a string"),
    ] {
        for (value, shown) in [(json!(null), "null"), (json!(true), "a boolean")] {
            if wanted == "true or false" && value == json!(true) {
                continue;
            }
            // An index cannot be set like a key.
            let why = format!("must be {wanted}, not {shown}");
            if let Some(parent) = pointer.strip_suffix("/0") {
                let mut steps = fine().pointer(parent).unwrap().clone();
                steps[0] = value;
                assert_eq!(fault(parent, steps), ("flow.steps.0".to_owned(), why));
            } else {
                assert_fault(pointer, value, &why);
            }
        }
    }
}

#[test]
fn numbers_have_their_range() {
    for (key, value) in [
        ("topK", json!(-1)),
        ("topK", json!(1.5)),
        ("maxOutputTokens", json!(0)),
        ("maxRetries", json!(4_294_967_296_u64)),
        ("seed", json!(1e300)),
        ("temperature", json!("warm")),
    ] {
        let (path, why) = fault("/agents/writer/modelOptions", json!({key: value}));
        assert_eq!(path, format!("agents.*.modelOptions.{key}"));
        assert!(why.starts_with("must be a "), "{why}");
    }
    for cycles in [json!(0), json!(-1), json!(1.5), json!(9_007_199_254_740_992_u64)] {
        let (path, why) = fault("/flow/steps/1/cycles", cycles);
        assert_eq!(path, "flow.steps.1.cycles");
        assert!(why.starts_with("must be a whole number from 1 to "), "{why}");
    }
    for wrong in [json!("infinity"), json!(null), json!([])] {
        let why = "must be a whole number from 1, or \"Infinity\"";
        assert_fault("/flow/steps/1/cycles", wrong, why);
    }
    for wrong in [json!(0), json!(null), json!("2")] {
        let why = "must be a whole number from 1 to 4294967295";
        assert_fault("/agents/writer/maxSteps", wrong, why);
    }
}

#[test]
fn a_step_is_an_agent_or_a_flow() {
    let steps = |step: Value| json!([step]);
    let (path, why) = fault("/flow/steps", steps(json!({"description": "what?"})));
    assert_eq!(path, "flow.steps.0");
    assert_eq!(why, "must be a step ({agent}) or a flow ({name, type, steps})");
    let (path, why) = fault("/flow/steps", steps(json!({"agent": "echo", "steps": []})));
    assert_eq!(
        (path.as_str(), why.as_str()),
        ("flow.steps.0.*", "unknown key; known: agent, description")
    );
}

#[test]
fn names_are_short_and_on_one_line() {
    let long = "é".repeat(201);
    let bad = |name: &str, why: &str| {
        assert_fault("/name", json!(name), why);
        assert_fault("/flow/name", json!(name), why);
        let mut file = fine();
        file["agents"][name] = json!({"type": "echo"});
        assert_eq!(faults(&file)[0].why, why);
    };
    bad(&long, "must be at most 200 characters");
    bad("a\nb", "must not contain line breaks or other control characters");
    assert!(
        read(
            &fine().to_string().replace("\"S\"", &format!("{:?}", "é".repeat(200))),
            StrategyFormat::Json
        )
        .is_ok()
    );
    let mut file = fine();
    file["agents"][""] = json!({"type": "echo"});
    assert!(
        faults(&file)[0]
            .to_string()
            .starts_with("agents.*: the name of an agent must not be empty (line 1 column ")
    );
}

#[test]
fn all_faults_are_reported_at_once_in_protocol_format() {
    let file = r#"{
  "version": 1,
  "agents": {
    "a": {"sytemPrompt": "x", "tools": [1, "y"]},
    "b": []
  },
  "flow": {"name": "", "type": "loop", "steps": [{"agent": ""}, 3]},
  "x": 0
}"#;
    let text = "Strategy validation failed:
  - *: unknown key; known: name, version, description, mcpServers, agents, flow (line 8 column 3)
  - name: is missing (line 1 column 1)
  - version: must be a string, not a number (line 2 column 3)
  - agents.*.*: unknown key; known: type, description, model, systemPrompt, systemPromptTemplate, tools, \
     providerOptions, modelOptions, outputSchema, maxSteps, mcpServers, skills, context (line 4 column 11)
  - agents.*.tools.0: must be a string, not a number (line 4 column 41)
  - agents.*.tools.1: unknown tool; known: ask_question. Leave it out, or do its work in an agent of type \
     command (line 4 column 44)
  - agents.*: must be an object, not an array (line 5 column 5)
  - flow.name: must not be empty (line 7 column 12)
  - flow.type: unknown flow type; known: sequential, cycle, broadcast (line 7 column 24)
  - flow.steps.0.agent: must not be empty (line 7 column 51)
  - flow.steps.1: must be an object, not a number (line 7 column 65)";
    assert_eq!(read(file, StrategyFormat::Json).unwrap_err().to_string(), text);
    for root in [json!(null), json!([]), json!("x")] {
        let message = read(&root.to_string(), StrategyFormat::Json).unwrap_err().to_string();
        assert!(
            message.starts_with("Strategy validation failed:\n  - (root): must be an object, not "),
            "{message}"
        );
    }
}

#[test]
fn every_format_finds_the_same_faults() {
    let json = r#"{"name": 1, "version": "1", "agents": {"a": {"type": "ecko"}}, "flow": {"steps": []}}"#;
    let yaml = "name: 1\nversion: '1'\nagents:\n  a:\n    type: ecko\nflow:\n  steps: []\n";
    let found = |text: &str, format| match read(text, format) {
        Err(StrategyError::Invalid(faults)) => {
            let named = faults.into_iter().map(|fault| (fault.path, fault.why));
            named.collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let expected = found(json, StrategyFormat::Json);
    assert_eq!(found(json, StrategyFormat::Jsonc), expected);
    assert_eq!(found(yaml, StrategyFormat::Yaml), expected);
    assert_eq!(expected.len(), 5);
    let error = read(yaml, StrategyFormat::Yaml).unwrap_err().to_string();
    assert!(error.contains("agents.*.type: unknown agent type; known: "), "{error}");
    assert!(error.contains(" (line 5 column 5)"), "{error}");
}

#[test]
fn at_most_fifty_faults_are_listed() {
    let mut file = fine();
    for index in 0..500 {
        file[format!("key{index}")] = json!(0);
    }
    assert_eq!(faults(&file).len(), MAX_FAULTS);
}
