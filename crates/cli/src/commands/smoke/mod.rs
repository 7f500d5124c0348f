//! `smoke`: runs the whole loop once against a running hub, as the agent and as the person who answers. The agent's part
//! is done by the commands of the skill's page, so that a page whose commands do not work fails here.

mod agent_half;
mod cleanup;
mod hub_access;
mod listener;
mod missing;
mod page_commands;
mod people;
mod plan;
mod receiver;
mod report;
mod scratch;
mod subprocess;
mod test_message;
mod waiter;

use std::io::{IsTerminal, stderr, stdin};
use std::time::Duration;

use agent_half::{AgentHalf, SentMessage};
use anyhow::{Context, Result, bail};
use cleanup::Cleanup;
use countersign_agent::{Identity, Kind};
use hub_access::{HubAccess, SmokeAgent};
use listener::{CallbackListener, ReceivedPush};
use page_commands::PageCommands;
use people::People;
use plan::{SmokePlan, variable};
use receiver::PageReceiver;
use report::SmokeReport;
pub use scratch::ScratchDir;
use serde_json::Value;
use subprocess::PageProcess;

use super::{Finished, local_hub};
use crate::args::{Globals, SmokeArgs};
use crate::commands::skill::{PushSettings, SkillSettings, TerminalPrompt};

/// Long enough for a busy hub, short enough for a waiting person.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);

pub async fn run(args: SmokeArgs, globals: &Globals) -> Result<Finished> {
    let mut plan = SmokePlan::read(args)?;
    if !globals.json && stdin().is_terminal() {
        let (mut input, mut output) = (stdin().lock(), stderr().lock());
        let has_hub = local_hub::owner(globals)?.is_some();
        let prompt = TerminalPrompt::new(&mut input, &mut output);
        missing::ask(&mut plan, has_hub, |name| variable(name).is_some(), prompt)?;
    }
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
    let kind = plan.settings.kind;
    let hub_access = report.record("hub", HubAccess::find(plan, globals).await)?;
    let agent = report.record("agent", hub_access.agent(plan, cleanup).await)?;
    let people = match kind {
        Kind::Notify => None,
        Kind::Ask | Kind::Task => Some(report.record("person", people::gather(plan, &hub_access).await)?),
    };
    let (settings, page) = report.record("page", read_page(plan, &hub_access, &agent, people.as_ref()))?;
    let scratch = report.record("journal", scratch_dir())?;
    let listener = match settings.push() {
        Some(_) => Some(report.record("callback", open_callback(plan, &hub_access, &agent.id, cleanup).await)?),
        None => None,
    };
    let url = listener.as_ref().map(|listener| listener.url.clone());
    let prepared = prepare((settings, page), &hub_access, agent, scratch, url);
    let agent_half = match (prepared, &people) {
        (Ok((agent_half, text)), Some(_)) => {
            report.record("seal", agent_half.seal(text).await)?;
            agent_half
        }
        (Ok((agent_half, _)), None) => agent_half,
        (Err(error), _) => return report.record("seal", Err(error)),
    };
    let sent = report.record("submit", agent_half.submit(people.as_ref(), cleanup).await)?;
    report.record("replay", agent_half.replay(&sent).await)?;
    let Some(people) = &people else {
        return report.record("delivered", agent_half.delivered(&sent).await);
    };
    report.record("resolve", people.resolve(&sent, kind).await)?;
    cleanup.resolved();
    let outcome = match listener {
        Some(listener) => pushed(listener, &agent_half, report).await?,
        None => pull_answer(&agent_half, report).await?,
    };
    check_outcome(&agent_half, &sent, &outcome, report).await;
    Some(())
}

fn scratch_dir() -> Result<(ScratchDir, String)> {
    let scratch = ScratchDir::new(&fresh_name())?;
    let text = format!("stored in {} during the test", scratch.directory().display());
    Ok((scratch, text))
}

