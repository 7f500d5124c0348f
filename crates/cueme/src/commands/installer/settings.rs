//! The `cueme.proto.*` keys of `~/.cue/cueme.json`. A missing key has a built-in value, so a settings file of another
//! version, or an empty one, works as well.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::environment::Environment;
use super::targets::{Scope, System, TARGETS, Target};
use super::{PROTOCOL, atomic_file, blocks, original};
use crate::setup::config::CuemeConfig;

const PATH: &str = "cueme.proto.path";
const PREFIX: &str = "cueme.proto.prefix";
pub const RUNTIME: &str = "cueme.proto.runtime";
pub const PROTOCOL_PATH: &str = "cueme.proto.protocol_path";
pub const KEYS: [&str; 4] = [PATH, PREFIX, RUNTIME, PROTOCOL_PATH];

#[derive(Debug)]
pub struct ProtoSettings {
    file: PathBuf,
    map: Map<String, Value>,
}

/// The protocol text to install, and a note about it for the user.
pub struct ProtocolText {
    pub text: String,
    pub note: Option<String>,
}

impl ProtoSettings {
    pub fn load(env: &Environment) -> Result<Self> {
        let file = env.settings_file();
        let map = CuemeConfig::read(&file)?.raw;
        Ok(Self { file, map })
    }

    /// The names of all known agents, sorted.
    pub fn agents(&self) -> Result<BTreeSet<String>> {
        let mut agents: BTreeSet<String> = TARGETS.iter().map(|target| target.agent.to_owned()).collect();
        agents.extend(self.table(PREFIX)?.into_iter().flat_map(|table| table.keys().cloned()));
        let keys = self.table(PATH)?.into_iter().flat_map(|table| table.keys());
        agents.extend(
            keys.filter_map(|key| key.split_once('.'))
                .map(|(_, agent)| agent.to_owned()),
        );
        agents.retain(|agent| !agent.is_empty());
        Ok(agents)
    }

    pub fn path(&self, agent: &str, scope: Scope, env: &Environment) -> Result<PathBuf> {
        env.resolve(&self.named_path(agent, scope, env)?)
    }

    /// The path for writing. Symlinks in the home directory are the user's own; symlinks in a project came with it and
    /// must not lead out of it.
    pub fn writable_path(&self, agent: &str, scope: Scope, env: &Environment) -> Result<PathBuf> {
        let named = self.named_path(agent, scope, env)?;
        let path = env.resolve(&named)?;
        if let Some(project) = env.project_of(&named)? {
            atomic_file::check_within(&path, project)?;
        }
        Ok(path)
    }

    fn named_path(&self, agent: &str, scope: Scope, env: &Environment) -> Result<String> {
        match scope {
            Scope::User => self.configured_path(agent, env),
            Scope::Project => Target::of(agent)
                .and_then(|target| target.project)
                .map(str::to_owned)
                .with_context(|| format!("{agent} has no known file in a project; leave out --project")),
        }
    }

    fn configured_path(&self, agent: &str, env: &Environment) -> Result<String> {
        let key = format!("{}.{agent}", env.system.name());
        let built_in = Target::of(agent).map(|target| target.path(env.system).to_owned());
        let configured = match self.entry(PATH, &key)? {
            None => built_in,
            Some(Value::String(path)) => Some(path.clone()),
            Some(_) => bail!("{}: {PATH}: {key:?} must be a text", self.file.display()),
        };
        let Some(path) = configured.filter(|path| !path.trim().is_empty()) else {
            let known = self.agents()?.into_iter().collect::<Vec<_>>().join(", ");
            let file = self.file.display();
            let key = key.escape_debug();
            bail!("target path not configured: {key}; known are {known}; others are named in {PATH} of {file}");
        };
        Ok(path)
    }

