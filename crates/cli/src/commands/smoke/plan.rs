//! The test plan: from a skill, or an ask by push or by pull.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use countersign_agent::Kind;

use super::hub_access::{HubAccess, SmokeAgent};
use crate::args::{ReturnMode, SignatureAlgArg, SmokeArgs};
use crate::commands::skill::{
    DEFAULT_RUNTIME, PushSettings, ReturnPath, SkillSettings, check_resolver, read_skill, render_page,
};

pub struct SmokePlan {
    /// The settings of the skill; those of a test without a skill have no hub, agent and callback yet.
    pub settings: SkillSettings,
    /// The page whose commands are run; none for a test without a skill.
    page: Option<String>,
    /// None for the hub of the data directory.
    pub hub: Option<String>,
    /// The hubs named by this person's flags and environment. The skill may come from another author, so no secret is
    /// sent to a hub named by the skill alone.
    pub trusted: Trusted,
    pub agent: Option<String>,
    /// The person that the token in the environment belongs to.
    pub person: Option<String>,
    pub listen: Option<SocketAddr>,
    pub callback: Option<String>,
}

/// Where tokens may be sent, besides the hub of the data directory.
pub struct Trusted {
    /// The value of `--hub`.
    pub flag: Option<String>,
    /// The value of COUNTERSIGN_URL.
    pub environment: Option<String>,
}

impl SmokePlan {
    pub fn read(args: SmokeArgs) -> Result<Self> {
        let named = args
            .to
            .or_else(|| variable("COUNTERSIGN_TO"))
            .map(|to| check_resolver(&to))
            .transpose();
        let named = named.context("--to")?;
        let mut plan = match (&args.skill, args.mode) {
            (Some(skill), _) => Self::of_skill(read_skill(skill)?),
            (None, mode) => Self::of_mode(mode.unwrap_or(ReturnMode::Pull)),
        };
        let resolvers = &plan.settings.resolvers;
        if plan.settings.push().is_none() && args.listen.is_some() {
            bail!("--listen is for push, and this test uses pull: leave it out");
        }
        if let Some(person) = &named
            && !resolvers.is_empty()
            && !resolvers.contains(person)
        {
            bail!(
                "--to {person} is not one of the skill's resolvers: {}",
                resolvers.join(", ")
            );
        }
        plan.trusted.flag = args.hub;
        plan.person = named;
        plan.listen = args.listen;
        plan.callback = args.callback;
        Ok(plan)
    }

    fn of_skill((settings, page): (SkillSettings, String)) -> Self {
        Self {
            page: Some(page),
            hub: Some(settings.hub.clone()),
            agent: Some(settings.agent.clone()),
            ..Self::of_settings(settings)
        }
    }

    fn of_mode(mode: ReturnMode) -> Self {
        let return_path = match mode {
            ReturnMode::Pull => ReturnPath::Pull,
            ReturnMode::Push => ReturnPath::Push(PushSettings {
                callback: String::new(),
                signature_alg: SignatureAlgArg::HmacSha256,
                auth: None,
            }),
        };
        Self {
            hub: variable("COUNTERSIGN_URL"),
            agent: variable("COUNTERSIGN_AGENT"),
            ..Self::of_settings(SkillSettings {
                kind: Kind::Ask,
                app: "smoke".to_owned(),
                hub: String::new(),
                agent: String::new(),
                runtime: DEFAULT_RUNTIME.to_owned(),
                project: None,
                return_path: Some(return_path),
                resolvers: Vec::new(),
                token_env: "COUNTERSIGN_TOKEN".to_owned(),
                signing_key_env: "COUNTERSIGN_SIGNING_KEY".to_owned(),
                seal_key_env: "COUNTERSIGN_SEAL_KEY".to_owned(),
            })
        }
    }

    fn of_settings(settings: SkillSettings) -> Self {
        Self {
            settings,
            page: None,
            hub: None,
            trusted: Trusted {
                flag: None,
                environment: variable("COUNTERSIGN_URL"),
            },
            agent: None,
            person: None,
            listen: None,
            callback: None,
        }
    }

    /// What pushes are signed with if the hub does not say: as in the page. A test without one checks with the signing
    /// key if there is one, else with the hub's keys.
    pub fn signature_alg(&self) -> SignatureAlgArg {
        let has_key = variable(&self.settings.signing_key_env).is_some();
        match self.settings.push() {
            Some(push) if self.page.is_some() || has_key => push.signature_alg,
            Some(_) if variable(&self.settings.token_env).is_some() => SignatureAlgArg::Ed25519,
            Some(_) | None => SignatureAlgArg::HmacSha256,
        }
    }

    /// The page under test with its settings. A test without a skill builds the page that an app would get.
    pub fn page(&self, hub: &HubAccess, agent: &SmokeAgent, resolvers: &[String]) -> Result<(SkillSettings, String)> {
        if let Some(page) = &self.page {
            return Ok((self.settings.clone(), page.clone()));
        }
        let mut settings = self.settings.clone();
        settings.hub = hub.location.url.to_string();
        settings.agent = agent.id.clone();
        settings.resolvers = resolvers.to_vec();
        if let Some(ReturnPath::Push(push)) = &mut settings.return_path {
            push.callback = "http://127.0.0.1/callback".to_owned();
            push.signature_alg = agent.signature_alg;
        }
        let page = render_page(&settings)?;
        Ok((settings, page))
    }
}

/// A test without a skill, before the environment has been read.
#[cfg(test)]
pub fn sample() -> SmokePlan {
    SmokePlan {
        hub: None,
        agent: None,
        ..SmokePlan::of_mode(ReturnMode::Pull)
    }
}

/// An environment variable; an empty one counts as unset.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
