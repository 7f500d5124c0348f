//! Checks of the running hub: whether it answers, and the state it reports.

use countersign_client::hub::{ClientError, HubClient, typed};
use countersign_protocol::api::admin::{HubStatus, ListedAgent, ListedCallback};
use reqwest::header::DATE;
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Finding, Level, accounts, clock, damage};
use crate::args::DeliveryStateArg;
use crate::commands::admin::callback;
use crate::commands::admin::delivery;

/// Enough to show that deliveries failed.
const MAX_LISTED_DELIVERIES: u32 = 100;

pub async fn check(client: &HubClient) -> Vec<Finding> {
    let mut findings: Vec<Finding> = clear_text(client).into_iter().collect();
    let Some(health) = answers(client, &mut findings).await else {
        return findings;
    };
    let status = client.get(&["v1", "admin", "status"], &[]).await;
    let status_now = status.as_ref().ok().and_then(|status| status["now"].as_str());
    findings.extend(clock::check(date(&health), status_now, jiff::Timestamp::now()));
    match status {
        Ok(status) => findings.extend(inner_state(&status, client).await),
        Err(error) if error.is_forbidden() => {
            let message = "this token is not an owner's: the hub's inner state is not checked";
            findings.push(Finding::warn("status", message, "use an owner's token to see it"));
        }
        Err(error) => findings.push(Finding::fail(
            "status",
            error.to_string(),
            "check the token and the hub's log",
        )),
    }
    findings
}

fn clear_text(client: &HubClient) -> Option<Finding> {
    let location = client.location();
    let exposed = location.url.scheme() == "http" && !location.is_loopback();
    exposed.then(|| {
        let message = format!("the token travels in clear text to {}", location.shown_url());
        Finding::warn("transport", message, "serve TLS, or use a tunnel")
    })
}

fn date(reply: &Response) -> Option<&str> {
    reply.headers().get(DATE).and_then(|date| date.to_str().ok())
}

/// The reply of a healthy hub; all other checks depend on it.
async fn answers(client: &HubClient, findings: &mut Vec<Finding>) -> Option<Response> {
    let health = match client.probe(&["health"]).await {
        Ok(health) => health,
        Err(error) => {
            findings.push(Finding::fail(
                "health",
                error.to_string(),
                "if it should be running, look at its log",
            ));
            return None;
        }
    };
    findings.push(state("health", "answers", health.status(), client));
    findings.push(match client.probe(&["ready"]).await {
        Ok(ready) => state("ready", "is ready", ready.status(), client),
        Err(error) => Finding::fail("ready", error.to_string(), "look at the hub's log"),
    });
    Some(health).filter(|health| health.status() == StatusCode::OK)
}

fn state(check: &'static str, good: &str, status: StatusCode, client: &HubClient) -> Finding {
    let hub = client.location().shown_url();
    match status {
        StatusCode::OK => Finding::ok(check, format!("the hub at {hub} {good}")),
        _ => Finding::fail(
            check,
            format!("/{check} of {hub} says {status}"),
            "look at the hub's log",
        ),
    }
}

async fn inner_state(status: &Value, client: &HubClient) -> Vec<Finding> {
    let mut findings = match typed::<HubStatus>(status) {
        Ok(status) => {
            let reach = accounts::reach(&status);
            let mut findings = own_warnings(&status.version, status.warnings);
            findings.extend(damage::met_by_hub(status.faults));
            findings.push(reach);
            findings
        }
        Err(error) => vec![Finding::fail(
            "status",
            error.to_string(),
            "use the hub's own version of this program",
        )],
    };
    let callbacks = callback::list(None, client).await;
    findings.push(checked("callbacks", callbacks, waiting_hosts));
    let failed = delivery::list(Some(DeliveryStateArg::Failed), Some(MAX_LISTED_DELIVERIES), client).await;
    findings.push(checked("deliveries", failed, failed_deliveries));
    let people = client.get_field(&["v1", "admin", "people"], &[], "people").await;
    findings.push(checked("people", people, accounts::people_who_can_answer));
    let agents = client.get_field(&["v1", "admin", "agents"], &[], "agents").await;
    match agents.and_then(|reply| typed::<Vec<ListedAgent>>(&reply)) {
        Ok(agents) => findings.extend([
            accounts::agents_without_token(&agents),
            accounts::agents_that_never_called(&agents),
        ]),
        Err(error) => findings.push(Finding::fail("agents", error.to_string(), "look at the hub's log")),
    }
    findings
}

fn checked<T: DeserializeOwned>(
    check: &'static str,
    reply: Result<Value, ClientError>,
    judge: impl FnOnce(T) -> Finding,
) -> Finding {
    match reply.and_then(|reply| typed(&reply)) {
        Ok(known) => judge(known),
        Err(error) => Finding::fail(check, error.to_string(), "look at the hub's log"),
    }
}

fn own_warnings(version: &str, warnings: Vec<String>) -> Vec<Finding> {
    if warnings.is_empty() {
        return vec![Finding::ok(
            "status",
            format!("the hub (version {version}) has no warnings"),
        )];
    }
    // The hub's warnings already include advice.
    let warning = |message| Finding {
        check: "status",
        level: Level::Warn,
        message,
    };
    warnings.into_iter().map(warning).collect()
}

fn waiting_hosts(callbacks: Vec<ListedCallback>) -> Finding {
    let waiting: Vec<String> = callbacks
        .into_iter()
        .filter(|callback| callback.state.as_deref() == Some("pending"))
        .map(|callback| format!("{} of {}", callback.host, callback.agent_id))
        .collect();
    if waiting.is_empty() {
        return Finding::ok("callbacks", "no callback host waits for approval");
    }
    let message = format!("callback hosts wait for approval: {}", waiting.join(", "));
    Finding::warn("callbacks", message, "`countersign agent callback approve AGENT HOST`")
}

fn failed_deliveries(failed: Vec<Value>) -> Finding {
    let more = if failed.len() >= MAX_LISTED_DELIVERIES as usize {
        " or more"
    } else {
        ""
    };
    match failed.len() {
        0 => Finding::ok("deliveries", "no delivery has failed"),
        count => {
            let message = format!("deliveries that failed for good: {count}{more}");
            let advice = "`countersign delivery list --state failed`, then `countersign delivery retry ID`";
            Finding::warn("deliveries", message, advice)
        }
    }
}
