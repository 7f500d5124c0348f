//! Reconnects to a hub that went away. The run is resumed after the last event received.

use std::collections::HashSet;

use countersign_client::hub::{AddressSource, ClientError, Socket, SocketClosed};
use countersign_client::screen::escape;
use countersign_protocol::runs::ClientMessage;
use reqwest::StatusCode;
use tokio::time::sleep;

use super::follow::{CatchUp, FollowSession};
use super::handle_message::SUBSCRIBE;
use super::sent_answers::SentAnswer;

pub enum ReconnectResult {
    Here,
    /// The person did not want to wait.
    Left,
    /// The hub is there and refuses access.
    Refused(ClientError),
}

impl FollowSession {
    /// Retries without limit: a run may wait for days, and the machine may sleep in between.
    pub(super) async fn reconnect(&mut self, lost: &SocketClosed) -> ReconnectResult {
        if self.backoff.is_reset() {
            self.print_line(&format!(
                "{}; waiting for the hub, Ctrl-C leaves\n",
                escape(&lost.to_string())
            ));
        }
        loop {
            let pause = self.backoff.pause();
            tokio::select! {
                () = sleep(pause) => {}
                () = self.stops.any() => return ReconnectResult::Left,
            }
            self.hub_client.relocate();
            let client = self.hub_client.client();
            let opened = tokio::select! {
                opened = Socket::open(&client) => opened,
                () = self.stops.any() => return ReconnectResult::Left,
            };
            match opened {
                Ok(socket) => {
                    self.socket = socket;
                    if self.subscribe().await.is_ok() {
                        return ReconnectResult::Here;
                    }
                }
                Err(error) if is_final(&error, &client.location().source) => return ReconnectResult::Refused(error),
                Err(_) => {}
            }
        }
    }

    /// Requests all events after the last one received, followed by a ping whose reply marks the end.
    pub(super) async fn subscribe(&mut self) -> Result<(), SocketClosed> {
        let run_id = self.run_id.clone();
        let after_seq = Some(self.seq);
        let until = self.request_id("all");
        self.catch_up = Some(CatchUp {
            until: until.clone(),
            open: HashSet::new(),
        });
        let subscribe = ClientMessage::Subscribe {
            run_id,
            after_seq,
            extensions: true,
        };
        self.socket.send(&subscribe, SUBSCRIBE).await?;
        self.socket.send(&ClientMessage::Ping, &until).await
    }

    /// Catch-up is complete: the open questions are known.
    pub(super) async fn finish_catch_up(&mut self) -> Result<(), SocketClosed> {
        let open = self.catch_up.take().map(|catch_up| catch_up.open).unwrap_or_default();
        self.backoff.reset();
        if std::mem::replace(&mut self.was_caught_up, true) {
            self.print_line("The hub is back\n");
        }
        for id in self.console.ids().iter().filter(|id| !open.contains(*id)) {
            self.withdraw(id);
        }
        let mut again = Vec::new();
        for (number, sent) in self.sent.unanswered(|id| open.contains(id)).enumerate() {
            let SentAnswer { ask, answer, .. } = &*sent;
            let message = ask.answered(&self.run_id, answer);
            let request_id = format!("again-{}-{number}", self.seq);
            sent.is_sent_again(request_id.clone());
            again.push((message, request_id));
        }
        for (message, request_id) in again {
            self.socket.send(&message, &request_id).await?;
        }
        Ok(())
    }
}

/// A restarted hub has a new token in its data directory, perhaps a moment later; a token from the environment never
/// changes.
fn is_final(error: &ClientError, source: &AddressSource) -> bool {
    let refuses = |status: &StatusCode| matches!(*status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    *source == AddressSource::Environment && matches!(error, ClientError::Refused { status, .. } if refuses(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_fixed_token_is_refused_for_good() {
        let refused = |status| ClientError::Refused {
            status,
            code: String::new(),
            message: String::new(),
            field: None,
        };
        let data = AddressSource::DataDirectory("/srv/data".into());
        assert!(is_final(
            &refused(StatusCode::UNAUTHORIZED),
            &AddressSource::Environment
        ));
        assert!(!is_final(&refused(StatusCode::UNAUTHORIZED), &data));
        assert!(!is_final(
            &refused(StatusCode::SERVICE_UNAVAILABLE),
            &AddressSource::Environment
        ));
        assert!(!is_final(
            &ClientError::Unreachable("away".to_owned()),
            &AddressSource::Environment
        ));
    }
}
