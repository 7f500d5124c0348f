//! The command line. `serve` runs when no command is named, so its flags also exist at the top level.

mod admin;
mod agent_commands;
mod ahead;
mod answer;
mod audit;
mod runs;
mod skill;
mod store;

use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use countersign_client::duration;

pub use admin::{
    AgentCommand, CallbackCommand, DeliveryCommand, DeliveryStateArg, KeyCommand, PersonCommand, RoleArg,
    SecretCommand, SignatureAlgArg,
};
pub use agent_commands::{
    AgentSideCommand, AskArgs, CancelArgs, ContentArgs, ExecArgs, JournalArgs, JournalCommand, KeyArgs, NotifyArgs,
    OpenArgs, ReceiveArgs, RequestArgs, SealArgs, SealFamily, SealKeyArgs, Span, TaskArgs, VerifyArgs, WaitArgs,
    callback_auth,
};
pub use ahead::AheadArgs;
pub use answer::{AnswerArgs, FieldArg};
pub use audit::{AuditCommand, VerifyAuditArgs};
pub use countersign_terminal::InboxArgs;
pub use runs::{ContinueArgs, RunArgs, RunsArgs, RunsCommand};
pub use skill::{BuildArgs, ReturnMode, SkillCommand, SkillKind, SmokeArgs};
pub use store::{CopyArgs, StoreCommand};

