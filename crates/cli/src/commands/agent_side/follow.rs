//! From a message the hub has to its end: wait, act if that is wanted, and say how it went.

use anyhow::Result;
use countersign_agent::{Journal, Progress, Resolved, Ticket, Until};
use tokio::time::Instant;

use super::act::{Acted, Manner, act};
use super::outcome::{Asked, Report, answer_line, code, exit_code, words};
use super::seat::Seat;
use crate::args::{Exec, Globals, Span};
use crate::commands::Finished;
use crate::screen;

pub struct Follow<'a> {
    pub seat: &'a Seat,
    pub journal: &'a Journal,
    pub ticket: &'a Ticket,
    pub asked: Asked,
    pub deadline: Option<Instant>,
    pub exec: &'a Exec,
    pub globals: &'a Globals,
}

impl Follow<'_> {
    pub async fn finish(self) -> Result<Finished> {
        let until = self.deadline.map_or(Until::Ended, Until::Deadline);
        match self
            .seat
            .hub
            .wait(self.ticket, until)
            .await
            .map_err(|error| self.seat.explain(error.into()))?
        {
            Progress::Ended(resolved) => self.ended(&resolved).await,
            Progress::Delivered => self.without_outcome("delivered", code::YES),
            Progress::Open => {
                screen::remark(&format!("still open; {}", come_back(self.ticket, self.globals)));
                self.without_outcome("open", code::OPEN)
            }
        }
    }

    fn without_outcome(&self, status: &'static str, code: u8) -> Result<Finished> {
        let text = if self.globals.json {
            Report::of_status(status, self.ticket).line()?
        } else {
            String::new()
        };
        Ok(Finished::ending(text, code))
    }

    async fn ended(&self, resolved: &Resolved) -> Result<Finished> {
        screen::remark(&words(resolved));
        let report = Report::of_outcome(resolved);
        let code = exit_code(&resolved.outcome, &self.asked);
        if self.exec.words.is_empty() {
            let text = if self.globals.json {
                report.line()?
            } else {
                answer_line(&resolved.outcome)
            };
            return Ok(Finished::ending(text, code));
        }
        // Standard output belongs to the command, unless one object is to stand there.
        let manner = Manner {
            alone: false,
            aside: self.globals.json,
        };
        let acted = act(self.journal, resolved, self.exec, manner).await?;
        screen::remark(&acted.words(&resolved.message_id));
        let code = match &acted {
            Acted::Done | Acted::Before { ok: true } => code,
            Acted::Failed(_) | Acted::Before { ok: false } | Acted::Interrupted | Acted::UnderWay | Acted::Other => {
                code::FAILED
            }
        };
        let text = if self.globals.json {
            report.with_act(acted.name()).line()?
        } else {
            String::new()
        };
        Ok(Finished::ending(text, code))
    }
}

pub fn deadline(timeout: Option<Span>) -> Option<Instant> {
    timeout.map(|Span(span)| Instant::now() + span)
}

/// How to return to a message.
pub fn come_back(ticket: &Ticket, globals: &Globals) -> String {
    let id = ticket.message_id.as_deref().unwrap_or(&ticket.idempotency_key);
    let data = globals
        .data
        .as_ref()
        .map(|data| format!(" --data {}", data.display()))
        .unwrap_or_default();
    format!("come back with: countersign wait {id}{data}")
}
