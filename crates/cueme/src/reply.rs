//! An outcome as plain text for an agent.

use countersign_protocol::a2h::APPROVE;
use countersign_protocol::hap::CueKind;

use super::earlier_answers::EarlierAnswer;
use super::files::SavedFile;
use super::print_outcome::AskedCue;
use super::setup::settings::{Reminder, Settings};
use super::terminal::out;
use super::terminal::phrases::Phrases;
use super::wait::WaitOutcome;
use super::wire::{CueStatus, CueView};

pub fn text(
    asked: &AskedCue,
    outcome: &WaitOutcome,
    saved: &[SavedFile],
    earlier: &[EarlierAnswer],
    settings: &Settings,
) -> String {
    let phrases = settings.language.phrases();
    let mut reply = ReplyText {
        phrases,
        agent_id: out::shell_quoted(asked.agent_id),
        paragraphs: Vec::new(),
    };
    for EarlierAnswer { cue, saved } in earlier {
        let title = cue.title.as_deref().unwrap_or(&cue.id);
        reply.push(labelled(phrases.earlier, &out::escape(title)));
        reply.push_outcome(None, cue, saved);
    }
    if !earlier.is_empty() {
        reply.push(phrases.current);
    }
    match outcome {
        WaitOutcome::StillOpen { .. } => reply.push_filled(phrases.still_open),
        WaitOutcome::Settled(cue) => {
            reply.push_outcome(asked.kind, cue, saved);
            match &settings.reminder {
                _ if cue.status != CueStatus::Answered => {}
                Reminder::Standard => reply.push_filled(phrases.reminder),
                Reminder::Custom(text) => reply.push_filled(text),
                Reminder::Off => {}
            }
        }
    }
    reply.paragraphs.join("\n\n") + "\n"
}

/// Paragraphs with a blank line between them.
struct ReplyText {
    phrases: &'static Phrases,
    agent_id: String,
    paragraphs: Vec<String>,
}

impl ReplyText {
    fn push(&mut self, paragraph: impl Into<String>) {
        self.paragraphs.push(paragraph.into());
    }

    /// Adds one of our own texts with its `{id}` filled in. Text of a person is never filled in.
    fn push_filled(&mut self, template: &str) {
        self.push(template.replace("{id}", &self.agent_id));
    }

    fn push_outcome(&mut self, asked: Option<CueKind>, cue: &CueView, saved: &[SavedFile]) {
        let phrases = self.phrases;
        match cue.status {
            CueStatus::Answered => self.push_answer(asked, cue, saved),
            CueStatus::Declined => {
                self.push(phrases.declined);
                self.push_comment(phrases.reason, cue);
            }
            CueStatus::Cancelled => match cue.superseded_by() {
                Some(by) => self.push_filled(&phrases.superseded.replace("{cause}", by)),
                None => {
                    self.push_filled(phrases.cancelled);
                    self.push_comment(phrases.reason, cue);
                }
            },
            CueStatus::Expired => self.push_filled(phrases.expired),
            // Unreachable in practice: a wait ends only with a settled cue.
            CueStatus::Open => self.push_filled(phrases.still_open),
        }
    }

    /// The exact text of the person, with a short heading that separates it from our own.
    fn push_answer(&mut self, asked: Option<CueKind>, cue: &CueView, saved: &[SavedFile]) {
        let phrases = self.phrases;
        let is_pause = cue.kind.or(asked) == Some(CueKind::Pause);
        let text = cue.reply.text.trim();
        let mut files = phrases.files;
        if is_pause && (text.is_empty() || cue.value == APPROVE) {
            self.push(phrases.resumed);
        } else if !text.is_empty() {
            self.push(phrases.answered);
            self.push(text);
        } else if saved.is_empty() {
            self.push(phrases.nothing_said);
        } else {
            files = phrases.only_files;
        }
        if !saved.is_empty() {
            let lines: String = saved.iter().map(|file| format!("\n{file}")).collect();
            self.push(format!("{files}{lines}"));
        }
        self.push_comment(phrases.comment, cue);
    }

    fn push_comment(&mut self, title: &str, cue: &CueView) {
        self.paragraphs
            .extend(cue.comment().map(|comment| labelled(title, comment)));
    }
}

/// Joins a label and a text. The full-width colon of Chinese needs no space after it.
fn labelled(title: &str, text: &str) -> String {
    let space = if title.ends_with(':') { " " } else { "" };
    format!("{title}{space}{text}")
}

#[cfg(test)]
pub mod sample {
    use serde_json::{Value, json};

    use super::*;
    use crate::args::MaxWait;
    use crate::terminal::phrases::Language;

