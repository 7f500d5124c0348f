//! The outcome of a message, read from a polled or pushed response.

use countersign_protocol::a2h::{CheckItem, Version};
use countersign_protocol::json;
use countersign_protocol::time::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::draft::TEXT_FIELD;
use crate::error::Error;

/// Most of a large response is usually its state.
const MAX_RESPONSE_BYTES: usize = 4 * 1024 * 1024;
const MAX_ID_CHARS: usize = 255;
const MAX_CHECKLIST: usize = 1000;
/// The actor when the hub applies the default that the asker declared.
const DEFAULT_ACTOR: &str = "system:default_on_expire";
/// How a task can end. Its response may lack the inner object; an ask's may not.
const TASK_RESOLUTIONS: [&str; 3] = ["completed", "dismissed", "expired"];

/// The end of an ask or a task.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The message that has ended.
    pub message_id: String,
    /// The key the message was sent under. Polled messages include it, pushed responses do not.
    pub idempotency_key: Option<String>,
    /// Identifies this outcome: a message has one, and it is acted on once.
    pub resolution_id: String,
    /// `human:…`, `agent:…` or `system:…`, attested by the hub. `None` for a task whose hub sends only how it ended.
    pub actor: Option<String>,
    /// The time of the hub, in RFC 3339.
    pub resolved_at: Option<String>,
    /// What the person added in words.
    pub comment: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The state sent with the message. Open a sealed state before trusting it.
    pub state: Option<Box<RawValue>>,
}

/// Every way a message can end. An exhaustive match forces the caller to handle each.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// `edited`: the value is the person's own text, not one of the choices.
    Answered {
        /// What was chosen or filled in.
        value: Answer,
        /// Whether the value is outside the offered choices.
        edited: bool,
    },
    /// A person refused to answer.
    Declined,
    /// The ask was withdrawn before an answer came.
    Cancelled,
    /// No answer came in time. The default was declared by the asker; it is no person's decision.
    Expired {
        /// The declared default, if there was one.
        default: Option<Answer>,
    },
    /// A person did the task.
    Completed {
        /// The items of the task, each checked or not.
        checklist: Vec<CheckItem>,
    },
    /// A person decided not to do the task.
    Dismissed {
        /// The items of the task, each checked or not.
        checklist: Vec<CheckItem>,
    },
}

/// The value of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The answer to a confirm or a select.
    Choice(String),
    /// The answer to a form.
    Form(Map<String, Value>),
}

impl Answer {
    /// The text that answers an [`Ask::text`](crate::Ask::text).
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Form(fields) if fields.len() == 1 => fields.get(TEXT_FIELD).and_then(Value::as_str),
            Self::Form(_) | Self::Choice(_) => None,
        }
    }
}

impl Resolved {
    /// Reads a response envelope. The top-level `defaulted` and `agent` are ignored, because no signature covers them.
    pub fn from_response(body: &[u8]) -> Result<Self, Error> {
        if body.len() > MAX_RESPONSE_BYTES {
            return Err(Error::unexpected(format!(
                "a response larger than {MAX_RESPONSE_BYTES} bytes"
            )));
        }
        let parsed = json::parse(body).map_err(|error| Error::unexpected(format!("the response: {error}")))?;
        let envelope = parsed
            .as_object()
            .ok_or_else(|| Error::unexpected("the response is not an object"))?;
        Version::from_envelope(envelope).map_err(|error| Error::unexpected(format!("the response: {error}")))?;
        let resolution = required(envelope, "resolution")?;
        let absent = Map::new();
        let inner = match envelope.get("response") {
            Some(Value::Object(inner)) => inner,
            None if TASK_RESOLUTIONS.contains(&resolution) => &absent,
            Some(_) | None => return Err(Error::unexpected("`response` in the response must be an object")),
        };
        let is_given = envelope.contains_key("response");
        let actor = is_given.then(|| actor(inner)).transpose()?;
        Ok(Self {
            message_id: id(envelope, "in_reply_to")?,
            idempotency_key: None,
            resolution_id: id(envelope, "resolution_id")?,
            outcome: outcome(resolution, inner, actor)?,
            actor: actor.map(str::to_owned),
            resolved_at: is_given.then(|| resolved_at(inner)).transpose()?,
            comment: text(inner, "comment")?.map(str::to_owned),
            state: state(body)?,
        })
    }

    /// The message id and resolution id, which may be acted on only once.
    pub fn act_key(&self) -> (&str, &str) {
        (&self.message_id, &self.resolution_id)
    }
}

