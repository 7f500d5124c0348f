//! What the hub says, put to where it belongs.

use countersign_protocol::runs::Event;

use super::super::Finished;
use super::ask::Ask;
use super::ending::{self, Ending};
use super::follow::Follow;
use super::heard::{Heard, Told, read};
use super::sent::Returned;
use crate::client::Lost;
use crate::screen::{self, escape, escape_json, escape_lines};

pub const SUBSCRIBE: &str = "subscribe";

impl Follow {
    /// The end, if this was it.
    pub(super) async fn hear(&mut self, text: &str) -> Result<Option<Finished>, Lost> {
        match read(text) {
            Heard::Event(told) => self.event(*told, text),
            Heard::Resolved { id } => {
                self.for_machines(text);
                self.sent.resolved(&id);
                self.withdraw(&id);
            }
            Heard::Error {
                code,
                message,
                request_id,
            } => {
                let request_id = request_id.unwrap_or_default();
                if request_id == SUBSCRIBE && code == "INTERNAL_ERROR" {
                    // Trouble of the hub and not of the run: it passes, as a hub does that is away.
                    return Err(Lost(format!("the hub cannot tell about the run now: {message}")));
                }
                if request_id == SUBSCRIBE && code != "REPLAY_TRUNCATED" {
                    return Ok(Some(self.unknown(&format!("{message} ({code})"))));
                }
                self.refused(&code, &message, &request_id);
            }
            Heard::Pong { request_id } => {
                if request_id.is_some()
                    && request_id.as_deref() == self.unsure.as_ref().map(|unsure| unsure.until.as_str())
                {
                    self.be_sure().await?;
                }
            }
            Heard::Prepared { .. } | Heard::Unknown => {}
        }
        if self.unsure.is_some() {
            return Ok(None);
        }
        if let Some(ending) = self.ending.take() {
            return Ok(Some(self.finish(ending)));
        }
        self.turn().await;
        Ok(None)
    }

    fn event(&mut self, told: Told, text: &str) {
        let is_new = told.seq > self.seq;
        self.seq = self.seq.max(told.seq);
        if is_new {
            self.for_machines(text);
        }
        let Some(event) = told.event else { return };
        match Ask::of(&event) {
            Some(ask) if told.is_resolved => {
                self.withdraw(&ask.id);
                if is_new && !self.json {
                    self.say(&ask.words());
                }
            }
            Some(ask) => self.asked(ask),
            None if is_new => self.happened(&event),
            None => {}
        }
    }

    fn asked(&mut self, ask: Ask) {
        if let Some(unsure) = &mut self.unsure {
            unsure.open.insert(ask.id.clone());
        }
        // What was answered here is not asked again because it comes again.
        if !self.sent.holds(&ask.id) {
            self.console.add(ask);
        }
    }

    fn happened(&mut self, event: &Event) {
        if matches!(event, Event::StrategyStarted { .. }) {
            self.ending = None;
        }
        self.ending = Ending::of(event).or(self.ending.take());
        if !self.json {
            let text = self.story.tell(event);
            self.put(&text);
        }
    }

    fn for_machines(&self, text: &str) {
        if self.json {
            // A reader that is gone needs nothing; a full disk is told by the next one who writes.
            let _ = screen::print(&(escape_json(text) + "\n"));
        }
    }

    fn refused(&mut self, code: &str, message: &str, request_id: &str) {
        if code == "REPLAY_TRUNCATED" {
            return self.say("What happened before this is not kept any more\n");
        }
        match self.sent.refused(code, request_id) {
            Returned::TooLate { agent_name } => {
                let agent = escape(&agent_name);
                self.say(&format!(
                    "{agent} had been answered already: what you typed was not taken\n"
                ));
            }
            Returned::Refused(ask) => {
                self.say(&format!("not taken: {} ({})\n", escape_lines(message), escape(code)));
                self.console.put_back(ask);
            }
            Returned::Nothing => {}
        }
    }

    /// Of a run that was followed before, it is lost; of another one, its name was wrong.
    fn unknown(&mut self, why: &str) -> Finished {
        self.say("");
        if self.has_been_sure {
            return ending::lost(why);
        }
        screen::complain(why);
        Finished::failed(String::new())
    }

    fn finish(&mut self, ending: Ending) -> Finished {
        let before = if self.console.standing().is_some() {
            "\n".to_owned()
        } else {
            self.story.pause()
        };
        screen::note(&before);
        ending.finish(&self.run_id, self.json)
    }
}
