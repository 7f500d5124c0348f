//! Sends a message: recorded in the journal first, then sent until the hub acknowledges it.

use std::future::Future;
use std::time::Duration;

use anyhow::{Result, anyhow};
use countersign_agent::{Draft, Error, Journal, Ticket, Version};
use countersign_client::screen;
use tokio::time::{Instant, sleep, timeout_at};

use super::credentials::session::AgentSession;

/// The delay before a notice explains the wait.
const NOTICE_DELAY: Duration = Duration::from_secs(3);
const TOO_MANY_REQUESTS: u16 = 429;
/// The message fields that the command line knows as options.
const OPTIONS: [(&str, &str); 2] = [("default_on_expire", "--default"), ("allowed_resolvers", "--to")];

/// Sends the draft. Reusing a key for the same content returns the earlier message, so an interrupted script can be
/// run again from its start.
pub async fn submit(
    session: &AgentSession,
    journal: &Journal,
    draft: &Draft,
    deadline: Option<Instant>,
) -> Result<Ticket> {
    let sent = within_deadline(session.hub.submit(journal, draft), deadline).await;
    let ticket = sent.map_err(|error| explain(error, session, draft.idempotency_key()))?;
    if let Some(notice) = &ticket.notice {
        screen::print_notice(&format!("warning: {notice}"));
    }
    Ok(ticket)
}

/// Sends a recorded message again.
pub async fn resend(
    session: &AgentSession,
    journal: &Journal,
    ticket: &Ticket,
    deadline: Option<Instant>,
) -> Result<Ticket> {
    let sent = within_deadline(session.hub.resend(journal, ticket), deadline).await;
    sent.map_err(|error| explain(error, session, &ticket.idempotency_key))
}

/// The envelope version that the hub understands.
pub async fn version(session: &AgentSession) -> Result<Version, Error> {
    with_notice(session.hub.version()).await
}

async fn within_deadline(
    sending: impl Future<Output = Result<Ticket, Error>>,
    deadline: Option<Instant>,
) -> Result<Ticket, Error> {
    let sending = with_notice(sending);
    let Some(deadline) = deadline else { return sending.await };
    let late = |_| {
        Err(Error::Unreachable(
            "the hub did not accept the message in time".to_owned(),
        ))
    };
    timeout_at(deadline, sending).await.unwrap_or_else(late)
}

async fn with_notice<T>(work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    tokio::select! {
        done = &mut work => return done,
        () = sleep(NOTICE_DELAY) => screen::print_notice("the hub has not accepted the message yet; retrying"),
    }
    work.await
}

/// Rewords an error about a message field to name its command line option.
pub fn name_option(error: Error) -> anyhow::Error {
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

/// A message without an acknowledgement stays in the journal and can be sent again; a refused one cannot.
fn explain(error: Error, session: &AgentSession, key: &str) -> anyhow::Error {
    let may_pass = match &error {
        Error::Unreachable(_) | Error::UnexpectedResponse(_) => true,
        Error::Refused { status, .. } => *status == TOO_MANY_REQUESTS || *status >= 500,
        Error::Invalid { .. } | Error::Conflict | Error::Journal(_) | Error::Gone | Error::NotFound => false,
    };
    let error = session.explain(name_option(error));
    if !may_pass {
        return error;
    }
    anyhow!("{error:#}; the message is stored in the journal; send it again with: countersign wait {key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_text(field: &str, refused: bool) -> String {
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
        format!("{:#}", name_option(error))
    }

    #[test]
    fn errors_name_the_option_instead_of_the_field() {
        assert_eq!(fault_text("request.default_on_expire", false), "--default is wrong");
        assert_eq!(fault_text("action.allowed_resolvers", false), "--to is wrong");
        assert_eq!(
            fault_text("request.allowed_resolvers", true),
            "--to: request.allowed_resolvers: is wrong (invalid_field)"
        );
        assert_eq!(fault_text("title", false), "`title` is wrong");
    }
}
