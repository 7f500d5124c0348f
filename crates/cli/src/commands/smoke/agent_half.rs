//! The agent's half of the test, by the page's own commands: seal, send, open.

use std::fs;

use anyhow::{Context, Result, bail};
use countersign_agent::Kind;
use countersign_client::hub::HubClient;
use countersign_client::screen::escape;
use serde_json::{Value, json};

use super::cleanup::Cleanup;
use super::page_commands::{PageCommands, Rule, Rules, adapt};
use super::people::People;
use super::scratch::ScratchDir;
use super::subprocess::{PageProcess, Ran};
use super::{fresh_name, test_message};
use crate::commands::agent_commands::outcome::code;
use crate::commands::skill::SkillSettings;

pub struct AgentHalf {
    pub page: PageCommands,
    pub process: PageProcess,
    pub settings: SkillSettings,
    pub agent_id: String,
    pub key: String,
    pub scratch: ScratchDir,
    /// With the agent's token.
    pub client: HubClient,
    pub callback_url: Option<String>,
    state: Value,
}

/// The message as sent.
pub struct SentMessage {
    pub id: String,
    pub words: Vec<String>,
}

const BODY_FILE: &str = "body.md";
const STATE_FILE: &str = "state.sealed";
/// Flags of a send command that are run as shown.
const KEPT: [&str; 12] = [
    "--yes",
    "--no",
    "--select",
    "--expires",
    "--priority",
    "--tag",
    "--run",
    "--runtime",
    "--project",
    "--callback-auth",
    "--checklist",
    "--verification",
];

/// The rules for text, question and waiting. A form becomes a confirm, because its schema is in a file of the app.
fn content_rules(page: &[String], body_file: &str) -> Rules {
    let has_form = page.iter().any(|word| word == "--form");
    vec![
        ("--confirm", Rule::Keep(0)),
        ("--sensitive", Rule::Keep(0)),
        ("--default", if has_form { Rule::Drop(1) } else { Rule::Keep(1) }),
        ("--form", Rule::May(1, owned(&["--confirm"]))),
        ("--body", Rule::Drop(1)),
        ("--context", Rule::Drop(1)),
        ("--timeout", Rule::Drop(1)),
        ("--wait", Rule::Drop(0)),
        ("--detach", Rule::Drop(0)),
        ("--exec", Rule::Drop(0)),
        ("--body-file", Rule::May(1, owned(&["--body-file", body_file]))),
        (
            "--instructions",
            Rule::May(1, owned(&["--instructions", test_message::BODY])),
        ),
        (
            "--instructions-file",
            Rule::May(1, owned(&["--instructions-file", body_file])),
        ),
    ]
}

pub fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

impl AgentHalf {
    pub fn new(
        (page, process): (PageCommands, PageProcess),
        settings: SkillSettings,
        (agent_id, client): (String, HubClient),
        scratch: ScratchDir,
        callback_url: Option<String>,
    ) -> Self {
        Self {
            page,
            process,
            settings,
            agent_id,
            key: fresh_name(),
            scratch,
            client,
            callback_url,
            state: json!({ "step": "after the answer", "nonce": fresh_name() }),
        }
    }

    fn seal_rules(&self, key: &str) -> Rules {
        vec![
            ("--key-env", Rule::Keep(1)),
            ("--bind", Rule::Must(2, owned(&["--bind", &self.agent_id, key]))),
        ]
    }

    /// Seals the state into the file that the send command names.
    pub async fn seal(&self, text: String) -> Result<((), String)> {
        let args = adapt(self.page.get("seal")?, &[], self.seal_rules(&self.key))?;
        let ran = self.process.run(&args, self.state.to_string().as_bytes()).await?;
        if ran.code != Some(0) {
            bail!("{}", ran.complaint());
        }
        fs::write(self.scratch.path(STATE_FILE), &ran.stdout)?;
        Ok(((), text))
    }

    fn file(&self, name: &str) -> String {
        self.scratch.path(name).display().to_string()
    }

    /// Content goes to people's inboxes, so it is the test's; everything else is as the page has it.
    fn send_words(&self, people: Option<&People>) -> Result<Vec<String>> {
        let page = self.page.get(self.settings.kind.as_str())?;
        let mut rules: Rules = KEPT.map(|flag| (flag, Rule::Keep(1))).into();
        rules.extend(content_rules(page, &self.file(BODY_FILE)));
        rules.extend([
            ("--agent", Rule::May(1, owned(&["--agent", &self.agent_id]))),
            ("--key", Rule::Must(1, owned(&["--key", &self.key]))),
        ]);
        if let Some(people) = people {
            let to = people.resolvers.iter().flat_map(|person| owned(&["--to", person]));
            rules.extend([
                ("--to", Rule::Must(1, to.collect())),
                ("--state", Rule::Must(1, owned(&["--state", &self.file(STATE_FILE)]))),
            ]);
        }
        if let Some(url) = &self.callback_url {
            rules.push(("--callback", Rule::Must(1, owned(&["--callback", url]))));
        }
        let mut words = adapt(page, &[test_message::TITLE], rules)?;
        words.extend(people.map(|_| "--detach".to_owned()));
        Ok(words)
    }

