//! Fields of cues: where the agent runs, whether it still waits there, and which cue superseded which.

use super::ClientItem;
use crate::screen::duration_label;

/// The prefix of the comment on a cue that another cue superseded.
pub(super) const SUPERSEDED: &str = "superseded by ";

impl ClientItem {
    /// Whether the asker is an agent in a terminal.
    pub fn is_cue(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.door == "hap")
    }

    /// The terminal the agent asks from: `/home/ann/shop (zsh, claude_code)`.
    pub fn terminal_label(&self) -> Option<String> {
        let source = self.source.as_ref().filter(|_| self.is_cue())?;
        let parts = [&source.terminal, &source.runtime]
            .into_iter()
            .flatten()
            .map(String::as_str);
        let about: Vec<&str> = parts.filter(|word| !word.is_empty()).collect();
        let directory = source.project_dir.as_deref().filter(|directory| !directory.is_empty());
        match (directory, about.is_empty()) {
            (directory, true) => directory.map(str::to_owned),
            (directory, false) => Some(format!(
                "{} ({})",
                directory.unwrap_or("an unknown directory"),
                about.join(", ")
            )),
        }
    }

    /// The agent's presence in its terminal, as a short label.
    pub fn presence_label(&self) -> Option<&'static str> {
        match self.presence.as_ref()?.state.as_deref()? {
            "waiting" => Some("waiting"),
            "paused" => Some("paused"),
            "gone" => Some("gone"),
            _ => None,
        }
    }

    /// The agent's presence as a sentence, with its duration.
    pub fn presence_text(&self, now: jiff::Timestamp) -> Option<String> {
        let since = self.presence.as_ref()?.since.as_ref();
        let since = since
            .map(|since| format!(" for {}", duration_label(since.age(now))))
            .unwrap_or_default();
        Some(match self.presence_label()? {
            "waiting" => format!("the agent has been waiting in its terminal{since}"),
            "paused" => format!("the agent has been paused in its terminal{since}"),
            _ => format!("the agent has been gone from its terminal{since}; an answer is kept for it"),
        })
    }

    /// The messages that this one superseded.
    pub fn supersedes(&self) -> Option<String> {
        let ids = self.source.as_ref()?.supersedes.as_deref()?;
        let ids: Vec<&str> = ids.split_whitespace().collect();
        (!ids.is_empty()).then(|| ids.join(", "))
    }

    /// The message that superseded this one.
    pub fn superseded_by(&self) -> Option<&str> {
        let resolution = self.resolution.as_ref().filter(|_| self.is_cue())?;
        let comment = resolution
            .comment
            .as_deref()
            .filter(|_| resolution.resolution == "cancelled");
        comment?.strip_prefix(SUPERSEDED)
    }

    /// The comment given with the decision.
    pub fn comment(&self) -> Option<&str> {
        if self.superseded_by().is_some() {
            None
        } else {
            self.resolution.as_ref()?.comment.as_deref()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::item::tests::item;

    #[test]
    fn a_cue_shows_its_directory_and_presence() {
        let now = "2026-06-04T15:00:00Z".parse().unwrap();
        let source =
            json!({"door": "hap", "cue": "cue", "project_dir": "/srv/shop", "terminal": "zsh", "runtime": "codex"});
        let presence = json!({"state": "gone", "since": "2026-06-04T14:57:00.000Z"});
        let cue = item(json!({"source": source, "presence": presence}));
        assert_eq!(cue.terminal_label().as_deref(), Some("/srv/shop (zsh, codex)"));
        assert_eq!(cue.presence_label(), Some("gone"));
        let text = "the agent has been gone from its terminal for 3m; an answer is kept for it";
        assert_eq!(cue.presence_text(now).as_deref(), Some(text));
        let other =
            item(json!({"source": {"door": "a2h", "terminal": "zsh"}, "presence": {"state": null, "since": null}}));
        assert_eq!((other.terminal_label(), other.presence_text(now)), (None, None));
    }

    #[test]
    fn only_a_cue_is_superseded_and_files_are_counted() {
        let resolved = |door: &str, extra: Value| {
            let mut resolution = json!({
                "resolution_id": "res_1", "resolution": "cancelled", "actor": "agent:otter",
                "resolved_at": "2026-06-04T15:00:01.000Z", "comment": "superseded by msg_2",
            });
            resolution
                .as_object_mut()
                .unwrap()
                .extend(extra.as_object().unwrap().clone());
            item(json!({"source": {"door": door}, "resolution": resolution}))
                .outcome_text()
                .unwrap()
        };
        assert_eq!(resolved("hap", json!({})), "superseded by msg_2");
        assert_eq!(resolved("a2h", json!({})), "withdrawn by agent:otter");
        let file = json!({"name": "a.txt", "media_type": "text/plain", "size": 1});
        let answered = json!({"resolution": "answered", "value": "", "files": [file, file], "comment": null});
        assert_eq!(resolved("hap", answered), "answered with 2 files by agent:otter");
    }
}
