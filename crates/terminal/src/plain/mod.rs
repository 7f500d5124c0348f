//! The inbox line by line, for terminals that cannot draw and for people who prefer it: a numbered list, a question,
//! an answer, and again.

mod form;
mod prompter;
mod refusal;
mod verdict;

use std::fmt::Write;
use std::sync::Arc;

use anyhow::Result;
use countersign_client::hub::{ClientError, HubClient};
use countersign_client::screen::{self, escape};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use prompter::Prompter;

use super::content::{Piece, content};
use super::delivery_progress::{delivery_steps, outcome};
use super::filter::InboxFilter;
use super::inbox_entry::InboxEntry;
use super::state::Listing;
use super::{hub_calls, presets};

const MAX_ROWS: usize = 100;

pub async fn run(client: &HubClient, filter: &InboxFilter) -> Result<String> {
    let inbox = PlainInbox {
        client,
        zone: TimeZone::system(),
        presets: presets::read(client).await?,
    };
    let mut asker = Prompter::new()?;
    loop {
        let page = hub_calls::load(client, filter, &Listing::Waiting, None, MAX_ROWS).await?;
        screen::print(&rows(&page.items, page.next_cursor.is_some(), Timestamp::now()))?;
        if page.items.is_empty() {
            return Ok(String::new());
        }
        let Some(line) = asker.line(list_prompt(&page.items)).await? else {
            break;
        };
        match parse_choice(&line, page.items.len()) {
            LineChoice::Nothing => break,
            LineChoice::Ahead(index) if page.items[index].item.is_cue() => {
                inbox.write_ahead(&page.items[index].item.agent.id, &mut asker).await?;
            }
            LineChoice::Ahead(_) => screen::print("Replies are queued only for agents in terminals.\n")?,
            LineChoice::Row(index) => {
                if !inbox.decide(page.items[index].id(), &mut asker).await? {
                    break;
                }
            }
            LineChoice::Unknown => screen::print("There is no such number.\n")?,
        }
    }
    Ok(String::new())
}

#[derive(Debug, PartialEq)]
enum LineChoice {
    Nothing,
    Row(usize),
    /// A type-ahead text for the agent that asks this question.
    Ahead(usize),
    Unknown,
}

const AHEAD: char = 'w';

fn list_prompt(items: &[Arc<InboxEntry>]) -> &'static str {
    if items.iter().any(|entry| entry.item.is_cue()) {
        "Which one? (a number; w and a number queues a reply for its agent; an empty line ends) "
    } else {
        "Which one? (a number; an empty line ends) "
    }
}

fn parse_choice(line: &str, count: usize) -> LineChoice {
    let row = |text: &str| {
        let number = text
            .trim()
            .parse::<usize>()
            .ok()
            .filter(|number| (1..=count).contains(number));
        number.map(|number| number - 1)
    };
    match (line.trim(), line.trim().strip_prefix(AHEAD)) {
        ("", _) => LineChoice::Nothing,
        (_, Some(text)) => row(text).map_or(LineChoice::Unknown, LineChoice::Ahead),
        (text, None) => row(text).map_or(LineChoice::Unknown, LineChoice::Row),
    }
}

fn rows(items: &[Arc<InboxEntry>], has_more: bool, now: Timestamp) -> String {
    if items.is_empty() {
        return "Nothing waits for you.\n".to_owned();
    }
    let mut text = "\n".to_owned();
    for (index, entry) in items.iter().enumerate() {
        let item = &entry.item;
        let urgency = if item.priority == "normal" {
            String::new()
        } else {
            format!("{}: ", item.priority)
        };
        let _ = writeln!(
            text,
            "{:>3}. {}",
            index + 1,
            escape(&format!("{urgency}{}", item.title))
        );
        let waited = screen::duration_label(item.created_at.age(now));
        let presence = item
            .presence_label()
            .map(|label| format!(", agent {label}"))
            .unwrap_or_default();
        let agent = item.asker();
        let kind = item.kind();
        let expiry = item
            .held_text()
            .or_else(|| item.expiry_text(now))
            .map(|text| format!(", {text}"))
            .unwrap_or_default();
        let about = format!("{agent}, {kind}, waiting {waited}{expiry}{presence}");
        let _ = writeln!(text, "     {}", escape(&about));
    }
    if has_more {
        let _ = writeln!(text, "     And more after these.");
    }
    text
}

