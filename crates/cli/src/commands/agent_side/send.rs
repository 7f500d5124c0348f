//! Bringing a message to the hub: kept first, then sent until the hub has it.

use std::future::Future;
use std::time::Duration;

use anyhow::{Result, anyhow};
use countersign_agent::{Draft, Error, Journal, Ticket, Version};
use tokio::time::{Instant, sleep, timeout_at};

use super::seat::Seat;
use crate::screen;

/// After this long a person wants to know why nothing happens.
const SILENCE: Duration = Duration::from_secs(3);
const TOO_MANY_REQUESTS: u16 = 429;
/// The fields of a message that people know under the name of their option.
const OPTIONS: [(&str, &str); 2] = [("default_on_expire", "--default"), ("allowed_resolvers", "--to")];

/// Sends the draft. A key that was used from here for the same message means that message, so that a script that was cut
/// off can run again from its start.
pub async fn submit(seat: &Seat, journal: &Journal, draft: &Draft, deadline: Option<Instant>) -> Result<Ticket> {
    let sent = in_time(seat.hub.submit(journal, draft), deadline).await;
    sent.map_err(|error| explain(error, seat, draft.idempotency_key()))
}

/// Sends again what was kept before.
pub async fn resend(seat: &Seat, journal: &Journal, ticket: &Ticket, deadline: Option<Instant>) -> Result<Ticket> {
    let sent = in_time(seat.hub.resend(journal, ticket), deadline).await;
    sent.map_err(|error| explain(error, seat, &ticket.idempotency_key))
}

/// What a message is to be written in.
pub async fn version(seat: &Seat) -> Result<Version, Error> {
    with_word(seat.hub.version()).await
}

async fn in_time(
    sending: impl Future<Output = Result<Ticket, Error>>,
    deadline: Option<Instant>,
) -> Result<Ticket, Error> {
    let sending = with_word(sending);
    let Some(deadline) = deadline else { return sending.await };
    let late = |_| Err(Error::Unreachable("the hub has not taken it in time".to_owned()));
    timeout_at(deadline, sending).await.unwrap_or_else(late)
}

async fn with_word<T>(work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    tokio::select! {
        done = &mut work => return done,
        () = sleep(SILENCE) => screen::remark("the hub has not taken it yet: trying on"),
    }
    work.await
}

/// A message that cannot be sent as it is; the reason names the option that it comes from.
pub fn misworded(error: Error) -> anyhow::Error {
    let field = match &error {
        Error::Invalid { field, .. } => field.as_str(),
        Error::Refused { field: Some(field), .. } => field.as_str(),
        _ => return error.into(),
    };
    let option = OPTIONS
        .iter()
        .find(|(name, _)| field.contains(name))
        .map(|(_, option)| *option);
    match (option, &error) {
        (Some(option), Error::Invalid { message, .. }) => anyhow!("{option} {message}"),
        (Some(option), _) => anyhow::Error::new(error).context(option),
        (None, _) => error.into(),
    }
}

/// A message that the hub may not have is kept, and can be sent again; one that it refused cannot.
fn explain(error: Error, seat: &Seat, key: &str) -> anyhow::Error {
    let may_pass = match &error {
        Error::Unreachable(_) | Error::Strange(_) => true,
        Error::Refused { status, .. } => *status == TOO_MANY_REQUESTS || *status >= 500,
        Error::Invalid { .. } | Error::Conflict | Error::Journal(_) | Error::Gone | Error::NotFound => false,
    };
    let error = seat.explain(misworded(error));
    if !may_pass {
        return error;
    }
    anyhow!("{error:#}; the message is kept here, send it again with: countersign wait {key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(field: &str, refused: bool) -> String {
        let message = "is wrong".to_owned();
        let field = field.to_owned();
        let error = if refused {
            Error::Refused {
                status: 422,
                code: "invalid_field".to_owned(),
                message,
                field: Some(field),
            }
        } else {
            Error::Invalid { field, message }
        };
        format!("{:#}", misworded(error))
    }

    #[test]
    fn a_field_is_told_by_the_name_of_its_option() {
        assert_eq!(said("request.default_on_expire", false), "--default is wrong");
        assert_eq!(said("action.allowed_resolvers", false), "--to is wrong");
        assert_eq!(
            said("request.allowed_resolvers", true),
            "--to: request.allowed_resolvers: is wrong (invalid_field)"
        );
        assert_eq!(said("title", false), "`title` is wrong");
    }
}
