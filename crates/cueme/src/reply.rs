//! An outcome as plain text for an agent.

use countersign_protocol::a2h::APPROVE;
use countersign_protocol::hap::CueKind;

use super::earlier::Earlier;
use super::files::Saved;
use super::finish::Asked;
use super::setup::settings::{Reminder, Settings};
use super::terminal::out;
use super::terminal::words::Words;
use super::wait::Waited;
use super::wire::{Cued, Status};

pub fn text(asked: &Asked, waited: &Waited, saved: &[Saved], earlier: &[Earlier], settings: &Settings) -> String {
    let words = settings.language.words();
    let mut told = Told {
        words,
        agent_id: out::quoted(asked.agent_id),
        paragraphs: Vec::new(),
    };
    for Earlier { cued, saved } in earlier {
        let title = cued.title.as_deref().unwrap_or(&cued.id);
        told.say(spaced(words.earlier, &out::escape(title)));
        told.settled(None, cued, saved);
    }
    if !earlier.is_empty() {
        told.say(words.current);
    }
    match waited {
        Waited::StillOpen { .. } => told.say_filled(words.still_open),
        Waited::Settled(cued) => {
            told.settled(asked.kind, cued, saved);
            match &settings.reminder {
                _ if cued.status != Status::Answered => {}
                Reminder::Ours => told.say_filled(words.reminder),
                Reminder::Own(own) => told.say_filled(own),
                Reminder::Off => {}
            }
        }
    }
    told.paragraphs.join("\n\n") + "\n"
}

/// Paragraphs with a blank line between them.
struct Told {
    words: &'static Words,
    agent_id: String,
    paragraphs: Vec<String>,
}

impl Told {
    fn say(&mut self, paragraph: impl Into<String>) {
        self.paragraphs.push(paragraph.into());
    }

    /// For our own words alone: what a person wrote stays as it is.
    fn say_filled(&mut self, words: &str) {
        self.say(words.replace("{id}", &self.agent_id));
    }

    fn settled(&mut self, asked: Option<CueKind>, cued: &Cued, saved: &[Saved]) {
        let words = self.words;
        match cued.status {
            Status::Answered => self.answered(asked, cued, saved),
            Status::Declined => {
                self.say(words.declined);
                self.note(words.reason, cued);
            }
            Status::Cancelled => match cued.superseded_by() {
                Some(by) => self.say_filled(&words.superseded.replace("{cause}", by)),
                None => {
                    self.say_filled(words.cancelled);
                    self.note(words.reason, cued);
                }
            },
            Status::Expired => self.say_filled(words.expired),
            // Waiting ends with a settled cue or not at all.
            Status::Open => self.say_filled(words.still_open),
        }
    }

    /// Exactly what the person said, with as few words around it as will keep it apart from them.
    fn answered(&mut self, asked: Option<CueKind>, cued: &Cued, saved: &[Saved]) {
        let words = self.words;
        let is_pause = cued.kind.or(asked) == Some(CueKind::Pause);
        let text = cued.reply.text.trim();
        let mut files = words.files;
        if is_pause && (text.is_empty() || cued.value == APPROVE) {
            self.say(words.resumed);
        } else if !text.is_empty() {
            self.say(words.answered);
            self.say(text);
        } else if saved.is_empty() {
            self.say(words.nothing_said);
        } else {
            files = words.only_files;
        }
        if !saved.is_empty() {
            let lines: String = saved.iter().map(|file| format!("\n{file}")).collect();
            self.say(format!("{files}{lines}"));
        }
        self.note(words.comment, cued);
    }

    fn note(&mut self, title: &str, cued: &Cued) {
        self.paragraphs
            .extend(cued.comment().map(|comment| spaced(title, comment)));
    }
}

/// Chinese punctuation brings its own blank.
fn spaced(title: &str, text: &str) -> String {
    let blank = if title.ends_with(':') { " " } else { "" };
    format!("{title}{blank}{text}")
}

#[cfg(test)]
pub mod sample {
    use serde_json::{Value, json};

    use super::*;
    use crate::args::MaxWait;
    use crate::terminal::words::Language;

