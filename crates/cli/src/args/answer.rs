//! `countersign answer`: exactly one outcome, with its options.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

/// Answer an ask, or complete or dismiss a task.
#[derive(Debug, Args)]
#[command(
    override_usage = "countersign answer ID [VALUE...] [--text T | --field NAME=VALUE... | --decline | --complete | --dismiss] [--file PATH...]"
)]
#[command(group = ArgGroup::new("outcome").args(["values", "text", "fields", "decline", "complete", "dismiss"]))]
#[command(group = ArgGroup::new("said").required(true).multiple(true).args(["values", "text", "fields", "decline", "complete", "dismiss", "files"]))]
pub struct AnswerArgs {
    /// The message.
    pub id: String,
    /// The answer.
    ///
    /// For a confirm an option, or `yes` or `no` for `approve` or `deny`; for a select an option's value, label or
    /// number, and several of them where several may be picked; for a text the text, or `-` to read it from standard input;
    /// for a form a JSON object, `@FILE` to read one from a file, or `-` to read one from standard input. What comes from
    /// there stays out of the process list and the shell's history.
    #[arg(value_name = "VALUE", allow_negative_numbers = true)]
    pub values: Vec<String>,
    /// Answer with this text as it stands, or `-` to read it from standard input, where the question allows other text
    /// than its options. What an agent in a terminal asks always does.
    #[arg(long, allow_hyphen_values = true)]
    pub text: Option<String>,
    /// One field of a form; repeat for more.
    #[arg(long = "field", value_name = "NAME=VALUE", value_parser = FieldArg::read)]
    pub fields: Vec<FieldArg>,
    /// A file that goes with the answer, or is the answer; repeat for more. Only for agents in terminals.
    #[arg(long = "file", value_name = "PATH", conflicts_with_all = ["decline", "complete", "dismiss", "check"])]
    pub files: Vec<PathBuf>,
    /// Decline to answer.
    #[arg(long)]
    pub decline: bool,
    /// Report a task as done.
    #[arg(long)]
    pub complete: bool,
    /// Dismiss a task without doing it.
    #[arg(long)]
    pub dismiss: bool,
    /// Tick a checklist item of a task by its number; repeat for more.
    #[arg(long, value_name = "N", conflicts_with_all = ["values", "text", "fields", "decline"])]
    pub check: Vec<usize>,
    /// A word to the agent.
    #[arg(long, allow_hyphen_values = true)]
    pub comment: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FieldArg {
    pub name: String,
    pub value: String,
}

impl FieldArg {
    fn read(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self {
                name: name.to_owned(),
                value: value.to_owned(),
            }),
            _ => Err("write it as NAME=VALUE".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        answer: AnswerArgs,
    }

    fn read(args: &[&str]) -> Result<AnswerArgs, clap::Error> {
        Line::try_parse_from(["answer", "msg_1"].iter().chain(args)).map(|line| line.answer)
    }

    #[test]
    fn an_answer_has_exactly_one_outcome() {
        assert!(read(&["approve"]).is_ok());
        assert_eq!(
            read(&["red", "green", "--comment", "both"]).unwrap().values,
            ["red", "green"]
        );
        assert!(read(&["--text", "-5"]).is_ok());
        assert!(read(&["--decline", "--comment", "not today"]).is_ok());
        assert!(read(&["--complete", "--check", "1", "--check", "3"]).is_ok());
        assert!(read(&["--file", "a.txt"]).is_ok());
        assert_eq!(
            read(&["--text", "see", "--file", "a.txt", "--file", "b.txt"])
                .unwrap()
                .files
                .len(),
            2
        );
        for args in [
            &[][..],
            &["approve", "--decline"],
            &["--complete", "--dismiss"],
            &["approve", "--check", "1"],
            &["--text", "a", "b"],
            &["--decline", "--file", "a.txt"],
        ] {
            assert_eq!(read(args).unwrap_err().exit_code(), 2, "{args:?}");
        }
    }

    #[test]
    fn a_field_keeps_everything_after_the_first_equals_sign() {
        let fields = read(&["--field", "a=b=c", "--field", "empty="]).unwrap().fields;
        let field = |name: &str, value: &str| FieldArg {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        assert_eq!(fields, [field("a", "b=c"), field("empty", "")]);
        assert!(read(&["--field", "novalue"]).is_err());
        assert!(read(&["--field", "=value"]).is_err());
    }
}
