//! `smoke`: goes once through the whole loop against a running hub, as an agent and as the person who answers it.

mod debts;
mod fresh;
mod listener;
mod matter;
mod people;
mod place;
mod plan;
mod receiver;
mod report;
mod scratch;
mod seal_key;
mod trial;

use std::time::Duration;

use anyhow::{Context, Result, bail};
use countersign_agent::{Identity, Journal, Kind, Progress, Resolved, Ticket, Until};
use tokio::time::Instant;

use super::Finished;
use crate::args::{Globals, SmokeArgs};
use crate::screen::escape;
use debts::Debts;
use listener::{Delivery, Listener};
use place::Place;
use plan::Plan;
use receiver::Receiver;
use report::Report;
use scratch::Scratch;
use trial::Trial;

/// Long enough for a hub that is busy, short enough for a person who waits.
const PATIENCE: Duration = Duration::from_secs(30);

pub async fn run(args: SmokeArgs, globals: &Globals) -> Result<Finished> {
    let plan = Plan::read(args)?;
    let mut report = Report::default();
    let mut debts = Debts::default();
    // A step that failed has said so in the report, and nothing after it would mean anything.
    let _ = drive(&plan, globals, &mut report, &mut debts).await;
    report.check("clean up", debts.settle().await);
    let text = report.render(globals.json);
    Ok(if report.passed() {
        Finished::well(text)
    } else {
        Finished::failed(text)
    })
}

async fn drive(plan: &Plan, globals: &Globals, report: &mut Report, debts: &mut Debts) -> Option<()> {
    let place = report.note("hub", Place::find(plan, globals).await)?;
    let agent = report.note("agent", place.agent(plan, debts).await)?;
    let people = match plan.kind {
        Kind::Notify => None,
        Kind::Ask | Kind::Task => Some(report.note("person", people::gather(plan, &place).await)?),
    };
    let scratch = report.note("journal", Scratch::new())?;
    let listener = match plan.push {
        true => Some(report.note("callback", open_callback(plan, &place, &agent.id, debts).await)?),
        false => None,
    };
    let url = listener.as_ref().map(|listener| listener.url.clone());
    let trial = report.note("seal", Trial::prepare(plan, &place, agent, people, &scratch, url))?;
    let ticket = report.note("submit", trial.submit(debts).await)?;
    report.note("replay", trial.replay(&ticket).await)?;
    let Some(people) = &trial.people else {
        report.note("delivered", trial.delivered(&ticket).await)?;
        return Some(());
    };
    report.note("resolve", people.resolve(&ticket, plan.kind).await)?;
    debts.ticket = None;
    let (receiver, resolved) = match listener {
        Some(listener) => pushed(listener, &trial, &ticket, report).await?,
        None => pulled(&trial, &ticket, report).await?,
    };
    report.check("acted once", receiver.acted_once());
    report.check("changed state", trial.changed_state_is_refused(&resolved));
    report.check("fresh process", fresh::open(&trial, &resolved));
    Some(())
}

/// Listens, and has the host approved where the owner's right is at hand.
async fn open_callback(plan: &Plan, place: &Place, agent_id: &str, debts: &mut Debts) -> Result<(Listener, String)> {
    let listener = Listener::open(plan).await?;
    let host = listener.host()?;
    let approved = match &place.owner {
        Some(owner) => {
            debts.approve(owner, agent_id, &host).await?;
            format!("{host} is approved for {agent_id}")
        }
        None => format!("{host} must have been approved for {agent_id}"),
    };
    let words = format!("listening as {}; {approved}", listener.url);
    Ok((listener, words))
}

/// A receiver that checks with the agent's signing keys and with the public ones of the hub.
async fn open_receiver<'a>(trial: &'a Trial, ticket: &Ticket) -> Result<(Receiver<'a>, String)> {
    let hub_keys = trial.hub.public_keys().await?;
    let words = format!(
        "{} of the agent, {} of the hub",
        trial.signing_keys.len(),
        hub_keys.len()
    );
    Ok((Receiver::new(trial, ticket, &hub_keys), words))
}

/// The hub brings it twice: the first delivery is acted on and told to have failed, as after a crash of the receiver.
async fn pushed<'a>(
    mut listener: Listener,
    trial: &'a Trial,
    ticket: &Ticket,
    report: &mut Report,
) -> Option<(Receiver<'a>, Resolved)> {
    let receiver = report.note("keys", open_receiver(trial, ticket).await)?;
    let first = report.note("push", next(&mut listener, "the push").await)?;
    let Some(resolved) = report.note("verify", receiver.first(&first)) else {
        // The next attempt is told to have gone well, so that no failed delivery is left with the hub.
        let _ = next(&mut listener, "the second attempt").await;
        return None;
    };
    report.check("tampered copy", receiver.refuses_changes(&first));
    report.check("replayed copy", receiver.ignores_replay(&first));
    if let Some(second) = report.note("second delivery", next(&mut listener, "the second attempt").await) {
        report.check("duplicate", receiver.ignores_duplicate(&second));
    }
    report.check("same by pull", trial.same_by_pull(ticket, &resolved).await);
    Some((receiver, resolved))
}

async fn next(listener: &mut Listener, what: &str) -> Result<(Delivery, String)> {
    let delivery = tokio::time::timeout(PATIENCE, listener.next()).await;
    let delivery = delivery.ok().flatten().with_context(|| {
        format!(
            "{what} did not come within {} s; see `countersign delivery list`",
            PATIENCE.as_secs()
        )
    })?;
    let words = format!("{what} came, {} bytes", delivery.body.len());
    Ok((delivery, words))
}

async fn pulled<'a>(trial: &'a Trial, ticket: &Ticket, report: &mut Report) -> Option<(Receiver<'a>, Resolved)> {
    let receiver = Receiver::new(trial, ticket, &[]);
    let resolved = report.note("pull", ended(trial, ticket).await)?;
    report.check("act", receiver.acts_on(&resolved));
    let again = report.note("second pull", ended(trial, ticket).await)?;
    report.check("duplicate", receiver.ignores_pull(&again));
    Some((receiver, resolved))
}

async fn ended(trial: &Trial, ticket: &Ticket) -> Result<(Resolved, String)> {
    match trial
        .hub
        .wait(ticket, Until::Deadline(Instant::now() + PATIENCE))
        .await?
    {
        Progress::Ended(resolved) => {
            let words = format!(
                "{} is in the body, by {}",
                escape(&resolved.resolution_id),
                escape(&resolved.actor)
            );
            Ok((*resolved, words))
        }
        Progress::Open | Progress::Delivered => bail!("it is not resolved within {} s", PATIENCE.as_secs()),
    }
}

/// A name that nobody else has; the SDK's runs are named by random ids.
fn fresh_name() -> String {
    let run = Identity::new("smoke").run_id;
    format!(
        "smoke-{}",
        run.chars()
            .filter(char::is_ascii_alphanumeric)
            .take(12)
            .collect::<String>()
    )
}

fn open_journal(scratch: &Scratch) -> Result<Journal> {
    Ok(Journal::open(&scratch.path("journal.db"))?)
}
