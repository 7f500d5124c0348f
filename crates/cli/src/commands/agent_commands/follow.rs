//! Waits for a message's outcome, runs the command if one is given, and reports the result.

use anyhow::Result;
use countersign_agent::{Journal, Progress, Resolved, Ticket, WaitUntil};
use countersign_client::screen;
use tokio::time::Instant;

use super::act::{ActResult, ExecOptions, act};
use super::credentials::session::AgentSession;
use super::outcome::{AskedQuestion, OutcomeReport, answer_line, code, exit_code, outcome_line};
use crate::args::{ExecArgs, Globals, Span};
use crate::commands::Finished;

pub struct OutcomeFollower<'a> {
    pub session: &'a AgentSession,
    pub journal: &'a Journal,
    pub ticket: &'a Ticket,
    pub asked: AskedQuestion,
    pub deadline: Option<Instant>,
    pub exec: &'a ExecArgs,
    pub globals: &'a Globals,
}

impl OutcomeFollower<'_> {
    pub async fn finish(self) -> Result<Finished> {
        let until = self.deadline.map_or(WaitUntil::Ended, WaitUntil::Deadline);
        match self
            .session
            .hub
            .wait(self.ticket, until)
            .await
            .map_err(|error| self.session.explain(error.into()))?
        {
            Progress::Ended(resolved) => self.ended(&resolved).await,
            Progress::Delivered => self.without_outcome("delivered", code::YES),
            Progress::Open => {
                let resume = resume_command(self.ticket, self.globals);
                screen::print_notice(&format!("Still open. Resume with `{resume}`."));
                self.without_outcome("open", code::OPEN)
            }
        }
    }

    fn without_outcome(&self, status: &'static str, code: u8) -> Result<Finished> {
        let text = if self.globals.json {
            OutcomeReport::of_status(status, self.ticket).line()?
        } else {
            String::new()
        };
        Ok(Finished::with_code(text, code))
    }

    async fn ended(&self, resolved: &Resolved) -> Result<Finished> {
        screen::print_notice(&outcome_line(resolved));
        let report = OutcomeReport::of_outcome(resolved);
        let code = exit_code(&resolved.outcome, &self.asked);
        if self.exec.words.is_empty() {
            let text = if self.globals.json {
                report.line()?
            } else {
                answer_line(&resolved.outcome, &self.asked)
            };
            return Ok(Finished::with_code(text, code));
        }
        // Standard output belongs to the command, unless it is reserved for one JSON object.
        let options = ExecOptions {
            own_group: false,
            to_stderr: self.globals.json,
        };
        let acted = act(self.journal, resolved, self.exec, options).await?;
        screen::print_notice(&acted.text(&resolved.message_id));
        let code = match &acted {
            ActResult::Done | ActResult::Before { ok: true } => code,
            ActResult::Failed(_)
            | ActResult::Before { ok: false }
            | ActResult::Interrupted
            | ActResult::UnderWay
            | ActResult::Other => code::FAILED,
        };
        let text = if self.globals.json {
            report.with_act(acted.name()).line()?
        } else {
            String::new()
        };
        Ok(Finished::with_code(text, code))
    }
}

pub fn deadline(timeout: Option<Span>) -> Option<Instant> {
    timeout.map(|Span(span)| Instant::now() + span)
}

/// The command that resumes waiting for a message.
pub fn resume_command(ticket: &Ticket, globals: &Globals) -> String {
    let id = ticket.message_id.as_deref().unwrap_or(&ticket.idempotency_key);
    let data = globals
        .data
        .as_ref()
        .map(|data| format!(" --data {}", data.display()))
        .unwrap_or_default();
    format!("countersign wait {id}{data}")
}
