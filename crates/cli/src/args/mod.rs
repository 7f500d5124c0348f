//! The command line. `serve` runs when no command is named, so its flags also exist at the top level.

mod admin;
mod agent_commands;
mod ahead;
mod answer;
mod audit;
mod demo;
mod help;
mod log;
mod runs;
mod skill;
mod store;

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, ColorChoice, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
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
pub use demo::DemoArgs;
pub use help::{grouped, groups};
pub use log::LogArgs;
pub use runs::{ContinueArgs, RunArgs, RunsArgs, RunsCommand};
pub use skill::{BuildArgs, ReturnMode, SkillCommand, SkillKind, SmokeArgs};
pub use store::{CopyArgs, StoreCommand};

/// One inbox for every agent that has to ask a person.
///
/// Without a command it starts the hub, as `countersign serve` does. The other commands talk to a running hub: the one
/// named by COUNTERSIGN_URL and COUNTERSIGN_TOKEN, else the one that runs on the data directory.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, subcommand_precedence_over_arg = true)]
pub struct Cli {
    #[command(flatten)]
    pub serve: ServeArgs,
    #[command(flatten)]
    pub globals: Globals,
    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Globals {
    /// Print JSON for machines.
    #[arg(long, global = true)]
    pub json: bool,
    /// The data directory [default: $COUNTERSIGN_DATA, else $XDG_DATA_HOME/countersign, else ~/.local/share/countersign]
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = ColorArg::Auto, hide_possible_values = true)]
    #[arg(help = "When to use colours: auto, always or never; NO_COLOR counts as never in auto")]
    pub color: ColorArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    Auto,
    Always,
    Never,
}

