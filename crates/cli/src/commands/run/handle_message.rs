//! Handles the hub's messages.

use countersign_client::hub::SocketClosed;
use countersign_client::screen::{self, escape, escape_json, escape_lines};
use countersign_protocol::runs::Event;

use super::ask::ConsoleAsk;
use super::ending::{self, FollowedEnding};
use super::follow::FollowSession;
use super::hub_message::{HubMessage, NumberedEvent, read};
use super::sent_answers::RefusedAnswer;
use crate::commands::Finished;

pub const SUBSCRIBE: &str = "subscribe";

impl FollowSession {
    /// Returns the result if the message ended the run.
    pub(super) async fn handle_message(&mut self, text: &str) -> Result<Option<Finished>, SocketClosed> {
        match read(text) {
            HubMessage::Event(numbered) => self.event(*numbered, text),
            HubMessage::Resolved { id } => {
                self.for_machines(text);
                self.sent.resolved(&id);
                self.withdraw(&id);
            }
            HubMessage::Error {
                code,
                message,
                request_id,
            } => {
                let request_id = request_id.unwrap_or_default();
                if request_id == SUBSCRIBE && code == "INTERNAL_ERROR" {
                    // A temporary failure of the hub, handled like a lost connection.
                    return Err(SocketClosed(format!("the hub cannot read the run now: {message}")));
                }
                if request_id == SUBSCRIBE && code != "REPLAY_TRUNCATED" {
                    return Ok(Some(self.unknown(&format!("{message} ({code})"))));
                }
                self.refused(&code, &message, &request_id);
            }
            HubMessage::Pong { request_id } => {
                if request_id.is_some()
                    && request_id.as_deref() == self.catch_up.as_ref().map(|catch_up| catch_up.until.as_str())
                {
                    self.finish_catch_up().await?;
                }
            }
            HubMessage::Prepared { .. } | HubMessage::Unknown => {}
        }
        if self.catch_up.is_some() {
            return Ok(None);
        }
        if let Some(ending) = self.ending.take() {
            return Ok(Some(self.finish(ending)));
        }
        self.show_next().await;
        Ok(None)
    }

    fn event(&mut self, numbered: NumberedEvent, text: &str) {
        let is_new = numbered.seq > self.seq;
        self.seq = self.seq.max(numbered.seq);
        if is_new {
            self.for_machines(text);
        }
        let Some(event) = numbered.event else { return };
        match ConsoleAsk::of(&event) {
            Some(ask) if numbered.is_resolved => {
                self.withdraw(&ask.id);
                if is_new && !self.json {
                    self.print_line(&ask.text());
                }
            }
            Some(ask) => self.asked(ask),
            None if is_new => self.happened(&event),
            None => {}
        }
    }

    fn asked(&mut self, ask: ConsoleAsk) {
        if let Some(catch_up) = &mut self.catch_up {
            catch_up.open.insert(ask.id.clone());
        }
        // A replayed question that was answered here is not asked again.
        if !self.sent.holds(&ask.id) {
            self.console.add(ask);
        }
    }

    fn happened(&mut self, event: &Event) {
        if matches!(event, Event::StrategyStarted { .. }) {
            self.ending = None;
        }
        self.ending = FollowedEnding::of(event).or(self.ending.take());
        if !self.json {
            let text = self.printer.print_event(event);
            self.print_above_prompt(&text);
        }
    }

    fn for_machines(&self, text: &str) {
        if self.json {
            // A closed pipe is fine; a full disk is reported by a later write.
            let _ = screen::print(&(escape_json(text) + "\n"));
        }
    }

    fn refused(&mut self, code: &str, message: &str, request_id: &str) {
        if code == "REPLAY_TRUNCATED" {
            return self.print_line("Earlier events are no longer stored\n");
        }
        match self.sent.refused(code, request_id) {
            RefusedAnswer::TooLate { agent_name } => {
                let agent = escape(&agent_name);
                self.print_line(&format!("{agent} had already been answered: your input was not used\n"));
            }
            RefusedAnswer::Refused(ask) => {
                self.print_line(&format!("not accepted: {} ({})\n", escape_lines(message), escape(code)));
                self.console.put_back(ask);
            }
            RefusedAnswer::Nothing => {}
        }
    }

    /// A run that was followed before is lost; otherwise its id was wrong.
    fn unknown(&mut self, why: &str) -> Finished {
        self.print_line("");
        if self.was_caught_up {
            return ending::lost(why);
        }
        screen::print_error(why);
        Finished::failed(String::new())
    }

    fn finish(&mut self, ending: FollowedEnding) -> Finished {
        let before = if self.console.current_prompt().is_some() {
            "\n".to_owned()
        } else {
            self.printer.end_line()
        };
        screen::write_stderr(&before);
        ending.finish(&self.run_id, self.json)
    }
}
