//! The effect of `r`: the no that the asker offers, else declining if allowed, else none.

use anyhow::Result;
use countersign_client::item::ClientItem;
use countersign_client::screen::{self, escape};
use countersign_protocol::api::inbox::ItemQuestion;

use super::prompter::Prompter;
use super::verdict::PlainAnswer;
use crate::answer::{Editor, PersonDecision};
use crate::content::option_label;
use crate::inbox_entry::InboxEntry;

pub const KEY: &str = "r";

pub struct RefusalOption {
    pub verdict: PersonDecision,
    /// The effect of `r`, to follow the key in a prompt.
    pub text: String,
}

impl RefusalOption {
    pub fn of(entry: &InboxEntry) -> Option<Self> {
        let declined = || entry.may_decline().then_some(PersonDecision::Declined);
        let verdict = Editor::of(entry).deny().or_else(declined)?;
        let text = match &verdict {
            PersonDecision::Answered(value) => {
                format!("answers \"{}\"", label(&entry.item, value.as_str().unwrap_or_default()))
            }
            PersonDecision::Declined => "skips it".to_owned(),
            PersonDecision::Dismissed(_) => "says you can't do it".to_owned(),
            PersonDecision::Completed(_) => return None,
        };
        Some(Self { verdict, text })
    }
}

fn label(item: &ClientItem, value: &str) -> String {
    let options = match &item.question {
        Some(ItemQuestion::Confirm(choices) | ItemQuestion::Select(choices)) => choices.options.as_slice(),
        Some(ItemQuestion::Text | ItemQuestion::Form { .. } | ItemQuestion::Unknown) | None => &[],
    };
    let option = options.iter().find(|option| option.value == value);
    option.map_or_else(|| escape(value), |option| option_label(&option.label, &option.value))
}

/// `, r …`, the end of a prompt; empty if `r` has no effect.
pub fn offered(refusal: Option<&RefusalOption>) -> String {
    refusal
        .map(|refusal| format!(", {KEY} {} with a reason", refusal.text))
        .unwrap_or_default()
}

/// Asks for a reason, which the agent receives.
pub async fn ask_reason(
    verdict: PersonDecision,
    presets: &[String],
    asker: &mut Prompter,
) -> Result<Option<PlainAnswer>> {
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
    Ok((!comment.is_empty()).then_some(PlainAnswer { verdict, comment }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::inbox_entry::tests::entry;

    fn hint_for(extra: &Value) -> String {
        offered(RefusalOption::of(&entry("a", extra)).as_ref())
    }

    fn confirm(options: [(&str, &str); 2], may_decline: bool) -> Value {
        let options = options.map(|(value, label)| json!({"value": value, "label": label}));
        let question = json!({"kind": "confirm", "options": options});
        json!({"question": question, "permissions": {"respond": true, "ignore": may_decline}})
    }

    #[test]
    fn the_prompt_names_the_effect_of_r() {
        let offers_no = hint_for(&confirm([("approve", "Ship it"), ("deny", "Hold the release")], false));
        assert_eq!(offers_no, ", r answers \"Hold the release (deny)\" with a reason");
        let plain = hint_for(&json!({}));
        assert_eq!(plain, ", r answers \"Deny\" with a reason");
        assert_eq!(
            hint_for(&confirm([("ship", "Ship"), ("hold", "Hold")], true)),
            ", r skips it with a reason"
        );
        assert_eq!(
            hint_for(&json!({"question": {"kind": "text"}})),
            ", r skips it with a reason"
        );
        let task = json!({"type": "task", "question": null, "action": {"instructions": "do"}});
        assert_eq!(hint_for(&task), ", r says you can't do it with a reason");
    }

    #[test]
    fn r_is_not_offered_where_nothing_can_be_refused() {
        assert_eq!(hint_for(&confirm([("ship", "Ship"), ("hold", "Hold")], false)), "");
        assert_eq!(
            hint_for(&json!({"question": {"kind": "text"}, "permissions": {"respond": true, "ignore": false}})),
            ""
        );
    }

    #[test]
    fn a_label_cannot_reach_the_terminal_raw() {
        assert_eq!(
            hint_for(&confirm([("approve", "Yes"), ("deny", "\u{1b}[2J")], true)).find('\u{1b}'),
            None
        );
    }
}
