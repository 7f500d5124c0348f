//! The test plan: from a skill, or an ask by push or by pull.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use countersign_agent::Kind;

use crate::args::{ReturnMode, SmokeArgs};
use crate::commands::skill::{ReturnPath, SkillSettings, check_resolver, read_skill};

pub struct SmokePlan {
    pub kind: Kind,
    pub push: bool,
    /// None for the hub of the data directory.
    pub hub: Option<String>,
    /// The hubs named by this person's flags and environment. The skill may come from another author, so no secret is
    /// sent to a hub named by the skill alone.
    pub trusted: Trusted,
    pub agent: Option<String>,
    pub resolvers: Vec<String>,
    pub token_env: String,
    pub signing_key_env: String,
    pub seal_key_env: String,
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
            (None, Some(mode)) => Self::of_mode(mode == ReturnMode::Push),
            (None, None) => bail!("name what to test: --skill DIR or --mode push|pull"),
        };
        if !plan.push && args.listen.is_some() {
            bail!("--listen is for push, and this test uses pull: leave it out");
        }
        if let Some(person) = &named
            && !plan.resolvers.is_empty()
            && !plan.resolvers.contains(person)
        {
            bail!(
                "--to {person} is not one of the skill's resolvers: {}",
                plan.resolvers.join(", ")
            );
        }
        plan.trusted.flag = args.hub;
        plan.person = named;
        plan.listen = args.listen;
        plan.callback = args.callback;
        Ok(plan)
    }

    fn of_skill(skill: SkillSettings) -> Self {
        Self {
            kind: skill.kind,
            push: matches!(skill.return_path, Some(ReturnPath::Push { .. })),
            hub: Some(skill.hub),
            trusted: Trusted {
                flag: None,
                environment: variable("COUNTERSIGN_URL"),
            },
            agent: Some(skill.agent),
            resolvers: skill.resolvers,
            token_env: skill.token_env,
            signing_key_env: skill.signing_key_env,
            seal_key_env: skill.seal_key_env,
            person: None,
            listen: None,
            callback: None,
        }
    }

    fn of_mode(push: bool) -> Self {
        Self {
            kind: Kind::Ask,
            push,
            hub: variable("COUNTERSIGN_URL"),
            trusted: Trusted {
                flag: None,
                environment: variable("COUNTERSIGN_URL"),
            },
            agent: variable("COUNTERSIGN_AGENT"),
            resolvers: Vec::new(),
            token_env: "COUNTERSIGN_TOKEN".to_owned(),
            signing_key_env: "COUNTERSIGN_SIGNING_KEY".to_owned(),
            seal_key_env: "COUNTERSIGN_SEAL_KEY".to_owned(),
            person: None,
            listen: None,
            callback: None,
        }
    }
}

/// An environment variable; an empty one counts as unset.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
