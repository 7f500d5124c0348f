//! Reads the fields of a terminal's request.

use countersign_core::hap::{Cue, Terminal};
use countersign_protocol::hap::{CueKind, name};
use countersign_protocol::json;
use countersign_protocol::time::Timestamp;
use serde_json::{Map, Value};

use crate::problem::Problem;

const MAX_DIRECTORY_BYTES: usize = 4096;
const MAX_TERMINAL_CHARS: usize = 64;
/// Lists and pages show the whole payload.
const MAX_PAYLOAD_BYTES: usize = 256 * 1024;
const UNKNOWN: &str = "unknown";

pub struct TerminalRequest(Map<String, Value>);

impl TerminalRequest {
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        match json::parse(bytes)? {
            Value::Object(fields) => Ok(Self(fields)),
            _ => Err(Problem::malformed("send a JSON object")),
        }
    }

    pub fn from_fields(fields: Map<String, Value>) -> Self {
        Self(fields)
    }

    pub fn has(&self, field: &str) -> bool {
        self.0.get(field).is_some_and(|value| !value.is_null())
    }

    pub fn take(&mut self, field: &str) -> Option<Value> {
        self.0.remove(field).filter(|value| !value.is_null())
    }

    pub fn text(&mut self, field: &str) -> Result<Option<String>, Problem> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Problem::invalid(field, "must be a string")),
        }
    }

    pub fn required_text(&mut self, field: &str) -> Result<String, Problem> {
        self.text(field)?.ok_or_else(|| Problem::invalid(field, "is required"))
    }

    pub fn timestamp(&mut self, field: &str) -> Result<Timestamp, Problem> {
        let text = self.required_text(field)?;
        Timestamp::parse_rfc3339(&text).ok_or_else(|| Problem::invalid(field, "must be an RFC 3339 date-time"))
    }

    pub fn agent_id(&mut self) -> Result<String, Problem> {
        let id = self.required_text("agent_id")?;
        if name::is_agent_id(&id) {
            return Ok(id);
        }
        let message = "use the name that `cueme join` printed: 1 to 64 letters, digits, `-`, `_` and `.`";
        Err(Problem::invalid("agent_id", message))
    }

    pub fn terminal_info(&mut self) -> Result<TerminalInfo, Problem> {
        Ok(TerminalInfo {
            runtime: self.runtime()?,
            project_dir: self.project_dir()?,
            terminal: self.text("terminal")?.map(|shell| terminal(&shell)).transpose()?,
        })
    }

    fn runtime(&mut self) -> Result<Option<String>, Problem> {
        let Some(text) = self.text("runtime")? else {
            return Ok(None);
        };
        let refuse = || {
            Problem::invalid(
                "runtime",
                "use at most 64 letters a to z, digits and _, such as claude_code",
            )
        };
        name::runtime(&text).map(Some).ok_or_else(refuse)
    }

    fn project_dir(&mut self) -> Result<Option<String>, Problem> {
        let path = self.text("project_dir")?;
        if path.as_ref().is_some_and(|path| path.len() > MAX_DIRECTORY_BYTES) {
            return Err(Problem::invalid(
                "project_dir",
                format!("keep it within {MAX_DIRECTORY_BYTES} bytes"),
            ));
        }
        Ok(path)
    }

    pub fn cue(&mut self) -> Result<Cue, Problem> {
        let kind = match self.required_text("kind")?.as_str() {
            "cue" => CueKind::Cue,
            "pause" => CueKind::Pause,
            _ => return Err(Problem::invalid("kind", "must be cue or pause")),
        };
        let prompt = self.text("prompt")?.unwrap_or_default();
        let payload = match self.take("payload") {
            None => None,
            Some(Value::Object(payload)) => Some(payload),
            Some(_) => return Err(Problem::invalid("payload", "must be a JSON object or null")),
        };
        let cue = Cue { kind, prompt, payload };
        check(&cue)?;
        Ok(cue)
    }
}

fn terminal(shell: &str) -> Result<String, Problem> {
    if shell.chars().count() > MAX_TERMINAL_CHARS || shell.chars().any(char::is_control) {
        return Err(Problem::invalid(
            "terminal",
            format!("name the shell in at most {MAX_TERMINAL_CHARS} characters"),
        ));
    }
    Ok(if shell.trim().is_empty() {
        UNKNOWN.to_owned()
    } else {
        shell.to_owned()
    })
}

fn check(cue: &Cue) -> Result<(), Problem> {
    match (cue.kind, &cue.payload) {
        (CueKind::Pause, Some(_)) => return Err(Problem::invalid("payload", "a pause has no payload; send null")),
        (CueKind::Cue, _) if cue.prompt.trim().is_empty() => {
            return Err(Problem::invalid("prompt", "must not be blank"));
        }
        (CueKind::Cue | CueKind::Pause, _) => {}
    }
    let length = cue
        .payload
        .as_ref()
        .map_or(0, |payload| serde_json::to_string(payload).map_or(0, |text| text.len()));
    if length > MAX_PAYLOAD_BYTES {
        return Err(Problem::invalid(
            "payload",
            format!("keep it within {MAX_PAYLOAD_BYTES} bytes"),
        ));
    }
    Ok(())
}

/// Where an agent runs, as far as the request says.
pub struct TerminalInfo {
    runtime: Option<String>,
    project_dir: Option<String>,
    terminal: Option<String>,
}

impl TerminalInfo {
    pub fn is_complete(&self) -> bool {
        self.runtime.is_some() && self.project_dir.is_some() && self.terminal.is_some()
    }

    /// Missing fields keep their values from the join.
    pub fn into_terminal(self, agent_id: String, joined: Option<Terminal>) -> Terminal {
        let joined = joined.unwrap_or_else(|| Terminal {
            agent_id: String::new(),
            runtime: UNKNOWN.to_owned(),
            project_dir: String::new(),
            terminal: UNKNOWN.to_owned(),
        });
        Terminal {
            agent_id,
            runtime: self.runtime.unwrap_or(joined.runtime),
            project_dir: self.project_dir.unwrap_or(joined.project_dir),
            terminal: self.terminal.unwrap_or(joined.terminal),
        }
    }
}
