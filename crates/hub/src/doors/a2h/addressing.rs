//! Who a submitted message is for. From MA2H 0.5 on an envelope can address agents; this hub delivers to people only, so
//! such an envelope is refused instead of being shown to people. An ask or a task must name a resolver that exists:
//! otherwise it would wait forever.

use countersign_core::Actor;
use countersign_core::message::Content;
use countersign_protocol::a2h::{Envelope, Kind};

use crate::Hub;
use crate::problem::Problem;

/// The first minor version with `to`, `agent.session` and resolvers that name a session.
const ADDRESSED_SINCE: u32 = 5;
/// Keeps the error short on a hub with many people.
const MAX_SUGGESTED_PEOPLE: usize = 10;

/// Refuses an envelope that addresses an agent or a session.
pub fn check_destination(envelope: &Envelope) -> Result<(), Problem> {
    let is_addressable = envelope.version.minor >= ADDRESSED_SINCE;
    if let Some(to) = &envelope.to {
        if !is_addressable {
            return Err(too_early("to"));
        }
        if !to.as_str().is_some_and(is_agent_address) {
            return Err(Problem::validation("to", "`to` must be agent:ID or agent:ID#sess_…"));
        }
        let message = "this hub delivers to people only: leave out `to` and name them in allowed_resolvers".to_owned();
        return Err(Problem::NotAuthorized { message });
    }
    if let Some(session) = &envelope.session {
        if !is_addressable {
            return Err(too_early("agent.session"));
        }
        if !session.as_str().is_some_and(is_session_id) {
            return Err(Problem::validation("agent.session", "`agent.session` must be sess_…"));
        }
        return Err(Problem::invalid(
            "agent.session",
            "this hub has no sessions: leave it out",
        ));
    }
    if !is_addressable {
        return Ok(());
    }
    let (section, named) = named_resolvers(envelope);
    match named.iter().find(|actor| has_session(actor)) {
        Some(actor) if !is_agent_address(actor) => Err(Problem::validation(
            &format!("{section}.allowed_resolvers"),
            format!("{actor} must be agent:ID or agent:ID#sess_…"),
        )),
        Some(actor) => Err(Problem::invalid(
            format!("{section}.allowed_resolvers"),
            format!("{actor} names a session, and this hub has none: name the agent or a person"),
        )),
        None => Ok(()),
    }
}

/// Refuses an ask or a task that no existing account can resolve. Returns a notice for one that only its own agent can:
/// the wire demands acceptance of an ask without `allowed_resolvers`, which means just that.
pub async fn check_resolvers(hub: &Hub, kind: Kind, content: &Content) -> Result<Option<&'static str>, Problem> {
    let section = match kind {
        Kind::Notify => return Ok(None),
        Kind::Ask => "request",
        Kind::Task => "action",
    };
    if !hub.auth.resolvers.is_stranded(&hub.store, content).await? {
        return Ok(None);
    }
    if content.resolvers.contains(&Actor::agent(&content.agent.id)) {
        return Ok(Some(
            "no person can answer this, because allowed_resolvers names no other account that exists",
        ));
    }
    let message = format!(
        "names no account that may answer; names must match exactly; {}",
        suggestion(hub).await?
    );
    Err(Problem::invalid(format!("{section}.allowed_resolvers"), message))
}

/// The people to name instead. An agent may know them: it has to name them, and answers carry their names.
async fn suggestion(hub: &Hub) -> Result<String, Problem> {
    let people = hub.auth.resolvers.people(&hub.store).await?;
    let shown: Vec<&str> = people.iter().take(MAX_SUGGESTED_PEOPLE).map(Actor::as_str).collect();
    Ok(match people.len().checked_sub(MAX_SUGGESTED_PEOPLE) {
        None | Some(0) => format!("who may answer: {}", shown.join(", ")),
        Some(more) => format!("who may answer: {} and {more} more", shown.join(", ")),
    })
}

fn too_early(field: &str) -> Problem {
    Problem::invalid(
        field,
        "needs ma2h_version 0.5 or later; this hub delivers to people only: leave it out",
    )
}

fn named_resolvers(envelope: &Envelope) -> (&'static str, &[String]) {
    let (section, named) = match (&envelope.request, &envelope.action) {
        (Some(request), _) => ("request", request.allowed_resolvers.as_deref()),
        (None, Some(action)) => ("action", action.allowed_resolvers.as_deref()),
        (None, None) => ("", None),
    };
    (section, named.unwrap_or_default())
}

/// `#` separates an agent's id from its session.
fn has_session(actor: &str) -> bool {
    actor.starts_with("agent:") && actor.contains('#')
}

fn is_agent_address(text: &str) -> bool {
    let Some(address) = text.strip_prefix("agent:") else {
        return false;
    };
    match address.split_once('#') {
        Some((id, session)) => !id.is_empty() && is_session_id(session),
        None => !address.is_empty(),
    }
}

fn is_session_id(text: &str) -> bool {
    text.strip_prefix("sess_").is_some_and(|id| !id.is_empty())
}
