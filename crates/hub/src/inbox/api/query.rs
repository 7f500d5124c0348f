//! What may be asked of a list, and where a page goes on.

use countersign_core::message::Status;
use countersign_protocol::time::Timestamp;
use countersign_store::model::Cursor;
use countersign_store::ops::list::Filter;
use serde::Deserialize;

use crate::problem::Problem;

const DEFAULT_PAGE: i64 = 50;
pub const LARGEST_PAGE: i64 = 200;
/// What open and decided lists hold.
const KINDS: [&str; 6] = ["confirm", "select", "many", "text", "form", "task"];

#[derive(Debug, Default, Deserialize)]
pub struct ListQuery {
    limit: Option<String>,
    cursor: Option<String>,
    status: Option<String>,
    agent: Option<String>,
    project: Option<String>,
    tag: Option<String>,
    kind: Option<String>,
    q: Option<String>,
}

impl ListQuery {
    pub fn limit(&self) -> Result<i64, Problem> {
        let Some(text) = &self.limit else { return Ok(DEFAULT_PAGE) };
        match text.parse() {
            Ok(limit) if (1..=LARGEST_PAGE).contains(&limit) => Ok(limit),
            _ => Err(Problem::validation("limit", format!("limit must be between 1 and {LARGEST_PAGE}"))),
        }
    }

    pub fn status(&self) -> Result<Option<Status>, Problem> {
        let parsed = self.status.as_deref().map(|text| {
            text.parse::<Status>().map_err(|error| Problem::validation("status", format!("status: {error}")))
        });
        parsed.transpose()
    }

    /// How something ended.
    pub fn ending(&self) -> Result<Option<Status>, Problem> {
        match self.status()? {
            Some(Status::Open | Status::Delivered) => {
                Err(Problem::validation("status", "status must be one that ends a message, such as answered"))
            }
            ending @ (Some(Status::Resolved(_)) | None) => Ok(ending),
        }
    }

    pub fn filter(&self) -> Result<Filter, Problem> {
        if self.kind.as_deref().is_some_and(|kind| !KINDS.contains(&kind)) {
            return Err(Problem::validation("kind", format!("kind must be one of: {}", KINDS.join(", "))));
        }
        let (agent, project) = (self.agent.clone(), self.project.clone());
        Ok(Filter { agent, project, tag: self.tag.clone(), kind: self.kind.clone() })
    }

    pub fn words(&self) -> Result<String, Problem> {
        self.q.clone().ok_or_else(|| Problem::validation("q", "q must hold the words to look for"))
    }

    /// For lists in the order of arrival.
    pub fn place(&self) -> Result<Option<i64>, Problem> {
        self.cursor.as_deref().map(number).transpose()
    }

    pub fn open_cursor(&self) -> Result<Option<Cursor>, Problem> {
        let pair = self.cursor.as_deref().map(pair).transpose()?;
        Ok(pair.map(|(rank, seq)| Cursor { rank, seq }))
    }

    pub fn decided_cursor(&self) -> Result<Option<(Timestamp, i64)>, Problem> {
        let pair = self.cursor.as_deref().map(pair).transpose()?;
        Ok(pair.map(|(millis, seq)| (Timestamp::from_millis(millis), seq)))
    }
}

fn bad_cursor() -> Problem {
    Problem::validation("cursor", "cursor must be the next_cursor of an earlier page")
}

fn number(text: &str) -> Result<i64, Problem> {
    text.parse().map_err(|_| bad_cursor())
}

fn pair(text: &str) -> Result<(i64, i64), Problem> {
    let (first, second) = text.split_once('.').ok_or_else(bad_cursor)?;
    Ok((number(first)?, number(second)?))
}
