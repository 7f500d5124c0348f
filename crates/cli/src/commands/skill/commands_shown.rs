//! Every command that a page shows is one that this program has.

use clap::CommandFactory;

use super::render::page;
use super::settings::tests::every_kind;
use crate::args::Cli;

const OUR_PAGES: [&str; 4] = [
    include_str!("../../../../../skills/build-ask/SKILL.md"),
    include_str!("../../../../../skills/build-notify/SKILL.md"),
    include_str!("../../../../../skills/build-task/SKILL.md"),
    include_str!("../../../../../docs/skills.md"),
];

/// The lines of shell blocks that call this program, with continued lines joined.
fn commands(page: &str) -> Vec<String> {
    let blocks = page.split("```").skip(1).step_by(2);
    let shell = blocks.filter_map(|block| block.strip_prefix("sh\n").or_else(|| block.strip_prefix("console\n")));
    let lines: Vec<String> = shell
        .flat_map(|block| block.replace("\\\n", " ").lines().map(str::to_owned).collect::<Vec<_>>())
        .map(|line| line.trim_start_matches("$ ").to_owned())
        .collect();
    lines.into_iter().filter(|line| line.starts_with("countersign ")).collect()
}

/// As a shell would split it, for what stands in our pages: quotes, redirections, comments.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '<' | '#') => break,
            (None, ' ') => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            (_, c) => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn check(page: &str) -> usize {
    let commands = commands(page);
    for line in &commands {
        let parsed = Cli::command().try_get_matches_from(words(line));
        assert!(parsed.is_ok(), "{line}: {}", parsed.err().map(|error| error.to_string()).unwrap_or_default());
    }
    commands.len()
}

#[test]
fn the_commands_of_our_pages_are_understood() {
    for page in OUR_PAGES {
        assert!(check(page) > 0, "no commands in {page}");
    }
}

#[test]
fn the_commands_of_built_pages_are_understood() {
    for settings in every_kind() {
        assert!(check(&page(&settings).unwrap()) > 1, "{}", settings.name());
    }
}

#[test]
fn a_line_is_split_as_a_shell_would() {
    assert_eq!(
        words("countersign ask \"Ship it?\" --select a='One two' < x"),
        ["countersign", "ask", "Ship it?", "--select", "a=One two"]
    );
    let page = "```sh\ncountersign a \\\n  b\nother\n```\n```json\n{}\n```\n```console\n$ countersign c\n```\n";
    assert_eq!(commands(page), ["countersign a    b", "countersign c"]);
}
