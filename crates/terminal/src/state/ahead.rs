//! Type-ahead: a text that answers the next cue of an agent in a terminal.

use countersign_client::hub::ClientError;
use crossterm::event::{KeyCode, KeyEvent};

use super::overlay::is_enter;
use super::{Effect, InboxState, Overlay};
use crate::text_input::TextInput;

impl InboxState {
    /// Continues an unsent text for this agent.
    pub(super) fn write_ahead(&mut self) {
        let Some(open) = &self.open else { return };
        if !open.entry.item.is_cue() {
            return self.hint("replies are queued only for agents in terminals");
        }
        let agent_id = open.entry.item.agent.id.clone();
        let typing = self.aheads.remove(&agent_id).unwrap_or_else(TextInput::lines);
        self.overlay = Some(Overlay::Ahead { agent_id, typing });
    }

    pub(super) fn ahead_key(&mut self, key: KeyEvent, agent_id: String, mut typing: TextInput) -> Vec<Effect> {
        match key.code {
            KeyCode::Esc => self.keep_ahead(agent_id, typing),
            _ if is_enter(key) && typing.is_blank() => {
                self.hint("type something first");
                self.overlay = Some(Overlay::Ahead { agent_id, typing });
            }
            _ if is_enter(key) => {
                return vec![Effect::Ahead {
                    agent_id,
                    text: typing.text().to_owned(),
                }];
            }
            _ => {
                typing.key(key);
                self.overlay = Some(Overlay::Ahead { agent_id, typing });
            }
        }
        Vec::new()
    }

    fn keep_ahead(&mut self, agent_id: String, typing: TextInput) {
        if !typing.is_blank() {
            self.aheads.insert(agent_id, typing);
        }
    }

    /// A text that the hub did not accept is kept for another try, unless the person has begun a new one.
    pub(super) fn written_ahead(&mut self, agent_id: String, text: &str, done: Result<(), ClientError>) -> Vec<Effect> {
        match done {
            Ok(()) => self.show_info(format!("{agent_id} gets it when it asks next")),
            Err(error) => {
                self.aheads
                    .entry(agent_id)
                    .or_insert_with(|| TextInput::lines().holding(text));
                self.show_error(error.to_string());
            }
        }
        Vec::new()
    }
}
