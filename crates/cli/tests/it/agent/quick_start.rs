use std::time::SystemTime;

use countersign_agent::{
    Answer, Ask, Claim, Client, Error, Identity, Journal, Outcome, Progress, Timestamp, WaitUntil,
};

/// Asks whether to ship `version`, and ships at most once after a yes, even if this is called again after a crash.
pub async fn ask_and_ship(
    client: &Client,
    journal: &Journal,
    version: &str,
    ship: impl AsyncFnOnce() -> bool,
) -> Result<bool, Error> {
    let key = format!("ship-{version}");
    // The ask may already be in the journal, from a process that died: then the same bytes are sent again.
    let ticket = match journal.ticket(&key)? {
        Some(ticket) => client.resend(journal, &ticket).await?,
        None => {
            let ask = Ask::confirm(format!("Ship {version} to production?"))
                .to(["human:owner"])
                .body("All checks are green.")
                .key(key);
            let draft = ask.draft(&Identity::new("acme/deployer"), client.version().await?, now())?;
            client.submit(journal, &draft).await?
        }
    };
    let Progress::Ended(resolved) = client.wait(&ticket, WaitUntil::Ended).await? else {
        return Ok(false);
    };
    let yes = match &resolved.outcome {
        Outcome::Answered {
            value: Answer::Choice(choice),
            ..
        } => choice == "approve",
        Outcome::Answered {
            value: Answer::Form(_), ..
        } => false,
        // A default was declared by the asker; no person decided it.
        Outcome::Expired { default: _ } => false,
        Outcome::Declined | Outcome::Cancelled | Outcome::Completed { .. } | Outcome::Dismissed { .. } => false,
    };
    if !yes {
        return Ok(false);
    }
    match journal.begin(&resolved.message_id, &resolved.resolution_id)? {
        Claim::Go(reservation) => {
            let shipped = ship().await;
            journal.finish(reservation, shipped)?;
            Ok(shipped)
        }
        Claim::AlreadyDone { ok } => Ok(ok),
        // Another process is working on it, or died while doing so: do not repeat. `countersign journal` shows it.
        Claim::UnderWay | Claim::Interrupted | Claim::Other => Ok(false),
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_millis(since.as_millis() as i64)
}
