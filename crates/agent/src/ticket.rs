//! A ticket: the data needed to wait for an outcome later, from any process.

use countersign_protocol::a2h::Kind;
use serde::{Deserialize, Serialize};

/// A sent message. Store it as JSON, or find it again with [`Journal::ticket`](crate::Journal::ticket).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// The key that the message was sent under.
    pub idempotency_key: String,
    /// The agent that sent it.
    pub agent_id: String,
    /// `None` until the hub has accepted the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The poll address, exactly as the hub sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll_url: Option<String>,
    /// The page where people answer. `None` for a ticket from the journal, which does not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_url: Option<String>,
    /// A remark of the hub on accepting the message, such as that no person can answer it. It is not stored.
    #[serde(skip)]
    pub notice: Option<String>,
    /// Ask, notify or task.
    pub kind: Kind,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_survives_a_round_trip_through_json() {
        let sent = Ticket {
            idempotency_key: "ship-1.4".to_owned(),
            agent_id: "deploybot/dev".to_owned(),
            message_id: None,
            poll_url: None,
            review_url: None,
            notice: None,
            kind: Kind::Ask,
        };
        let text = serde_json::to_string(&sent).unwrap();
        assert_eq!(
            text,
            r#"{"idempotency_key":"ship-1.4","agent_id":"deploybot/dev","kind":"ask"}"#
        );
        assert_eq!(serde_json::from_str::<Ticket>(&text).unwrap(), sent);
        let accepted = Ticket {
            message_id: Some("msg_1".to_owned()),
            poll_url: Some("https://hub.example/v1/messages/msg_1".to_owned()),
            ..sent
        };
        let text = serde_json::to_string(&accepted).unwrap();
        assert_eq!(serde_json::from_str::<Ticket>(&text).unwrap(), accepted);
    }
}
