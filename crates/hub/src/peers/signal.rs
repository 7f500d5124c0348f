//! What hubs say to each other: which of the things they remember has changed. Nothing of what people or agents said.

use countersign_protocol::hap::CueKind;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::letters::CommandReply;
use crate::inbox::news::LiveChange;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    Changed(LiveChange),
    /// A message is over; one that a run asked names it.
    Resolved {
        id: MessageId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<String>,
    },
    /// A credential may have ended.
    Credentials,
    /// Somebody waits for a cue here, or will in a moment.
    Here {
        id: MessageId,
        kind: CueKind,
        since: Timestamp,
        held: bool,
    },
    /// Nobody does any more.
    Away {
        id: MessageId,
        at: Timestamp,
        broken: bool,
    },
    /// Somebody was expected and will not come: there is no such cue, or it is over.
    NoCue(MessageId),
    /// Something of a run was stored.
    Advanced(String),
    /// Somebody wrote to a run.
    Letter,
    /// What became of a letter.
    Answered {
        letter: i64,
        reply: CommandReply,
    },
    /// Another hub is no more.
    Gone(String),
    /// Whoever has something that is in memory only is to say it again.
    Hello,
}

/// The id of a node is as long in every word.
const NODE_ID_LENGTH: usize = 16;

impl Signal {
    pub fn text(&self, node: &str) -> String {
        // There is nothing in it that JSON could not say.
        format!("{node}{}", serde_json::to_string(self).unwrap_or_default())
    }

    /// Who says it, and what. Nothing for a word that a later version says.
    pub fn read(text: &str) -> Option<(&str, Self)> {
        let (node, signal) = text.split_at_checked(NODE_ID_LENGTH)?;
        Some((node, serde_json::from_str(signal).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_signal_survives_the_round_trip() {
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        for signal in [
            Signal::Changed(LiveChange::Opened(id.clone())),
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
            Signal::Here {
                id: id.clone(),
                kind: CueKind::Pause,
                since: Timestamp::from_millis(7),
                held: true,
            },
            Signal::Away {
                id: id.clone(),
                at: Timestamp::from_millis(7),
                broken: true,
            },
            Signal::NoCue(id),
            Signal::Answered {
                letter: 7,
                reply: CommandReply::Done,
            },
            Signal::Gone("fedcba9876543210".to_owned()),
        ] {
            let text = signal.text("0123456789abcdef");
            assert!(!text.contains('\n'), "{text}");
            assert_eq!(Signal::read(&text), Some(("0123456789abcdef", signal)));
        }
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
