//! The exact JSON of events and replies.

use countersign_protocol::runs::{
    ContextUsage, Conversation, Event, ListedRun, LiveRun, PendingInput, PolicyName, RunError, RunInput, RunReply,
    RunStatus, StepResult, StreamEvent, ToolStatus, Usage, mark_resolved, read,
};
use countersign_protocol::time::Timestamp;
use serde_json::json;

const AT: Timestamp = Timestamp::from_millis(1_780_588_110_250);
const USAGE: Usage = Usage {
    prompt_tokens: 12,
    completion_tokens: 34,
};
const CONTEXT_USAGE: ContextUsage = ContextUsage {
    total_tokens: 9,
    input_tokens: Some(4),
    output_tokens: Some(5),
};

fn owned(text: &str) -> String {
    text.to_owned()
}

fn result() -> StepResult {
    StepResult {
        text: owned("T"),
        usage: USAGE,
        context_usage: None,
        finish_reason: owned("stop"),
    }
}

fn streaming(event: StreamEvent) -> Event {
    Event::AgentStreaming {
        agent_name: owned("writer"),
        model: Some(owned("a/b")),
        event,
    }
}

/// Every event with its frame, without the fields common to all frames.
fn events() -> Vec<(Event, &'static str)> {
    vec![
        (
            Event::StrategyStarted {
                strategy_name: owned("S"),
                agents: vec![owned("user"), owned("writer")],
                flow_tree: json!({"type": "sequential", "name": "Main", "steps": [{"agent": "user"}]}),
            },
            r#""type":"strategy_started","strategyName":"S","agents":["user","writer"],"flowTree":{"type":"sequential","name":"Main","steps":[{"agent":"user"}]}"#,
        ),
        (
            Event::StrategyCompleted {
                result: owned("R"),
                usage: USAGE,
            },
            r#""type":"strategy_completed","result":"R","usage":{"promptTokens":12,"completionTokens":34}"#,
        ),
        (
            Event::StrategyError {
                error: RunError {
                    code: owned("CANCELLED"),
                    message: owned("Run cancelled by client"),
                },
            },
            r#""type":"strategy_error","error":{"code":"CANCELLED","message":"Run cancelled by client"}"#,
        ),
        (
            Event::StepStarted {
                step_name: owned("user"),
                message: String::new(),
            },
            r#""type":"step_started","stepName":"user","message":"""#,
        ),
        (
            Event::StepCompleted {
                step_name: owned("user"),
                result: result(),
            },
            r#""type":"step_completed","stepName":"user","result":{"text":"T","usage":{"promptTokens":12,"completionTokens":34},"finishReason":"stop"}"#,
        ),
        (
            Event::AgentOutput {
                agent_name: owned("writer"),
                model: Some(owned("a/b")),
                text: owned("T"),
                usage: USAGE,
                context_usage: Some(CONTEXT_USAGE),
            },
            r#""type":"agent_output","agentName":"writer","model":"a/b","text":"T","usage":{"promptTokens":12,"completionTokens":34},"contextUsage":{"totalTokens":9,"inputTokens":4,"outputTokens":5}"#,
        ),
        (
            Event::AgentOutput {
                agent_name: owned("echo"),
                model: None,
                text: String::new(),
                usage: Usage::default(),
                context_usage: None,
            },
            r#""type":"agent_output","agentName":"echo","text":"","usage":{"promptTokens":0,"completionTokens":0}"#,
        ),
        (
            Event::RequestInput {
                agent_name: owned("user"),
                prompt: Some(owned("Topic?")),
                input_id: owned("i1"),
            },
            r#""type":"request_input","agentName":"user","prompt":"Topic?","inputId":"i1""#,
        ),
        (
            Event::RequestInput {
                agent_name: owned("user"),
                prompt: None,
                input_id: owned("i1"),
            },
            r#""type":"request_input","agentName":"user","inputId":"i1""#,
        ),
        (
            Event::PolicyUpdated {
                tool: owned("command"),
                policies: vec![PolicyName { name: owned("git") }],
            },
            r#""type":"policy_updated","tool":"command","policies":[{"name":"git"}]"#,
        ),
        (
            Event::SteerQueued {
                text: owned("shorter\n\"now\""),
            },
            r#""type":"steer_queued","text":"shorter\n\"now\"""#,
        ),
    ]
}

