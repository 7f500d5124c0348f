//! An outcome as plain text for an agent.

use countersign_protocol::a2h::APPROVE;
use countersign_protocol::hap::Kind;

use super::files::Saved;
use super::finish::Asked;
use super::out;
use super::settings::{Reminder, Settings};
use super::wait::Waited;
use super::wire::{Cued, Status};
use super::words::Words;

/// Paragraphs with a blank line between them.
pub fn text(asked: &Asked, waited: &Waited, saved: &[Saved], settings: &Settings) -> String {
    let words = settings.language.words();
    let agent_id = out::quoted(asked.agent_id);
    let filled = |text: &str| text.replace("{id}", &agent_id);
    let mut paragraphs: Vec<String> = Vec::new();
    match waited {
        Waited::StillOpen => paragraphs.push(filled(words.still_open)),
        Waited::Settled(cued) => match cued.status {
            Status::Answered => {
                answered(&mut paragraphs, asked, cued, saved, words);
                match &settings.reminder {
                    Reminder::Ours => paragraphs.push(filled(words.reminder)),
                    Reminder::Own(own) => paragraphs.push(filled(own)),
                    Reminder::Off => {}
                }
            }
            Status::Declined => {
                paragraphs.push(words.declined.to_owned());
                paragraphs.extend(cued.comment().map(|reason| spaced(words.reason, reason)));
            }
            Status::Cancelled => match cued.superseded_by() {
                Some(by) => paragraphs.push(filled(words.superseded).replace("{cause}", by)),
                None => {
                    paragraphs.push(filled(words.cancelled));
                    paragraphs.extend(cued.comment().map(|reason| spaced(words.reason, reason)));
                }
            },
            Status::Expired => paragraphs.push(filled(words.expired)),
            // Waiting ends with a settled cue or not at all.
            Status::Open => paragraphs.push(filled(words.still_open)),
        },
    }
    paragraphs.join("\n\n") + "\n"
}

/// Exactly what the person said, with as few words around it as will keep it apart from them.
fn answered(paragraphs: &mut Vec<String>, asked: &Asked, cued: &Cued, saved: &[Saved], words: &Words) {
    let is_pause = cued.kind.or(asked.kind) == Some(Kind::Pause);
    let text = cued.reply.text.trim();
    if is_pause && (text.is_empty() || cued.value == APPROVE) {
        paragraphs.push(words.resumed.to_owned());
    } else if !text.is_empty() {
        paragraphs.extend([words.answered.to_owned(), text.to_owned()]);
    } else if saved.is_empty() {
        paragraphs.push(words.nothing_said.to_owned());
    }
    if !saved.is_empty() {
        let title = if paragraphs.is_empty() { words.only_files } else { words.files };
        let lines: String = saved.iter().map(|file| format!("\n{file}")).collect();
        paragraphs.push(format!("{title}{lines}"));
    }
    paragraphs.extend(cued.comment().map(|comment| spaced(words.comment, comment)));
}

/// Chinese punctuation brings its own blank.
fn spaced(title: &str, text: &str) -> String {
    let blank = if title.ends_with(':') { " " } else { "" };
    format!("{title}{blank}{text}")
}

#[cfg(test)]
pub mod sample {
    use serde_json::{Value, json};

    use super::super::args::MaxWait;
    use super::super::words::Language;
    use super::*;

    pub const ASKED: Asked<'static> = Asked { agent_id: "gavonel", id: "msg_1", kind: Some(Kind::Cue) };

    pub fn settled(status: &str, more: Value) -> Waited {
        let mut cued = json!({"id": "msg_1", "status": status, "kind": "cue"});
        cued.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Waited::Settled(serde_json::from_value(cued).unwrap())
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

    use super::sample::{ASKED, settings};
    use super::*;

    fn told(status: &str, more: Value) -> String {
        text(&ASKED, &sample::settled(status, more), &[], &settings(Reminder::Off))
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
        assert_eq!(told("answered", more.clone()), "The user answered:\n\nuse {id}\n\n<b>\n\nComment: soon\n");
        let text = text(
            &ASKED,
            &sample::settled("answered", more),
            &saved(),
            &settings(Reminder::Own("Ask {id}!".to_owned())),
        );
        assert!(text.contains(
            "\n\nAttached files:\n- /d/cueme/files/msg_1/a.png (image/png)\n\nComment: soon\n\nAsk gavonel!\n"
        ));
    }

    #[test]
    fn files_alone_are_an_answer_and_nothing_at_all_is_said_to_be_one() {
        let waited = sample::settled("answered", json!({}));
        let told_files = text(&ASKED, &waited, &saved(), &settings(Reminder::Off));
        assert_eq!(told_files, "The user attached files:\n- /d/cueme/files/msg_1/a.png (image/png)\n");
        assert_eq!(told("answered", json!({"reply": {"text": "  "}})), "The user answered without a text.\n");
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
        let superseded = told("cancelled", json!({"reply": {"text": "", "comment": "superseded by msg_2"}}));
        assert!(superseded.contains("(msg_2)") && superseded.contains("cueme resume gavonel"));
        assert!(told("cancelled", json!({})).contains("cancelled"));
        assert!(told("expired", json!({})).contains("cueme pause gavonel"));
        let open = text(&ASKED, &Waited::StillOpen, &[], &settings(Reminder::Ours));
        assert!(open.contains("cueme resume gavonel") && open.lines().count() == 1);
    }
}