/// One inbox for every agent that has to ask a person.
///
/// Without a command it starts the hub, as `countersign serve` does. The other commands talk to a running hub: the one
/// named by COUNTERSIGN_URL and COUNTERSIGN_TOKEN, else the one that runs on the data directory. `ask` and the commands
/// after it are an agent's, the ones before it a person's.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, subcommand_precedence_over_arg = true)]
pub struct Cli {
    #[command(flatten)]
    pub globals: Globals,
    #[command(flatten)]
    pub serve: ServeArgs,
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

#[derive(Debug, Clone, Args)]
pub struct Globals {
    /// Print JSON for machines.
    #[arg(long, global = true)]
    pub json: bool,
    /// The data directory [default: $COUNTERSIGN_DATA, else $XDG_DATA_HOME/countersign, else ~/.local/share/countersign]
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Options of the hub")]
pub struct ServeArgs {
    /// Where to listen [default: 127.0.0.1:7422, or a free port when that one is taken]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// The address agents and people reach the hub by, when it stands behind a proxy.
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// Remember in a PostgreSQL that several hubs may share, instead of in the data directory. Where others can list
    /// processes, give it as COUNTERSIGN_DATABASE_URL or in the configuration file: it may hold a password.
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
    /// How long to wait at the start for a PostgreSQL that cannot be reached, such as 90s or 10m; 0 to end at once
    /// [default: 5m]
    #[arg(long, value_name = "SPAN", value_parser = span_or_zero)]
    pub wait_for_database: Option<Duration>,
    /// Networks of proxies, with commas between them, whose X-Forwarded-For is believed.
    #[arg(long, value_name = "NETWORKS", value_delimiter = ',')]
    pub trusted_proxies: Option<Vec<String>>,
    /// The configuration file (TOML); flags win over it.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The certificate chain (PEM) to serve TLS with.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key (PEM) of the certificate.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Serve plain HTTP beyond loopback: everybody on the way can read tokens and answers.
    #[arg(long)]
    pub allow_plain_http: bool,
    /// Development only: let callbacks go to this machine.
    #[arg(long)]
    pub allow_loopback_callbacks: bool,
    /// Leave the terminal: a session of its own, which closing the terminal does not end. It does not go to the
    /// background by itself.
    #[arg(long)]
    pub detached: bool,
    /// Log to this file instead of standard error. At 4 MiB it is renamed to FILE.old, and a new one begins.
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
    /// Start although hub.db has lost entries, because an older copy was put back or hub.db-wal is gone. The loss is
    /// noted in the audit trail.
    #[arg(long)]
    pub accept_data_loss: bool,
}

fn span_or_zero(text: &str) -> Result<Duration, String> {
    match text {
        "0" => Ok(Duration::ZERO),
        text => duration::read(text),
    }
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Start the hub (what happens without a command, too).
    Serve(ServeArgs),
    /// Say what is wrong with this set-up, and what to do about it.
    Doctor {
        /// A configuration file to check as well.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    #[command(flatten)]
    Client(ClientCommand),
    #[command(flatten)]
    AgentSide(AgentSideCommand),
    /// Skills: how the agents of an app ask, written down for a coding agent.
    #[command(subcommand)]
    Skill(SkillCommand),
    /// Prove the whole loop against a running hub: ask, answer, receive, act once.
    Smoke(SmokeArgs),
    /// The audit trail, which says who decided what.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// The store of a hub that is stopped.
    #[command(subcommand)]
    Store(StoreCommand),
}

#[derive(Debug, Subcommand)]
pub enum ClientCommand {
    /// Agents: who may ask, and with which token and signing key.
    #[command(subcommand)]
    Agent(AgentCommand),
    /// Secrets that an agent's callback names by `secret_ref` or `token_ref`.
    #[command(subcommand)]
    Secret(SecretCommand),
    /// People and their access tokens.
    #[command(subcommand)]
    Person(PersonCommand),
    /// What waits for a person, urgent first: a live list on a terminal, a plain one elsewhere.
    Inbox(InboxArgs),
    /// Show one message in full, with its audit trail.
    Show {
        /// The message.
        id: String,
    },
    /// Answer an ask, or complete or dismiss a task.
    Answer(AnswerArgs),
    /// Agents in terminals: where they are, and whether they wait.
    Terminals,
    /// Write ahead: a text that answers what an agent in a terminal asks next.
    Ahead(AheadArgs),
    /// Run a strategy and follow it here; where it asks, you answer.
    Run(RunArgs),
    /// Runs of strategies: which there are, one of them, following, stopping and continuing it.
    Runs(RunsArgs),
    /// Answers on their way to agents.
    #[command(subcommand)]
    Delivery(DeliveryCommand),
    /// The hub's own Ed25519 key.
    #[command(subcommand)]
    Key(KeyCommand),
}

impl Cli {
    /// Reads the command line of this process; a usage error is printed and ends it with code 2.
    pub fn read() -> Self {
        Self::parse().checked().unwrap_or_else(|error| error.exit())
    }

    /// Refuses hub flags before another command; clap can refuse all top-level flags there or none. `--json` and
    /// `--data` are fine, but `countersign --listen ADDR inbox` would silently ignore the address.
    fn checked(self) -> Result<Self, clap::Error> {
        if self.command.is_some() && self.serve != ServeArgs::default() {
            let message = "flags of the hub go after `serve`, or stand without any command";
            return Err(Self::command().error(ErrorKind::ArgumentConflict, message));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(std::iter::once("countersign").chain(line.split_whitespace())).and_then(Cli::checked)
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_means_serve_with_its_flags() {
        let cli = read("--listen 127.0.0.1:0 --data d").unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.serve.listen.as_deref(), Some("127.0.0.1:0"));
        let cli = read("serve --listen 127.0.0.1:0 --allow-loopback-callbacks --data d").unwrap();
        let Some(CliCommand::Serve(serve)) = cli.command else {
            panic!("not serve")
        };
        assert_eq!(serve.listen.as_deref(), Some("127.0.0.1:0"));
        assert!(serve.allow_loopback_callbacks);
        assert_eq!(cli.globals.data, Some("d".into()));
    }

    #[test]
    fn data_and_json_are_accepted_anywhere() {
        for line in [
            "--json --data d inbox",
            "inbox --json --data d",
            "agent callback add bot host.example --data d --json",
            "agent --data d add bot --json",
            "secret set bot NAME --json --data d",
            "answer msg_1 yes --json --data d",
            "doctor --data d --json",
            "run a.yaml --data d --json",
            "runs show r1 --json --data d",
            "ask --confirm Ship? --data d --json",
            "journal forget msg_1 --data d --json",
            "store copy --from a --to b --data d --json",
            "wait msg_1 --data d --json --exec deploy --json",
        ] {
            let globals = read(line).unwrap_or_else(|error| panic!("{line}: {error}")).globals;
            assert!(globals.json, "{line}");
            assert_eq!(globals.data, Some("d".into()), "{line}");
        }
    }

    #[test]
    fn flags_of_the_hub_are_refused_before_another_command() {
        let error = read("--listen 127.0.0.1:0 inbox").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ArgumentConflict);
        assert_eq!(error.exit_code(), 2);
        assert_eq!(read("--tls-cert cert.pem").unwrap_err().exit_code(), 2);
    }
}