    pub const ASKED: AskedCue<'static> = AskedCue {
        agent_id: "gavonel",
        id: "msg_1",
        kind: Some(CueKind::Cue),
    };

    pub const STILL_OPEN: WaitOutcome = WaitOutcome::StillOpen {
        hub_is_unreachable: false,
    };

    fn cue(id: &str, status: &str, more: Value) -> CueView {
        let mut cue = json!({"id": id, "status": status, "kind": "cue"});
        cue.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(cue).unwrap()
    }

    pub fn settled(status: &str, more: Value) -> WaitOutcome {
        WaitOutcome::Settled(Box::new(cue("msg_1", status, more)))
    }

    pub fn earlier(status: &str, title: &str, more: Value) -> EarlierAnswer {
        EarlierAnswer {
            cue: CueView {
                title: Some(title.to_owned()),
                ..cue("msg_0", status, more)
            },
            saved: Vec::new(),
        }
    }

    pub fn settings(reminder: Reminder) -> Settings {
        Settings {
            json: false,
            data: None,
            may_start: true,
            max_wait: MaxWait::Never,
            language: Language::English,
            reminder,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::sample::{ASKED, STILL_OPEN, earlier, settings};
    use super::*;

    fn render(status: &str, more: Value) -> String {
        text(
            &ASKED,
            &sample::settled(status, more),
            &[],
            &[],
            &settings(Reminder::Off),
        )
    }

    fn saved() -> Vec<SavedFile> {
        vec![SavedFile {
            path: "/d/cueme/files/msg_1/a.png".into(),
            media_type: Some("image/png".to_owned()),
            ..SavedFile::default()
        }]
    }

    #[test]
    fn an_answer_is_printed_unchanged() {
        let more = json!({"reply": {"text": " use {id}\n\n<b> \n", "comment": "soon"}});
        assert_eq!(
            render("answered", more.clone()),
            "The user answered:\n\nuse {id}\n\n<b>\n\nComment: soon\n"
        );
        let text = text(
            &ASKED,
            &sample::settled("answered", more),
            &saved(),
            &[],
            &settings(Reminder::Custom("Ask {id}!".to_owned())),
        );
        assert!(text.contains(
            "\n\nAttached files:\n- /d/cueme/files/msg_1/a.png (image/png)\n\nComment: soon\n\nAsk gavonel!\n"
        ));
    }

    #[test]
    fn an_answer_may_have_only_files_or_be_empty() {
        let outcome = sample::settled("answered", json!({}));
        let rendered = text(&ASKED, &outcome, &saved(), &[], &settings(Reminder::Off));
        assert_eq!(
            rendered,
            "The user attached files:\n- /d/cueme/files/msg_1/a.png (image/png)\n"
        );
        assert_eq!(
            render("answered", json!({"reply": {"text": "  "}})),
            "The user answered without a text.\n"
        );
    }

    #[test]
    fn a_pause_ends_with_continue_or_with_the_typed_text() {
        let pause = json!({"kind": "pause", "value": "approve", "reply": {"text": "Continue"}});
        assert_eq!(render("answered", pause), "The user says: continue.\n");
        let typed = json!({"kind": "pause", "value": "not yet", "reply": {"text": "not yet"}});
        assert_eq!(render("answered", typed), "The user answered:\n\nnot yet\n");
    }

    #[test]
    fn every_other_outcome_is_one_clear_sentence() {
        let reason = json!({"reply": {"text": "", "comment": "too risky"}});
        assert_eq!(render("declined", reason), "The user declined.\n\nReason: too risky\n");
        assert_eq!(render("declined", json!({})), "The user declined.\n");
        let superseded = render(
            "cancelled",
            json!({"reply": {"text": "", "comment": "superseded by msg_2"}}),
        );
        assert!(superseded.contains("(msg_2)") && superseded.contains("cueme resume gavonel"));
        assert!(render("cancelled", json!({})).contains("cancelled"));
        assert!(render("expired", json!({})).contains("cueme pause gavonel"));
        let open = text(&ASKED, &STILL_OPEN, &[], &[], &settings(Reminder::Standard));
        assert!(open.contains("cueme resume gavonel") && open.lines().count() == 1);
    }

    #[test]
    fn earlier_answers_come_first_each_under_its_question() {
        let hold = earlier(
            "answered",
            "Deploy?",
            json!({"reply": {"text": "use {id}", "comment": "until Monday"}}),
        );
        let no = earlier("declined", "Drop\u{1b} it?", json!({}));
        let next = sample::settled("answered", json!({"reply": {"text": "go on"}}));
        let expected = "Earlier question: Deploy?\n\nThe user answered:\n\nuse {id}\n\nComment: until Monday\n\n\
            Earlier question: Drop\\u{1b} it?\n\nThe user declined.\n\n\
            Current question:\n\nThe user answered:\n\ngo on\n\nMore of gavonel\n";
        let reminded = settings(Reminder::Custom("More of {id}".to_owned()));
        assert_eq!(text(&ASKED, &next, &[], &[hold, no], &reminded), expected);
    }
}