    /// The text that the agent's file has to begin with. An agent without a configured prefix is refused, because some
    /// agents ignore a file without front matter.
    pub fn prefix(&self, agent: &str) -> Result<String> {
        let built_in = Target::of(agent).map(|target| target.prefix.join("\n"));
        let Some(prefix) = self.lines(PREFIX, agent)?.or(built_in) else {
            bail!(
                "prefix not configured: add {agent:?}: [] to {PREFIX} in {}",
                self.file.display()
            );
        };
        refuse_markers(&prefix, PREFIX)?;
        Ok(prefix)
    }

    /// Prefixes that an earlier `apply` may have written to the file.
    pub fn possible_prefixes(&self, agent: &str) -> Result<Vec<String>> {
        let built_in = Target::of(agent).map(|target| target.prefix.join("\n"));
        Ok(self.lines(PREFIX, agent)?.into_iter().chain(built_in).collect())
    }

    pub fn runtime(&self, agent: &str, env: &Environment) -> Result<Option<String>> {
        let target = Target::of(agent);
        let built_in = target.map(|target| target.runtime.join("\n"));
        let is_former_default =
            |text: &String| target.is_some_and(|target| target.former_runtime == Some(text.as_str()));
        let configured = self.lines(RUNTIME, agent)?.filter(|text| !is_former_default(text));
        let runtime = match configured {
            Some(text) if target.is_none() || !self.is_of_the_original(env)? => Some(text),
            Some(_) | None => built_in,
        };
        let runtime = runtime.filter(|runtime| !runtime.trim().is_empty());
        refuse_markers(runtime.as_deref().unwrap_or_default(), RUNTIME)?;
        Ok(runtime)
    }

    /// The built-in protocol text, unless the settings name a file.
    pub fn protocol_text(&self, env: &Environment) -> Result<ProtocolText> {
        let built_in = |note| ProtocolText {
            text: PROTOCOL.to_owned(),
            note,
        };
        let Some(path) = self.protocol_path(env)? else {
            return Ok(built_in(None));
        };
        if original::is_original_text(&path) {
            let file = self.file.display();
            let path = path.display();
            let note = format!(
                "{PROTOCOL_PATH} in {file} names {path}, a text of the original cueme; the built-in texts are used; \
                 `cueme migrate --settings` takes it out of the settings"
            );
            return Ok(built_in(Some(note)));
        }
        let text =
            atomic_file::read(&path)?.with_context(|| format!("{PROTOCOL_PATH}: there is no {}", path.display()))?;
        if text.trim().is_empty() {
            bail!("{PROTOCOL_PATH}: {} is empty", path.display());
        }
        refuse_markers(&text, &path.display().to_string())?;
        let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        Ok(ProtocolText { text, note: None })
    }

    fn protocol_path(&self, env: &Environment) -> Result<Option<PathBuf>> {
        match self.map.get(PROTOCOL_PATH) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(path)) if path.trim().is_empty() => Ok(None),
            Some(Value::String(path)) => env.resolve(path).map(Some),
            Some(_) => bail!("{}: {PROTOCOL_PATH} must be a text", self.file.display()),
        }
    }

    /// Whether the original cueme wrote the texts in this file.
    pub fn is_of_the_original(&self, env: &Environment) -> Result<bool> {
        Ok(self
            .protocol_path(env)?
            .as_deref()
            .is_some_and(original::is_original_text))
    }

    pub fn into_map(self) -> Map<String, Value> {
        self.map
    }

    fn table(&self, key: &str) -> Result<Option<&Map<String, Value>>> {
        match self.map.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(table)) => Ok(Some(table)),
            Some(_) => bail!("{}: {key} must be an object", self.file.display()),
        }
    }

    fn entry(&self, key: &str, name: &str) -> Result<Option<&Value>> {
        Ok(self
            .table(key)?
            .and_then(|table| table.get(name))
            .filter(|value| !value.is_null()))
    }

    /// A text, or a list of its lines.
    fn lines(&self, key: &str, agent: &str) -> Result<Option<String>> {
        let text = match self.entry(key, agent)? {
            None => return Ok(None),
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Array(lines)) => lines
                .iter()
                .map(Value::as_str)
                .collect::<Option<Vec<_>>>()
                .map(|lines| lines.join("\n")),
            Some(Value::Bool(_) | Value::Number(_) | Value::Object(_) | Value::Null) => None,
        };
        let Some(text) = text else {
            bail!(
                "{}: {key}: {agent:?} must be a text or a list of lines",
                self.file.display()
            );
        };
        Ok(Some(text.replace("\r\n", "\n").trim_end_matches('\n').to_owned()))
    }
}

