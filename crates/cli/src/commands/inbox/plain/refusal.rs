//! What `r` does: the no that the asker offers, else to decline where that is allowed, else nothing.

use anyhow::Result;

use super::super::answer::{Editor, Verdict};
use super::super::content::option_words;
use super::super::seen::Seen;
use super::asker::Asker;
use super::verdict::Answer;
use crate::item::{Item, Question};
use crate::screen::{self, escape};

pub const KEY: &str = "r";

pub struct Refusal {
    pub verdict: Verdict,
    /// What `r` does, in words that go on after it.
    pub words: String,
}

impl Refusal {
    pub fn of(seen: &Seen) -> Option<Self> {
        let declined = || seen.may_decline().then_some(Verdict::Declined);
        let verdict = Editor::of(seen).deny().or_else(declined)?;
        let words = match &verdict {
            Verdict::Answered(value) => {
                format!("answers \"{}\"", label(&seen.item, value.as_str().unwrap_or_default()))
            }
            Verdict::Declined => "declines".to_owned(),
            Verdict::Dismissed(_) => "dismisses it".to_owned(),
            Verdict::Completed(_) => return None,
        };
        Some(Self { verdict, words })
    }
}

fn label(item: &Item, value: &str) -> String {
    let options = match &item.question {
        Some(Question::Confirm(choices) | Question::Select(choices)) => choices.options.as_slice(),
        Some(Question::Text | Question::Form { .. } | Question::Unknown) | None => &[],
    };
    let option = options.iter().find(|option| option.value == value);
    option.map_or_else(|| escape(value), |option| option_words(&option.label, &option.value))
}

/// `, r …`, for a prompt that has said what else may be typed; nothing where `r` does nothing.
pub fn offered(refusal: Option<&Refusal>) -> String {
    refusal
        .map(|refusal| format!(", {KEY} {} with a reason", refusal.words))
        .unwrap_or_default()
}

/// The reason is asked for, because the agent gets it.
pub async fn because(verdict: Verdict, presets: &[String], asker: &mut Asker) -> Result<Option<Answer>> {
    for (index, reason) in presets.iter().enumerate() {
        screen::print(&format!("{:>3}. {}\n", index + 1, escape(reason)))?;
    }
    let Some(line) = asker
        .line("Why? (a number, or your own words; an empty line goes back) ")
        .await?
    else {
        return Ok(None);
    };
    let preset = line
        .trim()
        .parse::<usize>()
        .ok()
        .and_then(|number| presets.get(number.checked_sub(1)?));
    let comment = preset.map_or(line.trim(), String::as_str).to_owned();
    Ok((!comment.is_empty()).then_some(Answer { verdict, comment }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::super::seen::tests::seen;
    use super::*;

    fn said(extra: &Value) -> String {
        offered(Refusal::of(&seen("a", extra)).as_ref())
    }

    fn confirm(options: [(&str, &str); 2], may_decline: bool) -> Value {
        let options = options.map(|(value, label)| json!({"value": value, "label": label}));
        let question = json!({"kind": "confirm", "options": options});
        json!({"question": question, "permissions": {"respond": true, "ignore": may_decline}})
    }

    #[test]
    fn r_says_what_it_does() {
        let offers_no = said(&confirm([("approve", "Ship it"), ("deny", "Hold the release")], false));
        assert_eq!(offers_no, ", r answers \"Hold the release (deny)\" with a reason");
        let plain = said(&json!({}));
        assert_eq!(plain, ", r answers \"Deny\" with a reason");
        assert_eq!(
            said(&confirm([("ship", "Ship"), ("hold", "Hold")], true)),
            ", r declines with a reason"
        );
        assert_eq!(
            said(&json!({"question": {"kind": "text"}})),
            ", r declines with a reason"
        );
        let task = json!({"type": "task", "question": null, "action": {"instructions": "do"}});
        assert_eq!(said(&task), ", r dismisses it with a reason");
    }

    #[test]
    fn r_is_not_offered_where_nothing_can_be_refused() {
        assert_eq!(said(&confirm([("ship", "Ship"), ("hold", "Hold")], false)), "");
        assert_eq!(
            said(&json!({"question": {"kind": "text"}, "permissions": {"respond": true, "ignore": false}})),
            ""
        );
    }

    #[test]
    fn a_label_cannot_reach_the_terminal_raw() {
        assert_eq!(
            said(&confirm([("approve", "Yes"), ("deny", "\u{1b}[2J")], true)).find('\u{1b}'),
            None
        );
    }
}