/// The page's commands, and whether the keys they name are there.
fn read_page(
    plan: &SmokePlan,
    hub_access: &HubAccess,
    agent: &SmokeAgent,
    people: Option<&People>,
) -> Result<((SkillSettings, PageCommands), String)> {
    let resolvers = people.map(|people| people.resolvers.as_slice()).unwrap_or_default();
    let (settings, page) = plan.page(hub_access, agent, resolvers)?;
    let name = &settings.signing_key_env;
    let is_set = variable(name).is_some() || agent.variables.iter().any(|(known, _)| known == name);
    if settings.push().is_some_and(PushSettings::has_shared_key) && !is_set {
        bail!("{name} is not set: it must hold the signing key of {}", agent.id);
    }
    let commands = PageCommands::read(&page, &settings)?;
    let text = format!("the commands of {} are run as the page shows them", settings.name());
    Ok(((settings, commands), text))
}

fn prepare(
    (settings, page): (SkillSettings, PageCommands),
    hub_access: &HubAccess,
    agent: SmokeAgent,
    scratch: ScratchDir,
    url: Option<String>,
) -> Result<(AgentHalf, String)> {
    let (process, text) = PageProcess::new(&settings, hub_access, &agent, &scratch)?;
    let client = hub_access.client(&agent)?;
    let agent_half = AgentHalf::new((page, process), settings, (agent.id, client), scratch, url);
    Ok((agent_half, text))
}

async fn check_outcome(agent_half: &AgentHalf, sent: &SentMessage, outcome: &Value, report: &mut SmokeReport) {
    report.check("same by pull", agent_half.same_by_pull(sent, outcome).await);
    report.check("acted once", agent_half.acted_once());
    report.check("changed state", agent_half.changed_state_is_refused(outcome).await);
    report.check("fresh process", agent_half.open_in_new_process(outcome).await);
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
    let text = format!("listening as {}; {approved}", listener.url);
    Ok((listener, text))
}

/// The hub delivers twice: the first delivery is acted on and answered with an error, as after a crash of the
/// receiver.
async fn pushed(mut listener: CallbackListener, agent_half: &AgentHalf, report: &mut SmokeReport) -> Option<Value> {
    let receiver = report.record("receiver", PageReceiver::start(agent_half).await)?;
    let first = report.record("push", next(&mut listener, "the push").await)?;
    let outcome = match report.record("verify", receiver.verify(&first).await) {
        Some(()) => {
            report.check("credential", receiver.has_credential(&first));
            report.check("tampered copy", receiver.refuses_changes(&first).await);
            report.record("act", receiver.acts_on(&first).await)
        }
        None => None,
    };
    let Some(outcome) = outcome else {
        // The next attempt succeeds, so that no failed delivery is left on the hub.
        let _ = next(&mut listener, "the second attempt").await;
        return None;
    };
    let replayed = receiver.ignores(&first, "its jti was seen before").await;
    report.check("replayed copy", replayed);
    if let Some(second) = report.record("second delivery", next(&mut listener, "the second attempt").await) {
        report.check("duplicate", receiver.ignores(&second, "the same outcome again").await);
    }
    Some(outcome)
}

async fn next(listener: &mut CallbackListener, what: &str) -> Result<(ReceivedPush, String)> {
    let delivery = tokio::time::timeout(STEP_TIMEOUT, listener.next()).await;
    let delivery = delivery.ok().flatten().with_context(|| {
        format!(
            "{what} did not arrive within {} s; see `countersign delivery list`",
            STEP_TIMEOUT.as_secs()
        )
    })?;
    let text = format!("{what} arrived, {} bytes", delivery.body.len());
    Ok((delivery, text))
}

async fn pull_answer(agent_half: &AgentHalf, report: &mut SmokeReport) -> Option<Value> {
    let outcome = report.record("pull", waiter::first(agent_half).await)?;
    report.check("duplicate", waiter::again(agent_half).await);
    Some(outcome)
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
