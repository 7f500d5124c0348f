//! Which choice says yes and which says no.

use countersign_core::Question;
use countersign_core::question::yes_and_no;
use countersign_core::vocabulary::Action;
use countersign_protocol::a2h::{APPROVE, Choice, DENY};

use crate::language::t;

/// The choice that approves, if the question is a confirm.
pub fn approval(question: &Question) -> Option<&Choice> {
    let (options, (yes, _)) = confirm_options(question)?;
    options.get(yes?)
}

/// The choice that denies, if the question is a confirm.
pub fn denial(question: &Question) -> Option<&Choice> {
    let (options, (_, no)) = confirm_options(question)?;
    options.get(no?)
}

/// The label of a choice. Most confirms have the labels of the hub's own words, which are translated.
pub fn choice_label(choice: &Choice) -> &str {
    let own = [(APPROVE, Action::Approve), (DENY, Action::Deny)];
    let is_own = own
        .iter()
        .any(|(value, action)| choice.value == *value && choice.label == action.label());
    if is_own { t(&choice.label) } else { &choice.label }
}

type YesAndNo = (Option<usize>, Option<usize>);

fn confirm_options(question: &Question) -> Option<(&[Choice], YesAndNo)> {
    match question {
        Question::Confirm { options, .. } => {
            let values: Vec<&str> = options.iter().map(|option| option.value.as_str()).collect();
            Some((options, yes_and_no(&values)))
        }
        Question::Select { .. } | Question::Text | Question::Form { .. } => None,
    }
}
