//! The opening messages of a conversation: system prompt, earlier records, and the current message.

use countersign_protocol::runs::Record;
use countersign_protocol::runs::strategy::{LlmAgent, PromptTemplate};
use serde_json::{Value, json};

use crate::engine::agents::context::AgentJob;

const MAX_RECORDS: usize = 50;
const MAX_BYTES: usize = 256 * 1024;

pub fn opening(agent: &LlmAgent, job: &AgentJob<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    if let Some(text) = system_prompt(agent) {
        messages.push(message("system", &text));
    }
    for record in recent(job) {
        messages.push(message("user", &record.user_message.content));
        messages.push(message("assistant", &record.text));
    }
    messages.push(message("user", job.message));
    messages
}

fn message(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}

fn system_prompt(agent: &LlmAgent) -> Option<String> {
    let text = match (&agent.system_prompt, &agent.system_prompt_template) {
        (Some(text), _) => text.clone(),
        (None, Some(template)) => filled(template),
        (None, None) => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Fills the template in one pass: values are not expanded again. A placeholder without a variable stays.
fn filled(template: &PromptTemplate) -> String {
    let mut text = String::new();
    let mut rest = template.template.as_str();
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let known = after
            .split_once("}}")
            .and_then(|(name, rest)| Some((template.variables.get(name.trim())?, rest)));
        match known {
            Some((Value::String(value), after)) => {
                text.push_str(value);
                rest = after;
            }
            Some((value, after)) => {
                text.push_str(&value.to_string());
                rest = after;
            }
            None => {
                text.push_str("{{");
                rest = after;
            }
        }
    }
    text + rest
}

/// The latest records of this agent, oldest first. Records with an empty answer are left out: endpoints refuse them.
fn recent<'a>(job: &AgentJob<'a>) -> Vec<&'a Record> {
    let mut bytes = 0;
    let own = job
        .earlier
        .iter()
        .rev()
        .filter(|record| record.agent_name == job.agent.name && !record.text.is_empty());
    let mut records: Vec<&Record> = own
        .take(MAX_RECORDS)
        .take_while(|record| {
            bytes += record.user_message.content.len() + record.text.len();
            bytes <= MAX_BYTES
        })
        .collect();
    records.reverse();
    records
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use countersign_protocol::runs::strategy::{AgentDef, AgentKind};
    use countersign_protocol::runs::{ChatMessage, Usage};
    use countersign_protocol::time::Timestamp;

    use super::*;

    fn record(agent_name: &str, asked: &str, text: &str) -> Record {
        Record {
            id: "r".to_owned(),
            agent_name: agent_name.to_owned(),
            created_at: Timestamp::from_millis(0),
            user_message: ChatMessage::user(asked),
            response_messages: vec![],
            text: text.to_owned(),
            usage: Usage::default(),
            context_usage: None,
            finish_reason: "stop".to_owned(),
        }
    }

    fn contents(agent: LlmAgent, earlier: &[Record]) -> Vec<String> {
        let def = AgentDef {
            name: "writer".to_owned(),
            kind: AgentKind::Llm(Box::new(agent.clone())),
        };
        let job = AgentJob {
            run_id: "r",
            agent: &def,
            message: "now",
            model_override: None,
            cwd: Path::new("/"),
            earlier,
            resumed: None,
        };
        let text = |message: &Value| {
            format!(
                "{}: {}",
                message["role"].as_str().unwrap(),
                message["content"].as_str().unwrap()
            )
        };
        opening(&agent, &job).iter().map(text).collect()
    }

    #[test]
    fn the_opening_has_the_system_prompt_earlier_records_and_the_message() {
        let agent = LlmAgent {
            system_prompt: Some("Be brief.".to_owned()),
            ..LlmAgent::default()
        };
        let earlier = [
            record("writer", "a", "A"),
            record("critic", "b", "B"),
            record("writer", "c", ""),
        ];
        assert_eq!(
            contents(agent, &earlier),
            ["system: Be brief.", "user: a", "assistant: A", "user: now"]
        );
        assert_eq!(contents(LlmAgent::default(), &[]), ["user: now"]);
    }

    #[test]
    fn only_the_latest_records_are_included() {
        let many: Vec<Record> = (0..60).map(|n| record("writer", &n.to_string(), "x")).collect();
        let messages = contents(LlmAgent::default(), &many);
        assert_eq!(messages.len(), 2 * MAX_RECORDS + 1);
        assert_eq!(messages[0], "user: 10");

        let long = "x".repeat(MAX_BYTES / 2);
        let large = [
            record("writer", "1", &long),
            record("writer", "2", &long),
            record("writer", "3", "c"),
        ];
        let messages = contents(LlmAgent::default(), &large);
        assert_eq!((messages.len(), messages[0].as_str()), (5, "user: 2"));
    }

    #[test]
    fn a_template_is_filled_once() {
        let variables = json!({"tone": "dry {{tone}}", "n": 3});
        let template = "{{tone}}, {{ n }} lines, {{who}} and {{".to_owned();
        let template = PromptTemplate {
            template,
            variables: variables.as_object().unwrap().clone(),
        };
        let agent = LlmAgent {
            system_prompt_template: Some(template),
            ..LlmAgent::default()
        };
        assert_eq!(contents(agent, &[])[0], "system: dry {{tone}}, 3 lines, {{who}} and {{");
    }
}
