//! A hub that goes away and comes back. The run's place is kept: everything after the last event that was heard comes again.

use std::collections::HashSet;
use std::time::Duration;

use countersign_protocol::runs::ClientMessage;
use reqwest::StatusCode;
use tokio::time::sleep;

use super::follow::{Follow, Unsure};
use super::hear::SUBSCRIBE;
use super::sent::Sent;
use crate::client::{HubError, Lost, Place, Socket};
use crate::screen::escape;

pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

pub enum Back {
    Here,
    /// The person did not want to wait for it.
    Left,
    /// It is there, and does not let us in.
    Refused(HubError),
}

impl Follow {
    /// There is no limit to the patience: a run may wait for days, and a machine sleep in between.
    pub(super) async fn come_back(&mut self, lost: &Lost) -> Back {
        if self.pause == FIRST_PAUSE {
            self.say(&format!(
                "{}; waiting for the hub, Ctrl-C leaves\n",
                escape(&lost.to_string())
            ));
        }
        loop {
            tokio::select! {
                () = sleep(self.pause) => {}
                () = self.stops.any() => return Back::Left,
            }
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            self.reach.renew();
            let client = self.reach.client();
            let opened = tokio::select! {
                opened = Socket::open(&client) => opened,
                () = self.stops.any() => return Back::Left,
            };
            match opened {
                Ok(socket) => {
                    self.socket = socket;
                    if self.subscribe().await.is_ok() {
                        return Back::Here;
                    }
                }
                Err(error) if is_final(&error, &client.location().place) => return Back::Refused(error),
                Err(_) => {}
            }
        }
    }

    /// Everything after what was heard, and then a reply that says that this was all.
    pub(super) async fn subscribe(&mut self) -> Result<(), Lost> {
        let run_id = self.run_id.clone();
        let after_seq = Some(self.seq);
        let until = self.request_id("all");
        self.unsure = Some(Unsure {
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

    /// From here on it is known what is still asked.
    pub(super) async fn be_sure(&mut self) -> Result<(), Lost> {
        let open = self.unsure.take().map(|unsure| unsure.open).unwrap_or_default();
        self.pause = FIRST_PAUSE;
        if std::mem::replace(&mut self.has_been_sure, true) {
            self.say("The hub is back\n");
        }
        for id in self.console.ids().iter().filter(|id| !open.contains(*id)) {
            self.withdraw(id);
        }
        let mut again = Vec::new();
        for (number, sent) in self.sent.unanswered(|id| open.contains(id)).enumerate() {
            let Sent { ask, answer, .. } = &*sent;
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

/// A hub that was started anew tells its token in its data directory, perhaps a moment later; in the environment it stays.
fn is_final(error: &HubError, place: &Place) -> bool {
    let refuses = |status: &StatusCode| matches!(*status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    *place == Place::Environment && matches!(error, HubError::Refused { status, .. } if refuses(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_token_that_cannot_change_is_refused_for_good() {
        let refused = |status| HubError::Refused {
            status,
            code: String::new(),
            message: String::new(),
            field: None,
        };
        let data = Place::DataDirectory("/srv/data".into());
        assert!(is_final(&refused(StatusCode::UNAUTHORIZED), &Place::Environment));
        assert!(!is_final(&refused(StatusCode::UNAUTHORIZED), &data));
        assert!(!is_final(
            &refused(StatusCode::SERVICE_UNAVAILABLE),
            &Place::Environment
        ));
        assert!(!is_final(
            &HubError::Unreachable("away".to_owned()),
            &Place::Environment
        ));
    }
}
