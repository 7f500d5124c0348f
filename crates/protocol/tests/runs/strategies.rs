//! Valid strategies: the same result in every format, with the defaults of the protocol.

use countersign_protocol::runs::strategy::{
    AgentDef, AgentKind, CommandAgent, Cycle, Flow, FlowKind, LlmAgent, Match, ModelOptions, PromptTemplate, Step,
    Strategy, StrategyError, StrategyFormat, UserAgent, read,
};
use serde_json::{Value, json};

const JSON: &str = r#"{
  "name": "Topic writer",
  "version": "1.0",
  "description": "Writes about a topic until a person is content.",
  "mcpServers": { "any": ["thing", null] },
  "agents": {
    "writer": {
      "description": "writes",
      "model": "provider/model",
      "systemPrompt": "Write.\nBriefly.",
      "systemPromptTemplate": { "template": "As {{who}}", "variables": { "who": "a sailor", "n": 3 } },
      "tools": ["ask_question"],
      "mcpServers": ["x"],
      "skills": { "a": 1 },
      "context": null,
      "providerOptions": { "z": 1, "a": { "deep": true } },
      "modelOptions": {
        "temperature": 0.5, "topP": 1, "topK": 40, "maxOutputTokens": 2000, "maxRetries": 0,
        "frequencyPenalty": -0.25, "presencePenalty": 1e-2, "seed": -7
      },
      "outputSchema": { "type": "object" },
      "maxSteps": 8
    },
    "user": { "type": "user", "description": "a person", "config": { "requireInput": false, "presetMessage": "Go on?" } },
    "echo": { "type": "echo", "config": {} },
    "shout": { "type": "template", "config": { "template": "{{input}}!" } },
    "count": { "type": "command", "config": { "program": "wc", "args": ["-w", ""] } }
  },
  "flow": {
    "type": "sequential",
    "name": "Main",
    "description": "all of it",
    "steps": [
      { "agent": "user", "description": "first" },
      {
        "name": "Rounds", "type": "cycle", "cycles": "Infinity", "observer": "user",
        "breakCycleSignals": ["fine", "enough"], "breakCycleSignalMatch": "first-line",
        "steps": [ { "agent": "writer" }, { "name": "Both", "type": "broadcast", "separator": " | ",
          "steps": [ { "agent": "echo" }, { "agent": "shout" } ] } ]
      },
      { "agent": "count" }
    ]
  }
}"#;

const YAML: &str = r#"%YAML 1.2
--- # the same
name: Topic writer
version: "1.0"
description: Writes about a topic
  until a person is content.
mcpServers: {any: [thing, ~]}
agents:
  writer:
    description: writes
    model: provider/model
    systemPrompt: |-
      Write.
      Briefly.
    systemPromptTemplate:
      template: 'As {{who}}'
      variables: {who: a sailor, n: 3}
    tools: [ask_question]
    mcpServers:
    - x
    skills: {a: 1}
    context:
    providerOptions:
      z: 1
      a: {deep: True}
    modelOptions: {temperature: .5, topP: 1, topK: 0x28, maxOutputTokens: 2000, maxRetries: 0,
      frequencyPenalty: -0.25, presencePenalty: 1e-2, seed: -7}
    outputSchema: {"type": "object"}
    maxSteps: 8
  user:
    type: user
    description: a person
    config: {requireInput: false, presetMessage: Go on?}
  echo: {type: echo, config: {}}
  shout:
    type: template
    config: {template: "{{input}}!"}
  count:
    type: command
    config:
      program: wc
      args: ["-w", '']
flow:
  type: sequential
  name: Main
  description: all of it
  steps:
    - agent: user
      description: first
    - name: Rounds
      type: cycle
      cycles: Infinity
      observer: user
      breakCycleSignals: [fine, enough]
      breakCycleSignalMatch: first-line
      steps:
        - agent: writer
        - name: Both
          type: broadcast
          separator: " | "
          steps: [{agent: echo}, agent: shout]
    - agent: count
...
"#;