    pub async fn submit(&self, people: Option<&People>, cleanup: &mut Cleanup) -> Result<(SentMessage, String)> {
        fs::write(self.scratch.path(BODY_FILE), test_message::BODY)?;
        let words = self.send_words(people)?;
        let id = self.send(&words).await?;
        if self.settings.kind == Kind::Ask {
            cleanup.open_ask(&self.client, &id)?;
        }
        let text = format!("{} {} with the key {}", self.settings.kind, escape(&id), self.key);
        Ok((SentMessage { id, words }, text))
    }

    async fn send(&self, words: &[String]) -> Result<String> {
        let ran = self.process.run(words, b"").await?;
        match ran.stdout.trim() {
            id if ran.code == Some(0) && !id.is_empty() => Ok(id.to_owned()),
            _ => Err(self.explain(&ran)),
        }
    }

    /// A refused callback has one of two causes; the error names both remedies.
    fn explain(&self, ran: &Ran) -> anyhow::Error {
        let complaint = ran.complaint();
        match self.callback_url.as_deref().filter(|_| complaint.contains("callback")) {
            None => anyhow::anyhow!("{complaint}"),
            Some(url) => anyhow::anyhow!(
                "the hub does not push to {url}; to test on one machine start it with \
                 `countersign serve --allow-loopback-callbacks`, and have the host approved with \
                 `countersign agent callback approve`: {complaint}"
            ),
        }
    }

    /// The same command again, as in a script that starts over.
    pub async fn replay(&self, sent: &SentMessage) -> Result<((), String)> {
        if self.send(&sent.words).await? != sent.id {
            bail!("the same command made a second message");
        }
        Ok(((), "the same command again is the same message".to_owned()))
    }

    pub async fn pull(&self, id: &str) -> Result<Value> {
        Ok(self.client.get(&["v1", "messages", id], &[]).await?)
    }

    pub async fn delivered(&self, sent: &SentMessage) -> Result<((), String)> {
        if self.pull(&sent.id).await?["status"] == "delivered" {
            Ok(((), "it is in the inbox; nothing comes back".to_owned()))
        } else {
            bail!("a notify must be delivered immediately")
        }
    }

    /// The outcome that was acted on must be the one that the hub stores.
    pub async fn same_by_pull(&self, sent: &SentMessage, outcome: &Value) -> Result<String> {
        let message = self.pull(&sent.id).await?;
        let response = &message["response"];
        let same = response["resolution_id"] == outcome["resolution_id"]
            && response["resolution"] == outcome["resolution"]
            && response["response"].get("value") == outcome.get("value")
            && response["state"] == outcome["state"];
        if same {
            Ok("pulling gives the same outcome".to_owned())
        } else {
            bail!("pulling gives another outcome")
        }
    }

    async fn open(&self, key: &str, input: &Value) -> Result<Ran> {
        let args = adapt(self.page.get("open")?, &[], self.seal_rules(key))?;
        self.process.run(&args, input.to_string().as_bytes()).await
    }

    /// A changed state, or the state of another message, must not open.
    pub async fn changed_state_is_refused(&self, outcome: &Value) -> Result<String> {
        let token = outcome.pointer("/state/sealed").and_then(Value::as_str);
        let token = token.context("the state came back without its seal")?;
        let refused = Some(i32::from(code::REFUSED));
        if self.open(&self.key, &json!({ "sealed": changed(token) })).await?.code != refused {
            bail!("a changed state was opened");
        }
        if self.open("another-key", outcome).await?.code != refused {
            bail!("the state of one message was opened for another");
        }
        Ok("a changed state, and one of another message, do not open".to_owned())
    }

    /// Opens the state with the outcome alone, whose key is what the page tells a new process to use.
    pub async fn open_in_new_process(&self, outcome: &Value) -> Result<String> {
        let key = outcome["idempotency_key"].as_str();
        let ran = self
            .open(key.context("the outcome does not say its idempotency key")?, outcome)
            .await?;
        if ran.code != Some(0) {
            bail!("it could not open the state: {}", ran.complaint());
        }
        let opened: Value = serde_json::from_str(&ran.stdout).context("its output is not JSON")?;
        if opened != self.state {
            bail!("it opened a state that differs from the sealed one");
        }
        Ok("the page's `countersign open` in a new process got the state back".to_owned())
    }

    /// The outcomes that the page's command was started with, one per line.
    pub fn acts(&self) -> Result<Vec<Value>> {
        let text = fs::read_to_string(self.scratch.path("acts")).unwrap_or_default();
        text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
    }

    /// The stand-in for the page's `./resume`: it adds the outcome to a file.
    pub fn exec_rule(&self) -> (&'static str, Rule) {
        let acts = self.scratch.path("acts").display().to_string();
        ("--exec", Rule::Must(0, owned(&["--exec", "tee", "-a", &acts])))
    }

    pub fn acted_once(&self) -> Result<String> {
        match self.acts()?.len() {
            1 => Ok("exactly once".to_owned()),
            acts => bail!("{acts} times instead of once"),
        }
    }
}

/// Replaces a character near the end, where every bit counts.
pub fn changed(token: &str) -> String {
    let at = token.len().saturating_sub(4);
    let other = |c: char| if c == 'A' { 'B' } else { 'A' };
    token
        .chars()
        .enumerate()
        .map(|(index, c)| if index == at { other(c) } else { c })
        .collect()
}
