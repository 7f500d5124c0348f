//! `cueme join`: gets an agent id for this conversation.

use std::process::ExitCode;

use countersign_protocol::hap::name;
use serde_json::json;

use crate::args::Flags;
use crate::failure::Failure;
use crate::session::HubSession;
use crate::setup::settings::Settings;
use crate::terminal::out;
use crate::terminal::phrases::Phrases;
use crate::terminal::shell;
use crate::wire::JoinRequest;

pub fn run(words: &[String], flags: &Flags) -> Result<ExitCode, Failure> {
    let Some(given) = words.first().filter(|given| !given.is_empty()) else {
        return Err(Failure::usage(
            "missing agent_runtime: cueme join <agent_runtime>, such as `cueme join claude_code`",
        ));
    };
    let runtime = name::runtime(given).ok_or_else(|| {
        let rule = "write lowercase letters, digits and `_`, at most 64 of them";
        Failure::usage(&format!("agent_runtime {given} is not usable: {rule}"))
    })?;
    let settings = Settings::gather(flags)?;
    let project_dir = project_dir()?;
    let terminal = shell::current();
    let join = JoinRequest {
        runtime: &runtime,
        project_dir: &project_dir,
        terminal,
    };
    let joined = HubSession::new(&settings).first_call(None, |hub| hub.join(&join))?;
    let text = if settings.json {
        let reply = json!({
            "agent_id": joined.agent_id,
            "project_dir": project_dir,
            "agent_terminal": terminal,
            "agent_runtime": runtime,
        });
        format!("{reply}\n")
    } else {
        text(&joined.agent_id, &join, settings.language.phrases())
    };
    out::print(&text)
}

/// The current directory.
pub fn project_dir() -> Result<String, Failure> {
    let current = std::env::current_dir();
    let current = current.map_err(|error| Failure::failed(&format!("the current directory is not usable: {error}")))?;
    Ok(current.to_string_lossy().into_owned())
}

fn text(agent_id: &str, join: &JoinRequest, phrases: &Phrases) -> String {
    let JoinRequest {
        runtime,
        project_dir,
        terminal,
    } = join;
    // An unescaped line break in a directory name could fake a line of this output.
    let project_dir = out::escape(project_dir).replace('\n', "\\n");
    format!(
        "agent_id={agent_id}\nproject_dir={project_dir}\nagent_terminal={terminal}\nagent_runtime={runtime}\n\n\
         {}\n\ncueme cue {agent_id} - <<'CUEME'\n<cueme_prompt>\n...\n</cueme_prompt>\n<cueme_payload>\nnull\n\
         </cueme_payload>\nCUEME\n\n{}\n",
        phrases.joined, phrases.afterwards
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::phrases::Language;

    #[test]
    fn four_lines_and_a_blank_one_come_first() {
        let join = JoinRequest {
            runtime: "claude_code",
            project_dir: "/a\nagent_id=evil",
            terminal: "bash",
        };
        let text = text("gavonel", &join, Language::English.phrases());
        let lines: Vec<&str> = text.lines().take(5).collect();
        let project = "project_dir=/a\\nagent_id=evil";
        assert_eq!(
            lines,
            [
                "agent_id=gavonel",
                project,
                "agent_terminal=bash",
                "agent_runtime=claude_code",
                ""
            ]
        );
        assert!(text.contains("\n<cueme_prompt>\n") && text.contains("cueme cue gavonel - <<"));
    }
}