fn jsonc() -> String {
    JSON.replace(
        "  \"agents\": {",
        "  // who\n  \"agents\": { /* in order, \"writer\" first */",
    )
    .replace("\"maxSteps\": 8\n", "\"maxSteps\": 8, // enough\n")
    .replace("{ \"agent\": \"count\" }\n", "{ \"agent\": \"count\", },\n")
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn agent(name: &str) -> Step {
    Step::Agent(name.to_owned())
}

fn writer() -> LlmAgent {
    let map = |value: Value| value.as_object().unwrap().clone();
    LlmAgent {
        model: Some("provider/model".to_owned()),
        system_prompt: Some("Write.\nBriefly.".to_owned()),
        system_prompt_template: Some(PromptTemplate {
            template: "As {{who}}".to_owned(),
            variables: map(json!({"who": "a sailor", "n": 3})),
        }),
        tools: owned(&["ask_question"]),
        provider_options: Some(map(json!({"z": 1, "a": {"deep": true}}))),
        model_options: ModelOptions {
            temperature: Some(0.5),
            top_p: Some(1.0),
            top_k: Some(40),
            max_output_tokens: Some(2000),
            max_retries: Some(0),
            frequency_penalty: Some(-0.25),
            presence_penalty: Some(0.01),
            seed: Some(-7),
        },
        output_schema: Some(json!({"type": "object"})),
        max_steps: Some(8),
    }
}

fn expected() -> Strategy {
    let def = |name: &str, kind| AgentDef {
        name: name.to_owned(),
        kind,
    };
    let both = Flow {
        name: "Both".to_owned(),
        kind: FlowKind::Broadcast {
            separator: " | ".to_owned(),
        },
        steps: vec![agent("echo"), agent("shout")],
    };
    let rounds = Flow {
        name: "Rounds".to_owned(),
        kind: FlowKind::Cycle(Cycle {
            cycles: None,
            observer: Some("user".to_owned()),
            signals: owned(&["fine", "enough"]),
            matching: Match::FirstLine,
        }),
        steps: vec![agent("writer"), Step::Flow(both)],
    };
    Strategy {
        name: "Topic writer".to_owned(),
        version: "1.0".to_owned(),
        description: Some("Writes about a topic until a person is content.".to_owned()),
        agents: vec![
            def("writer", AgentKind::Llm(Box::new(writer()))),
            def(
                "user",
                AgentKind::User(UserAgent {
                    require_input: false,
                    preset_message: Some("Go on?".to_owned()),
                }),
            ),
            def("echo", AgentKind::Echo),
            def(
                "shout",
                AgentKind::Template {
                    template: "{{input}}!".to_owned(),
                },
            ),
            def(
                "count",
                AgentKind::Command(CommandAgent {
                    program: "wc".to_owned(),
                    args: owned(&["-w", ""]),
                }),
            ),
        ],
        flow: Flow {
            name: "Main".to_owned(),
            kind: FlowKind::Sequential,
            steps: vec![agent("user"), Step::Flow(rounds), agent("count")],
        },
        flow_tree: serde_json::from_str::<Value>(JSON).unwrap()["flow"].take(),
    }
}

#[test]
fn every_format_gives_the_same_strategy() {
    assert_eq!(read(JSON, StrategyFormat::Json).unwrap(), expected());
    assert_eq!(read(&jsonc(), StrategyFormat::Jsonc).unwrap(), expected());
    assert_eq!(read(YAML, StrategyFormat::Yaml).unwrap(), expected());
    assert_eq!(read(JSON, StrategyFormat::Jsonc).unwrap(), expected(), "JSON is JSONC");
    assert_eq!(read(JSON, StrategyFormat::Yaml).unwrap(), expected(), "JSON is YAML");
}

#[test]
fn agents_and_the_flow_keep_the_file_order() {
    for (text, format) in [
        (JSON, StrategyFormat::Json),
        (&jsonc(), StrategyFormat::Jsonc),
        (YAML, StrategyFormat::Yaml),
    ] {
        let strategy = read(text, format).unwrap();
        assert_eq!(strategy.agent_names(), ["writer", "user", "echo", "shout", "count"]);
        let tree = strategy.flow_tree.to_string();
        assert!(
            tree.starts_with(r#"{"type":"sequential","name":"Main","description":"#),
            "{tree}"
        );
        let AgentKind::Llm(writer) = &strategy.agents[0].kind else {
            panic!("an llm")
        };
        assert_eq!(
            serde_json::to_string(&writer.provider_options).unwrap(),
            r#"{"z":1,"a":{"deep":true}}"#
        );
    }
}

#[test]
fn byte_order_marks_and_other_line_endings_change_nothing() {
    for (text, format) in [
        (JSON, StrategyFormat::Json),
        (&jsonc(), StrategyFormat::Jsonc),
        (YAML, StrategyFormat::Yaml),
    ] {
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(read(&windows, format).unwrap(), expected(), "{format:?}");
    }
    assert_eq!(
        read(&JSON.replace("  ", "\t"), StrategyFormat::Json).unwrap(),
        expected()
    );
    assert_eq!(
        read(&jsonc().replace("  ", "\t"), StrategyFormat::Jsonc).unwrap(),
        expected()
    );
}

#[test]
fn a_strategy_survives_the_round_trip() {
    let text = serde_json::to_string(&expected()).unwrap();
    assert_eq!(serde_json::from_str::<Strategy>(&text).unwrap(), expected());
}

fn small(agents: &Value, flow: &Value) -> Result<Strategy, StrategyError> {
    let file = json!({"name": "S", "version": "1", "agents": agents, "flow": flow});
    read(&file.to_string(), StrategyFormat::Json)
}

#[test]
fn what_is_left_out_has_its_default() {
    let flow = json!({"name": "F", "type": "sequential", "steps": [
        {"agent": "u"},
        {"name": "C", "type": "cycle", "steps": [{"agent": "m"}]},
        {"name": "B", "type": "broadcast", "steps": [{"agent": "m"}]},
    ]});
    let strategy = small(&json!({"u": {"type": "user"}, "m": {"model": "x"}}), &flow).unwrap();
    assert_eq!(strategy.description, None);
    let user = AgentKind::User(UserAgent {
        require_input: true,
        preset_message: None,
    });
    let llm = AgentKind::Llm(Box::new(LlmAgent {
        model: Some("x".to_owned()),
        ..LlmAgent::default()
    }));
    assert_eq!(strategy.agent("u").unwrap().kind, user);
    assert_eq!(strategy.agent("m").unwrap().kind, llm);
    let [_, Step::Flow(cycle), Step::Flow(broadcast)] = strategy.flow.steps.as_slice() else {
        panic!("two flows")
    };
    let signals = owned(&["end cycle", "stop", "done"]);
    let once = FlowKind::Cycle(Cycle {
        cycles: Some(1),
        observer: None,
        signals,
        matching: Match::Substring,
    });
    assert_eq!(cycle.kind, once);
    assert_eq!(
        broadcast.kind,
        FlowKind::Broadcast {
            separator: "\n\n".to_owned()
        }
    );
}

#[test]
fn cycles_and_matches_accept_all_their_values() {
    let kind = |key: &str, value: Value| {
        let mut flow = json!({"name": "C", "type": "cycle", "steps": [{"agent": "e"}]});
        flow[key] = value;
        match small(&json!({"e": {"type": "user"}}), &flow).unwrap().flow.kind {
            FlowKind::Cycle(cycle) => (cycle.cycles, cycle.matching),
            FlowKind::Sequential | FlowKind::Broadcast { .. } => panic!("a cycle"),
        }
    };
    assert_eq!(kind("cycles", json!(3)).0, Some(3));
    assert_eq!(kind("cycles", json!(3.0)).0, Some(3));
    assert_eq!(kind("cycles", json!("Infinity")).0, None);
    for (word, matching) in [
        ("substring", Match::Substring),
        ("first-line", Match::FirstLine),
        ("any-line", Match::AnyLine),
        ("exact", Match::Exact),
    ] {
        assert_eq!(kind("breakCycleSignalMatch", json!(word)).1, matching);
    }
}

#[test]
fn a_flow_that_never_waits_is_refused_by_name() {
    let agents = json!({
        "echo": {"type": "echo"}, "shout": {"type": "template", "config": {"template": "{{input}}!"}},
        "silent": {"type": "user", "config": {"requireInput": false}}, "person": {"type": "user"},
        "model": {"model": "m"}, "tool": {"type": "command", "config": {"program": "true"}},
    });
    let cycle = |name: &str, cycles: Value, steps: Value, observer: Option<&str>| {
        let mut flow = json!({"name": name, "type": "cycle", "cycles": cycles, "steps": steps});
        if let Some(observer) = observer {
            flow["observer"] = json!(observer);
        }
        flow
    };
    let instant = json!([{"agent": "echo"}, {"agent": "shout"}, {"agent": "silent"}]);
    let endless = json!("Infinity");
    let inner = cycle("Inner", endless.clone(), instant.clone(), Some("echo"));
    let million = cycle(
        "Outer",
        json!(1000),
        json!([cycle("Inner", json!(1000), instant.clone(), None)]),
        None,
    );
    for (flow, path) in [
        (cycle("Main", endless.clone(), instant.clone(), None), "flow"),
        (cycle("Main", endless.clone(), instant.clone(), Some("shout")), "flow"),
        (cycle("Main", json!(33_334), instant.clone(), None), "flow"),
        (
            cycle("Main", json!(9_007_199_254_740_991_u64), instant.clone(), None),
            "flow",
        ),
        (
            cycle("Main", endless.clone(), json!([{"agent": "person"}, inner]), None),
            "flow.steps.1",
        ),
        (million, "flow"),
    ] {
        let error = small(&agents, &flow).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!(
                "Strategy validation failed:\n  - {path}: would call agents more than 100000 times in a row"
            )),
            "{error}"
        );
    }
    for waiting in ["person", "model", "tool"] {
        let with = cycle(
            "Main",
            endless.clone(),
            json!([{"agent": "echo"}, {"agent": waiting}]),
            None,
        );
        assert!(small(&agents, &with).is_ok(), "{waiting}");
        assert!(
            small(&agents, &cycle("Main", endless.clone(), instant.clone(), Some(waiting))).is_ok(),
            "{waiting}"
        );
    }
    let most = cycle("Most", json!(33_333), instant, None);
    for steps in [json!([most]), json!([most, {"agent": "person"}, most])] {
        assert!(small(&agents, &json!({"name": "Main", "type": "sequential", "steps": steps})).is_ok());
    }
    let twice = json!({"name": "Main", "type": "sequential", "steps": [most, most]});
    assert!(
        small(&agents, &twice)
            .unwrap_err()
            .to_string()
            .contains("\n  - flow: would call")
    );
}

