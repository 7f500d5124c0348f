//! A conversation with a model: rounds of answers and tool calls, until it has nothing more to ask.

use countersign_core::runs::MAX_TEXT_BYTES;
use countersign_protocol::runs::strategy::LlmAgent;
use countersign_protocol::runs::{StreamEvent, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::seam::{Desk, Done, Job};
use super::body::{Frame, may_ask};
use super::client::{Line, Models, Patience};
use super::excerpt::excerpt;
use super::heard::Heard;
use super::prompt;
use super::questions::{self, Planned};
use super::round::Wish;
use crate::config::MOST_RETRIES;

const USUAL_ROUNDS: u32 = 20;

pub async fn talk<D: Desk>(models: &Models, agent: &LlmAgent, job: &Job<'_>, desk: &mut D) -> Result<Done, String> {
    let model = job.model_override.or(agent.model.as_deref());
    let model = model.ok_or_else(|| format!("Agent \"{}\" has no model.", job.agent.name))?;
    let (line, name) = models.line_of(model)?;
    let mut patience = models.patience;
    patience.retries = agent
        .model_options
        .max_retries
        .unwrap_or(patience.retries)
        .min(MOST_RETRIES);
    let caller = Caller {
        line,
        patience,
        frame: Frame::new(agent, &job.agent.name, name)?,
        opening: prompt::opening(agent, job),
        rounds: agent.max_steps.unwrap_or(USUAL_ROUNDS).max(1),
        may_ask: may_ask(agent),
    };
    let talk = match &job.resumed {
        Some(resumed) => Talk::resume(&resumed.state, resumed.answers.clone(), desk).await?,
        None => Talk::default(),
    };
    let done = caller.converse(talk, desk).await?;
    Ok(Done {
        model: Some(model.to_owned()),
        ..done
    })
}

/// Everything of a conversation that stays the same.
struct Caller<'a> {
    line: &'a Line,
    patience: Patience,
    frame: Frame,
    opening: Vec<Value>,
    rounds: u32,
    may_ask: bool,
}

impl Caller<'_> {
    async fn converse<D: Desk>(&self, mut talk: Talk, desk: &mut D) -> Result<Done, String> {
        loop {
            desk.say(StreamEvent::StepStart).await;
            let is_last = talk.rounds + 1 >= self.rounds;
            let heard = self.line.round(self.patience, self.wish(&talk, is_last), desk).await?;
            if heard.calls.is_empty() || (is_last && !heard.text.is_empty()) {
                return Ok(talk.done(heard));
            }
            if is_last {
                return Err(self.no_end(heard));
            }
            let planned = talk.take(heard, self.may_ask);
            for call in &planned {
                desk.say(call.event()).await;
            }
            let asks = questions::asks(&planned);
            let answers = if asks.is_empty() {
                Vec::new()
            } else {
                desk.ask(asks, talk.state(&planned)).await?
            };
            talk.answer(planned, answers, desk).await?;
        }
    }

    fn no_end(&self, heard: Heard) -> String {
        let rounds = self.rounds;
        match questions::not_given(&heard.calls.finish(), self.may_ask) {
            Some(name) => {
                let name = excerpt(name.as_bytes(), None);
                format!("the model called {name:?} in round {rounds} of {rounds}, a tool it was not given")
            }
            None => format!("the model still called tools in round {rounds} of {rounds}; raise maxSteps"),
        }
    }

    fn wish(&self, talk: &Talk, is_last: bool) -> Wish {
        let messages: Vec<Value> = self.opening.iter().chain(&talk.messages).cloned().collect();
        let body = self.frame.text(&messages, is_last).into();
        Wish {
            body,
            number: talk.rounds,
            most: talk.left,
        }
    }
}

/// What grows from round to round. It is kept beside a question, so that the conversation goes on after a restart.
#[derive(Serialize, Deserialize)]
struct Talk {
    /// After the opening, as the endpoint gets them.
    messages: Vec<Value>,
    responses: Vec<(String, String)>,
    usage: Usage,
    rounds: u32,
    /// How many bytes the model may still say.
    left: usize,
}

impl Default for Talk {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            responses: Vec::new(),
            usage: Usage::default(),
            rounds: 0,
            left: MAX_TEXT_BYTES,
        }
    }
}

#[derive(Deserialize)]
struct State {
    talk: Talk,
    calls: Vec<Planned>,
}

impl Talk {
    fn state(&self, calls: &[Planned]) -> Value {
        json!({"talk": self, "calls": calls})
    }

    async fn resume<D: Desk>(state: &Value, answers: Vec<String>, desk: &mut D) -> Result<Self, String> {
        let State { mut talk, calls } = State::deserialize(state)
            .map_err(|error| format!("what was kept of this agent's conversation cannot be read: {error}"))?;
        talk.answer(calls, answers, desk).await?;
        Ok(talk)
    }

    /// Takes a round that ended with calls.
    fn take(&mut self, heard: Heard, may_ask: bool) -> Vec<Planned> {
        self.rounds += 1;
        self.left = heard.left();
        self.usage.add(heard.usage);
        let planned = questions::plan(heard.calls.finish(), may_ask);
        let calls: Vec<Value> = planned.iter().map(Planned::message).collect();
        let content = if heard.text.is_empty() {
            Value::Null
        } else {
            json!(heard.text)
        };
        self.messages
            .push(json!({"role": "assistant", "content": content, "tool_calls": calls}));
        if !heard.text.is_empty() {
            self.responses.push(("assistant".to_owned(), heard.text));
        }
        planned
    }

    async fn answer<D: Desk>(&mut self, calls: Vec<Planned>, answers: Vec<String>, desk: &mut D) -> Result<(), String> {
        for answered in questions::answered(calls, answers)? {
            desk.say(answered.event()).await;
            self.messages.push(answered.message());
            self.responses.push(("tool".to_owned(), answered.output));
        }
        Ok(())
    }

    /// Takes the last round.
    fn done(mut self, heard: Heard) -> Done {
        self.usage.add(heard.usage);
        self.responses.push(("assistant".to_owned(), heard.text.clone()));
        Done {
            text: heard.text,
            usage: self.usage,
            model: None,
            finish_reason: heard.finish_reason.unwrap_or_else(|| "unknown".to_owned()),
            responses: self.responses,
        }
    }
}
