//! `countersign answer`: exactly one outcome, with its options.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgGroup, Args, Command};

use crate::commands::ItemRef;

/// Answer an item, or skip it.
#[derive(Debug, Args)]
#[command(
    override_usage = "countersign answer [ITEM] [VALUE...] [--text T | --field NAME=VALUE... | --skip | --done | --cant-do] [--file PATH...]"
)]
#[command(group = ArgGroup::new("outcome").args(["values", "text", "fields", "decline", "complete", "dismiss"]))]
pub struct AnswerArgs {
    /// The item: its id or the beginning of it, its row in the last `inbox --table`, or `last` for the newest one. It may
    /// be left out when one item waits.
    pub item: Option<String>,
    /// The answer.
    ///
    /// For a confirm an option, or `yes` or `no` for `approve` or `deny`; for a select an option's value, label or
    /// number, and several of them where several may be picked; for a text the text, or `-` to read it from standard input;
    /// for a form a JSON object, `@FILE` to read one from a file, or `-` to read one from standard input. Input from a file
    /// or standard input stays out of the process list and the shell's history.
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
    /// Skip the question: no answer is given.
    #[arg(long = "skip", alias = "decline")]
    pub decline: bool,
    /// Report a task as done.
    #[arg(long = "done", alias = "complete")]
    pub complete: bool,
    /// Report that you can't do a task.
    #[arg(long = "cant-do", alias = "dismiss")]
    pub dismiss: bool,
    /// Tick a checklist item of a task by its number; repeat for more.
    #[arg(long, value_name = "N", conflicts_with_all = ["values", "text", "fields", "decline"])]
    pub check: Vec<usize>,
    /// With --done: send it although steps of the checklist are open.
    #[arg(long, conflicts_with_all = ["values", "text", "fields", "decline", "dismiss"])]
    pub open_steps: bool,
    /// A comment for the agent.
    #[arg(long, allow_hyphen_values = true)]
    pub comment: Option<String>,
}

impl AnswerArgs {
    /// Moves a first word that names no item to the answer, and checks what clap then cannot: that there is exactly one
    /// outcome.
    pub fn checked(mut self, command: &mut Command) -> Result<Self, clap::Error> {
        if let Some(word) = self.item.take_if(|word| ItemRef::read(word).is_none()) {
            self.values.insert(0, word);
        }
        let has_flag = self.text.is_some() || !self.fields.is_empty() || self.decline || self.complete || self.dismiss;
        match (self.values.is_empty(), has_flag) {
            (false, true) => Err(command.error(
                ErrorKind::ArgumentConflict,
                "give one outcome: an answer, --text, --field, --skip, --done or --cant-do",
            )),
            (true, false) if self.files.is_empty() => Err(command.error(
                ErrorKind::MissingRequiredArgument,
                "give an answer such as `yes`, or --text, --field, --file, --skip, --done or --cant-do",
            )),
            _ => Ok(self),
        }
    }

    /// The item that is answered.
    pub fn take_item(&mut self) -> ItemRef {
        let word = self.item.take();
        word.as_deref().and_then(ItemRef::read).unwrap_or(ItemRef::Only)
    }
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
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        answer: AnswerArgs,
    }

    fn read(args: &[&str]) -> Result<AnswerArgs, clap::Error> {
        read_line(&[&["msg_1"], args].concat())
    }

    fn read_line(args: &[&str]) -> Result<AnswerArgs, clap::Error> {
        Line::try_parse_from(["answer"].iter().chain(args))?
            .answer
            .checked(&mut Line::command())
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
            &["--dismiss", "--open-steps"],
        ] {
            assert_eq!(read(args).unwrap_err().exit_code(), 2, "{args:?}");
        }
    }

    #[test]
    fn the_item_may_be_left_out() {
        let words = |line: &[&str]| read_line(line).map(|args| (args.item, args.values));
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        assert_eq!(words(&["yes"]).unwrap(), (None, owned(&["yes"])));
        assert_eq!(words(&["2", "yes"]).unwrap(), (Some("2".to_owned()), owned(&["yes"])));
        assert_eq!(words(&["last", "--decline"]).unwrap().0.as_deref(), Some("last"));
        assert_eq!(words(&["red", "green"]).unwrap(), (None, owned(&["red", "green"])));
        for line in [&[][..], &["2"], &["last"], &["yes", "--decline"]] {
            assert_eq!(words(line).unwrap_err().exit_code(), 2, "{line:?}");
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
