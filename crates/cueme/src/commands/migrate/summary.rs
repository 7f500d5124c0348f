//! The summary of an import: counts, and the skipped entries with their reasons.

use std::fmt;

use serde_json::{Value, json};

use crate::terminal::out;

/// A longer list would scroll the counts off the screen.
const MAX_SHOWN_SKIPS: usize = 100;

#[derive(Debug, Default, PartialEq)]
pub struct Summary {
    pub database: String,
    pub agents: u64,
    /// Requests that are new in the hub; the `known` ones were imported earlier.
    pub imported: u64,
    pub known: u64,
    pub open: u64,
    pub answered: u64,
    pub cancelled: u64,
    pub files: u64,
    pub orphans: u64,
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, PartialEq)]
pub struct Skipped {
    pub what: String,
    pub why: String,
}

impl Summary {
    pub fn skip(&mut self, what: &str, why: impl Into<String>) {
        self.skipped.push(Skipped {
            what: what.to_owned(),
            why: why.into(),
        });
    }

    pub fn is_complete(&self) -> bool {
        self.skipped.is_empty()
    }

    pub fn as_json(&self) -> Value {
        let skipped: Vec<Value> = self
            .skipped
            .iter()
            .map(|skipped| json!({"what": skipped.what, "why": skipped.why}))
            .collect();
        json!({
            "database": self.database,
            "agents": self.agents,
            "requests": self.imported + self.known,
            "imported": self.imported,
            "already_there": self.known,
            "open": self.open,
            "answered": self.answered,
            "cancelled": self.cancelled,
            "files": self.files,
            "answers_without_request": self.orphans,
            "skipped": skipped,
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            agents,
            imported,
            known,
            open,
            answered,
            cancelled,
            files,
            orphans,
            ..
        } = self;
        writeln!(formatter, "{}", one_line(&self.database))?;
        writeln!(formatter, "agents: {agents}")?;
        writeln!(
            formatter,
            "requests: {} ({imported} imported, {known} already there)",
            imported + known
        )?;
        writeln!(
            formatter,
            "  open: {open}, answered: {answered}, cancelled: {cancelled}"
        )?;
        writeln!(formatter, "files: {files}")?;
        if *orphans > 0 {
            writeln!(formatter, "answers whose request was deleted, left behind: {orphans}")?;
        }
        writeln!(formatter, "skipped: {}", self.skipped.len())?;
        for Skipped { what, why } in self.skipped.iter().take(MAX_SHOWN_SKIPS) {
            writeln!(formatter, "- {}: {}", one_line(what), one_line(why))?;
        }
        match self.skipped.len().saturating_sub(MAX_SHOWN_SKIPS) {
            0 => Ok(()),
            more => writeln!(formatter, "- and {more} more; --json has them all"),
        }
    }
}

/// Escapes text from the mailbox, including its line breaks.
fn one_line(text: &str) -> String {
    out::escape(text).replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_entries_are_listed_up_to_a_limit() {
        let mut summary = Summary {
            database: "/m/cue.db".to_owned(),
            imported: 2,
            open: 1,
            answered: 1,
            ..Summary::default()
        };
        assert!(summary.is_complete());
        for number in 0..103 {
            summary.skip(&format!("req_{number}\n- evil"), "files/a is missing");
        }
        let text = summary.to_string();
        assert!(text.contains("requests: 2 (2 imported, 0 already there)\n  open: 1, answered: 1, cancelled: 0\n"));
        assert!(text.contains("skipped: 103\n- req_0\\n- evil: files/a is missing\n"));
        assert!(text.ends_with("- and 3 more; --json has them all\n"));
    }
}
