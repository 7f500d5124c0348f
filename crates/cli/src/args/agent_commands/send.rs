//! `ask`, `notify` and `task`: the content, the recipients and the wait.

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args};
use countersign_agent::Priority;
use countersign_protocol::a2h::{CallbackAuth, RUNTIMES};

use super::{ExecArgs, Span, When};

/// What every message can carry.
#[derive(Debug, Args)]
pub struct ContentArgs {
    /// The title, in one line.
    pub title: String,
    /// The details, as Markdown.
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file", allow_hyphen_values = true)]
    pub body: Option<String>,
    /// Read the body from a file, or from standard input with `-`.
    #[arg(long, value_name = "FILE")]
    pub body_file: Option<String>,
    /// Attach context: a text file, a .json file with an object, or the address of a file; repeat for more.
    #[arg(long, value_name = "FILE|URL")]
    pub context: Vec<String>,
    /// Priority: low, normal, high or urgent.
    #[arg(long, value_name = "P", value_parser = priority)]
    pub priority: Option<Priority>,
    /// Tag; repeat for more.
    #[arg(long = "tag", value_name = "T")]
    pub tags: Vec<String>,
    /// Keep content and answer out of logs and exports.
    #[arg(long)]
    pub sensitive: bool,
    /// The idempotency key: the same content under the same key is the same message, however often it is sent.
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    pub key: Option<String>,
    /// The agent that sends it [default: $COUNTERSIGN_AGENT, else `cli` on the hub of the data directory]
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// The run of the agent [default: a new one]
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// Where the agent runs [default: github-actions in a job there, else cli]
    #[arg(long, value_name = "RUNTIME", value_parser = PossibleValuesParser::new(RUNTIMES))]
    pub runtime: Option<String>,
    /// The project the agent works on.
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
}

/// Options of a message that a person resolves.
#[derive(Debug, Args)]
pub struct RequestArgs {
    /// Who may resolve it, such as human:alice; repeat for more [default: $COUNTERSIGN_TO, else the owner of the hub
    /// of the data directory]
    #[arg(long, value_name = "ACTOR")]
    pub to: Vec<String>,
    /// When it expires: 90s, 10m, 2h, 3d, or an instant.
    #[arg(long, value_name = "WHEN", value_parser = When::read)]
    pub expires: Option<When>,
    /// Push the outcome to this address.
    #[arg(long, value_name = "URL")]
    pub callback: Option<String>,
    /// The secret that the push is authenticated with, by the name it has at the hub: hmac=NAME, bearer=NAME or
    /// apikey=NAME.
    #[arg(long, value_name = "SCHEME=NAME", requires = "callback", value_parser = callback_auth)]
    pub callback_auth: Option<CallbackAuth>,
    /// State that comes back with the outcome: a file with a JSON object or the output of `seal`, or `-`.
    #[arg(long, value_name = "FILE")]
    pub state: Option<String>,
    /// Wait for the outcome; the default.
    #[arg(long, conflicts_with = "detach")]
    pub wait: bool,
    /// Print the message's id and do not wait.
    #[arg(long, conflicts_with_all = ["timeout", "words"])]
    pub detach: bool,
    /// Stop waiting after this long; the message stays open.
    #[arg(long, value_name = "SPAN", value_parser = Span::read)]
    pub timeout: Option<Span>,
    #[command(flatten)]
    pub exec: ExecArgs,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("question").args(["confirm", "select", "form"]))]
pub struct AskArgs {
    #[command(flatten)]
    pub content: ContentArgs,
    /// Ask for a yes or a no. Without --confirm, --select or --form the answer is free text.
    #[arg(long)]
    pub confirm: bool,
    /// The label of the yes of a confirm.
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["select", "form"], allow_hyphen_values = true)]
    pub yes: Option<String>,
    /// The label of the no of a confirm.
    #[arg(long, value_name = "LABEL", conflicts_with_all = ["select", "form"], allow_hyphen_values = true)]
    pub no: Option<String>,
    /// One option to choose from; repeat for more.
    #[arg(long, value_name = "VALUE=LABEL", value_parser = OptionArg::read)]
    pub select: Vec<OptionArg>,
    /// Ask for the fields of this JSON Schema; `-` reads it from standard input.
    #[arg(long, value_name = "FILE")]
    pub form: Option<String>,
    /// The answer that counts if it expires unanswered.
    #[arg(long, value_name = "VALUE", requires = "expires", allow_hyphen_values = true)]
    pub default: Option<String>,
    #[command(flatten)]
    pub request: RequestArgs,
}

impl AskArgs {
    /// A label for the yes or the no means a confirm as well.
    pub fn is_confirm(&self) -> bool {
        self.confirm || self.yes.is_some() || self.no.is_some()
    }

    /// Without a kind, the answer is free text.
    pub fn is_text(&self) -> bool {
        !self.is_confirm() && self.select.is_empty() && self.form.is_none()
    }
}