fn asks_with_their_own_id() -> Vec<(Event, &'static str)> {
    vec![
        (
            Event::RequestPermission {
                request_id: owned("p1"),
                agent_name: owned("runner"),
                tool_name: Some(owned("command")),
                operation: owned("command.execute"),
                resource: owned("git push"),
                reason: owned("policy-ask"),
                details: Some(json!({"program": "git", "args": ["push"]})),
            },
            r#""type":"request_permission","requestId":"p1","agentName":"runner","toolName":"command","operation":"command.execute","resource":"git push","reason":"policy-ask","details":{"program":"git","args":["push"]}"#,
        ),
        (
            Event::RequestPermission {
                request_id: owned("p1"),
                agent_name: owned("runner"),
                tool_name: None,
                operation: owned("fs.read"),
                resource: owned("/etc"),
                reason: owned("policy-ask"),
                details: None,
            },
            r#""type":"request_permission","requestId":"p1","agentName":"runner","operation":"fs.read","resource":"/etc","reason":"policy-ask""#,
        ),
        (
            Event::RequestQuestion {
                request_id: owned("q1"),
                agent_name: owned("writer"),
                tool_name: owned("ask_question"),
                question: owned("Which sea?"),
            },
            r#""type":"request_question","requestId":"q1","agentName":"writer","toolName":"ask_question","question":"Which sea?""#,
        ),
    ]
}

