//! The commands that a page shows to its reader. They are run as shown, except for the values that only this test can
//! have: its message, people, addresses and files. No shell runs them, and no flag that this file does not list.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use crate::commands::skill::{SkillSettings, shell_lines, shell_words};

const PROGRAM: &str = "countersign";
const EXEC: &str = "--exec";

pub struct PageCommands(BTreeMap<String, Vec<String>>);

/// The fate of a flag, with the number of its values in the page.
pub enum Rule {
    /// Passed on as the page has it.
    Keep(usize),
    /// Left out.
    Drop(usize),
    /// Replaced; the page must have it.
    Must(usize, Vec<String>),
    /// Replaced if the page has it.
    May(usize, Vec<String>),
}

pub type Rules = Vec<(&'static str, Rule)>;

impl PageCommands {
    /// The first line of every command. The exports of the page must be those of its front matter.
    pub fn read(page: &str, settings: &SkillSettings) -> Result<Self> {
        let mut commands = BTreeMap::new();
        let mut exports = BTreeMap::new();
        for line in shell_lines(page) {
            let words = shell_words(&line);
            match words.split_first() {
                Some((first, rest)) if first == PROGRAM && !rest.is_empty() => {
                    commands.entry(rest[0].clone()).or_insert_with(|| rest.to_vec());
                }
                Some((first, rest)) if first == "export" => exports.extend(rest.iter().filter_map(|word| {
                    let (name, value) = word.split_once('=')?;
                    Some((name.to_owned(), value.to_owned()))
                })),
                Some(_) | None => {}
            }
        }
        check_exports(&exports, settings)?;
        Ok(Self(commands))
    }

    pub fn get(&self, name: &str) -> Result<&[String]> {
        let words = self.0.get(name).map(Vec::as_slice);
        words.with_context(|| format!("the page has no line `{PROGRAM} {name} …` in a shell block"))
    }
}

/// A reader's commands talk to the hub that the page exports, with the token that it exports.
fn check_exports(exports: &BTreeMap<String, String>, settings: &SkillSettings) -> Result<()> {
    let mut expected = vec![
        ("COUNTERSIGN_URL", settings.hub.clone()),
        ("COUNTERSIGN_AGENT", settings.agent.clone()),
    ];
    if settings.token_env != "COUNTERSIGN_TOKEN" || exports.contains_key("COUNTERSIGN_TOKEN") {
        expected.push(("COUNTERSIGN_TOKEN", format!("${}", settings.token_env)));
    }
    for (name, value) in expected {
        match exports.get(name) {
            Some(exported) if *exported == value => {}
            Some(_) => bail!("the page exports another {name} than its front matter has: {value}"),
            None => bail!("the page does not export {name}: its commands need `export {name}={value}`"),
        }
    }
    Ok(())
}

/// The command line to run: the words of the page by the rules, with `positional` for its arguments without a flag.
pub fn adapt(words: &[String], positional: &[&str], rules: Rules) -> Result<Vec<String>> {
    let (name, words) = words.split_first().context("the page's command is empty")?;
    let mut kept = vec![name.clone()];
    let mut found = vec![false; rules.len()];
    let mut given = 0;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let Some(flag) = word
            .strip_prefix("--")
            .map(|_| word.split_once('=').map_or(word.as_str(), |pair| pair.0))
        else {
            given += 1;
            continue;
        };
        let at = rules.iter().position(|(known, _)| *known == flag);
        let at =
            at.with_context(|| format!("the page's `{PROGRAM} {name}` has {flag}, which this test does not run"))?;
        found[at] = true;
        let (Rule::Keep(count) | Rule::Drop(count) | Rule::Must(count, _) | Rule::May(count, _)) = &rules[at].1;
        let beside = count - usize::from(word != flag).min(*count);
        let values: Vec<String> = words.by_ref().take(beside).cloned().collect();
        if matches!(rules[at].1, Rule::Keep(_)) {
            kept.push(word.clone());
            kept.extend(values);
        }
        if flag == EXEC {
            break;
        }
    }
    if given != positional.len() {
        bail!(
            "the page's `{PROGRAM} {name}` has {given} arguments without a flag instead of {}",
            positional.len()
        );
    }
    kept.extend(positional.iter().map(|&word| word.to_owned()));
    for ((flag, rule), found) in rules.into_iter().zip(found) {
        match (rule, found) {
            (Rule::Must(_, words) | Rule::May(_, words), true) => kept.extend(words),
            (Rule::Must(..), false) => bail!("the page's `{PROGRAM} {name}` does not have {flag}"),
            (Rule::Keep(_) | Rule::Drop(_), _) | (Rule::May(..), false) => {}
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapted(line: &str) -> Result<Vec<String>> {
        let must = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        adapt(
            &shell_words(line),
            &["mine"],
            vec![
                ("--keep", Rule::Keep(1)),
                ("--drop", Rule::Drop(1)),
                ("--must", Rule::Must(1, must(&["--must", "x"]))),
                ("--may", Rule::May(1, must(&["--may", "y"]))),
                (EXEC, Rule::Must(0, must(&[EXEC, "z"]))),
            ],
        )
    }

    #[test]
    fn a_line_runs_as_shown_with_the_values_of_the_test() {
        let line = "do 'Ship it?' --keep 'a b' --drop 1 --must=old --exec ./resume --unknown";
        let words = ["do", "--keep", "a b", "mine", "--must", "x", "--exec", "z"];
        assert_eq!(adapted(line).unwrap(), words);
        let line = "do t --keep=1 --must 2 --may 3 --exec ./resume";
        let words = ["do", "--keep=1", "mine", "--must", "x", "--may", "y", "--exec", "z"];
        assert_eq!(adapted(line).unwrap(), words);
    }

    #[test]
    fn a_line_that_says_less_or_more_is_not_run() {
        for (line, word) in [
            ("do t --exec x", "--must"),
            ("do t --must 1", "--exec"),
            ("do t --must 1 --other --exec x", "--other"),
            ("do --must 1 --exec x", "0 arguments"),
            ("do a b --must 1 --exec x", "2 arguments"),
        ] {
            let error = adapted(line).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