#[derive(Debug, Args)]
pub struct NotifyArgs {
    #[command(flatten)]
    pub content: ContentArgs,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["instructions", "instructions_file"]))]
pub struct TaskArgs {
    #[command(flatten)]
    pub content: ContentArgs,
    /// The instructions.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub instructions: Option<String>,
    /// Read the instructions from a file, or from standard input with `-`.
    #[arg(long, value_name = "FILE")]
    pub instructions_file: Option<String>,
    /// One step to tick off; repeat for more.
    #[arg(long, value_name = "ITEM", allow_hyphen_values = true)]
    pub checklist: Vec<String>,
    /// How to verify that it is done.
    #[arg(long, value_name = "TEXT")]
    pub verification: Option<String>,
    #[command(flatten)]
    pub request: RequestArgs,
}

/// `hmac=NAME`, `bearer=NAME` or `apikey=NAME`.
pub fn callback_auth(text: &str) -> Result<CallbackAuth, String> {
    let (scheme, name) = text.split_once('=').unwrap_or((text, ""));
    let scheme = scheme.parse().ok().filter(|_| !name.is_empty());
    Ok(CallbackAuth {
        scheme: scheme.ok_or("write it as hmac=NAME, bearer=NAME or apikey=NAME")?,
        reference: name.to_owned(),
    })
}

fn priority(text: &str) -> Result<Priority, String> {
    text.parse().map_err(|_| "say low, normal, high or urgent".to_owned())
}

/// An option: `VALUE=LABEL`, or a value that is its own label.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionArg {
    pub value: String,
    pub label: String,
}

impl OptionArg {
    fn read(text: &str) -> Result<Self, String> {
        let (value, label) = text.split_once('=').unwrap_or((text, text));
        if value.is_empty() || label.is_empty() {
            return Err("write it as VALUE=LABEL, or as VALUE".to_owned());
        }
        Ok(Self {
            value: value.to_owned(),
            label: label.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        ask: AskArgs,
    }

    fn read(args: &[&str]) -> Result<AskArgs, clap::Error> {
        Line::try_parse_from(["ask", "Ship?"].iter().chain(args)).map(|line| line.ask)
    }

    #[test]
    fn an_ask_has_at_most_one_kind_and_is_free_text_without() {
        assert!(read(&[]).unwrap().is_text());
        let labelled = read(&["--no", "Hold"]).unwrap();
        assert!(labelled.is_confirm() && !labelled.is_text());
        assert!(read(&["--confirm", "--yes", "Ship it"]).is_ok());
        assert!(read(&["--form", "schema.json", "--detach"]).is_ok());
        let args = read(&["--select", "a=One = 1", "--select", "b"]).unwrap();
        let pick = |value: &str, label: &str| OptionArg {
            value: value.to_owned(),
            label: label.to_owned(),
        };
        assert_eq!(args.select, [pick("a", "One = 1"), pick("b", "b")]);
        for arguments in [
            &["--confirm", "--select", "a"][..],
            &["--confirm", "--form", "f"],
            &["--select", "a", "--yes", "x"],
            &["--select", "=x"],
            &["--confirm", "--default", "no"],
        ] {
            assert_eq!(read(arguments).unwrap_err().exit_code(), 2, "{arguments:?}");
        }
    }

    #[test]
    fn a_callback_secret_has_a_scheme_and_a_name() {
        let auth = |text: &str| read(&["--confirm", "--callback", "https://x/", "--callback-auth", text]);
        let args = auth("apikey=env:HOOK=1").unwrap();
        let named = args.request.callback_auth.unwrap();
        assert_eq!(
            (named.scheme.as_str(), named.reference.as_str()),
            ("apikey", "env:HOOK=1")
        );
        for text in ["hmac", "hmac=", "basic=NAME", "=NAME"] {
            assert_eq!(auth(text).unwrap_err().exit_code(), 2, "{text}");
        }
        assert!(read(&["--confirm", "--callback-auth", "hmac=NAME"]).is_err());
        assert!(read(&["--confirm", "--runtime", "mainframe"]).is_err());
    }

    #[test]
    fn detach_conflicts_with_every_waiting_flag() {
        for args in [&["--wait"][..], &["--timeout", "5s"], &["--exec", "true"]] {
            let args: Vec<&str> = ["--confirm", "--detach"].iter().chain(args).copied().collect();
            assert_eq!(read(&args).unwrap_err().exit_code(), 2, "{args:?}");
        }
    }

    #[test]
    fn everything_after_exec_belongs_to_the_command() {
        let exec = read(&["--confirm", "--exec", "deploy", "--detach", "-x", "--to", "prod"])
            .unwrap()
            .request
            .exec;
        assert_eq!(exec.words, ["deploy", "--detach", "-x", "--to", "prod"]);
    }
}