fn stream() -> Vec<(StreamEvent, &'static str)> {
    let result = |status, error| StreamEvent::ToolResult {
        tool_call_id: owned("c1"),
        tool_name: owned("ask_question"),
        output: owned("North"),
        status,
        error,
    };
    vec![
        (StreamEvent::Text { text: owned("T") }, r#"{"type":"text","text":"T"}"#),
        (
            StreamEvent::ToolCall {
                tool_call_id: owned("c1"),
                tool_name: owned("ask_question"),
                args: owned("{\"q\":1}"),
            },
            r#"{"type":"tool-call","toolCallId":"c1","toolName":"ask_question","args":"{\"q\":1}"}"#,
        ),
        (
            result(ToolStatus::Completed, None),
            r#"{"type":"tool-result","toolCallId":"c1","toolName":"ask_question","output":"North","status":"completed"}"#,
        ),
        (
            result(ToolStatus::Error, Some(owned("no"))),
            r#"{"type":"tool-result","toolCallId":"c1","toolName":"ask_question","output":"North","status":"error","error":"no"}"#,
        ),
        (
            StreamEvent::ThinkingStart { id: owned("t") },
            r#"{"type":"thinking-start","id":"t"}"#,
        ),
        (
            StreamEvent::Thinking {
                id: owned("t"),
                text: owned("hm"),
            },
            r#"{"type":"thinking","id":"t","text":"hm"}"#,
        ),
        (
            StreamEvent::ThinkingEnd { id: owned("t") },
            r#"{"type":"thinking-end","id":"t"}"#,
        ),
        (StreamEvent::StepStart, r#"{"type":"step-start"}"#),
        (
            StreamEvent::Done { result: self::result() },
            r#"{"type":"done","result":{"text":"T","usage":{"promptTokens":12,"completionTokens":34},"finishReason":"stop"}}"#,
        ),
    ]
}

const TAIL: &str = r#""runId":"r1","seq":7,"ts":"2026-06-04T15:48:30.250Z""#;

#[test]
fn an_event_has_exactly_its_fields() {
    for (event, fields) in events() {
        assert_eq!(event.frame("r1", 7, AT, None), format!("{{{fields},{TAIL}}}"));
        assert_eq!(
            event.frame("r1", 7, AT, Some("s1")),
            format!("{{{fields},{TAIL},\"requestId\":\"s1\"}}")
        );
        assert!(fields.starts_with(&format!("\"type\":\"{}\"", event.kind())));
        assert!(!event.is_droppable(), "{}", event.kind());
    }
}

#[test]
fn a_permission_and_a_question_carry_their_own_request_id() {
    for (event, fields) in asks_with_their_own_id() {
        for request_id in [None, Some("s1")] {
            assert_eq!(event.frame("r1", 7, AT, request_id), format!("{{{fields},{TAIL}}}"));
        }
        assert!(fields.starts_with(&format!("\"type\":\"{}\"", event.kind())));
        assert!(!event.is_droppable());
    }
}

#[test]
fn streamed_events_may_be_dropped_but_not_their_end() {
    for (event, text) in stream() {
        let is_end = matches!(event, StreamEvent::Done { .. });
        let event = streaming(event);
        let fields = format!(r#""type":"agent_streaming","agentName":"writer","model":"a/b","event":{text}"#);
        assert_eq!(event.frame("r1", 7, AT, None), format!("{{{fields},{TAIL}}}"));
        assert_eq!(event.kind(), "agent_streaming");
        assert_eq!(event.is_droppable(), !is_end);
    }
}

#[test]
fn a_client_reads_every_event_back() {
    let streamed = stream().into_iter().map(|(event, _)| streaming(event));
    let events = events()
        .into_iter()
        .chain(asks_with_their_own_id())
        .map(|(event, _)| event)
        .chain(streamed);
    for event in events {
        let frame = event.frame("r1", 7, AT, Some("s1"));
        assert_eq!(serde_json::from_str::<Event>(&frame).unwrap(), event);
    }
}

#[test]
fn an_answered_ask_is_marked_resolved() {
    for (event, _) in events().into_iter().chain(asks_with_their_own_id()) {
        let frame = event.frame("r1", 7, AT, None);
        let marked = mark_resolved(&frame);
        assert_eq!(
            marked,
            format!("{},\"resolved\":true}}", frame.strip_suffix('}').unwrap())
        );
        let mut expected: serde_json::Value = serde_json::from_str(&frame).unwrap();
        expected["resolved"] = json!(true);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&marked).unwrap(), expected);
    }
    assert_eq!(mark_resolved("not a frame"), "not a frame");
}

#[test]
fn a_reply_has_exactly_its_fields() {
    let conversation = Conversation {
        records: Vec::new(),
        inputs: vec![RunInput {
            text: owned("tides"),
            before_record_id: None,
        }],
    };
    let live = |completed_at, pending_inputs| LiveRun {
        run_id: owned("r1"),
        strategy_name: owned("S"),
        status: RunStatus::Running,
        started_at: AT,
        completed_at,
        pending_inputs,
    };
    let pending = PendingInput {
        agent_name: owned("user"),
        input_id: owned("i1"),
        prompt: None,
        ts: AT,
    };
    let listed = |completed_at, status| ListedRun {
        run_id: owned("r1"),
        cwd: owned("/w"),
        strategy_name: owned("S"),
        strategy_path: owned("/s.json"),
        started_at: AT,
        completed_at,
        status,
    };
    let ts = "2026-06-04T15:48:30.250Z";
    let cases = [
        (RunReply::Pong, r#""type":"pong""#.to_owned()),
        (
            RunReply::error("NO_PENDING_INPUT", "No pending input request for run R agent A"),
            r#""type":"error","code":"NO_PENDING_INPUT","message":"No pending input request for run R agent A""#.to_owned(),
        ),
        (
            RunReply::RunPrepared {
                run_id: owned("r1"),
                strategy_name: owned("S"),
                agents: vec![owned("user")],
                flow_tree: json!({"z": 1, "a": 2}),
                conversation,
            },
            r#""type":"run_prepared","runId":"r1","strategyName":"S","agents":["user"],"flowTree":{"z":1,"a":2},"conversation":{"records":[],"retentionEvents":[],"inputs":[{"text":"tides"}]},"mcpServers":[]"#.to_owned(),
        ),
        (
            RunReply::StrategyList { runs: vec![live(None, Vec::new()), live(Some(AT), vec![pending])] },
            format!(
                r#""type":"strategy_list","runs":[{{"runId":"r1","strategyName":"S","status":"running","startedAt":"{ts}"}},{{"runId":"r1","strategyName":"S","status":"running","startedAt":"{ts}","completedAt":"{ts}","pendingInputs":[{{"agentName":"user","inputId":"i1","ts":"{ts}"}}]}}]"#
            ),
        ),
        (
            RunReply::RunList { runs: vec![listed(None, RunStatus::Running), listed(Some(AT), RunStatus::Cancelled)] },
            format!(
                r#""type":"run_list","runs":[{{"runId":"r1","cwd":"/w","strategyName":"S","strategyPath":"/s.json","startedAt":"{ts}","completedAt":null,"status":"running"}},{{"runId":"r1","cwd":"/w","strategyName":"S","strategyPath":"/s.json","startedAt":"{ts}","completedAt":"{ts}","status":"cancelled"}}]"#
            ),
        ),
        (
            RunReply::InputResolved { run_id: owned("r1"), agent_name: owned("user"), input_id: owned("i1") },
            r#""type":"input_resolved","runId":"r1","agentName":"user","inputId":"i1""#.to_owned(),
        ),
    ];
    for (reply, fields) in cases {
        assert_eq!(reply.frame(AT, None), format!("{{{fields},\"ts\":\"{ts}\"}}"));
        let frame = reply.frame(AT, Some("q1"));
        assert_eq!(frame, format!("{{{fields},\"ts\":\"{ts}\",\"requestId\":\"q1\"}}"));
        assert_eq!(serde_json::from_str::<RunReply>(&frame).unwrap(), reply);
    }
}

#[test]
fn a_refused_message_is_answered_with_its_fault() {
    let refused = read(br#"{"type":"get_run","requestId":"q"}"#).unwrap_err();
    let frame = RunReply::from(&refused).frame(AT, refused.request_id.as_deref());
    assert!(
        frame.starts_with(r#"{"type":"error","code":"VALIDATION_ERROR","message":"Invalid message: type: unknown"#)
    );
    assert!(frame.ends_with(r#","ts":"2026-06-04T15:48:30.250Z","requestId":"q"}"#));
}

#[test]
fn usage_adds_up_and_never_overflows() {
    let mut usage = USAGE;
    usage.add(USAGE);
    assert_eq!(
        usage,
        Usage {
            prompt_tokens: 24,
            completion_tokens: 68
        }
    );
    usage.add(Usage {
        prompt_tokens: u64::MAX,
        completion_tokens: 1,
    });
    assert_eq!(
        usage,
        Usage {
            prompt_tokens: u64::MAX,
            completion_tokens: 69
        }
    );
}
