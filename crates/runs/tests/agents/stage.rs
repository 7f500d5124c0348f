//! Jobs for agents, and the tools to run them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use countersign_protocol::runs::Record;
use countersign_protocol::runs::strategy::{AgentDef, AgentKind, CommandAgent, LlmAgent};
use countersign_runs::engine::agents::{AgentJob, AgentOutcome, Resumed, Tools, work};
use countersign_runs::settings::{ApiKey, Commands, Endpoint, LlmSettings, RunsSettings, Secret};

use crate::context::TestContext;
use crate::endpoint::Model;

pub const KEY: &str = "sk-test-1234567890";

/// A generous timeout for busy machines; a passing test never comes near it.
pub async fn within<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(Duration::from_secs(30), future).await {
        Ok(output) => output,
        Err(_) => panic!("gave up waiting: {what}"),
    }
}

/// Settings that retry without a pause.
pub fn llm_settings(model: &Model) -> LlmSettings {
    let key = ApiKey::Given(Secret::new(KEY.to_owned()));
    LlmSettings {
        endpoint: Some(Endpoint {
            base_url: model.base_url().parse().unwrap(),
            key,
        }),
        first_retry: Duration::from_millis(1),
        ..LlmSettings::default()
    }
}

pub fn tools(model: &Model) -> Tools {
    Tools::new(&RunsSettings::default(), &llm_settings(model)).unwrap()
}

pub fn commands(rule: Commands) -> RunsSettings {
    RunsSettings {
        commands: rule,
        ..RunsSettings::default()
    }
}

pub fn command_tools(runs: RunsSettings) -> Tools {
    Tools::new(&runs, &LlmSettings::default()).unwrap()
}

pub fn llm(agent: LlmAgent) -> AgentDef {
    let agent = LlmAgent {
        model: agent.model.or(Some("tiny".to_owned())),
        ..agent
    };
    AgentDef {
        name: "writer".to_owned(),
        kind: AgentKind::Llm(Box::new(agent)),
    }
}

pub fn asker() -> AgentDef {
    llm(LlmAgent {
        tools: vec!["ask_question".to_owned()],
        ..LlmAgent::default()
    })
}

pub fn program(program: &str, args: &[&str]) -> AgentDef {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    let kind = AgentKind::Command(CommandAgent {
        program: program.to_owned(),
        args,
    });
    AgentDef {
        name: "tool".to_owned(),
        kind,
    }
}

/// A job with all its options.
pub struct Task<'a> {
    pub agent: &'a AgentDef,
    pub message: &'a str,
    pub model_override: Option<&'a str>,
    pub cwd: &'a Path,
    pub earlier: &'a [Record],
    pub resumed: Option<Resumed>,
}

impl<'a> Task<'a> {
    pub fn new(agent: &'a AgentDef, message: &'a str) -> Self {
        Self {
            agent,
            message,
            model_override: None,
            cwd: Path::new("/"),
            earlier: &[],
            resumed: None,
        }
    }

    pub async fn done(self, tools: &Tools, context: &mut TestContext) -> Result<AgentOutcome, String> {
        let job = AgentJob {
            run_id: "run-1",
            agent: self.agent,
            message: self.message,
            model_override: self.model_override,
            cwd: self.cwd,
            earlier: self.earlier,
            resumed: self.resumed,
        };
        within("an agent's work", work(tools, job, context)).await
    }
}

/// A temporary directory.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "countersign-agents-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
