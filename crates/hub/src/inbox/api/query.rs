//! Query parameters of the lists: limit, cursor and filters.

use countersign_core::message::Status;
use countersign_core::search::{SearchError, SearchQuery};
use countersign_protocol::time::Timestamp;
use countersign_store::model::Cursor;
use countersign_store::ops::list::ListFilter;
use serde::Deserialize;

use crate::inbox::cursor::{parse_inbox_cursor, parse_pair};
use crate::problem::Problem;
use countersign_core::kind::kinds_to_decide;

const DEFAULT_PAGE_SIZE: i64 = 50;
pub const MAX_PAGE_SIZE: i64 = 200;

/// Parses the page size.
pub fn parse_limit(text: Option<&str>) -> Result<i64, Problem> {
    let Some(text) = text else { return Ok(DEFAULT_PAGE_SIZE) };
    match text.parse() {
        Ok(limit) if (1..=MAX_PAGE_SIZE).contains(&limit) => Ok(limit),
        _ => Err(Problem::validation(
            "limit",
            format!("limit must be between 1 and {MAX_PAGE_SIZE}"),
        )),
    }
}

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
        parse_limit(self.limit.as_deref())
    }

    pub fn status(&self) -> Result<Option<Status>, Problem> {
        let parsed = self.status.as_deref().map(|text| {
            text.parse::<Status>()
                .map_err(|error| Problem::validation("status", format!("status: {error}")))
        });
        parsed.transpose()
    }

    /// Parses `status` where only final statuses are allowed.
    pub fn final_status(&self) -> Result<Option<Status>, Problem> {
        match self.status()? {
            Some(Status::Open | Status::Delivered) => Err(Problem::validation(
                "status",
                "status must be a final status, such as answered",
            )),
            final_status @ (Some(Status::Resolved(_)) | None) => Ok(final_status),
        }
    }

    pub fn filter(&self) -> Result<ListFilter, Problem> {
        let kinds: Vec<&str> = kinds_to_decide().map(|(kind, _)| *kind).collect();
        if self.kind.as_deref().is_some_and(|kind| !kinds.contains(&kind)) {
            return Err(Problem::validation(
                "kind",
                format!("kind must be one of: {}", kinds.join(", ")),
            ));
        }
        let agent = self.agent.clone();
        let project = self.project.clone();
        Ok(ListFilter {
            agent,
            project,
            tag: self.tag.clone(),
            kind: self.kind.clone(),
            resolver: None,
        })
    }

    pub fn search(&self) -> Result<SearchQuery, Problem> {
        let text = self.q.as_deref();
        let text = text.ok_or_else(|| Problem::validation("q", "q must contain the words to search for"))?;
        text.parse()
            .map_err(|error: SearchError| Problem::validation("q", error.to_string()))
    }

    /// The cursor of lists in the order of arrival.
    pub fn seq_cursor(&self) -> Result<Option<i64>, Problem> {
        self.read_cursor(|text| text.parse().ok())
    }

    pub fn open_cursor(&self) -> Result<Option<Cursor>, Problem> {
        self.read_cursor(parse_inbox_cursor)
    }

    pub fn decided_cursor(&self) -> Result<Option<(Timestamp, i64)>, Problem> {
        Ok(self
            .read_cursor(parse_pair)?
            .map(|(millis, seq)| (Timestamp::from_millis(millis), seq)))
    }

    fn read_cursor<T>(&self, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Problem> {
        let Some(text) = &self.cursor else { return Ok(None) };
        let bad = || Problem::validation("cursor", "cursor must be the next_cursor of an earlier page");
        read(text).map(Some).ok_or_else(bad)
    }
}
