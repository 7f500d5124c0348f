//! Undo: a decision is on hold for some seconds, and `z` takes it back.

use countersign_client::hub::ClientError;

use super::{Effect, InboxState};

impl InboxState {
    /// Notes a decision that the hub has put on hold.
    pub(super) fn on_hold(&mut self, id: &str) {
        self.held.push(vec![id.to_owned()]);
        self.show_info("your answer is sent in a moment; z takes it back");
    }

    /// A decision that was taken back, or that counts, can't be taken back any more.
    pub(super) fn forget_held(&mut self, id: &str) {
        self.held.iter_mut().for_each(|held| held.retain(|known| known != id));
        self.held.retain(|held| !held.is_empty());
    }

    /// Takes back the open item's decision, else the last one of this session, which may be a whole batch.
    pub(super) fn undo(&mut self) -> Vec<Effect> {
        if self.is_sending() {
            self.hint("the selection is still being sent; press z again in a moment");
            return Vec::new();
        }
        let open = self.open.as_ref().map(|open| open.id().to_owned());
        let of_open = open.filter(|id| self.held.iter().flatten().any(|held| held == id));
        if let Some(id) = of_open {
            self.forget_held(&id);
            return vec![Effect::Undo { id }];
        }
        match self.held.pop() {
            Some(ids) if ids.len() > 1 => self.undo_batch(ids),
            Some(ids) => ids.into_iter().map(|id| Effect::Undo { id }).collect(),
            None => {
                self.hint("there is nothing to undo");
                Vec::new()
            }
        }
    }

    pub(super) fn undone(&mut self, id: String, done: Result<(), ClientError>) -> Vec<Effect> {
        if let Some(effects) = self.batch_undone(&id, &done) {
            return effects;
        }
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
