//! The protocol text for agents, and `cueme fix`.

use countersign_protocol::hap::{CueEnvelope, CueKind, CuePayload};

use super::Workspace;

#[test]
fn every_envelope_in_the_text_is_valid() {
    let text = Workspace::new().cueme("-p").ok();
    let mut shown = Vec::new();
    for part in text
        .split("```")
        .skip(1)
        .step_by(2)
        .filter(|part| part.contains("<cueme_prompt>\n"))
    {
        let envelope: Vec<&str> = part.lines().skip_while(|line| *line != "<cueme_prompt>").collect();
        let envelope = envelope.join("\n").replace("CUEME_END", "");
        let envelope = CueEnvelope::parse(CueKind::Cue, &envelope).expect("an envelope");
        shown.push(match CuePayload::read(&envelope.payload.expect("a payload")) {
            CuePayload::Choice { .. } => "choice",
            CuePayload::Confirm(_) => "confirm",
            CuePayload::Form(_) => "form",
            CuePayload::Unknown { reason } => panic!("{reason}"),
        });
    }
    shown.sort_unstable();
    assert_eq!(shown, ["choice", "confirm", "form"]);
}

#[test]
fn the_text_states_the_rules() {
    let text = Workspace::new().cueme("--protocol").ok();
    for phrase in [
        "cueme join <agent_runtime>",
        "agent_id",
        "cueme cue <agent_id> -",
        "cueme pause <agent_id>",
        "cueme resume <agent_id>",
        "final reply",
        "foreground",
        "Never run it in the background",
        "never say that you called it",
        "`TOOLS_UNAVAILABLE`, then the exact `cueme` command",
        "same envelope",
        "link to the inbox",
        "Earlier question",
        "allow_multiple",
        "confirm_label",
        "cancel_label",
    ] {
        assert!(text.contains(phrase), "{phrase}");
    }
    assert!(text.is_ascii() || !text.chars().any(|c| c > '\u{2fff}'), "in English");
}

#[test]
fn help_begins_with_the_usage() {
    let workspace = Workspace::new();
    for line in ["help", "-h", "--help", "cue --help", "join -h"] {
        assert!(
            workspace.cueme(line).ok().starts_with("Usage: cueme <command>"),
            "{line}"
        );
    }
    for line in ["proto help", "proto -h", "proto --help"] {
        assert!(workspace.cueme(line).ok().starts_with("Usage: cueme proto "), "{line}");
    }
}

#[test]
fn there_is_nothing_to_fix_off_windows() {
    let workspace = Workspace::new();
    assert!(workspace.cueme("fix powershell_utf-8").fails(1).contains("Windows"));
    for line in ["fix", "fix something"] {
        assert!(
            workspace
                .cueme(line)
                .fails(2)
                .contains("Usage: cueme fix powershell_utf-8"),
            "{line}"
        );
    }
}
