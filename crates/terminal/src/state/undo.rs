//! Undo: a decision is on hold for some seconds, and `z` takes it back.

use countersign_client::hub::ClientError;

use super::{Effect, InboxState};

impl InboxState {
    /// Notes a decision that the hub has put on hold.
    pub(super) fn on_hold(&mut self, id: &str) {
        self.held.push(id.to_owned());
        self.show_info("your answer is sent in a moment; z takes it back");
    }

    /// Takes back the open item's decision, else the last one of this session.
    pub(super) fn undo(&mut self) -> Vec<Effect> {
        let open = self.open.as_ref().map(|open| open.id());
        let of_open = self.held.iter().position(|id| Some(id.as_str()) == open);
        let id = match of_open {
            Some(index) => Some(self.held.remove(index)),
            None => self.held.pop(),
        };
        match id {
            Some(id) => vec![Effect::Undo { id }],
            None => {
                self.hint("there is nothing to undo");
                Vec::new()
            }
        }
    }

    pub(super) fn undone(&mut self, id: String, done: Result<(), ClientError>) -> Vec<Effect> {
        match done {
            Ok(()) => self.show_info("taken back; nothing was sent"),
            Err(error) if error.has_code("already_terminal") => {
                self.show_error("too late to undo: the answer was sent".to_owned());
            }
            Err(error) => self.show_error(error.to_string()),
        }
        vec![Effect::Read { id, fresh: false }]
    }
}