fn outcome(resolution: &str, inner: &Map<String, Value>, actor: Option<&str>) -> Result<Outcome, Error> {
    Ok(match resolution {
        "answered" => {
            let value = answer(inner)?.ok_or_else(|| Error::unexpected("an answered message without a `value`"))?;
            Outcome::Answered {
                value,
                edited: inner.get("edited") == Some(&Value::Bool(true)),
            }
        }
        "declined" => Outcome::Declined,
        "cancelled" => Outcome::Cancelled,
        "expired" if actor == Some(DEFAULT_ACTOR) => Outcome::Expired {
            default: answer(inner)?,
        },
        "expired" => Outcome::Expired { default: None },
        "completed" => Outcome::Completed {
            checklist: checklist(inner)?,
        },
        "dismissed" => Outcome::Dismissed {
            checklist: checklist(inner)?,
        },
        _ => {
            return Err(Error::unexpected(
                "a `resolution` that is not one of the protocol's six",
            ));
        }
    })
}

fn answer(inner: &Map<String, Value>) -> Result<Option<Answer>, Error> {
    match inner.get("value") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(choice)) => Ok(Some(Answer::Choice(choice.clone()))),
        Some(Value::Object(form)) => Ok(Some(Answer::Form(form.clone()))),
        Some(_) => Err(Error::unexpected("`value` is neither a string nor an object")),
    }
}

fn checklist(inner: &Map<String, Value>) -> Result<Vec<CheckItem>, Error> {
    let items = match inner.get("checklist") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) if items.len() <= MAX_CHECKLIST => items,
        Some(_) => {
            return Err(Error::unexpected(format!(
                "`checklist` is not a list of at most {MAX_CHECKLIST} items"
            )));
        }
    };
    let item = |item: &Value| {
        let text = item.get("text").and_then(Value::as_str)?;
        Some(CheckItem {
            text: text.to_owned(),
            done: item.get("done") == Some(&Value::Bool(true)),
        })
    };
    let read: Option<Vec<CheckItem>> = items.iter().map(item).collect();
    read.ok_or_else(|| Error::unexpected("an item of `checklist` has no `text`"))
}

fn actor(inner: &Map<String, Value>) -> Result<&str, Error> {
    let actor = required(inner, "actor")?;
    match actor.split_once(':') {
        Some(("human" | "agent" | "system", name)) if !name.is_empty() => Ok(actor),
        Some(_) | None => Err(Error::unexpected(
            "`actor` does not name a human, an agent or the system",
        )),
    }
}

/// The original text, because the signature covers its exact spelling.
fn resolved_at(inner: &Map<String, Value>) -> Result<String, Error> {
    let text = required(inner, "resolved_at")?;
    match Timestamp::parse_rfc3339(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(Error::unexpected("`resolved_at` is not an RFC 3339 date-time")),
    }
}

fn id(envelope: &Map<String, Value>, key: &str) -> Result<String, Error> {
    let text = required(envelope, key)?;
    if text.is_empty() || text.chars().count() > MAX_ID_CHARS {
        return Err(Error::unexpected(format!(
            "`{key}` must have 1 to {MAX_ID_CHARS} characters"
        )));
    }
    Ok(text.to_owned())
}

/// The state's original text: a seal or digest covers its exact bytes.
fn state(body: &[u8]) -> Result<Option<Box<RawValue>>, Error> {
    let unreadable = || Error::unexpected("the `state` in the response cannot be read");
    let text = std::str::from_utf8(body).map_err(|_| unreadable())?;
    let state = json::raw_field(text, "state").map_err(|_| unreadable())?;
    Ok(state.map(ToOwned::to_owned))
}

fn required<'a>(fields: &'a Map<String, Value>, key: &str) -> Result<&'a str, Error> {
    text(fields, key)?.ok_or_else(|| Error::unexpected(format!("`{key}` is missing in the response")))
}

fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, Error> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::unexpected(format!("`{key}` in the response must be a string"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn response(resolution: &str, inner: Value) -> Value {
        let mut full = json!({"actor": "human:ann", "resolved_at": "2026-06-04T15:48:30Z"});
        full.as_object_mut().unwrap().extend(inner.as_object().unwrap().clone());
        json!({
            "a2h_version": "0.3", "in_reply_to": "msg_1", "resolution_id": "res_1",
            "agent": {"id": "deploybot", "run_id": "r"}, "resolution": resolution, "response": full,
        })
    }

    fn read(response: &Value) -> Result<Resolved, Error> {
        Resolved::from_response(response.to_string().as_bytes())
    }

    fn ended(resolution: &str, inner: Value) -> Outcome {
        read(&response(resolution, inner)).unwrap().outcome
    }

    #[test]
    fn an_answer_is_a_choice_or_a_form() {
        let chosen = ended("answered", json!({"value": "approve"}));
        assert_eq!(
            chosen,
            Outcome::Answered {
                value: Answer::Choice("approve".to_owned()),
                edited: false
            }
        );
        let form = json!({"n": 1}).as_object().unwrap().clone();
        let filled = ended("answered", json!({"value": {"n": 1}, "edited": true}));
        assert_eq!(
            filled,
            Outcome::Answered {
                value: Answer::Form(form),
                edited: true
            }
        );
        for wrong in [
            json!({}),
            json!({"value": null}),
            json!({"value": 1}),
            json!({"value": ["approve"]}),
        ] {
            assert!(matches!(
                read(&response("answered", wrong)),
                Err(Error::UnexpectedResponse(_))
            ));
        }
    }

    #[test]
    fn other_outcomes_need_no_value() {
        assert_eq!(ended("declined", json!({})), Outcome::Declined);
        assert_eq!(ended("cancelled", json!({})), Outcome::Cancelled);
        assert_eq!(
            ended("expired", json!({"actor": "system:expired"})),
            Outcome::Expired { default: None }
        );
        assert_eq!(ended("completed", json!({})), Outcome::Completed { checklist: vec![] });
        let list = json!({"checklist": [{"text": "a", "done": true}, {"text": "b"}]});
        let checklist = vec![
            CheckItem {
                text: "a".to_owned(),
                done: true,
            },
            CheckItem {
                text: "b".to_owned(),
                done: false,
            },
        ];
        assert_eq!(ended("dismissed", list), Outcome::Dismissed { checklist });
    }

    #[test]
    fn the_response_of_a_task_may_lack_the_inner_object() {
        let bare = |resolution: &str| {
            let mut bare = response(resolution, json!({}));
            bare.as_object_mut().unwrap().remove("response");
            read(&bare)
        };
        let completed = bare("completed").unwrap();
        assert_eq!(completed.outcome, Outcome::Completed { checklist: vec![] });
        assert_eq!((completed.actor, completed.resolved_at), (None, None));
        assert_eq!(
            bare("dismissed").unwrap().outcome,
            Outcome::Dismissed { checklist: vec![] }
        );
        assert_eq!(bare("expired").unwrap().outcome, Outcome::Expired { default: None });
        for ask in ["answered", "declined", "cancelled"] {
            assert!(matches!(bare(ask), Err(Error::UnexpectedResponse(_))), "{ask}");
        }
    }

    #[test]
    fn only_the_signed_actor_shows_that_a_default_was_applied() {
        let by_default = json!({"actor": DEFAULT_ACTOR, "value": "hold"});
        assert_eq!(
            ended("expired", by_default),
            Outcome::Expired {
                default: Some(Answer::Choice("hold".to_owned()))
            }
        );
        let mut claimed = response("expired", json!({"actor": "system:expired", "value": "approve"}));
        claimed["defaulted"] = json!(true);
        assert_eq!(read(&claimed).unwrap().outcome, Outcome::Expired { default: None });
        let bare = json!({"actor": DEFAULT_ACTOR});
        assert_eq!(ended("expired", bare), Outcome::Expired { default: None });
    }

    #[test]
    fn the_comment_is_read_and_the_state_keeps_its_spelling() {
        let text = response("declined", json!({"comment": "not today"})).to_string();
        let with_state = format!(
            "{},\"state\":{{ \"z\":1.50, \"a\":1e2 }}}}",
            text.strip_suffix('}').unwrap()
        );
        let resolved = Resolved::from_response(with_state.as_bytes()).unwrap();
        assert_eq!(resolved.act_key(), ("msg_1", "res_1"));
        assert_eq!(
            (resolved.actor.as_deref(), resolved.comment.as_deref()),
            (Some("human:ann"), Some("not today"))
        );
        assert_eq!(resolved.resolved_at.as_deref(), Some("2026-06-04T15:48:30Z"));
        assert_eq!(resolved.state.unwrap().get(), "{ \"z\":1.50, \"a\":1e2 }");
    }

    #[test]
    fn an_invalid_response_is_refused() {
        let good = response("declined", json!({}));
        for (pointer, value) in [
            ("/a2h_version", json!(3)),
            ("/in_reply_to", json!("")),
            ("/in_reply_to", json!("x".repeat(256))),
            ("/resolution_id", json!(null)),
            ("/resolution", json!("ignored")),
            ("/response", json!(null)),
            ("/response/actor", json!("ann")),
            ("/response/actor", json!("human:")),
            ("/response/resolved_at", json!("yesterday")),
            ("/response/comment", json!(1)),
        ] {
            let mut wrong = good.clone();
            *wrong.pointer_mut(pointer).unwrap_or(&mut Value::Null) = value.clone();
            if wrong == good {
                wrong["response"][pointer.rsplit('/').next().unwrap()] = value;
            }
            assert!(matches!(read(&wrong), Err(Error::UnexpectedResponse(_))), "{wrong}");
        }
        for bytes in [&b""[..], b"[]", b"{}", br#"{"a2h_version":"0.3","a2h_version":"0.3"}"#] {
            assert!(matches!(
                Resolved::from_response(bytes),
                Err(Error::UnexpectedResponse(_))
            ));
        }
        let huge = vec![b' '; MAX_RESPONSE_BYTES + 1];
        assert!(matches!(
            Resolved::from_response(&huge),
            Err(Error::UnexpectedResponse(_))
        ));
    }
}
