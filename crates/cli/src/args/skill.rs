//! `skill` and `smoke`: write a skill for an app's agents, and prove that it works.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use countersign_protocol::a2h::RUNTIMES;

use super::SignatureAlgArg;

#[derive(Debug, Subcommand)]
pub enum SkillCommand {
    /// Write a skill for the agents of an app; on a terminal, missing values are asked for.
    Build(Box<BuildArgs>),
    /// Check a skill that was written before, or changed by hand.
    Check {
        /// The directory with its SKILL.md.
        #[arg(value_name = "DIR")]
        skill: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct BuildArgs {
    /// What the skill is for.
    #[arg(value_enum)]
    pub kind: Option<SkillKind>,
    /// The name of the app: lower case letters, digits and hyphens. The skill is called APP-ask, APP-notify or APP-task.
    #[arg(long, value_name = "NAME")]
    pub app: Option<String>,
    /// The address of the hub.
    #[arg(long, value_name = "URL")]
    pub hub: Option<String>,
    /// The id of the agent, as the owner of the hub added it.
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Where the agent runs [default: cli]
    #[arg(long, value_name = "RUNTIME", value_parser = PossibleValuesParser::new(RUNTIMES))]
    pub runtime: Option<String>,
    /// The project the agent works on; it goes with every message.
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// How the outcome comes back; a notify has none.
    #[arg(long, value_enum)]
    pub mode: Option<ReturnMode>,
    /// Who may answer, such as human:alice; repeat for more.
    #[arg(long, value_name = "ACTOR")]
    pub to: Vec<String>,
    /// Where outcomes are pushed to, with --mode push.
    #[arg(long, value_name = "URL")]
    pub callback: Option<String>,
    /// What pushes to this agent are signed with [default: read from the hub of the data directory]
    #[arg(long, value_enum)]
    pub signature_alg: Option<SignatureAlgArg>,
    /// A secret of the agent that pushes carry, by the name it has at the hub: hmac=NAME (signs in the place of the
    /// signing key), bearer=NAME or apikey=NAME.
    #[arg(long, value_name = "SCHEME=NAME")]
    pub callback_auth: Option<String>,
    /// The environment variable with the agent's token [default: COUNTERSIGN_TOKEN]
    #[arg(long, value_name = "NAME")]
    pub token_env: Option<String>,
    /// The environment variable with the key that pushed outcomes are signed with [default: COUNTERSIGN_SIGNING_KEY]
    #[arg(long, value_name = "NAME")]
    pub signing_key_env: Option<String>,
    /// The environment variable with the key that the agent seals its state with [default: COUNTERSIGN_SEAL_KEY]
    #[arg(long, value_name = "NAME")]
    pub seal_key_env: Option<String>,
    /// The directory with the app's skills, or with --plugin the root of the plugin.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Make an installable plugin: a manifest and a marketplace file besides the skill.
    #[arg(long)]
    pub plugin: bool,
    /// Replace files that are there already.
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct SmokeArgs {
    /// Test what the skill in this directory says.
    #[arg(long, value_name = "DIR", conflicts_with = "mode")]
    pub skill: Option<PathBuf>,
    /// Test an ask whose outcome comes back this way [default: pull]
    #[arg(long, value_enum)]
    pub mode: Option<ReturnMode>,
    /// The hub that the skill names, when it is neither that of COUNTERSIGN_URL nor that of the data directory: tokens
    /// are sent there only if it is named here too.
    #[arg(long, value_name = "URL", requires = "skill", conflicts_with = "mode")]
    pub hub: Option<String>,
    /// Whom COUNTERSIGN_PERSON_TOKEN stands for, such as human:alice.
    #[arg(long, value_name = "ACTOR")]
    pub to: Option<String>,
    /// Where to listen for the push [default: a free port on loopback]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<SocketAddr>,
    /// The address that reaches --listen from the hub, for a hub on another machine.
    #[arg(long, value_name = "URL", requires = "listen")]
    pub callback: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SkillKind {
    /// Put a decision in front of a person.
    Ask,
    /// Tell people something.
    Notify,
    /// Give a person something to do.
    Task,
}

/// How an outcome comes back to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReturnMode {
    /// The hub brings it, signed.
    Push,
    /// The agent fetches it.
    Pull,
}
