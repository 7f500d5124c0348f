//! Follows a run: hub messages are printed, the person's answers are sent, until either side ends.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::Result;
use countersign_client::hub::{HubClient, RelocatingClient, Socket, SocketClosed};
use countersign_client::screen;
use countersign_client::stop_signals::{self, StopSignals};
use countersign_protocol::backoff::Backoff;

use super::super::Finished;
use super::console::{Console, ConsoleEvent};
use super::ending::{self, FollowedEnding};
use super::printer::EventPrinter;
use super::reconnect::ReconnectResult;
use super::sent_answers::SentAnswers;
use super::start::StartedRun;
use super::where_to_answer::where_to_answer;

pub struct FollowSession {
    pub(super) hub_client: RelocatingClient,
    pub(super) socket: Socket,
    pub(super) run_id: String,
    /// The number of the last event received.
    pub(super) seq: u64,
    /// Set until all earlier events are received.
    pub(super) catch_up: Option<CatchUp>,
    pub(super) was_caught_up: bool,
    pub(super) ending: Option<FollowedEnding>,
    pub(super) printer: EventPrinter,
    pub(super) console: Console,
    pub(super) sent: SentAnswers,
    pub(super) json: bool,
    pub(super) stops: StopSignals,
    /// The reconnect backoff, reset once the run's events arrive.
    pub(super) backoff: Backoff,
    /// The event received with the start.
    first: Option<String>,
    requests: u64,
}

/// The catch-up on a new connection: the open questions are uncertain until all earlier events have arrived.
pub struct CatchUp {
    /// The ping whose reply marks the end of the catch-up.
    pub until: String,
    pub open: HashSet<String>,
}

enum FollowEvent {
    Message(String),
    Lost(SocketClosed),
    Console(ConsoleEvent),
    Stopped,
}

impl FollowSession {
    pub fn begun(begun: StartedRun, client: &HubClient, json: bool) -> Result<Self> {
        let StartedRun { socket, run_id, first } = begun;
        if !json {
            screen::print_notice(&format!("Run {run_id}"));
        }
        let mut follow = Self::new(run_id, client, socket, json)?;
        (follow.first, follow.was_caught_up) = (Some(first), true);
        Ok(follow)
    }

    pub async fn from_the_beginning(run_id: &str, client: &HubClient, json: bool) -> Result<Self> {
        let socket = Socket::open(client).await?;
        let mut follow = Self::new(run_id.to_owned(), client, socket, json)?;
        follow.subscribe().await?;
        Ok(follow)
    }

    fn new(run_id: String, client: &HubClient, socket: Socket, json: bool) -> Result<Self> {
        Ok(Self {
            hub_client: RelocatingClient::new(client.location().clone())?,
            socket,
            run_id,
            seq: 0,
            catch_up: None,
            was_caught_up: false,
            ending: None,
            printer: EventPrinter::default(),
            console: Console::new(),
            sent: SentAnswers::default(),
            json,
            stops: StopSignals::new()?,
            backoff: Backoff::new(Duration::from_millis(250), Duration::from_secs(5)),
            first: None,
            requests: 0,
        })
    }

    pub async fn run(mut self) -> Result<Finished> {
        // On a blocking thread, because that function builds a runtime of its own.
        tokio::task::spawn_blocking(stop_signals::exit_on_second_interrupt).await??;
        if let Some(first) = self.first.take() {
            self.handle_message(&first).await?;
        }
        loop {
            let lost = match self.next().await {
                FollowEvent::Message(text) => match self.handle_message(&text).await {
                    Ok(None) => continue,
                    Ok(Some(finished)) => return Ok(finished),
                    Err(lost) => lost,
                },
                FollowEvent::Console(event) => match self.act(event).await {
                    Ok(()) => continue,
                    Err(lost) => lost,
                },
                FollowEvent::Lost(lost) => lost,
                FollowEvent::Stopped => return Ok(self.leave()),
            };
            match self.reconnect(&lost).await {
                ReconnectResult::Here => {}
                ReconnectResult::Left => return Ok(self.leave()),
                ReconnectResult::Refused(error) => return Ok(ending::lost(&error.to_string())),
            }
        }
    }

    /// During catch-up the open questions are uncertain, so input is not read.
    async fn next(&mut self) -> FollowEvent {
        let is_caught_up = self.catch_up.is_none();
        tokio::select! {
            message = self.socket.next() => message.map_or_else(FollowEvent::Lost, FollowEvent::Message),
            event = self.console.next(), if is_caught_up => FollowEvent::Console(event),
            () = self.stops.any() => FollowEvent::Stopped,
        }
    }

    async fn act(&mut self, event: ConsoleEvent) -> Result<(), SocketClosed> {
        match event {
            ConsoleEvent::Say(text) => screen::write_stderr(&text),
            ConsoleEvent::Left => {
                if self.console.is_at_terminal() {
                    // The prompt's line was not ended by Enter.
                    screen::write_stderr("\n");
                }
                self.print_where_to_answer().await;
            }
            ConsoleEvent::Answered(ask, answer) => {
                let request_id = self.request_id("answer");
                let message = ask.answered(&self.run_id, &answer);
                self.printer.written(answer.as_str());
                self.sent.add(ask, answer, request_id.clone());
                self.socket.send(&message, &request_id).await?;
                self.show_next().await;
            }
        }
        Ok(())
    }

    /// Shows the next question, if there is one.
    pub(super) async fn show_next(&mut self) {
        let text = self.console.show_next();
        if text.is_empty() {
            return;
        }
        screen::write_stderr(&(self.printer.end_line() + &text));
        if self.console.input_ended() {
            self.print_where_to_answer().await;
        }
    }

    async fn print_where_to_answer(&mut self) {
        let place = where_to_answer(&self.hub_client.client(), &self.run_id).await;
        self.print_line(&format!(
            "Questions are no longer answered here; the run keeps waiting.\n{place}"
        ));
    }

    /// Prints a line of this program's own.
    pub(super) fn print_line(&mut self, text: &str) {
        let text = self.printer.end_line() + text;
        self.print_above_prompt(&text);
    }

    /// Prints above the current prompt, and shows the prompt again.
    pub(super) fn print_above_prompt(&mut self, text: &str) {
        match self.console.current_prompt() {
            _ if text.is_empty() => {}
            None => screen::write_stderr(text),
            Some(prompt) => {
                self.console.discard_unfinished();
                screen::write_stderr(&format!("\n{text}{}{prompt}", self.printer.end_line()));
            }
        }
    }

    pub(super) fn withdraw(&mut self, id: &str) {
        let stood = self.console.current_prompt().is_some();
        if let Some(text) = self.console.withdraw(id) {
            let before = if stood {
                "\n".to_owned()
            } else {
                self.printer.end_line()
            };
            screen::write_stderr(&(before + &text));
        }
    }

    pub(super) fn request_id(&mut self, name: &str) -> String {
        self.requests += 1;
        format!("{name}-{}", self.requests)
    }

    fn leave(mut self) -> Finished {
        let before = if self.console.current_prompt().is_some() {
            "\n".to_owned()
        } else {
            self.printer.end_line()
        };
        screen::write_stderr(&before);
        ending::left(&self.run_id)
    }
}
