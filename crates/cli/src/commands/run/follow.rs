//! A run and the person who follows it: what the hub says is told, what the person types is sent, until one of them ends it.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::Result;

use super::super::Finished;
use super::back::{Back, FIRST_PAUSE};
use super::begin::Begun;
use super::console::{Console, Deed};
use super::ending::{self, Ending};
use super::place::where_to_answer;
use super::sent::SentAnswers;
use super::story::Story;
use crate::client::{Client, Lost, Reach, Socket};
use crate::screen;
use crate::stops::{self, Stops};

pub struct Follow {
    pub(super) reach: Reach,
    pub(super) socket: Socket,
    pub(super) run_id: String,
    /// The number of the last event that was heard.
    pub(super) seq: u64,
    /// Until everything is heard that happened before.
    pub(super) unsure: Option<Unsure>,
    pub(super) has_been_sure: bool,
    pub(super) ending: Option<Ending>,
    pub(super) story: Story,
    pub(super) console: Console,
    pub(super) sent: SentAnswers,
    pub(super) json: bool,
    pub(super) stops: Stops,
    /// Before the hub is tried again; it grows until the run is heard of.
    pub(super) pause: Duration,
    /// What was heard together with the beginning.
    first: Option<String>,
    requests: u64,
}

/// On a new connection, nothing is known for certain before the hub has said everything that it has to say.
pub struct Unsure {
    /// The request whose reply comes after all of it.
    pub until: String,
    pub open: HashSet<String>,
}

enum Happened {
    Said(String),
    Lost(Lost),
    Did(Deed),
    Stopped,
}

impl Follow {
    pub fn begun(begun: Begun, client: &Client, json: bool) -> Result<Self> {
        let Begun { socket, run_id, first } = begun;
        if !json {
            screen::remark(&format!("Run {run_id}"));
        }
        let mut follow = Self::new(run_id, client, socket, json)?;
        (follow.first, follow.has_been_sure) = (Some(first), true);
        Ok(follow)
    }

    pub async fn from_the_beginning(run_id: &str, client: &Client, json: bool) -> Result<Self> {
        let socket = Socket::open(client).await?;
        let mut follow = Self::new(run_id.to_owned(), client, socket, json)?;
        follow.subscribe().await?;
        Ok(follow)
    }

    fn new(run_id: String, client: &Client, socket: Socket, json: bool) -> Result<Self> {
        Ok(Self {
            reach: Reach::new(client.location().clone())?,
            socket,
            run_id,
            seq: 0,
            unsure: None,
            has_been_sure: false,
            ending: None,
            story: Story::default(),
            console: Console::new(),
            sent: SentAnswers::default(),
            json,
            stops: Stops::new()?,
            pause: FIRST_PAUSE,
            first: None,
            requests: 0,
        })
    }

    pub async fn run(mut self) -> Result<Finished> {
        // On a thread without a runtime of its own, where another one may be made.
        tokio::task::spawn_blocking(stops::end_at_the_second_interrupt).await??;
        if let Some(first) = self.first.take() {
            self.hear(&first).await?;
        }
        loop {
            let lost = match self.next().await {
                Happened::Said(text) => match self.hear(&text).await {
                    Ok(None) => continue,
                    Ok(Some(finished)) => return Ok(finished),
                    Err(lost) => lost,
                },
                Happened::Did(deed) => match self.act(deed).await {
                    Ok(()) => continue,
                    Err(lost) => lost,
                },
                Happened::Lost(lost) => lost,
                Happened::Stopped => return Ok(self.leave()),
            };
            match self.come_back(&lost).await {
                Back::Here => {}
                Back::Left => return Ok(self.leave()),
                Back::Refused(error) => return Ok(ending::lost(&error.to_string())),
            }
        }
    }

    /// While it is not certain what is still asked, nobody is listened to.
    async fn next(&mut self) -> Happened {
        let is_sure = self.unsure.is_none();
        tokio::select! {
            said = self.socket.next() => said.map_or_else(Happened::Lost, Happened::Said),
            deed = self.console.next(), if is_sure => Happened::Did(deed),
            () = self.stops.any() => Happened::Stopped,
        }
    }

    async fn act(&mut self, deed: Deed) -> Result<(), Lost> {
        match deed {
            Deed::Say(text) => screen::note(&text),
            Deed::Left => {
                if self.console.is_at_terminal() {
                    // Behind the prompt nobody has pressed Enter.
                    screen::note("\n");
                }
                self.say_where().await;
            }
            Deed::Answered(ask, answer) => {
                let request_id = self.request_id("answer");
                let message = ask.answered(&self.run_id, &answer);
                self.story.written(answer.as_str());
                self.sent.add(ask, answer, request_id.clone());
                self.socket.send(&message, &request_id).await?;
                self.turn().await;
            }
        }
        Ok(())
    }

    /// Shows the next question, if there is one.
    pub(super) async fn turn(&mut self) {
        let text = self.console.turn();
        if text.is_empty() {
            return;
        }
        screen::note(&(self.story.pause() + &text));
        if self.console.has_left() {
            self.say_where().await;
        }
    }

    async fn say_where(&mut self) {
        let place = where_to_answer(&self.reach.client(), &self.run_id).await;
        self.say(&format!(
            "Nobody answers here any more; the run goes on waiting.\n{place}"
        ));
    }

    /// A line of this program's own.
    pub(super) fn say(&mut self, text: &str) {
        let text = self.story.pause() + text;
        self.put(&text);
    }

    /// Above a prompt that stands there, which is then asked again.
    pub(super) fn put(&mut self, text: &str) {
        match self.console.standing() {
            _ if text.is_empty() => {}
            None => screen::note(text),
            Some(prompt) => {
                self.console.forget_unfinished();
                screen::note(&format!("\n{text}{}{prompt}", self.story.pause()));
            }
        }
    }

    pub(super) fn withdraw(&mut self, id: &str) {
        let stood = self.console.standing().is_some();
        if let Some(words) = self.console.withdraw(id) {
            let before = if stood { "\n".to_owned() } else { self.story.pause() };
            screen::note(&(before + &words));
        }
    }

    pub(super) fn request_id(&mut self, name: &str) -> String {
        self.requests += 1;
        format!("{name}-{}", self.requests)
    }

    fn leave(mut self) -> Finished {
        let before = if self.console.standing().is_some() {
            "\n".to_owned()
        } else {
            self.story.pause()
        };
        screen::note(&before);
        ending::left(&self.run_id)
    }
}
