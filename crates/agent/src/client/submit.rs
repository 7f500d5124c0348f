//! Submitting a message: stored in the journal first, then sent byte for byte until the hub accepts or refuses it.

use bytes::Bytes;
use countersign_protocol::json;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::call::{HubCall, HubReply};
use super::{Client, is_web_address};
use crate::draft::Draft;
use crate::error::Error;
use crate::journal::{Journal, JournalError, StoredDraft};
use crate::ticket::Ticket;

const MAX_ID_CHARS: usize = 255;
const MAX_URL_BYTES: usize = 4096;

#[derive(Deserialize)]
struct SubmitAck {
    id: String,
    poll_url: String,
    review_url: Option<String>,
}

impl Client {
    /// Retries until the hub accepts or refuses the message. After any other error the message is still in the journal,
    /// and [`Client::resend`] continues from there, in this process or a later one.
    ///
    /// When the journal already has a message under the draft's key, the stored bytes are sent, provided that both have
    /// the same content. Only `created_at`, `expires_at`, the run id and the seal of the state may differ.
    pub async fn submit(&self, journal: &Journal, draft: &Draft) -> Result<Ticket, Error> {
        let hub = self.origin();
        let draft = draft.clone();
        let key = draft.idempotency_key().to_owned();
        let agent_id = draft.agent_id().to_owned();
        let kind = draft.kind();
        let bytes = with_journal(journal, move |journal| store_draft(journal, &hub, &draft)).await??;
        let ticket = Ticket {
            idempotency_key: key,
            agent_id,
            message_id: None,
            poll_url: None,
            review_url: None,
            notice: None,
            kind,
        };
        self.send(journal, ticket, bytes).await
    }

    /// Sends the stored bytes of the ticket's key again: after a restart, or to learn the message's id.
    pub async fn resend(&self, journal: &Journal, ticket: &Ticket) -> Result<Ticket, Error> {
        let hub = self.origin();
        let wanted = ticket.clone();
        let bytes = with_journal(journal, move |journal| {
            journal.bytes(&hub, &wanted.agent_id, &wanted.idempotency_key)
        });
        match bytes.await?? {
            Some(bytes) => self.send(journal, ticket.clone(), bytes).await,
            None => {
                let message = format!(
                    "{} is not in this journal for this hub and agent",
                    ticket.idempotency_key
                );
                Err(Error::invalid("idempotency_key", message))
            }
        }
    }

    async fn send(&self, journal: &Journal, mut ticket: Ticket, bytes: Vec<u8>) -> Result<Ticket, Error> {
        let call = HubCall::post(self.address(&["v1", "messages"]), Bytes::from(bytes));
        let reply = self.call_with_retry(&call, self.give_up_after()).await?;
        if is_permanent_refusal(reply.status) {
            let hub = self.origin();
            let refused = ticket.clone();
            with_journal(journal, move |journal| {
                journal.discard(&hub, &refused.agent_id, &refused.idempotency_key)
            })
            .await??;
        }
        let ack = read_ack(&reply)?;
        self.poll_address(&ack.poll_url)?;
        ticket.message_id = Some(ack.id.clone());
        ticket.poll_url = Some(ack.poll_url.clone());
        ticket.review_url = ack.review_url.clone().filter(|url| url.len() <= MAX_URL_BYTES);
        ticket.notice = reply.notice;
        let hub = self.origin();
        let sent = ticket.clone();
        let stored = with_journal(journal, move |journal| {
            journal.acknowledge(&hub, &sent.agent_id, &sent.idempotency_key, &ack.id, &ack.poll_url)
        });
        stored.await??;
        Ok(ticket)
    }

    /// Checks the poll address from the hub. The token is sent there, so it must use TLS if the hub does.
    pub(super) fn poll_address(&self, poll_url: &str) -> Result<Url, Error> {
        let refuse = |reason: &str| Err(Error::unexpected(format!("a `poll_url` {reason}")));
        if poll_url.len() > MAX_URL_BYTES {
            return refuse("that is too long");
        }
        match Url::parse(poll_url) {
            Ok(url) if url.scheme() == "http" && self.uses_tls() => {
                refuse("with http://, although the hub itself is reached with https://")
            }
            Ok(url) if is_web_address(&url) => Ok(url),
            Ok(_) | Err(_) => refuse("that is not a web address"),
        }
    }
}