/// Creates the file with all built-in values, for the user to edit. Keeps an existing file; returns whether one was
/// created.
pub fn create(file: &Path) -> Result<bool> {
    if file.symlink_metadata().is_ok() {
        return Ok(false);
    }
    atomic_file::replace(file, &format!("{:#}\n", template()))?;
    Ok(true)
}

fn template() -> Value {
    let paths = System::ALL.iter().flat_map(|system| {
        TARGETS.iter().map(|target| {
            (
                format!("{}.{}", system.name(), target.agent),
                target.path(*system).into(),
            )
        })
    });
    let prefixes = TARGETS
        .iter()
        .map(|target| (target.agent.to_owned(), target.prefix.into()));
    let runtimes = TARGETS.iter().filter(|target| !target.runtime.is_empty());
    let runtimes = runtimes.map(|target| (target.agent.to_owned(), target.runtime.into()));
    json!({
        PATH: paths.collect::<Map<String, Value>>(),
        PREFIX: prefixes.collect::<Map<String, Value>>(),
        RUNTIME: runtimes.collect::<Map<String, Value>>(),
    })
}

/// A marker inside a block would end the block early, and the next `apply` would find an unpaired marker.
fn refuse_markers(text: &str, origin: &str) -> Result<()> {
    match blocks::first_marker(text) {
        Some(line) => bail!("{origin}: line {line} is a marker of a managed block; take it out"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::installer::scratch::Scratch;

    fn settings(scratch: &Scratch, json: &str) -> Result<ProtoSettings> {
        scratch.write(".cue/cueme.json", json);
        ProtoSettings::load(&scratch.environment())
    }

    #[track_caller]
    fn refused<T>(result: Result<T>, wanted: &[&str]) {
        let message = format!("{:#}", result.err().expect("a refusal"));
        assert!(
            wanted.iter().all(|word| message.contains(word)) && !message.contains('\n'),
            "{message}"
        );
    }

    #[test]
    fn created_settings_equal_the_built_in_values() {
        let scratch = Scratch::new();
        let env = scratch.environment();
        let built_in = ProtoSettings::load(&env).unwrap();
        assert!(create(&env.settings_file()).unwrap());
        assert!(!create(&env.settings_file()).unwrap(), "an existing file is kept");
        let made = ProtoSettings::load(&env).unwrap();
        assert_eq!(made.map.keys().collect::<Vec<_>>(), [PATH, PREFIX, RUNTIME]);
        assert_eq!(made.table(PATH).unwrap().unwrap().len(), 21);
        for target in &TARGETS {
            let agent = target.agent;
            assert_eq!(
                made.path(agent, Scope::User, &env).unwrap(),
                built_in.path(agent, Scope::User, &env).unwrap()
            );
            assert_eq!(made.prefix(agent).unwrap(), built_in.prefix(agent).unwrap());
            assert_eq!(
                made.runtime(agent, &env).unwrap(),
                built_in.runtime(agent, &env).unwrap()
            );
        }
        assert_eq!(made.agents().unwrap(), built_in.agents().unwrap());
        assert!(made.protocol_text(&env).unwrap().text == PROTOCOL);
    }

    #[test]
    fn user_settings_override_built_in_values() {
        let scratch = Scratch::new();
        let env = scratch.environment();
        let own = settings(
            &scratch,
            r#"{"cueme.proto.path": {"linux.claude": "~/%RULES%/c.md", "linux.mine": "m.md", "windows.theirs": "x", "linux.kiro": ""},
                "cueme.proto.prefix": {"mine": "one\r\ntwo\r\n", "only": [], "vscode": ["---", "---"]},
                "cueme.proto.runtime": {"claude": [], "mine": ["a", "b"]}, "cueme.language": "de"}"#,
        )
        .unwrap();
        assert_eq!(
            own.path("claude", Scope::User, &env).unwrap(),
            scratch.path("rules/c.md")
        );
        assert_eq!(
            own.path("mine", Scope::User, &env).unwrap(),
            scratch.path("project/m.md")
        );
        assert_eq!(
            own.path("codex", Scope::User, &env).unwrap(),
            scratch.path(".codex/AGENTS.md")
        );
        refused(
            own.path("theirs", Scope::User, &env),
            &["target path not configured: linux.theirs;", "claude", "cueme.json"],
        );
        refused(own.path("kiro", Scope::User, &env), &["target path not configured"]);
        assert_eq!(
            (
                own.prefix("mine").unwrap().as_str(),
                own.prefix("only").unwrap().as_str()
            ),
            ("one\ntwo", "")
        );
        refused(own.prefix("theirs"), &["prefix not configured", "\"theirs\""]);
        assert_eq!(
            own.runtime("claude", &env).unwrap(),
            None,
            "an empty list takes the built-in one away"
        );
        assert_eq!(own.runtime("mine", &env).unwrap().as_deref(), Some("a\nb"));
        assert_eq!(
            own.possible_prefixes("vscode").unwrap(),
            ["---\n---", "---\napplyTo: \"**\"\n---"]
        );
        let agents = own.agents().unwrap();
        assert!(
            ["mine", "only", "theirs", "claude"]
                .iter()
                .all(|agent| agents.contains(*agent)),
            "{agents:?}"
        );
    }

    #[test]
    fn invalid_settings_are_refused_in_one_line() {
        let scratch = Scratch::new();
        let env = scratch.environment();
        refused(settings(&scratch, "{"), &["cueme.json", "not JSON"]);
        refused(settings(&scratch, "[]"), &["cueme.json", "object"]);
        let read = |json: &str| settings(&scratch, json).unwrap();
        refused(
            read(r#"{"cueme.proto.path": []}"#).path("claude", Scope::User, &env),
            &[PATH, "object"],
        );
        refused(
            read(r#"{"cueme.proto.path": {"linux.claude": 1}}"#).path("claude", Scope::User, &env),
            &["linux.claude", "text"],
        );
        refused(
            read(r#"{"cueme.proto.prefix": {"claude": [1]}}"#).prefix("claude"),
            &[PREFIX, "list of lines"],
        );
        refused(
            read(r#"{"cueme.proto.runtime": {"claude": true}}"#).runtime("claude", &env),
            &[RUNTIME, "list of lines"],
        );
        refused(
            read(r#"{"cueme.proto.protocol_path": 1}"#).protocol_text(&env),
            &[PROTOCOL_PATH, "text"],
        );
        let marked = read(r#"{"cueme.proto.runtime": {"claude": ["a", "<!-- HUMAN_AGENT_RUNTIME_END -->"]}}"#);
        refused(marked.runtime("claude", &env), &[RUNTIME, "line 2", "marker"]);
    }

    #[test]
    fn a_configured_protocol_text_is_used() {
        let scratch = Scratch::new();
        let env = scratch.environment();
        let named = settings(&scratch, r#"{"cueme.proto.protocol_path": "~/own.md"}"#).unwrap();
        refused(named.protocol_text(&env), &["there is no", "own.md"]);
        scratch.write("own.md", " \n");
        refused(named.protocol_text(&env), &["own.md is empty"]);
        scratch.write("own.md", "a\n<!-- HUMAN_AGENT_PROTO_END -->\n");
        refused(named.protocol_text(&env), &["own.md", "line 2"]);
        scratch.write("own.md", "\u{feff}mine\r\n");
        let protocol = named.protocol_text(&env).unwrap();
        assert_eq!((protocol.text.as_str(), protocol.note), ("mine\n", None));
    }
}
