//! The changes that the hub announces.

use countersign_client::screen::actor_label;
use countersign_protocol::sse::SseEvent;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq)]
pub enum InboxChange {
    /// A new item that waits for an answer. The text is its id, as in the others.
    Opened(String),
    /// A new notice.
    Noticed(String),
    Resolved {
        id: String,
        text: String,
    },
    /// A decision is on hold, or was taken back.
    Held(String),
    /// The answer has moved on its way to the agent.
    Tracked(String),
    /// Events were missed: reload everything.
    Resync,
}

impl InboxChange {
    /// Event kinds unknown to this version are ignored.
    pub fn read(event: &SseEvent) -> Option<Self> {
        let EventData { id, text, actor } = serde_json::from_slice(&event.data).unwrap_or_default();
        match event.kind.as_slice() {
            b"resync" => Some(Self::Resync),
            _ if id.is_empty() => None,
            b"opened" => Some(Self::Opened(id)),
            b"noticed" => Some(Self::Noticed(id)),
            b"resolved" => Some(Self::Resolved {
                id,
                text: by(text, &actor),
            }),
            b"held" => Some(Self::Held(id)),
            b"tracked" => Some(Self::Tracked(id)),
            _ => None,
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct EventData {
    id: String,
    #[serde(rename = "words")]
    text: String,
    actor: String,
}

fn by(text: String, actor: &str) -> String {
    if actor.is_empty() || text.contains(actor) {
        text
    } else {
        format!("{text} by {}", actor_label(actor))
    }
}

#[cfg(test)]
mod tests {
    use countersign_protocol::sse::SseParser;

    use super::*;

    const STREAM: &str = "retry: 2000\n\n: hello\n\nid: 1\nevent: opened\ndata: {\"id\":\"msg_1\",\"title\":\"x\"}\n\n\
        id: 2\r\nevent: resolved\r\ndata: {\"id\":\"msg_1\",\r\ndata: \"words\":\"answered Approve\",\"actor\":\"human:ann\"}\r\n\r\n\
        event: unheard-of\ndata: {\"id\":\"msg_2\"}\n\nevent: tracked\ndata: broken\n\nevent: held\ndata: {\"id\":\"msg_3\",\"held\":null}\n\n\
        event: resync\ndata: {}\n\n";

    #[test]
    fn known_events_are_changes() {
        let text = "answered Approve by ann".to_owned();
        let expected = [
            InboxChange::Opened("msg_1".to_owned()),
            InboxChange::Resolved {
                id: "msg_1".to_owned(),
                text,
            },
            InboxChange::Held("msg_3".to_owned()),
            InboxChange::Resync,
        ];
        let events = SseParser::new(1024).feed(STREAM.as_bytes()).unwrap();
        let changes: Vec<InboxChange> = events.iter().filter_map(InboxChange::read).collect();
        assert_eq!(changes, expected);
    }
}
