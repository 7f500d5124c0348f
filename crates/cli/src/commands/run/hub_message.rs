//! The hub's socket messages that this program acts on.

use countersign_protocol::runs::Event;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, PartialEq)]
pub enum HubMessage {
    Event(Box<NumberedEvent>),
    /// A question was answered.
    Resolved {
        id: String,
    },
    Prepared {
        run_id: String,
    },
    Error {
        code: String,
        message: String,
        request_id: Option<String>,
    },
    Pong {
        request_id: Option<String>,
    },
    /// Unknown to this version.
    Unknown,
}

#[derive(Debug, PartialEq)]
pub struct NumberedEvent {
    pub seq: u64,
    /// For a question: whether it has been answered.
    pub is_resolved: bool,
    /// None if this version does not know the event.
    pub event: Option<Event>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageFields {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    request_id: Option<String>,
    #[serde(default)]
    run_id: String,
    #[serde(default)]
    input_id: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    seq: Option<u64>,
    #[serde(default)]
    resolved: bool,
}

pub fn read(text: &str) -> HubMessage {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return HubMessage::Unknown;
    };
    let Ok(frame) = MessageFields::deserialize(&value) else {
        return HubMessage::Unknown;
    };
    let MessageFields {
        kind,
        request_id,
        run_id,
        input_id: id,
        code,
        message,
        seq,
        resolved,
    } = frame;
    match (kind.as_str(), seq) {
        (_, Some(seq)) => {
            let event = serde_json::from_value(value).ok();
            HubMessage::Event(Box::new(NumberedEvent {
                seq,
                is_resolved: resolved,
                event,
            }))
        }
        ("input_resolved", None) => HubMessage::Resolved { id },
        ("run_prepared", None) => HubMessage::Prepared { run_id },
        ("error", None) => HubMessage::Error {
            code,
            message,
            request_id,
        },
        ("pong", None) => HubMessage::Pong { request_id },
        (_, None) => HubMessage::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use countersign_protocol::runs::{RunReply, mark_resolved};
    use countersign_protocol::time::Timestamp;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_780_588_110_250);

    #[test]
    fn every_frame_of_the_hub_is_understood() {
        let event = Event::SteerQueued {
            text: "shorter".to_owned(),
        };
        let numbered = NumberedEvent {
            seq: 7,
            is_resolved: false,
            event: Some(event.clone()),
        };
        assert_eq!(
            read(&event.frame("r1", 7, NOW, Some("start"))),
            HubMessage::Event(Box::new(numbered))
        );
        let ask = Event::RequestInput {
            agent_name: "ann".to_owned(),
            prompt: None,
            input_id: "i".to_owned(),
        };
        let frame = mark_resolved(&ask.frame("r1", 8, NOW, None));
        assert_eq!(
            read(&frame),
            HubMessage::Event(Box::new(NumberedEvent {
                seq: 8,
                is_resolved: true,
                event: Some(ask)
            }))
        );
        let error = RunReply::error("START_FAILED", "Run already started: r1").frame(NOW, Some("start"));
        let code = "START_FAILED".to_owned();
        let message = "Run already started: r1".to_owned();
        assert_eq!(
            read(&error),
            HubMessage::Error {
                code,
                message,
                request_id: Some("start".to_owned())
            }
        );
        let run_id = "r1".to_owned();
        let agent_name = "ann".to_owned();
        let input_id = "i".to_owned();
        let resolved = RunReply::InputResolved {
            run_id,
            agent_name,
            input_id,
        }
        .frame(NOW, None);
        assert_eq!(read(&resolved), HubMessage::Resolved { id: "i".to_owned() });
        assert_eq!(
            read(&RunReply::Pong.frame(NOW, None)),
            HubMessage::Pong { request_id: None }
        );
    }

    #[test]
    fn messages_of_a_later_hub_are_ignored() {
        assert_eq!(read(r#"{"type":"weather","ts":"x"}"#), HubMessage::Unknown);
        assert_eq!(read("not json"), HubMessage::Unknown);
        let numbered = NumberedEvent {
            seq: 3,
            is_resolved: false,
            event: None,
        };
        assert_eq!(
            read(r#"{"type":"step_skipped","seq":3}"#),
            HubMessage::Event(Box::new(numbered))
        );
    }
}
