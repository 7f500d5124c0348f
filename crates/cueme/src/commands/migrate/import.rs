//! Imports one mailbox into the hub: its agents, then its requests, oldest first, one call each. An interrupted call is
//! retried; the hub imports each request only once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use countersign_protocol::time::Timestamp;
use ureq::http::StatusCode;

use super::answer::{AnswerContent, MailboxAnswer, MailboxStatus, resolution};
use super::attachments::Attachments;
use super::database::Database;
use super::request::{MailboxAgent, MailboxRequest, asked_at, payload};
use super::rows::RequestRow;
use super::summary::Summary;
use crate::client::{CuemeClient, HubError};
use crate::failure::Failure;
use crate::session::{HubSession, OutageNotices, RetryError};
use crate::setup::settings::Settings;
use crate::terminal::out;

/// How long a call is retried while the hub restarts or limits the call rate.
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);

pub struct Import<'a> {
    database: &'a Database,
    /// The directory of the mailbox.
    home: PathBuf,
    session: HubSession,
    agents: BTreeSet<String>,
    summary: Summary,
    last_progress_at: Instant,
}

/// The hub's reply to one call.
enum CallOutcome<T> {
    Accepted(T),
    Rejected(String),
}

impl<'a> Import<'a> {
    pub fn new(database: &'a Database, path: &Path, settings: &Settings) -> Self {
        let home = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        Self {
            database,
            home: home.to_owned(),
            session: HubSession::new(settings),
            agents: BTreeSet::new(),
            summary: Summary {
                database: path.display().to_string(),
                ..Summary::default()
            },
            last_progress_at: Instant::now(),
        }
    }

    pub fn run(mut self) -> Result<Summary, Failure> {
        let agents = self.database.agents().map_err(unreadable)?;
        let rowids = self.database.request_rowids().map_err(unreadable)?;
        self.summary.orphans = self.database.orphans().map_err(unreadable)?;
        if !agents.is_empty() || !rowids.is_empty() {
            self.session.first_call(None, CuemeClient::check_health)?;
        }
        for row in agents {
            self.agent(&MailboxAgent::from(row))?;
        }
        for (done, rowid) in rowids.iter().enumerate() {
            self.request(*rowid)?;
            self.report_progress(done + 1, rowids.len());
        }
        self.summary.agents = self.agents.len() as u64;
        Ok(self.summary)
    }

    fn agent(&mut self, agent: &MailboxAgent) -> Result<(), Failure> {
        match self.call(|hub| hub.join_with_name(agent))? {
            CallOutcome::Accepted(()) => {
                self.agents.insert(agent.agent_id.clone());
            }
            CallOutcome::Rejected(why) => self.summary.skip(&format!("agent {}", agent.agent_id), why),
        }
        Ok(())
    }

    fn request(&mut self, rowid: i64) -> Result<(), Failure> {
        let row = match self.database.request(rowid) {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(()),
            Err(error) => {
                self.summary
                    .skip(&format!("row {rowid}"), format!("cannot be read: {error}"));
                return Ok(());
            }
        };
        let what = row.request_id.clone();
        let request = match self.build_request(row) {
            Ok(request) => request,
            Err(error) => {
                self.summary.skip(&what, format!("its answer cannot be read: {error}"));
                return Ok(());
            }
        };
        match self.call(|hub| hub.import(&request))? {
            CallOutcome::Accepted(is_new) => self.count(request, is_new),
            CallOutcome::Rejected(why) => self.summary.skip(&what, why),
        }
        Ok(())
    }

    /// Builds the request with its resolution. Parts that have to be left out are noted in the summary.
    fn build_request(&mut self, row: RequestRow) -> rusqlite::Result<MailboxRequest> {
        let answer = self.answer(&row.request_id)?;
        let (kind, payload, left_out) = payload(row.payload.as_deref());
        let files = answer.as_ref().map_or(&[][..], |answer| &answer.attachments.left_out);
        for why in files.iter().cloned().chain(left_out.map(str::to_owned)) {
            self.summary.skip(&row.request_id, why);
        }
        let now = now();
        let answered_at = answer.as_ref().and_then(|answer| answer.row.created_at.as_deref());
        let created_at = asked_at(&row, answered_at, now);
        let resolution = resolution(&row, answer, now);
        let RequestRow {
            request_id,
            agent_id,
            prompt,
            ..
        } = row;
        Ok(MailboxRequest {
            request_id,
            agent_id,
            kind,
            prompt,
            payload,
            created_at,
            resolution,
        })
    }

    fn answer(&self, request_id: &str) -> rusqlite::Result<Option<MailboxAnswer>> {
        let Some(row) = self.database.answer(request_id)? else {
            return Ok(None);
        };
        let content = AnswerContent::read(row.response_json.as_deref());
        let files = self.database.files(row.rowid)?;
        let attachments = Attachments::read(&self.home, &files, &content.images);
        Ok(Some(MailboxAnswer {
            row,
            content,
            attachments,
        }))
    }

    fn count(&mut self, request: MailboxRequest, is_new: bool) {
        let MailboxRequest {
            agent_id, resolution, ..
        } = request;
        self.agents.insert(agent_id);
        let summary = &mut self.summary;
        *(if is_new {
            &mut summary.imported
        } else {
            &mut summary.known
        }) += 1;
        let Some(resolution) = resolution else {
            summary.open += 1;
            return;
        };
        match resolution.status {
            MailboxStatus::Answered => summary.answered += 1,
            MailboxStatus::Cancelled => summary.cancelled += 1,
        }
        summary.files += resolution.files.len() as u64;
    }

    /// A rejection concerns one request only; any other error ends the import.
    fn call<T>(&mut self, call: impl Fn(&CuemeClient) -> Result<T, HubError>) -> Result<CallOutcome<T>, Failure> {
        let outcome = self
            .session
            .call_with_retry(Some(Instant::now() + RETRY_TIMEOUT), OutageNotices::Silent, call);
        match outcome.map_err(RetryError::into_error) {
            Ok(reply) => Ok(CallOutcome::Accepted(reply)),
            Err(HubError::Refused { status, message }) if concerns_one_request(status) => {
                Ok(CallOutcome::Rejected(message))
            }
            Err(error) => Err(Failure::failed(&format!(
                "{error}; {} requests are imported: run this again for the rest, none is imported twice",
                self.summary.imported + self.summary.known
            ))),
        }
    }

    fn report_progress(&mut self, done: usize, all: usize) {
        if self.last_progress_at.elapsed() >= PROGRESS_INTERVAL {
            out::remark(&format!("{done} of {all} requests"));
            self.last_progress_at = Instant::now();
        }
    }
}

fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}

fn concerns_one_request(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY
    )
}

fn unreadable(error: rusqlite::Error) -> Failure {
    Failure::failed(&format!("the database cannot be read: {error}"))
}