    pub const ASKED: Asked<'static> = Asked {
        agent_id: "gavonel",
        id: "msg_1",
        kind: Some(CueKind::Cue),
    };

    pub const STILL_OPEN: Waited = Waited::StillOpen { hub_is_away: false };

    fn cued(id: &str, status: &str, more: Value) -> Cued {
        let mut cued = json!({"id": id, "status": status, "kind": "cue"});
        cued.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(cued).unwrap()
    }

    pub fn settled(status: &str, more: Value) -> Waited {
        Waited::Settled(Box::new(cued("msg_1", status, more)))
    }

    pub fn earlier(status: &str, title: &str, more: Value) -> Earlier {
        Earlier {
            cued: Cued {
                title: Some(title.to_owned()),
                ..cued("msg_0", status, more)
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

    fn told(status: &str, more: Value) -> String {
        text(
            &ASKED,
            &sample::settled(status, more),
            &[],
            &[],
            &settings(Reminder::Off),
        )
    }

    fn saved() -> Vec<Saved> {
        vec![Saved {
            path: "/d/cueme/files/msg_1/a.png".into(),
            media_type: Some("image/png".to_owned()),
            ..Saved::default()
        }]
    }

    #[test]
    fn an_answer_is_told_as_it_was_given() {
        let more = json!({"reply": {"text": " use {id}\n\n<b> \n", "comment": "soon"}});
        assert_eq!(
            told("answered", more.clone()),
            "The user answered:\n\nuse {id}\n\n<b>\n\nComment: soon\n"
        );
        let text = text(
            &ASKED,
            &sample::settled("answered", more),
            &saved(),
            &[],
            &settings(Reminder::Own("Ask {id}!".to_owned())),
        );
        assert!(text.contains(
            "\n\nAttached files:\n- /d/cueme/files/msg_1/a.png (image/png)\n\nComment: soon\n\nAsk gavonel!\n"
        ));
    }

    #[test]
    fn files_alone_are_an_answer_and_nothing_at_all_is_said_to_be_one() {
        let waited = sample::settled("answered", json!({}));
        let told_files = text(&ASKED, &waited, &saved(), &[], &settings(Reminder::Off));
        assert_eq!(
            told_files,
            "The user attached files:\n- /d/cueme/files/msg_1/a.png (image/png)\n"
        );
        assert_eq!(
            told("answered", json!({"reply": {"text": "  "}})),
            "The user answered without a text.\n"
        );
    }

    #[test]
    fn a_pause_ends_with_continue_or_with_what_was_typed() {
        let pause = json!({"kind": "pause", "value": "approve", "reply": {"text": "Continue"}});
        assert_eq!(told("answered", pause), "The user says: continue.\n");
        let typed = json!({"kind": "pause", "value": "not yet", "reply": {"text": "not yet"}});
        assert_eq!(told("answered", typed), "The user answered:\n\nnot yet\n");
    }

    #[test]
    fn every_other_end_is_one_clear_sentence() {
        let reason = json!({"reply": {"text": "", "comment": "too risky"}});
        assert_eq!(told("declined", reason), "The user declined.\n\nReason: too risky\n");
        assert_eq!(told("declined", json!({})), "The user declined.\n");
        let superseded = told(
            "cancelled",
            json!({"reply": {"text": "", "comment": "superseded by msg_2"}}),
        );
        assert!(superseded.contains("(msg_2)") && superseded.contains("cueme resume gavonel"));
        assert!(told("cancelled", json!({})).contains("cancelled"));
        assert!(told("expired", json!({})).contains("cueme pause gavonel"));
        let open = text(&ASKED, &STILL_OPEN, &[], &[], &settings(Reminder::Ours));
        assert!(open.contains("cueme resume gavonel") && open.lines().count() == 1);
    }

    #[test]
    fn what_was_kept_comes_first_and_each_under_its_question() {
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
        let reminded = settings(Reminder::Own("More of {id}".to_owned()));
        assert_eq!(text(&ASKED, &next, &[], &[hold, no], &reminded), expected);
    }
}