/// Returns the bytes to send: the draft's own, or those stored earlier for the same message.
fn store_draft(journal: &Journal, hub: &str, draft: &Draft) -> Result<Vec<u8>, Error> {
    let key = draft.idempotency_key();
    let agent_id = draft.agent_id();
    match journal.store_draft(hub, key, agent_id, draft.kind(), draft.bytes())? {
        StoredDraft::New | StoredDraft::Same => Ok(draft.bytes().to_vec()),
        StoredDraft::Other => {
            let stored = journal.bytes(hub, agent_id, key)?;
            stored
                .filter(|stored| is_same_message(stored, draft.bytes()))
                .ok_or(Error::Conflict)
        }
    }
}

/// Runs journal work on the blocking pool: the journal waits for the disk and for other processes.
async fn with_journal<T: Send + 'static>(
    journal: &Journal,
    work: impl FnOnce(&Journal) -> T + Send + 'static,
) -> Result<T, Error> {
    let journal = journal.clone();
    let done = tokio::task::spawn_blocking(move || work(&journal)).await;
    Ok(done.map_err(|_| JournalError::Unavailable("the operation was interrupted".to_owned()))?)
}

/// Whether the hub will never accept these bytes. A refused credential does not count: an earlier attempt with the same
/// bytes may have been accepted.
fn is_permanent_refusal(status: u16) -> bool {
    matches!(status, 400 | 413 | 422)
}

fn read_ack(reply: &HubReply) -> Result<SubmitAck, Error> {
    match reply.status {
        200..=299 => {
            let ack: SubmitAck = serde_json::from_slice(&reply.body)
                .map_err(|_| Error::unexpected("its acknowledgement has no `id` and `poll_url`"))?;
            if ack.id.is_empty() || ack.id.chars().count() > MAX_ID_CHARS {
                return Err(Error::unexpected("its acknowledgement has no usable `id`"));
            }
            Ok(ack)
        }
        409 => Err(Error::Conflict),
        status => Err(Error::refused(status, &reply.body)),
    }
}

/// Whether two drafts under one key are the same message, apart from the fields that change with every draft.
fn is_same_message(stored: &[u8], drafted: &[u8]) -> bool {
    let stable_fields = |bytes: &[u8]| {
        let mut message = json::parse(bytes).ok()?;
        // Sealing the same state twice gives two tokens, and their contents cannot be compared here.
        for (pointer, key) in [
            ("", "created_at"),
            ("", "expires_at"),
            ("/agent", "run_id"),
            ("/state", "sealed"),
        ] {
            if let Some(value) = message.pointer_mut(pointer).and_then(|place| place.get_mut(key)) {
                *value = Value::Null;
            }
        }
        Some(message)
    };
    let stored = stable_fields(stored);
    stored.is_some() && stored == stable_fields(drafted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_drafts_of_one_message_are_told_from_another_message() {
        let first = br#"{"agent":{"id":"a","run_id":"1"},"created_at":"x","expires_at":"x","title":"Ship?"}"#;
        let again = br#"{"agent":{"id":"a","run_id":"2"},"created_at":"y","expires_at":"y","title":"Ship?"}"#;
        let other = br#"{"agent":{"id":"a","run_id":"1"},"created_at":"x","expires_at":"x","title":"Drop?"}"#;
        let endless = br#"{"agent":{"id":"a","run_id":"1"},"created_at":"x","title":"Ship?"}"#;
        assert!(is_same_message(first, again));
        let sealed = |token: &str| format!(r#"{{"agent":{{"id":"a"}},"state":{{"sealed":"{token}"}}}}"#);
        assert!(is_same_message(sealed("one").as_bytes(), sealed("two").as_bytes()));
        assert!(!is_same_message(sealed("one").as_bytes(), br#"{"agent":{"id":"a"}}"#));
        assert!(!is_same_message(first, other));
        assert!(!is_same_message(first, endless));
        assert!(!is_same_message(b"damaged", b"damaged"));
    }

    #[test]
    fn an_acknowledgement_has_an_id_and_an_address() {
        let reply = |status, body: &str| {
            read_ack(&HubReply {
                status,
                body: body.as_bytes().to_vec(),
                notice: None,
            })
            .map(|ack| ack.id)
        };
        let good = r#"{"id":"msg_1","status":"open","poll_url":"https://hub.example/v1/messages/msg_1"}"#;
        assert_eq!(reply(202, good).unwrap(), "msg_1");
        for body in [
            "",
            "<html>",
            "{}",
            r#"{"id":"msg_1"}"#,
            r#"{"id":"","poll_url":"https://hub.example/"}"#,
        ] {
            assert!(matches!(reply(202, body), Err(Error::UnexpectedResponse(_))), "{body}");
        }
        assert!(matches!(reply(409, "{}"), Err(Error::Conflict)));
        let refused = r#"{"error":{"code":"unauthenticated","message":"no"}}"#;
        assert!(matches!(reply(401, refused), Err(Error::Refused { status: 401, .. })));
    }
}
