//! One mailbox on its way into the hub: its agents, then its requests, oldest first, each in one call. A call that breaks off
//! is made again; the hub takes each request once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use countersign_protocol::time::Timestamp;
use ureq::http::StatusCode;

use super::answer::{Answer, Said, Status, resolution};
use super::attach::Attached;
use super::database::Database;
use super::request::{Agent, Request, asked_at, payload};
use super::rows::RequestRow;
use super::summary::Summary;
use crate::failure::Failure;
use crate::hub::{Hub, HubError};
use crate::session::{GaveUp, Remarks, Seat};
use crate::setup::settings::Settings;
use crate::terminal::out;

/// For a hub that restarts, or that wants fewer calls a minute.
const PATIENCE: Duration = Duration::from_secs(60);
const REMARK_EVERY: Duration = Duration::from_secs(5);

pub struct Import<'a> {
    database: &'a Database,
    /// The directory of the mailbox.
    home: PathBuf,
    seat: Seat,
    agents: BTreeSet<String>,
    summary: Summary,
    remarked_at: Instant,
}

/// What the hub made of one call.
enum Made<T> {
    Taken(T),
    Refused(String),
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
            seat: Seat::new(settings),
            agents: BTreeSet::new(),
            summary: Summary {
                database: path.display().to_string(),
                ..Summary::default()
            },
            remarked_at: Instant::now(),
        }
    }

    pub fn run(mut self) -> Result<Summary, Failure> {
        let agents = self.database.agents().map_err(unreadable)?;
        let places = self.database.requests().map_err(unreadable)?;
        self.summary.orphans = self.database.orphans().map_err(unreadable)?;
        if !agents.is_empty() || !places.is_empty() {
            self.seat.first(None, Hub::greet)?;
        }
        for row in agents {
            self.agent(&Agent::from(row))?;
        }
        for (done, place) in places.iter().enumerate() {
            self.request(*place)?;
            self.remark(done + 1, places.len());
        }
        self.summary.agents = self.agents.len() as u64;
        Ok(self.summary)
    }

    fn agent(&mut self, agent: &Agent) -> Result<(), Failure> {
        match self.call(|hub| hub.keep_name(agent))? {
            Made::Taken(()) => {
                self.agents.insert(agent.agent_id.clone());
            }
            Made::Refused(why) => self.summary.skip(&format!("agent {}", agent.agent_id), why),
        }
        Ok(())
    }

    fn request(&mut self, place: i64) -> Result<(), Failure> {
        let row = match self.database.request(place) {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(()),
            Err(error) => {
                self.summary
                    .skip(&format!("row {place}"), format!("cannot be read: {error}"));
                return Ok(());
            }
        };
        let what = row.request_id.clone();
        let request = match self.read(row) {
            Ok(request) => request,
            Err(error) => {
                self.summary.skip(&what, format!("its answer cannot be read: {error}"));
                return Ok(());
            }
        };
        match self.call(|hub| hub.import(&request))? {
            Made::Taken(is_new) => self.count(request, is_new),
            Made::Refused(why) => self.summary.skip(&what, why),
        }
        Ok(())
    }

    /// The request with what became of it. What has to be left out is noted.
    fn read(&mut self, row: RequestRow) -> rusqlite::Result<Request> {
        let answer = self.answer(&row.request_id)?;
        let (kind, payload, left_out) = payload(row.payload.as_deref());
        let files = answer.as_ref().map_or(&[][..], |answer| &answer.attached.left_out);
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
        Ok(Request {
            request_id,
            agent_id,
            kind,
            prompt,
            payload,
            created_at,
            resolution,
        })
    }

    fn answer(&self, request_id: &str) -> rusqlite::Result<Option<Answer>> {
        let Some(row) = self.database.answer(request_id)? else {
            return Ok(None);
        };
        let said = Said::read(row.response_json.as_deref());
        let files = self.database.files(row.number)?;
        let attached = Attached::read(&self.home, &files, &said.images);
        Ok(Some(Answer { row, said, attached }))
    }

    fn count(&mut self, request: Request, is_new: bool) {
        let Request {
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
            Status::Answered => summary.answered += 1,
            Status::Cancelled => summary.cancelled += 1,
        }
        summary.files += resolution.files.len() as u64;
    }

    /// What the hub refuses concerns one request; anything else ends the whole.
    fn call<T>(&mut self, call: impl Fn(&Hub) -> Result<T, HubError>) -> Result<Made<T>, Failure> {
        let made = self.seat.insist(Some(Instant::now() + PATIENCE), Remarks::Silent, call);
        match made.map_err(GaveUp::error) {
            Ok(taken) => Ok(Made::Taken(taken)),
            Err(HubError::Refused { status, message }) if is_of_one(status) => Ok(Made::Refused(message)),
            Err(error) => Err(Failure::failed(&format!(
                "{error}; {} requests are imported: run this again for the rest, none is imported twice",
                self.summary.imported + self.summary.known
            ))),
        }
    }

    fn remark(&mut self, done: usize, all: usize) {
        if self.remarked_at.elapsed() >= REMARK_EVERY {
            out::remark(&format!("{done} of {all} requests"));
            self.remarked_at = Instant::now();
        }
    }
}

fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}

fn is_of_one(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY
    )
}

fn unreadable(error: rusqlite::Error) -> Failure {
    Failure::failed(&format!("the database cannot be read: {error}"))
}
