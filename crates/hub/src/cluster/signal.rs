//! Signals between nodes: ids of changed things, never the content of messages.

use countersign_protocol::hap::CueKind;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_runs::CommandReply;
use serde::{Deserialize, Serialize};

/// A committed change. The code that made the change publishes it after the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveChange {
    Opened(MessageId),
    /// A notify arrived.
    Noticed(MessageId),
    Resolved(MessageId),
    /// A decision is on hold, or was taken back.
    Held(MessageId),
    /// The delivery of the answer made progress.
    Tracked(MessageId),
    /// A run began or ended. Asks of a run are published as `Opened` and `Resolved`, like all others.
    Run(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    Changed(LiveChange),
    /// A message was resolved; an ask of a run also names the run.
    Resolved {
        id: MessageId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<String>,
    },
    /// A credential may have been revoked.
    Credentials,
    /// A client of this node waits for a cue, or will in a moment. Without a kind, an agent waits by long-poll.
    #[serde(rename = "here")]
    CueWaiterCame {
        id: MessageId,
        kind: Option<CueKind>,
        since: Timestamp,
        held: bool,
    },
    /// The last client that waited for this cue has left.
    #[serde(rename = "away")]
    CueWaitersLeft {
        id: MessageId,
        at: Timestamp,
        broken: bool,
    },
    /// An announced waiter will not come, because the cue does not exist or has ended, or an agent has left.
    NoCue(MessageId),
    /// A run has stored new events.
    #[serde(rename = "advanced")]
    RunAdvanced(String),
    /// A remote run command was stored.
    #[serde(rename = "letter")]
    RunCommandStored,
    /// The reply to a remote run command.
    #[serde(rename = "answered")]
    RunCommandReplied {
        #[serde(rename = "letter")]
        number: i64,
        reply: CommandReply,
    },
    /// Another node was removed because its lease ran out.
    #[serde(rename = "gone")]
    NodeRemoved(String),
    /// Asks every node to publish its memory-only state again.
    #[serde(rename = "hello")]
    StateWanted,
}

/// Every signal starts with the id of its node, which has a fixed length.
const NODE_ID_LENGTH: usize = 16;

impl Signal {
    pub fn text(&self, node: &str) -> String {
        // Serialization cannot fail: the type has no map and no foreign value.
        format!("{node}{}", serde_json::to_string(self).unwrap_or_default())
    }

    /// Returns the sending node and the signal, or `None` for a signal of a later version.
    pub fn read(text: &str) -> Option<(&str, Self)> {
        let (node, signal) = text.split_at_checked(NODE_ID_LENGTH)?;
        Some((node, serde_json::from_str(signal).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use countersign_runs::RefusalText;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_signal_survives_the_round_trip() {
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        for signal in [
            Signal::Changed(LiveChange::Opened(id.clone())),
            Signal::Changed(LiveChange::Held(id.clone())),
            Signal::Changed(LiveChange::Run("r".to_owned())),
            Signal::Resolved {
                id: id.clone(),
                run: None,
            },
            Signal::Resolved {
                id: id.clone(),
                run: Some("r".to_owned()),
            },
            Signal::Credentials,
            Signal::CueWaiterCame {
                id: id.clone(),
                kind: Some(CueKind::Pause),
                since: Timestamp::from_millis(7),
                held: true,
            },
            Signal::CueWaitersLeft {
                id: id.clone(),
                at: Timestamp::from_millis(7),
                broken: true,
            },
            Signal::NoCue(id),
            Signal::RunCommandReplied {
                number: 7,
                reply: CommandReply::Done,
            },
            Signal::NodeRemoved("fedcba9876543210".to_owned()),
        ] {
            let text = signal.text("0123456789abcdef");
            assert!(!text.contains('\n'), "{text}");
            assert_eq!(Signal::read(&text), Some(("0123456789abcdef", signal)));
        }
    }

    /// Nodes of an earlier version read them too.
    #[test]
    fn the_texts_of_signals_stay() {
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        let at = Timestamp::from_millis(7);
        let refused = CommandReply::Refused(RefusalText {
            code: "C".to_owned(),
            message: "m".to_owned(),
        });
        for (signal, text) in [
            (Signal::RunAdvanced("r".to_owned()), r#"{"advanced":"r"}"#),
            (Signal::RunCommandStored, r#""letter""#),
            (Signal::StateWanted, r#""hello""#),
            (Signal::NodeRemoved("n".to_owned()), r#"{"gone":"n"}"#),
            (
                Signal::RunCommandReplied {
                    number: 7,
                    reply: refused,
                },
                r#"{"answered":{"letter":7,"reply":{"refused":{"code":"C","message":"m"}}}}"#,
            ),
        ] {
            assert_eq!(signal.text(""), text);
        }
        let here = Signal::CueWaiterCame {
            id: id.clone(),
            kind: Some(CueKind::Pause),
            since: at,
            held: true,
        };
        let away = Signal::CueWaitersLeft { id, at, broken: true };
        assert!(here.text("").starts_with(r#"{"here":{"id":"#) && away.text("").starts_with(r#"{"away":{"id":"#));
    }

    #[test]
    fn an_unknown_signal_is_ignored() {
        for text in [
            "",
            "short",
            "0123456789abcdef",
            "0123456789abcdef{\"later\":1}",
            "0123456789abcdeé\"credentials\"",
        ] {
            assert_eq!(Signal::read(text), None, "{text}");
        }
    }
}