#[test]
fn a_flow_may_name_only_defined_agents() {
    let agents = json!({"a": {"type": "echo"}, "b": {"type": "user"}});
    let step = json!({"name": "Main", "type": "sequential", "steps": [{"agent": "a"}, {"agent": "ghost"}]});
    let paths = |flow: &serde_json::Value| match small(&agents, flow) {
        Err(StrategyError::Invalid(faults)) => {
            for fault in &faults {
                assert_eq!(fault.why, "references an agent which is not defined in agents");
                assert!(fault.position.is_some());
            }
            faults.into_iter().map(|fault| fault.path).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(paths(&step), ["flow.steps.1.agent"]);
    let deep = json!({"name": "Main", "type": "sequential", "steps": [
        {"name": "In", "type": "cycle", "observer": "judge", "steps": [{"agent": "x"}, {"agent": "a"}, {"agent": "A"}]},
        {"agent": "y"},
    ]});
    assert_eq!(
        paths(&deep),
        [
            "flow.steps.0.observer",
            "flow.steps.0.steps.0.agent",
            "flow.steps.0.steps.2.agent",
            "flow.steps.1.agent"
        ]
    );
}

#[test]
fn an_agent_without_a_model_needs_an_override() {
    let agents = json!({"a": {"type": "llm"}, "b": {"model": "x"}, "c": {"type": "echo"}});
    let strategy = small(
        &agents,
        &json!({"name": "F", "type": "sequential", "steps": [{"agent": "c"}]}),
    )
    .unwrap();
    let why = strategy.check_models(None).unwrap_err();
    assert!(why.starts_with("Agent \"a\" has no model. "), "{why}");
    assert!(!why.contains('\n'), "{why}");
    assert_eq!(strategy.check_models(Some("x/y")), Ok(()));
    assert_eq!(expected().check_models(None), Ok(()));
}