struct PlainInbox<'a> {
    client: &'a HubClient,
    zone: TimeZone,
    presets: Vec<String>,
}

impl PlainInbox<'_> {
    /// Shows one item and takes the decision on it. Returns false if the input has ended.
    async fn decide(&self, id: &str, asker: &mut Prompter) -> Result<bool> {
        let entry = hub_calls::read(self.client, id).await?;
        screen::print(&self.page(&entry))?;
        if entry.item.resolution.is_some() {
            return Ok(true);
        }
        let Some(answer) = verdict::ask(&entry, &self.presets, asker).await? else {
            return Ok(!asker.is_gone());
        };
        let body = answer.verdict.body(&answer.comment);
        match self.client.post(&["v1", "messages", id, "resolve"], &body).await {
            Ok(_) => screen::print(&self.result(&hub_calls::read(self.client, id).await?))?,
            Err(error) => self.refused(id, &error).await?,
        }
        Ok(true)
    }

    async fn write_ahead(&self, agent_id: &str, asker: &mut Prompter) -> Result<()> {
        let shown = escape(agent_id);
        let prompt = format!("For the next question of {shown} (one line; an empty line goes back): ");
        let text = asker.line(&prompt).await?.unwrap_or_default();
        if text.trim().is_empty() {
            return Ok(());
        }
        let message = match hub_calls::ahead(self.client, agent_id, &text).await {
            Ok(_) => format!("{shown} gets it when it asks next.\n"),
            Err(error) => format!("Not accepted: {}\n", escape(&error.to_string())),
        };
        screen::print(&message)
    }

    /// Shows the earlier decision if this answer came second.
    async fn refused(&self, id: &str, error: &ClientError) -> Result<()> {
        if error.has_code("already_terminal") {
            screen::print("Already answered. Your answer was not applied.\n")?;
            return screen::print(&self.result(&hub_calls::read(self.client, id).await?));
        }
        screen::print(&format!("Not accepted: {}\n", escape(&error.to_string())))
    }

    fn page(&self, entry: &InboxEntry) -> String {
        let mut text = "\n".to_owned() + &lines(&content(entry, Timestamp::now(), &self.zone)) + "\n";
        text.push_str(&self.result(entry));
        text
    }

    fn result(&self, entry: &InboxEntry) -> String {
        let now = Timestamp::now();
        let outcome = outcome(entry, now, &self.zone)
            .map(|text| format!("{text}\n"))
            .unwrap_or_default();
        let steps: String = delivery_steps(entry, now, &self.zone)
            .into_iter()
            .map(|(_, text)| format!("  {text}\n"))
            .collect();
        outcome + &steps
    }
}

fn lines(pieces: &[Piece]) -> String {
    let line = |piece: &Piece| {
        format!("{}{}", if piece.quoted { "  | " } else { "" }, piece.text)
            .trim_end()
            .to_owned()
            + "\n"
    };
    pieces.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::inbox_entry::tests::entry;

    #[test]
    fn only_a_number_of_the_list_opens_an_item() {
        assert_eq!(parse_choice("2\n", 2), LineChoice::Row(1));
        assert_eq!(parse_choice("", 2), LineChoice::Nothing);
        assert_eq!(
            (parse_choice("w2", 2), parse_choice(" w 1\n", 2)),
            (LineChoice::Ahead(1), LineChoice::Ahead(0))
        );
        for line in ["0", "3", "-1", "two", "99999999999999999999", "w", "w0", "w3", "ww1"] {
            assert_eq!(parse_choice(line, 2), LineChoice::Unknown, "{line}");
        }
    }

    #[test]
    fn every_row_shows_asker_and_expiry() {
        let item = entry("a", &json!({"title": "Ship?\u{1b}[2J", "priority": "urgent"}));
        let text = rows(&[Arc::new(item)], false, "2026-06-04T15:10:00Z".parse().unwrap());
        let expected = "\n  1. urgent: Ship?\\u{1b}[2J\n     bot, confirm, waiting 10m\n";
        assert_eq!(text, expected);
    }
}
