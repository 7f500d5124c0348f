//! The request body: a template that is the same in all rounds, plus the conversation so far.

use countersign_protocol::runs::strategy::{LlmAgent, ModelOptions};
use serde_json::{Map, Value, json};

use super::questions::ASK_QUESTION;

/// Fields reserved for the hub, because it parses the answer.
const HUB_FIELDS: [&str; 5] = ["model", "messages", "stream", "tools", "n"];
const MAX_SCHEMA_NAME_CHARS: usize = 64;

pub struct RequestTemplate(Map<String, Value>);

impl RequestTemplate {
    pub fn new(agent: &LlmAgent, agent_name: &str, model: &str) -> Result<Self, String> {
        let mut template = Map::new();
        template.insert("model".to_owned(), json!(model));
        template.insert("stream".to_owned(), json!(true));
        template.insert("stream_options".to_owned(), json!({"include_usage": true}));
        add_options(&mut template, &agent.model_options);
        if may_ask(agent) {
            template.insert("tools".to_owned(), json!([ask_question()]));
        }
        if let Some(schema) = &agent.output_schema {
            template.insert("response_format".to_owned(), response_format(agent_name, schema));
        }
        for (name, value) in agent.provider_options.iter().flatten() {
            if HUB_FIELDS.contains(&name.as_str()) {
                return Err(format!("providerOptions.{name} cannot be set: the hub sets it itself"));
            }
            // `null` removes a field that a server does not understand.
            match value {
                Value::Null => template.shift_remove(name),
                _ => template.insert(name.clone(), value.clone()),
            };
        }
        Ok(Self(template))
    }

    /// The body to send. In the last round tools are switched off, so that the model has to finish.
    pub fn text(&self, messages: &[Value], is_last: bool) -> String {
        let mut body = self.0.clone();
        body.insert("messages".to_owned(), Value::from(messages));
        if is_last && body.contains_key("tools") {
            body.insert("tool_choice".to_owned(), json!("none"));
        }
        Value::Object(body).to_string()
    }
}

pub fn may_ask(agent: &LlmAgent) -> bool {
    agent.tools.iter().any(|tool| tool == ASK_QUESTION)
}

fn add_options(template: &mut Map<String, Value>, options: &ModelOptions) {
    let given = [
        ("temperature", options.temperature.map(Value::from)),
        ("top_p", options.top_p.map(Value::from)),
        ("top_k", options.top_k.map(Value::from)),
        ("max_tokens", options.max_output_tokens.map(Value::from)),
        ("frequency_penalty", options.frequency_penalty.map(Value::from)),
        ("presence_penalty", options.presence_penalty.map(Value::from)),
        ("seed", options.seed.map(Value::from)),
    ];
    template.extend(
        given
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?))),
    );
}

fn ask_question() -> Value {
    json!({
        "type": "function",
        "function": {
            "name": ASK_QUESTION,
            "description": "Asks a person one question and returns their answer. They see nothing but the question, and \
                            may take a long time: ask only what you cannot decide yourself, and say all they need to know.",
            "parameters": {
                "type": "object",
                "properties": {"question": {"type": "string", "description": "The question, in full sentences."}},
                "required": ["question"],
                "additionalProperties": false,
            },
        },
    })
}

/// Endpoints accept only a few characters in a schema name.
fn response_format(agent_name: &str, schema: &Value) -> Value {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = agent_name.chars().take(MAX_SCHEMA_NAME_CHARS).map(plain).collect();
    json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema}})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(agent: &LlmAgent, is_last: bool) -> Value {
        let template = RequestTemplate::new(agent, "the writer", "gpt").unwrap();
        serde_json::from_str(&template.text(&[json!({"role": "user", "content": "hi"})], is_last)).unwrap()
    }

    #[test]
    fn a_plain_agent_requests_a_stream_with_usage() {
        let expected = json!({
            "model": "gpt",
            "stream": true,
            "stream_options": {"include_usage": true},
            "messages": [{"role": "user", "content": "hi"}],
        });
        assert_eq!(body(&LlmAgent::default(), true), expected);
    }

    #[test]
    fn options_tools_and_schema_use_the_field_names_of_the_api() {
        let agent = LlmAgent {
            tools: vec!["ask_question".to_owned()],
            model_options: ModelOptions {
                temperature: Some(0.5),
                top_p: Some(0.9),
                top_k: Some(4),
                max_output_tokens: Some(99),
                max_retries: Some(1),
                frequency_penalty: Some(0.1),
                presence_penalty: Some(-0.1),
                seed: Some(7),
            },
            output_schema: Some(json!({"type": "object"})),
            ..LlmAgent::default()
        };
        let body = body(&agent, false);
        for (name, value) in [
            ("temperature", json!(0.5)),
            ("top_p", json!(0.9)),
            ("top_k", json!(4)),
            ("max_tokens", json!(99)),
            ("frequency_penalty", json!(0.1)),
            ("presence_penalty", json!(-0.1)),
            ("seed", json!(7)),
        ] {
            assert_eq!(body[name], value, "{name}");
        }
        assert_eq!(body["tools"][0]["function"]["name"], "ask_question");
        assert_eq!(body.get("tool_choice"), None);
        let format =
            json!({"type": "json_schema", "json_schema": {"name": "the_writer", "schema": {"type": "object"}}});
        assert_eq!(body["response_format"], format);
        assert_eq!(super::tests::body(&agent, true)["tool_choice"], "none");
    }

    #[test]
    fn provider_options_are_added_except_fields_of_the_hub() {
        let options = json!({"reasoning_effort": "low", "stream_options": null, "temperature": 1});
        let agent = LlmAgent {
            provider_options: options.as_object().cloned(),
            ..LlmAgent::default()
        };
        let body = body(&agent, false);
        assert_eq!(body["reasoning_effort"], "low");
        assert_eq!(body["temperature"], 1);
        assert_eq!(body.get("stream_options"), None);

        let options = json!({"stream": false});
        let agent = LlmAgent {
            provider_options: options.as_object().cloned(),
            ..LlmAgent::default()
        };
        let Err(error) = RequestTemplate::new(&agent, "a", "m") else {
            panic!("stream is reserved")
        };
        assert!(error.starts_with("providerOptions.stream "), "{error}");
    }
}
