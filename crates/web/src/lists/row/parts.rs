//! The parts of a row: names with their links, the excerpt, and the buttons of a confirm.

use countersign_core::asker::RunOrigin;
use countersign_core::kind::kind_label;
use countersign_core::{Content, Digest, Message, Payload, State, excerpt};
use countersign_protocol::hex::hex;
use url::form_urlencoded::byte_serialize;

use super::ListKind;
use crate::item::{approval, choice_label, denial};
use crate::language::t;

/// Limits that keep a row short, although an agent may send many long tags and name many people.
pub const MAX_TAGS: usize = 8;
pub const MAX_TAG_BYTES: usize = 8 * 1024;
pub const MAX_PEOPLE: usize = 200;

/// A name, with an optional link to all items that have it.
pub struct Chip {
    /// `agent`, `project`, `kind`, `run` or `tag`.
    pub class: &'static str,
    pub text: String,
    pub href: Option<String>,
}

/// A button in a row that answers a confirm.
pub struct QuickAnswer {
    pub value: String,
    pub label: String,
    /// `approve` or `deny`.
    pub role: &'static str,
}

pub fn chip(list: ListKind, class: &'static str, value: &str, text: &str) -> Chip {
    let href = |page| format!("{page}?{class}={}", encoded(value));
    Chip {
        class,
        text: text.to_owned(),
        href: list.filter_page().map(href),
    }
}

/// The facts after the title.
pub fn chips(message: &Message, list: ListKind) -> Vec<Chip> {
    let content = &message.content;
    let chip = |class: &'static str, value: &str, text: &str| chip(list, class, value, text);
    let kind = content.kind_word();
    let project = content.agent.project.as_deref();
    let mut chips: Vec<Chip> = project
        .map(|project| chip("project", project, project))
        .into_iter()
        .collect();
    chips.push(chip("kind", kind, t(kind_label(kind))));
    chips.extend(RunOrigin::of(&message.source).map(|run| run_chip(&run)));
    chips.extend(content.tags.iter().take(MAX_TAGS).map(|tag| chip("tag", tag, tag)));
    chips
}

/// Nothing if the text only repeats the title.
pub fn excerpt(content: &Content) -> String {
    let line = match &content.body {
        Some(body) if !content.sensitive => excerpt::line(body),
        Some(_) | None => String::new(),
    };
    let rest = line.strip_prefix(content.title.as_str()).map(str::trim_start);
    rest.map(str::to_owned).unwrap_or(line)
}

fn run_chip(run: &RunOrigin<'_>) -> Chip {
    Chip {
        class: "run",
        text: "run".to_owned(),
        href: Some(run.href()),
    }
}

/// As many tags as fit. A live row is missing from a list filtered by a tag that did not fit, until the list is
/// reloaded.
pub fn tags_joined(tags: &[String]) -> String {
    let mut joined = String::new();
    for tag in tags.iter().map(|tag| encoded(tag)) {
        if joined.len() + tag.len() >= MAX_TAG_BYTES {
            break;
        }
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(&tag);
    }
    joined
}

/// A short hash that stands for a person in a row, so that a page recognizes its own user.
pub fn person_mark(person: &str) -> String {
    hex(&Digest::of(person.as_bytes()).into_bytes()[..4])
}

/// Percent-encodes for `decodeURIComponent`, which does not read a plus sign as a space.
pub fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// The buttons of an open confirm, with its own labels.
pub fn quick_answers(message: &Message, list: ListKind) -> Vec<QuickAnswer> {
    let (Payload::Ask(ask), State::Open, ListKind::Open) = (&message.content.payload, &message.state, list) else {
        return Vec::new();
    };
    let answers = [("approve", approval(&ask.question)), ("deny", denial(&ask.question))];
    answers
        .into_iter()
        .filter_map(|(role, choice)| {
            let choice = choice?;
            Some(QuickAnswer {
                value: choice.value.clone(),
                label: choice_label(choice).to_owned(),
                role,
            })
        })
        .collect()
}

/// Text and code by turns; a backtick without a partner stays.
pub fn code_parts(text: &str) -> Vec<(bool, &str)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, (code, after))) = rest
        .split_once('`')
        .and_then(|(before, after)| Some((before, after.split_once('`')?)))
        .filter(|(_, (code, _))| !code.is_empty())
    {
        parts.push((false, before));
        parts.push((true, code));
        rest = after;
    }
    parts.push((false, rest));
    parts.retain(|(_, part)| !part.is_empty());
    parts
}
