//! `smoke`: runs the whole loop once against a running hub, as the agent and as the person who answers.

mod agent_half;
mod cleanup;
mod hub_access;
mod listener;
mod people;
mod plan;
mod receiver;
mod report;
mod scratch;
mod seal_key;
mod subprocess;
mod test_message;

use std::time::Duration;

use agent_half::AgentHalf;
use anyhow::{Context, Result, bail};
use cleanup::Cleanup;
use countersign_agent::{Identity, Journal, Kind, Progress, Resolved, Ticket, WaitUntil};
use countersign_client::screen::escape;
use hub_access::HubAccess;
use listener::{CallbackListener, ReceivedPush};
use plan::SmokePlan;
use receiver::SmokeReceiver;
use report::SmokeReport;
use scratch::ScratchDir;
use tokio::time::Instant;

use super::Finished;
use crate::args::{Globals, SmokeArgs};

/// Long enough for a busy hub, short enough for a waiting person.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);

pub async fn run(args: SmokeArgs, globals: &Globals) -> Result<Finished> {
    let plan = SmokePlan::read(args)?;
    let mut report = SmokeReport::default();
    let mut cleanup = Cleanup::default();
    // A failed step is in the report, and later steps would be meaningless.
    let _ = drive(&plan, globals, &mut report, &mut cleanup).await;
    report.check("clean up", cleanup.run().await);
    let text = report.render(globals.json);
    Ok(if report.passed() {
        Finished::ok(text)
    } else {
        Finished::failed(text)
    })
}

async fn drive(plan: &SmokePlan, globals: &Globals, report: &mut SmokeReport, cleanup: &mut Cleanup) -> Option<()> {
    let hub_access = report.record("hub", HubAccess::find(plan, globals).await)?;
    let agent = report.record("agent", hub_access.agent(plan, cleanup).await)?;
    let people = match plan.kind {
        Kind::Notify => None,
        Kind::Ask | Kind::Task => Some(report.record("person", people::gather(plan, &hub_access).await)?),
    };
    let scratch = report.record("journal", ScratchDir::new())?;
    let listener = match plan.push {
        true => Some(report.record("callback", open_callback(plan, &hub_access, &agent.id, cleanup).await)?),
        false => None,
    };
    let url = listener.as_ref().map(|listener| listener.url.clone());
    let agent_half = report.record(
        "seal",
        AgentHalf::prepare(plan, &hub_access, agent, people, &scratch, url),
    )?;
    let ticket = report.record("submit", agent_half.submit(cleanup).await)?;
    report.record("replay", agent_half.replay(&ticket).await)?;
    let Some(people) = &agent_half.people else {
        report.record("delivered", agent_half.delivered(&ticket).await)?;
        return Some(());
    };
    report.record("resolve", people.resolve(&ticket, plan.kind).await)?;
    cleanup.ticket = None;
    let (receiver, resolved) = match listener {
        Some(listener) => pushed(listener, &agent_half, &ticket, report).await?,
        None => pulled(&agent_half, &ticket, report).await?,
    };
    report.check("acted once", receiver.acted_once());
    report.check("changed state", agent_half.changed_state_is_refused(&resolved));
    report.check("fresh process", subprocess::open(&agent_half, &resolved));
    Some(())
}

/// Listens, and approves the host if the owner's token is available.
async fn open_callback(
    plan: &SmokePlan,
    hub_access: &HubAccess,
    agent_id: &str,
    cleanup: &mut Cleanup,
) -> Result<(CallbackListener, String)> {
    let listener = CallbackListener::open(plan).await?;
    let host = listener.host()?;
    let approved = match &hub_access.owner {
        Some(owner) => {
            cleanup.approve(owner, agent_id, &host).await?;
            format!("{host} is approved for {agent_id}")
        }
        None => format!("{host} must have been approved for {agent_id}"),
    };
    let words = format!("listening as {}; {approved}", listener.url);
    Ok((listener, words))
}

/// A receiver that verifies with the agent's signing keys and the hub's public keys.
async fn open_receiver<'a>(agent_half: &'a AgentHalf, ticket: &Ticket) -> Result<(SmokeReceiver<'a>, String)> {
    let hub_keys = agent_half.hub.public_keys().await?;
    let words = format!(
        "{} of the agent, {} of the hub",
        agent_half.signing_keys.len(),
        hub_keys.len()
    );
    Ok((SmokeReceiver::new(agent_half, ticket, &hub_keys), words))
}

/// The hub delivers twice: the first delivery is acted on and answered with an error, as after a crash of the
/// receiver.
async fn pushed<'a>(
    mut listener: CallbackListener,
    agent_half: &'a AgentHalf,
    ticket: &Ticket,
    report: &mut SmokeReport,
) -> Option<(SmokeReceiver<'a>, Resolved)> {
    let receiver = report.record("keys", open_receiver(agent_half, ticket).await)?;
    let first = report.record("push", next(&mut listener, "the push").await)?;
    let Some(resolved) = report.record("verify", receiver.first(&first)) else {
        // The next attempt succeeds, so that no failed delivery is left on the hub.
        let _ = next(&mut listener, "the second attempt").await;
        return None;
    };
    report.check("tampered copy", receiver.refuses_changes(&first));
    report.check("replayed copy", receiver.ignores_replay(&first));
    if let Some(second) = report.record("second delivery", next(&mut listener, "the second attempt").await) {
        report.check("duplicate", receiver.ignores_duplicate(&second));
    }
    report.check("same by pull", agent_half.same_by_pull(ticket, &resolved).await);
    Some((receiver, resolved))
}

async fn next(listener: &mut CallbackListener, what: &str) -> Result<(ReceivedPush, String)> {
    let delivery = tokio::time::timeout(STEP_TIMEOUT, listener.next()).await;
    let delivery = delivery.ok().flatten().with_context(|| {
        format!(
            "{what} did not arrive within {} s; see `countersign delivery list`",
            STEP_TIMEOUT.as_secs()
        )
    })?;
    let words = format!("{what} arrived, {} bytes", delivery.body.len());
    Ok((delivery, words))
}

async fn pulled<'a>(
    agent_half: &'a AgentHalf,
    ticket: &Ticket,
    report: &mut SmokeReport,
) -> Option<(SmokeReceiver<'a>, Resolved)> {
    let receiver = SmokeReceiver::new(agent_half, ticket, &[]);
    let resolved = report.record("pull", ended(agent_half, ticket).await)?;
    report.check("act", receiver.acts_on(&resolved));
    let again = report.record("second pull", ended(agent_half, ticket).await)?;
    report.check("duplicate", receiver.ignores_pull(&again));
    Some((receiver, resolved))
}

async fn ended(agent_half: &AgentHalf, ticket: &Ticket) -> Result<(Resolved, String)> {
    match agent_half
        .hub
        .wait(ticket, WaitUntil::Deadline(Instant::now() + STEP_TIMEOUT))
        .await?
    {
        Progress::Ended(resolved) => {
            let words = format!(
                "{} is in the body, by {}",
                escape(&resolved.resolution_id),
                escape(resolved.actor.as_deref().unwrap_or("the hub"))
            );
            Ok((*resolved, words))
        }
        Progress::Open | Progress::Delivered => bail!("it was not resolved within {} s", STEP_TIMEOUT.as_secs()),
    }
}

/// A unique name, taken from the SDK's random run ids.
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

fn open_journal(scratch: &ScratchDir) -> Result<Journal> {
    Ok(Journal::open(&scratch.path("journal.db"))?)
}
