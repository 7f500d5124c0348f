//! The receiving side by the page's own commands: `verify` for one push, `receive` for all of them. What reaches the
//! test's callback is passed on unchanged, or changed in one place.

use std::fs::{self, File};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use countersign_client::screen::escape;
use countersign_protocol::a2h::AuthScheme;
use hyper::StatusCode;
use reqwest::Client as HttpClient;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::time::timeout;

use super::STEP_TIMEOUT;
use super::agent_half::{AgentHalf, changed, owned};
use super::listener::ReceivedPush;
use super::page_commands::{Rule, Rules, adapt};
use crate::commands::agent_commands::outcome::code;

const ELSEWHERE: &str = "https://elsewhere.example/";
const LOG: &str = "receive.log";

/// The page's `receive`, running.
pub struct PageReceiver<'a> {
    agent_half: &'a AgentHalf,
    url: String,
    http: HttpClient,
    _process: Child,
}

/// The flags by which a page says how pushes are checked.
fn key_rules(agent_id: &str) -> Rules {
    vec![
        ("--key-env", Rule::Keep(1)),
        ("--ed25519", Rule::Keep(1)),
        ("--agent", Rule::May(1, owned(&["--agent", agent_id]))),
    ]
}

impl<'a> PageReceiver<'a> {
    pub async fn start(agent_half: &'a AgentHalf) -> Result<(Self, String)> {
        let callback = agent_half.callback_url.as_deref().unwrap_or_default();
        let mut rules = key_rules(&agent_half.agent_id);
        rules.extend([
            ("--listen", Rule::Must(1, owned(&["--listen", "127.0.0.1:0"]))),
            ("--url", Rule::Must(1, owned(&["--url", callback]))),
            ("--path", Rule::Drop(1)),
        ]);
        rules.push(agent_half.exec_rule());
        let mut args = adapt(agent_half.page.get("receive")?, &[], rules)?;
        args.insert(1, "--json".to_owned());
        let log = File::create(agent_half.scratch.path(LOG))?;
        let mut process = agent_half.process.command(&args).stderr(log).spawn()?;
        let stdout = process.stdout.take().context("the receiver has no output")?;
        let mut line = String::new();
        let mut stdout = BufReader::new(stdout);
        let read = timeout(STEP_TIMEOUT, stdout.read_line(&mut line)).await;
        let listening: Value = match read {
            Ok(Ok(length)) if length > 0 => serde_json::from_str(&line)?,
            _ => bail!(
                "the page's `countersign receive` does not start: {}",
                complaint(agent_half)
            ),
        };
        tokio::spawn(async move { tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await });
        let url = listening["listening"].as_str().unwrap_or_default().to_owned();
        let receiver = Self {
            agent_half,
            url,
            http: HttpClient::builder().no_proxy().timeout(STEP_TIMEOUT).build()?,
            _process: process,
        };
        let text = format!("the page's `countersign receive` is {}", escape(&receiver.url));
        Ok((receiver, text))
    }

    /// Checks one push with the page's `verify`, and its refusal of the same push at another address.
    pub async fn verify(&self, push: &ReceivedPush) -> Result<((), String)> {
        let callback = self.agent_half.callback_url.as_deref().unwrap_or_default();
        let ran = self.run_verify(push, callback).await?;
        if ran.code != Some(0) {
            bail!("the page's `countersign verify` refuses the push: {}", ran.complaint());
        }
        if self.run_verify(push, ELSEWHERE).await?.code != Some(i32::from(code::REFUSED)) {
            bail!("the page's `countersign verify` accepts the push at another address");
        }
        Ok((
            (),
            "the signature is good by the page's `countersign verify`".to_owned(),
        ))
    }

    async fn run_verify(&self, push: &ReceivedPush, callback: &str) -> Result<super::subprocess::Ran> {
        let header = push.headers.get("a2h-signature").and_then(|value| value.to_str().ok());
        let header = header.context("the push has no A2H-Signature header")?;
        let mut rules = key_rules(&self.agent_half.agent_id);
        rules.extend([
            ("--url", Rule::Must(1, owned(&["--url", callback]))),
            (
                "--header",
                Rule::Must(1, owned(&["--header", &format!("A2H-Signature: {header}")])),
            ),
        ]);
        let args = adapt(self.agent_half.page.get("verify")?, &[], rules)?;
        self.agent_half.process.run(&args, &push.body).await
    }

    /// The secret that the page's callback names comes beside the signature.
    pub fn has_credential(&self, push: &ReceivedPush) -> Result<String> {
        let auth = self.agent_half.settings.push().and_then(|push| push.auth.as_ref());
        let name = match auth.map(|auth| auth.scheme) {
            Some(AuthScheme::Bearer) => "authorization",
            Some(AuthScheme::Apikey) => "x-api-key",
            Some(AuthScheme::Hmac) | None => return Ok(String::new()),
        };
        if push.headers.contains_key(name) {
            Ok(format!("the push carries {name}"))
        } else {
            bail!("the push does not carry {name}, although the page's callback names a secret")
        }
    }

    /// Passes a push on to the page's receiver.
    async fn deliver(&self, push: &ReceivedPush, body: Bytes) -> Result<(StatusCode, Value)> {
        let mut headers = push.headers.clone();
        headers.remove(hyper::header::CONTENT_LENGTH);
        headers.remove(hyper::header::HOST);
        let reply = self.http.post(&self.url).headers(headers).body(body).send().await?;
        Ok((reply.status(), reply.json().await.unwrap_or_default()))
    }

    /// The outcome that the receiver acted on.
    pub async fn acts_on(&self, push: &ReceivedPush) -> Result<(Value, String)> {
        let (status, reply) = self.deliver(push, push.body.clone()).await?;
        if status != StatusCode::OK || reply["status"] != "acted" || reply["ok"] != true {
            let log = complaint(self.agent_half);
            bail!("the page's `countersign receive` answered {status} instead of acting: {log}");
        }
        let outcome = self.agent_half.acts()?.pop().context("nothing was done")?;
        let id = escape(outcome["resolution_id"].as_str().unwrap_or_default());
        Ok((outcome, format!("`countersign receive` of the page acted on {id}")))
    }

    /// Changed answers and changed states are refused for their signature.
    pub async fn refuses_changes(&self, push: &ReceivedPush) -> Result<String> {
        let body: Value = serde_json::from_slice(&push.body).context("the body is not JSON")?;
        for (pointer, change) in CHANGES {
            let mut copy = body.clone();
            let Some(value) = copy.pointer_mut(pointer) else {
                continue;
            };
            *value = change(value);
            let (status, reply) = self.deliver(push, copy.to_string().into()).await?;
            if status != StatusCode::UNAUTHORIZED || reply["error"]["code"] != "wrong_signature" {
                bail!("a copy with a changed {pointer} was answered with {status}");
            }
        }
        Ok("refused, whether answer, actor, comment or state is changed".to_owned())
    }

    /// The identical request again, or the hub's next attempt with a new signature.
    pub async fn ignores(&self, push: &ReceivedPush, why: &str) -> Result<String> {
        let (status, reply) = self.deliver(push, push.body.clone()).await?;
        if status != StatusCode::OK || reply["status"] != "duplicate" {
            bail!("it was answered with {status}: {}", complaint(self.agent_half));
        }
        Ok(format!("{why}: nothing is done"))
    }
}

/// The last line of the receiver's log.
fn complaint(agent_half: &AgentHalf) -> String {
    let log = fs::read_to_string(agent_half.scratch.path(LOG)).unwrap_or_default();
    escape(log.trim().lines().last().unwrap_or_default())
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
