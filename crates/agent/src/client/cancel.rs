//! Cancelling an open ask.

use std::time::Duration;

use bytes::Bytes;

use super::Client;
use super::call::HubCall;
use super::wait::{Progress, progress};
use crate::error::Error;
use crate::ticket::Ticket;

impl Client {
    /// Cancels an open ask and returns its actual outcome, which may be an answer that came first. The hub refuses to
    /// cancel a task or a notify.
    pub async fn cancel(&self, ticket: &Ticket) -> Result<Progress, Error> {
        let Some(id) = &ticket.message_id else {
            return Err(Error::invalid(
                "message_id",
                "is not known yet: send the message again to learn it",
            ));
        };
        let poll = self.pull_call(ticket, Duration::ZERO)?;
        let call = HubCall::post(self.address(&["v1", "messages", id, "cancel"]), Bytes::new());
        let reply = self.call_with_retry(&call, self.give_up_after()).await?;
        match reply.status {
            200..=299 | 409 => progress(&self.call_with_retry(&poll, self.give_up_after()).await?, ticket),
            404 => Err(Error::NotFound),
            410 => Err(Error::Gone),
            status => Err(Error::refused(status, &reply.body)),
        }
    }
}
