//! `doctor`: checks an installation and prints one line per finding, with advice.

mod accounts;
mod clock;
mod config;
mod damage;
mod files;
mod hub;
mod store;

use std::path::Path;

use anyhow::Result;
use countersign_client::data_dir;
use countersign_client::hub::{AddressSource, HubClient, HubLocation};
use countersign_client::screen;
use serde::Serialize;

use super::Finished;
use crate::args::Globals;

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Ok,
    Warn,
    Fail,
}

#[derive(Debug, Serialize)]
pub struct Finding {
    check: &'static str,
    level: Level,
    message: String,
}

impl Finding {
    fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self {
            check,
            level: Level::Ok,
            message: message.into(),
        }
    }

    fn warn(check: &'static str, message: impl Into<String>, advice: &str) -> Self {
        Self {
            check,
            level: Level::Warn,
            message: format!("{} — {advice}", message.into()),
        }
    }

    fn fail(check: &'static str, message: impl Into<String>, advice: &str) -> Self {
        Self {
            check,
            level: Level::Fail,
            message: format!("{} — {advice}", message.into()),
        }
    }
}

pub async fn run(config: Option<&Path>, globals: &Globals) -> Result<Finished> {
    let data = || data_dir::resolve(globals.data.as_deref());
    let mut findings: Vec<Finding> = config.map(config::check).into_iter().collect();
    let client = HubLocation::find(data).and_then(HubClient::new);
    // A hub named by the environment has its files on another machine.
    let elsewhere = client
        .as_ref()
        .is_ok_and(|client| client.location().source == AddressSource::Environment);
    if !elsewhere {
        let data = data()?;
        findings.extend(files::check(&data));
        findings.extend(store::check(&data));
        findings.extend(damage::in_file(&data).await);
    }
    match client {
        Ok(client) => findings.extend(hub::check(&client).await),
        Err(error) => findings.push(Finding::fail(
            "hub",
            format!("{error:#}"),
            "fix this first: nothing else can be checked",
        )),
    }
    let text = render(&findings, globals.json)?;
    let ok = findings.iter().all(|finding| finding.level != Level::Fail);
    Ok(if ok { Finished::ok(text) } else { Finished::failed(text) })
}

fn render(findings: &[Finding], json: bool) -> Result<String> {
    if json {
        return Ok(screen::json(&serde_json::to_value(findings)?));
    }
    let line = |finding: &Finding| {
        let level = match finding.level {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "fail",
        };
        format!("{level:<4}  {}\n", screen::escape(&finding.message))
    };
    Ok(findings.iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line_with_its_advice() {
        let findings = [
            Finding::ok("hub", "it runs"),
            Finding::warn("clock", "it is\nslow", "set it"),
        ];
        assert_eq!(
            render(&findings, false).unwrap(),
            "ok    it runs\nwarn  it is\\nslow — set it\n"
        );
        let json = render(&findings, true).unwrap();
        assert!(
            json.contains(r#"{"check":"hub","level":"ok","message":"it runs"}"#),
            "{json}"
        );
    }
}