impl ColorArg {
    /// Whether a terminal gets colours.
    pub fn allows(self) -> bool {
        match self {
            Self::Auto => std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

#[derive(Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Options of the hub")]
pub struct ServeArgs {
    /// Where to listen [default: 127.0.0.1:7422, or a free port when that one is taken]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// Let phones in the same network reach the hub: over TLS, with a certificate made for this machine's address or for
    /// ADDR.
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, conflicts_with_all = ["public_url", "tls_cert", "allow_plain_http"])]
    pub lan: Option<Option<IpAddr>>,
    /// The address that agents and people use, for a hub behind a proxy.
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// Store in a PostgreSQL that several hubs may share, instead of in the data directory. Where other users can list
    /// processes, use COUNTERSIGN_DATABASE_URL or the configuration file: the URL may hold a password.
    #[arg(long, value_name = "URL")]
    pub database_url: Option<String>,
    /// How long to wait at the start for a PostgreSQL that cannot be reached, such as 90s or 10m; 0 exits at once
    /// [default: 5m]
    #[arg(long, value_name = "SPAN", value_parser = span_or_zero)]
    pub wait_for_database: Option<Duration>,
    /// Networks of proxies whose X-Forwarded-For is trusted, separated by commas.
    #[arg(long, value_name = "NETWORKS", value_delimiter = ',')]
    pub trusted_proxies: Option<Vec<String>>,
    /// The configuration file (TOML); flags override it.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The certificate chain (PEM) to serve TLS with.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key (PEM) of the certificate.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Serve plain HTTP beyond loopback: anyone on the network path can read tokens and answers.
    #[arg(long)]
    pub allow_plain_http: bool,
    /// Development only: allow callbacks to this machine.
    #[arg(long)]
    pub allow_loopback_callbacks: bool,
    /// Run in a session of its own, so that closing the terminal does not stop the hub. It stays in the foreground.
    #[arg(long)]
    pub detached: bool,
    /// Log to this file instead of standard error. At 4 MiB it is renamed to FILE.old, and a new one is started.
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
    #[command(flatten)]
    pub log: LogArgs,
    /// Start although hub.db has lost entries, because an older copy was restored or hub.db-wal is gone. The loss is
    /// recorded in the audit trail.
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
    /// Start the hub; the default without a command.
    #[command(after_help = help::SERVE)]
    Serve(ServeArgs),
    /// Check this installation and suggest fixes.
    #[command(after_help = help::DOCTOR)]
    Doctor {
        /// A configuration file to check as well.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    #[command(flatten)]
    Client(ClientCommand),
    #[command(flatten)]
    AgentSide(AgentSideCommand),
    /// Write and check skills, which tell a coding agent how your app asks.
    #[command(subcommand, after_help = help::SKILL)]
    Skill(SkillCommand),
    /// Test the whole loop against a running hub: ask, answer, receive, act once.
    #[command(after_help = help::SMOKE)]
    Smoke(SmokeArgs),
    /// Let six sample agents ask, and react to your answers.
    #[command(after_help = help::DEMO)]
    Demo(DemoArgs),
    /// Verify the audit trail of who decided what.
    #[command(subcommand, after_help = help::AUDIT)]
    Audit(AuditCommand),
    /// Copy the store of a stopped hub.
    #[command(subcommand, after_help = help::STORE)]
    Store(StoreCommand),
    /// Print the completions for a shell.
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page, or write one page per command to DIR.
    #[command(after_help = help::MAN)]
    Man {
        /// The directory for the pages.
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub enum ClientCommand {
    /// Add, list, rotate and remove agents.
    #[command(subcommand, after_help = help::AGENT)]
    Agent(AgentCommand),
    /// Store secrets that an agent's callback refers to.
    #[command(subcommand, after_help = help::SECRET)]
    Secret(SecretCommand),
    /// Add people, and give them tokens and sign-in links.
    #[command(subcommand, after_help = help::PERSON)]
    Person(PersonCommand),
    /// Show what waits for you: a live list on a terminal, a table elsewhere.
    #[command(after_help = help::INBOX)]
    Inbox(InboxArgs),
    /// Show one message in full, with its audit trail.
    #[command(after_help = help::SHOW)]
    Show {
        /// The message: its id or the beginning of it, its row in the last `inbox --table`, or `last`.
        #[arg(value_name = "ITEM")]
        id: String,
    },
    /// Answer an item, or skip it.
    #[command(after_help = help::ANSWER)]
    Answer(AnswerArgs),
    /// List agents in terminals, and whether they wait.
    #[command(after_help = help::TERMINALS)]
    Terminals,
    /// Queue a reply for the next question of an agent in a terminal.
    #[command(after_help = help::AHEAD)]
    Ahead(AheadArgs),
    /// Run a strategy, follow it and answer its questions.
    #[command(after_help = help::RUN)]
    Run(RunArgs),
    /// List, show, follow, stop and continue runs.
    #[command(after_help = help::RUNS)]
    Runs(RunsArgs),
    /// List and retry deliveries of answers to agents.
    #[command(subcommand, after_help = help::DELIVERY)]
    Delivery(DeliveryCommand),
    /// Rotate the hub's Ed25519 key.
    #[command(subcommand, after_help = help::KEY)]
    Key(KeyCommand),
}

impl Cli {
    /// Reads the command line of this process; a usage error is printed and ends it with code 2.
    pub fn read() -> Self {
        let matches = grouped().color(color_choice(std::env::args_os())).get_matches();
        let read = Self::from_arg_matches(&matches).and_then(Self::checked);
        read.unwrap_or_else(|error| error.exit())
    }

    /// Refuses hub flags before another command; clap can refuse all top-level flags there or none. `--json` and
    /// `--data` are fine, but `countersign --listen ADDR inbox` would silently ignore the address.
    fn checked(self) -> Result<Self, clap::Error> {
        if self.command.is_some() && self.serve != ServeArgs::default() {
            let message = "put the hub's options after `serve`, or use them without a command";
            return Err(grouped().error(ErrorKind::ArgumentConflict, message));
        }
        let Some(CliCommand::Client(ClientCommand::Answer(args))) = self.command else {
            return Ok(self);
        };
        let args = args.checked(&mut grouped())?;
        Ok(Self {
            command: Some(CliCommand::Client(ClientCommand::Answer(args))),
            ..self
        })
    }
}

/// Help and usage errors are printed before the command line has been read, so their colours are looked up by hand.
fn color_choice(args: impl Iterator<Item = OsString>) -> ColorChoice {
    let args: Vec<OsString> = args.collect();
    let is_chosen = |wanted: &str| {
        let joined = format!("--color={wanted}");
        args.iter().any(|arg| *arg == *joined) || args.windows(2).any(|pair| pair[0] == "--color" && pair[1] == wanted)
    };
    match (is_chosen("always"), is_chosen("never")) {
        (true, _) => ColorChoice::Always,
        (_, true) => ColorChoice::Never,
        (false, false) => ColorChoice::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colours_of_help_follow_the_option() {
        let choice = |line: &str| color_choice(line.split_whitespace().map(OsString::from));
        assert_eq!(choice("countersign --help --color never"), ColorChoice::Never);
        assert_eq!(choice("countersign --color=always help"), ColorChoice::Always);
        assert_eq!(choice("countersign help"), ColorChoice::Auto);
    }

    fn read(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(std::iter::once("countersign").chain(line.split_whitespace())).and_then(Cli::checked)
    }

    #[test]
    fn the_command_line_is_sound() {
        grouped().debug_assert();
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
