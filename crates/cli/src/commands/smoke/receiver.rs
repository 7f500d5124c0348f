//! The receiving side, in the order required of every receiver: verify, record the jti, reserve, act, finish.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};

use anyhow::{Context, Result, bail};
use countersign_agent::{Claim, Refusal, Resolved, Ticket, Verified, Verifier};
use countersign_client::screen::escape;
use serde_json::Value;

use super::agent_half::{AgentHalf, changed};
use super::listener::ReceivedPush;
use super::test_message::is_expected;
use crate::commands::agent_commands::now;

pub struct SmokeReceiver<'a> {
    agent_half: &'a AgentHalf,
    /// None for pull, where the connection is the proof.
    verifier: Option<Verifier>,
}

impl<'a> SmokeReceiver<'a> {
    pub fn new(agent_half: &'a AgentHalf, ticket: &Ticket, hub_keys: &[Vec<u8>]) -> Self {
        let verifier = agent_half.callback_url.as_ref().map(|url| {
            let verifier = Verifier::new(url).expecting(ticket.message_id.as_deref().unwrap_or_default());
            let verifier = agent_half
                .signing_keys
                .iter()
                .fold(verifier, |verifier, key| verifier.hmac_key(key));
            hub_keys
                .iter()
                .fold(verifier, |verifier, key| verifier.ed25519_key(key))
        });
        Self { agent_half, verifier }
    }

    pub fn first(&self, delivery: &ReceivedPush) -> Result<(Resolved, String)> {
        let verified = self.verify(delivery, &delivery.body)?;
        if !self.agent_half.journal.see_jti(&verified.jti, verified.signed_until)? {
            bail!("its jti was seen before, although it is the first");
        }
        let resolved = verified.resolved;
        let words = self.acts_on(&resolved)?;
        Ok((resolved, format!("the signature is good; {words}")))
    }

    /// Refuses changed answers, changed states, and the unchanged answer at another address.
    pub fn refuses_changes(&self, delivery: &ReceivedPush) -> Result<String> {
        let body: Value = serde_json::from_slice(&delivery.body).context("the body is not JSON")?;
        for (pointer, change) in CHANGES {
            let mut copy = body.clone();
            let Some(value) = copy.pointer_mut(pointer) else {
                continue;
            };
            *value = change(value);
            let refusal = self.verify(delivery, copy.to_string().as_bytes()).err();
            if refusal != Some(Refusal::WrongSignature) {
                bail!("a copy with a changed {pointer} was not refused for its signature");
            }
        }
        let elsewhere = self
            .agent_half
            .signing_keys
            .iter()
            .fold(Verifier::new("https://elsewhere.example/"), Verifier::hmac_key);
        if elsewhere.verify(&delivery.headers, &delivery.body, now()).is_ok() {
            bail!("it was accepted at another address");
        }
        Ok("refused, whether answer, actor, comment, state or address is changed".to_owned())
    }

    /// The identical request, as an eavesdropper could replay it.
    pub fn ignores_replay(&self, delivery: &ReceivedPush) -> Result<String> {
        let verified = self.verify(delivery, &delivery.body)?;
        if self.agent_half.journal.see_jti(&verified.jti, verified.signed_until)? {
            bail!("its jti was not recorded");
        }
        Ok("its jti was seen before: nothing is done".to_owned())
    }

    /// The hub's next attempt: a new signature over the same outcome.
    pub fn ignores_duplicate(&self, delivery: &ReceivedPush) -> Result<String> {
        let verified = self.verify(delivery, &delivery.body)?;
        if !self.agent_half.journal.see_jti(&verified.jti, verified.signed_until)? {
            bail!("the second attempt has the jti of the first");
        }
        self.ignores_pull(&verified.resolved)
    }

    pub fn ignores_pull(&self, resolved: &Resolved) -> Result<String> {
        if self.act(resolved)? {
            bail!("the same outcome was acted on twice");
        }
        Ok("the same outcome again: nothing is done".to_owned())
    }

    pub fn acts_on(&self, resolved: &Resolved) -> Result<String> {
        if !is_expected(&resolved.outcome) {
            bail!("the outcome is not what the person decided");
        }
        if !self.act(resolved)? {
            bail!("it was acted on before");
        }
        Ok(format!("acted on {}", escape(&resolved.resolution_id)))
    }

    /// Returns whether it acted. The act is a line in a file, which can be counted.
    fn act(&self, resolved: &Resolved) -> Result<bool> {
        let (message_id, resolution_id) = resolved.act_key();
        match self.agent_half.journal.begin(message_id, resolution_id)? {
            Claim::Go(reservation) => {
                let mut acts = OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(&self.agent_half.acts)?;
                writeln!(acts, "{resolution_id}")?;
                self.agent_half.journal.finish(reservation, true)?;
                Ok(true)
            }
            Claim::AlreadyDone { .. } => Ok(false),
            Claim::Interrupted | Claim::UnderWay | Claim::Other => {
                bail!("the journal holds another act on this message")
            }
        }
    }

    pub fn acted_once(&self) -> Result<String> {
        let acts = match fs::read_to_string(&self.agent_half.acts) {
            Ok(acts) => acts.lines().count(),
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(error.into()),
        };
        if acts == 1 {
            Ok("exactly once".to_owned())
        } else {
            bail!("{acts} times instead of once")
        }
    }

    fn verify(&self, delivery: &ReceivedPush, body: &[u8]) -> Result<Verified, Refusal> {
        let verifier = self.verifier.as_ref().ok_or(Refusal::NoSignature)?;
        verifier.verify(&delivery.headers, body, now())
    }
}

type Change = fn(&Value) -> Value;

const CHANGES: [(&str, Change); 5] = [
    ("/response/value", |_| "no".into()),
    ("/response/actor", |_| "human:somebody-else".into()),
    ("/response/comment", |_| "changed on the way".into()),
    ("/response/checklist/0/done", |_| false.into()),
    ("/state/sealed", |token| {
        changed(token.as_str().unwrap_or_default()).into()
    }),
];
